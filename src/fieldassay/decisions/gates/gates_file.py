"""A gates file: rules with titles, and the metrics pooled over runs; some ship with the package."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct

from fieldassay.errors import kind_of, problem
from fieldassay.metrics.catalogue.grammar import Gate, parse_gate
from fieldassay.spec.language.parse import read_source
from fieldassay.spec.language.yaml_text import Cursor, Places, Report, read_yaml
from fieldassay.spec.presets.catalogue import preset_text

KIND = "decision"

KEYS = ("fieldassay", "kind", "name", "version", "description", "source", "citation", "gates", "pool")
"""The keys of a gates file."""


class Rule(Struct, frozen=True):
    """A gate and its title."""

    gate: Gate
    title: str = ""


class GateList(Struct, frozen=True):
    """The rules of a decision, in order; `pooled` metrics are shares that are added up over all runs."""

    name: str
    rules: tuple[Rule, ...]
    pooled: frozenset[str] = frozenset()
    description: str = ""


def read_gates_file(path: Path) -> GateList:
    """Return the rules of a gates file (YAML, JSON) or spec. Raises `ProblemsError` with all faults."""
    source = read_source(path)
    return _read(source.data, source.places, source.stem)


def read_preset(name: str) -> GateList:
    """Return the rules of a shipped decision or protocol. Raises `ProblemsError` for none, or no gates.

    >>> len(read_preset("clinical-decision").rules)
    6
    """
    label = f"protocol {name}"
    data, lines = read_yaml(preset_text(name, "--protocol"), label)
    if isinstance(data, dict) and not data.get("gates"):
        raise problem(
            "--protocol", f"{name!r} has no gates", "take clinical-decision, or give --gates FILE", "no_gates"
        )
    return _read(data, Places(label, lambda: lines), name)


def parse_rules(texts: Sequence[str], where: str) -> tuple[Rule, ...]:
    """Return the rules that gates as text are. Raises `ProblemsError` with all problems."""
    report = Report(Places(where))
    rules = tuple(
        rule for place, text in enumerate(texts) if (rule := _read_rule(text, place, report)) is not None
    )
    report.raise_any()
    return rules


def _read(data: Any, places: Places, stem: str) -> GateList:
    if not isinstance(data, dict):
        what = f"must be a mapping with `gates:`, not {kind_of(data)}"
        raise problem(places.label, what, "write `gates:` and a list", "wrong_kind")
    report = Report(places)
    cursor = Cursor(data, (), report)
    is_spec = any(key in data for key in ("fields", "protocol", "type")) or data.get("kind") not in (
        None,
        KIND,
    )
    if not is_spec:
        cursor.refuse_unknown(KEYS)
    rules = _read_rules(data, report)
    pooled = () if is_spec else cursor.texts("pool")
    made = GateList(
        cursor.text("name") or stem, rules, frozenset(pooled), cursor.text("description", "") or ""
    )
    report.raise_any()
    return made


def _read_rules(data: Mapping[str, Any], report: Report) -> tuple[Rule, ...]:
    value = data.get("gates")
    items = [value] if isinstance(value, str) else value
    if not isinstance(items, list) or not items:
        has_gates = value is not None and not isinstance(value, list)
        what = f"must be a list of gates, not {kind_of(value)}" if has_gates else "has no gates"
        report.add(
            ("gates",),
            what,
            "write at least one, such as accuracy >= 0.9",
            "wrong_kind" if has_gates else "no_gates",
        )
        return ()
    found = (_read_rule(item, place, report) for place, item in enumerate(items))
    return tuple(rule for rule in found if rule is not None)


def _read_rule(item: Any, place: int, report: Report) -> Rule | None:
    steps = ("gates", place)
    if isinstance(item, dict):
        cursor = Cursor(item, steps, report)
        cursor.refuse_unknown(("gate", "title", "fields"))
        is_each = cursor.has("fields") and cursor.choice("fields", "each", ("each",)) == "each"
        text, title = cursor.text("gate"), cursor.text("title", "") or ""
        if text is None:
            report.add(steps, "has no 'gate'", "write such as gate: accuracy >= 0.9", "missing_key")
            return None
    else:
        text, title, is_each = item, "", False
    if not isinstance(text, str):
        report.add(
            steps, f"must be a text, not {kind_of(text)}", "write such as accuracy >= 0.9", "wrong_kind"
        )
        return None
    try:
        gate = parse_gate(text)
        return Rule(parse_gate(f"{text} in each field") if is_each and not gate.is_each else gate, title)
    except ValueError as error:
        what, _, remedy = str(error).partition("; ")
        report.add(steps, what, remedy, "invalid_expression")
        return None
