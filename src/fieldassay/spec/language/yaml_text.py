"""YAML text as plain data and the lines of its places; hostile text is a problem, never a crash."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from fieldassay.errors import ProblemsError, problem
from fieldassay.spec.language.report import Places, Report, Steps

LARGEST_TEXT = 1_000_000
"""The maximum of characters; a spec is written by hand or made from a schema."""
DEEPEST = 100
"""The maximum nesting."""
MOST_NODES = 200_000
"""The maximum of values with aliases followed; a few lines of aliases could fill the memory."""


def read_yaml(text: str, label: str) -> tuple[Any, dict[Steps, int]]:
    """Return the data of one YAML document and the line (from 1) of each place in it.

    Keys are always texts. Raises `ProblemsError` for invalid YAML, duplicate keys, cycles, and text beyond
    the limits above.

    >>> read_yaml("a: [1, yes]", "spec.yaml")
    ({'a': [1, 'yes']}, {('a',): 1, ('a', 0): 1, ('a', 1): 1})
    """
    check_size(text, label)
    node = _compose(text, label)
    builder = _Builder(label)
    data = builder.build(node, ()) if node is not None else None
    builder.report.raise_any()
    return data, builder.lines


@lru_cache(maxsize=32)
def read_preset(text: str, name: str) -> Mapping[str, Any]:
    """Return the data of a protocol's text, read once and shared: nobody may change it."""
    data: Mapping[str, Any] = read_yaml(text, f"protocol {name}")[0]
    return data


def check_size(text: str, label: str) -> None:
    """Raise `ProblemsError` if a text is too long to be a spec."""
    if len(text) > LARGEST_TEXT:
        raise problem(
            label,
            f"has {len(text)} characters, more than a spec may have",
            f"at most {LARGEST_TEXT}",
            "too_large",
        )


HALF = ("an escape \\u is half of a character", "write the whole character")


def join_halves(text: str) -> str | None:
    """Return a text with characters instead of pairs of surrogates; None where one has no partner.

    >>> join_halves("\\ud83d\\ude00") == "\\U0001f600", join_halves("\\ude00")
    (True, None)
    """
    try:
        return text.encode("utf-16", "surrogatepass").decode("utf-16")
    except UnicodeDecodeError:
        return None


def too_deep(label: str) -> ProblemsError:
    """Return the error for a source that nests too deeply."""
    return problem(label, f"nests deeper than {DEEPEST} levels", "flatten it", "too_deep")


@lru_cache(maxsize=4)
def _compose(text: str, label: str) -> Any:
    """Return the nodes of a text, which are only read; kept, for the spec of many scores in one process."""
    from ruamel.yaml import YAML
    from ruamel.yaml.error import MarkedYAMLError, YAMLError

    try:
        return YAML(typ="safe", pure=True).compose(text)
    except RecursionError as error:
        raise too_deep(label) from error
    except MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        where = f"{label}:{mark.line + 1}" if mark is not None else label
        what = " ".join(str(part) for part in (error.problem, error.context) if part)
        column = f", column {mark.column + 1}" if mark is not None else ""
        raise problem(where, f"not YAML ({what}{column})", "correct the syntax", "syntax") from error
    except (YAMLError, ValueError) as error:
        first = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        raise problem(label, f"not YAML ({first[:200]})", "correct the syntax", "syntax") from error


class _Builder:
    """Turns YAML nodes into data, noting lines and problems."""

    def __init__(self, label: str) -> None:
        lines: dict[Steps, int] = {}
        self.lines = lines
        self.label = label
        self.report = Report(Places(label, lambda: lines))
        self.count = 0
        self.open: set[int] = set()

    def build(self, node: Any, steps: Steps) -> Any:
        """Return the data of a node."""
        self.count += 1
        if self.count > MOST_NODES:
            what = f"holds more than {MOST_NODES} values once its aliases are followed"
            raise problem(self.label, what, "write it without so many aliases", "too_large")
        if len(steps) > DEEPEST:
            raise too_deep(self.label)
        if node.id == "scalar":
            return self._scalar(node, steps)
        if id(node) in self.open:
            self.report.add(steps, "an alias holds itself", "write the value out", "syntax")
            return None
        self.open.add(id(node))
        data = self._sequence(node, steps) if node.id == "sequence" else self._mapping(node, steps)
        self.open.discard(id(node))
        return data

    def _sequence(self, node: Any, steps: Steps) -> list[Any]:
        items = []
        for index, child in enumerate(node.value):
            inner = (*steps, index)
            self.lines[inner] = child.start_mark.line + 1
            items.append(self.build(child, inner))
        return items

    def _mapping(self, node: Any, steps: Steps) -> dict[str, Any]:
        data: dict[str, Any] = {}
        for key, child in node.value:
            if key.id != "scalar":
                self.report.add(steps, "a key is a list or a mapping", "use a text as key", "syntax")
                continue
            name = self._text(key, steps)
            inner = (*steps, name)
            first = self.lines.get(inner)
            if name in data and first is not None:
                self.report.add(
                    inner,
                    f"the key {name!r} is there twice (again on line {key.start_mark.line + 1})",
                    "keep one",
                    "duplicate_key",
                )
                continue
            self.lines[inner] = key.start_mark.line + 1
            data[name] = self.build(child, inner)
        return data

    def _scalar(self, node: Any, steps: Steps) -> Any:
        kind = str(node.tag).rpartition(":")[2]
        if kind == "null":
            return None
        if kind == "bool":
            return node.value.casefold() in ("true", "yes", "on", "y")
        if kind in ("int", "float"):
            return self._number(node.value, kind, steps)
        if kind not in ("str", "timestamp", "value", "merge"):
            self.report.add(steps, f"the tag {node.tag!s} is not allowed", "write a plain value", "syntax")
        return self._text(node, steps)

    def _text(self, node: Any, steps: Steps) -> str:
        """Return a text with the halves of characters that were written as two escapes joined."""
        text = join_halves(str(node.value))
        if text is None:
            self.report.add(steps, *HALF, "syntax")
        return text or ""

    def _number(self, text: str, kind: str, steps: Steps) -> Any:
        plain = text.replace("_", "").casefold()
        special = {".inf": float("inf"), "+.inf": float("inf"), "-.inf": float("-inf"), ".nan": float("nan")}
        if plain in special:
            return special[plain]
        try:
            return (
                float(plain)
                if kind == "float"
                else int(plain, 0)
                if plain.lstrip("+-")[:2] in ("0x", "0o", "0b")
                else int(plain)
            )
        except ValueError:
            self.report.add(
                steps, f"cannot read the number {text[:40]!r}", "quote it if it is a text", "syntax"
            )
            return None
