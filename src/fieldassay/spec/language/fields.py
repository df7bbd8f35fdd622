"""Fields of a spec, with the calls, checks and definitions that they name."""

import re
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from fieldassay.errors import kind_of, nearest
from fieldassay.metrics.catalogue.definitions import DIRECTIONS, SCOPES, Definition
from fieldassay.metrics.catalogue.grammar import is_metric_name
from fieldassay.paths import Pattern
from fieldassay.spec.language.model import ONLY_ITEM, Accept, Call, Field, Find, freeze, freeze_options, thaw
from fieldassay.spec.language.names import (
    CATALOGUES,
    Templates,
    as_definition,
    option_keys,
    unknown,
)
from fieldassay.spec.language.yaml_text import Cursor, Report, Steps, as_number
from fieldassay.values.catalogue import READERS
from fieldassay.values.checks.texts import Matches

# Calls of catalogue entries (`words`, `{anls: {threshold: 0.5}}`) and acceptance thresholds (`"> 0.5"`).

FIRST = ""
"""The option name for an entry's first option, as in `{case: upper}`."""

_ACCEPT = re.compile(r"\s*+(?:(>=|>)\s*+)?([0-9]{0,20}(?:\.[0-9]{0,20})?(?:[eE]-?[0-9]{1,3})?)\s*+", re.ASCII)
_HOW_CALLS = "write a name, or {name: {option: value}}"


def parse_call(raw: Any) -> Call:
    """Return the call of a value of a spec; raises ValueError with the valid forms.

    A text is a name, or `name: value`. A mapping has one key, the name, with its options (or with the value
    of its first option); or the key `name` beside the options.

    >>> parse_call({"anls": {"threshold": 0.5}}) == parse_call({"name": "anls", "threshold": 0.5})
    True
    >>> parse_call("key: sku") == parse_call({"key": {"fields": ["sku"]}})
    True
    """
    if isinstance(raw, str):
        name, colon, value = raw.partition(":")
        return (
            parse_call({name.strip(): value.strip()}) if colon and value.strip() else _call(raw.strip(), {})
        )
    if not isinstance(raw, dict):
        raise ValueError(f"must be a name with or without options, not {kind_of(raw)}; {_HOW_CALLS}")
    if isinstance(raw.get("name"), str):
        return _call(raw["name"], {key: value for key, value in raw.items() if key != "name"})
    if len(raw) != 1:
        raise ValueError(f"must have one key, the name, not {len(raw)}; {_HOW_CALLS}")
    ((name, options),) = raw.items()
    return _call(
        str(name), {} if options is None else options if isinstance(options, dict) else {FIRST: options}
    )


def _call(name: str, options: dict[str, Any]) -> Call:
    if not name:
        raise ValueError(f"must be a name, not an empty text; {_HOW_CALLS}")
    if name == "key":
        options = {("fields" if key == FIRST else key): value for key, value in options.items()}
        if isinstance(options.get("fields"), str):
            options["fields"] = [options["fields"]]
    return Call(name, freeze_options(options))


def call_data(call: Call) -> Any:
    """Return the call as a value of a spec; the inverse of `parse_call`.

    >>> call_data(Call("anls", (("threshold", 0.5),))), call_data(Call("words"))
    ({'anls': {'threshold': 0.5}}, 'words')
    """
    if not call.options:
        return call.name
    options = {name: thaw(value) for name, value in call.options}
    return {call.name: options.get(FIRST, options) if len(options) == 1 else options}


def parse_accept(raw: Any) -> Accept:
    """Return the acceptance threshold of a value of a spec; raises ValueError.

    >>> parse_accept("> 0.5"), parse_accept(0.8)
    (Accept(value=0.5, is_strict=True), Accept(value=0.8, is_strict=False))
    """
    number, is_strict = as_number(raw), False
    if isinstance(raw, str) and (match := _ACCEPT.fullmatch(raw)) and match[2].strip(".eE"):
        try:
            number, is_strict = float(match[2]), match[1] == ">"
        except ValueError:
            number = None
    if number is None or not 0 <= number <= 1:
        raise ValueError(
            f'must be a number from 0 to 1, or a text like "> 0.5", not {kind_of(raw)}; '
            'write 0.8, ">= 0.8" or "> 0.8"'
        )
    return Accept(number, is_strict)


def accept_data(accept: Accept) -> Any:
    """Return the threshold as a value of a spec; the inverse of `parse_accept`."""
    return f"> {accept.value!r}" if accept.is_strict else accept.value


# The key `checks:` of a spec, read and written.

Checks: TypeAlias = tuple[tuple[str, tuple[Call, ...]], ...]

_RELATION = re.compile(r"^[^:]*[=<>]")
"""The signs of a relation, absent from names of checks; a text with one means `{holds: …}`."""

_HOW_CHECKS = "write a check, or a list of checks, such as {one_of: [HIGH, LOW]}"


def parse_checks(cursor: Cursor) -> Checks:
    """Return the checks of a spec by path pattern, in order.

    Names, options and patterns are checked at compilation. A list of relations applies to the record.
    """
    checks = []
    section = cursor.data.get("checks")
    is_short = (
        isinstance(section, list)
        and section
        and all(isinstance(relation, str) and _RELATION.search(relation) for relation in section)
    )
    for pattern, raw in {".": section}.items() if is_short else cursor.mapping("checks").items():
        steps = (*cursor.steps, "checks", pattern)
        if raw is None or raw == []:
            cursor.report.add(steps, "names no check", _HOW_CHECKS, "missing_key")
            continue
        listed = isinstance(raw, list)
        places = [(*steps, at) if listed else steps for at in range(len(raw) if listed else 1)]
        calls = [
            _parse(item, place, cursor.report)
            for item, place in zip(raw if listed else [raw], places, strict=True)
        ]
        checks.append((pattern, tuple(call for call in calls if call is not None)))
    return tuple((pattern, calls) for pattern, calls in checks if calls)


def _parse(raw: Any, steps: Steps, report: Report) -> Call | None:
    if not isinstance(raw, str | dict):
        report.add(steps, f"must be a check, not {kind_of(raw)}", _HOW_CHECKS, "wrong_kind")
        return None
    if isinstance(raw, str) and _RELATION.search(raw):
        return Call("holds", ((FIRST, " ".join(raw.split())),))
    try:
        return parse_call(raw)
    except ValueError as error:
        report.add_error(steps, error)
        return None


def checks_data(checks: Sequence[tuple[str, tuple[Call, ...]]]) -> dict[str, Any]:
    """Return the checks in the spec language; the inverse of `parse_checks`.

    >>> record = Call("not_empty"), Call("kind", (("", "object"),))
    >>> checks_data([("total", (Call("number"),)), (".", record)])
    {'total': 'number', '.': ['not_empty', {'kind': 'object'}]}
    """
    return {
        pattern: call_data(calls[0]) if len(calls) == 1 else list(map(call_data, calls))
        for pattern, calls in checks
    }


# The metrics defined by a spec, as text and as values.

_KEYS = ("formula", "better", "unit", "scope", "description", "label")


def read_definitions(cursor: Cursor) -> tuple[Definition, ...]:
    """Return the definitions under `definitions:`, by name.

    A definition is a formula, or a mapping with `formula` and its description.
    """
    inner = Cursor(cursor.mapping("definitions"), (*cursor.steps, "definitions"), cursor.report)
    definitions = (_read(name, inner) for name in inner.data)
    return tuple(definition for definition in definitions if definition is not None)


def _read(name: str, cursor: Cursor) -> Definition | None:
    raw = cursor.data[name]
    if not is_metric_name(name):
        cursor.refuse(
            name,
            f"{name[:100]!r} is not a name for a metric",
            "use letters, digits and underscores",
            "invalid",
        )
        return None
    if isinstance(raw, str):
        return Definition(name, raw)
    if not isinstance(raw, dict):
        cursor.refuse(
            name, f"must be a formula or a mapping, not {kind_of(raw)}", "write `formula: …`", "wrong_kind"
        )
        return None
    inner = Cursor(raw, (*cursor.steps, name), cursor.report)
    inner.refuse_unknown(_KEYS)
    formula = inner.text("formula")
    if formula is None:
        inner.refuse("formula", f"the metric {name!r} has no formula", "add `formula: …`", "missing_key")
        return None
    better = inner.choice("better", "higher", DIRECTIONS) if inner.has("better") else None
    scope = inner.choice("scope", "overall", SCOPES) if inner.has("scope") else None
    description, label = (inner.text(key, "") or "" for key in ("description", "label"))
    return Definition(name, formula, better, inner.text("unit"), scope, description, label)


def definition_data(definition: Definition) -> Any:
    """Return a definition in the spec language: its formula alone, or a mapping without defaults."""
    values = {key: getattr(definition, key) for key in _KEYS if getattr(definition, key)}
    return definition.formula if set(values) == {"formula"} else values


# One field of a spec, and the fields below it.

_ONLY_FOR = {
    "items": ("list",), "distinct": ("list",), "combine": ("list",), "separator": ("list",),
    "align": ("list", "any"), "empty_items": ("list",), "other_kind": (),
    "fields": ("object", "any"), "extra": ("object",), "unit_field": ("number", "money", "quantity"),
}  # fmt: skip
"""The types that a key is for; none: lists and single values."""
CHOICES = ("first", "last", "largest", "only", "none")
"""Which of several values `find` takes; the last two only where no label has a value."""
MOST_LINES = 20
"""Lines of a text that `find` takes as one value, at most."""
MOST_OF_TYPES, MOST_LEVELS = 10_000, 100
"""The most fields that named types have inside, counted at each use of a type, and their levels."""


class Parser(Struct, frozen=True):
    """Reads the fields of one spec; holds the rules they build on and the report for problems."""

    report: Report
    templates: Templates
    of_types: Counter[str] = msgspec.field(default_factory=Counter)
    """The fields so far that stand in a named type, by the name."""

    def fields(self, raw: Any, steps: Steps) -> tuple[Field, ...]:
        """Return the fields of a mapping from names to definitions."""
        if not isinstance(raw, dict):
            self.report.add(
                steps,
                f"must be a mapping of field names, not {kind_of(raw)}",
                "write `name: type` lines",
                "wrong_kind",
            )
            return ()
        return tuple(self.field(name, value, (*steps, name)) for name, value in raw.items())

    def field(self, name: str, raw: Any, steps: Steps) -> Field:
        """Return the field of a definition: a type's name, or a mapping."""
        definition = as_definition(raw)
        if definition is None:
            self.report.add(
                steps,
                f"must be a type or a mapping, not {kind_of(raw)}",
                "write a type such as `text`",
                "wrong_kind",
            )
            return Field(name)
        if self._is_too_much(definition.get("type"), steps):
            return Field(name)
        definition = self.templates.expanded(definition)
        cursor = Cursor(definition, steps, self.report)
        kind = self._type(cursor)
        self._refuse_misplaced(cursor, kind)
        return self._below(self._values(Field(name, kind), cursor), cursor)

    def _is_too_much(self, name: Any, steps: Steps) -> bool:
        """Return whether the fields of named types are too many or too deep; say so once."""
        rules = self.templates.types.get(name, {}) if isinstance(name, str) else {}
        members, was = _members(rules), self.of_types.total()
        if not members:
            return False
        self.of_types[name] += members if was <= MOST_OF_TYPES else 0
        is_deep = len(steps) > 2 * MOST_LEVELS
        is_over = is_deep or self.of_types.total() > MOST_OF_TYPES
        if is_over and was <= MOST_OF_TYPES:
            what = (
                f"the type {name!r} contains itself, or nests deeper than {MOST_LEVELS} levels"
                if is_deep
                else f"the named types have more than {MOST_OF_TYPES:,} fields, counted wherever one is used"
            )
            self.report.add(("types",), what, "let types refer to one another less often", "too_large")
            self.of_types[name] += MOST_OF_TYPES
        return is_over

    def _type(self, cursor: Cursor) -> str:
        holds = cursor.data.get("fields")
        implied = (
            "list"
            if cursor.has("items")
            else "text"
            if holds is None
            else "any"
            if is_patterns(holds)
            else "object"
        )
        kind = cursor.text("type", implied) or implied
        if kind not in self.templates:
            cursor.refuse("type", *unknown("type", kind, self.templates.names()))
        if (
            "type" not in cursor.data
            and isinstance(holds, dict)
            and any("*" in key for key in holds)
            and not is_patterns(holds)
        ):
            refuse_mixture(cursor)
        return kind

    def _refuse_misplaced(self, cursor: Cursor, kind: str) -> None:
        for key, kinds in _ONLY_FOR.items():
            if not cursor.has(key):
                continue
            kinds = kinds or ("list", *READERS.names())
            if kind not in kinds and kind in self.templates:
                cursor.refuse(
                    key,
                    f"{key!r} does not apply to the type {kind!r}",
                    f"it applies to: {', '.join(kinds)}",
                    "misplaced_key",
                )

    def _values(self, field: Field, cursor: Cursor) -> Field:
        return replace(
            field,
            options=freeze_options(
                {
                    key: cursor.data[key]
                    for key in option_keys(cursor.data)
                    if field.type != "map" or key != "values"
                }
            ),
            compare=self.call(cursor, "compare"),
            normalize=self._normalize(cursor),
            accept=self._accept(cursor),
            weight=cursor.number("weight", 1.0),
            critical=cursor.flag("critical"),
            accepted=self._accepted(cursor),
            applies_to=cursor.texts("applies_to"),
            null=cursor.choice("null", "empty", ("empty", "value")),
            null_values=cursor.texts("null_values") if cursor.has("null_values") else None,
            unreadable_gold=cursor.choice("unreadable_gold", "text", ("text", "failed"))
            if cursor.has("unreadable_gold")
            else None,
            align=self.call(cursor, "align"),
            combine=cursor.choice("combine", "mean", ("mean", "weighted", "product")),
            both_empty=cursor.choice("both_empty", "skip", ("skip", "agree")),
            keeps_empty_items=cursor.choice("empty_items", "drop", ("drop", "keep")) == "keep",
            other_kind=cursor.choice(
                "other_kind", "mismatch", ("mismatch", "empty" if field.type == "list" else ONLY_ITEM)
            ),
            blank=cursor.choice("blank", "empty", ("empty", "value")),
            separator=_separator(cursor),
            distinct=cursor.flag("distinct"),
            extra=cursor.choice("extra", "ignore", ("ignore", "spurious")),
            description=cursor.text("description", "") or "",
            labels=cursor.texts("labels"),
            find=_find(cursor),
            names=cursor.texts("names"),
            unit_fields=cursor.texts("unit_field"),
        )

    def _below(self, field: Field, cursor: Cursor) -> Field:
        if field.type in ("list", "map"):
            key = "items" if field.type == "list" else "values"
            items = cursor.data.get(key)
            return replace(
                field, items=self.field("", "text" if items is None else items, (*cursor.steps, key))
            )
        holds = cursor.data.get("fields")
        if field.type == "any" and holds is not None:
            return replace(field, patterns=self.patterns(holds, (*cursor.steps, "fields")))
        if field.type != "object":
            return field
        if not holds:
            cursor.refuse(
                "fields",
                "an object must say which fields it has",
                "add `fields:`, or use the type `any`",
                "missing_key",
            )
            return field
        return replace(field, fields=self.fields(holds, (*cursor.steps, "fields")))

    def patterns(self, raw: Any, steps: Steps) -> tuple[tuple[str, Field], ...]:
        """Return the path patterns of a tree, in order, each with the field of its values."""
        fields = self.fields(raw, steps)
        for field in fields:
            try:
                Pattern(field.name)
            except ValueError as error:
                self.report.add(
                    (*steps, field.name), str(error), 'write a pattern such as "**.total"', "invalid"
                )
        return tuple((field.name, field) for field in fields)

    def call(self, cursor: Cursor, key: str) -> Call | None:
        """Return the call under a key, or None."""
        return self._call(cursor.data[key], key, (*cursor.steps, key)) if cursor.has(key) else None

    def _call(self, raw: Any, key: str, steps: Steps) -> Call | None:
        call: Call | None = self._or_problem(lambda: parse_call(raw), steps)
        catalogue = CATALOGUES[key]
        if call is not None and call.name not in catalogue:
            self.report.add(steps, *unknown(catalogue.kind, call.name, catalogue.names()))
        return call

    def _normalize(self, cursor: Cursor) -> tuple[Call, ...]:
        raw = cursor.data.get("normalize")
        listed = [] if raw is None else raw if isinstance(raw, list) else [raw]
        calls = [
            self._call(item, "normalize", (*cursor.steps, "normalize", position))
            for position, item in enumerate(listed)
        ]
        return tuple(call for call in calls if call is not None)

    def _accept(self, cursor: Cursor) -> Accept | None:
        if not cursor.has("accept"):
            return None
        accept: Accept | None = self._or_problem(
            lambda: parse_accept(cursor.data["accept"]), (*cursor.steps, "accept")
        )
        return accept

    def _accepted(self, cursor: Cursor) -> tuple[Any, ...]:
        raw = cursor.data.get("accepted")
        return (
            () if raw is None else tuple(freeze(value) for value in (raw if isinstance(raw, list) else [raw]))
        )

    def _or_problem(self, parse: Callable[[], Any], steps: Steps) -> Any:
        try:
            return parse()
        except ValueError as error:
            self.report.add_error(steps, error)
            return None


def refuse_mixture(cursor: Cursor) -> None:
    """Note that names and patterns are mixed."""
    remedy = (
        "give the patterns to a field of the type `any`, "
        "or write `type: object` if the stars are part of the names"
    )
    cursor.refuse(
        "fields", "holds names and path patterns (with a star) side by side", remedy, "mixed_patterns"
    )


def _members(definition: Any) -> int:
    """Return the number of fields that are written below one."""
    if not isinstance(definition, dict):
        return 0
    fields = definition.get("fields")
    below = [*(fields.values() if isinstance(fields, dict) else ()), *filter(None, [definition.get("items")])]
    return len(below) + sum(map(_members, below))


def is_patterns(raw: Any) -> bool:
    """Return whether a `fields:` value holds path patterns (all keys have a star), not fields."""
    return isinstance(raw, dict) and bool(raw) and all("*" in key for key in raw)


def _separator(cursor: Cursor) -> str | None:
    separator = cursor.text("separator")
    if separator == "":
        cursor.refuse(
            "separator",
            "an empty separator cannot split a text",
            'write it in quotes, such as "|"',
            "invalid",
        )
        return None
    return separator


def _find(cursor: Cursor) -> Find:
    """Return where a value is looked for; a pattern that cannot be matched in linear time is refused."""
    if not cursor.has("find"):
        return Find()

    inner = Cursor(cursor.mapping("find"), (*cursor.steps, "find"), cursor.report)
    inner.refuse_unknown(Find.__struct_fields__)
    pattern = inner.text("pattern", "") or ""
    try:
        Matches(pattern)
    except ValueError as error:
        what, _, remedy = str(error).removeprefix("pattern: ").partition("; ")
        inner.refuse("pattern", what, remedy)
        pattern = ""
    rows, items = inner.texts("rows"), cursor.data.get("items")
    columns = items.get("fields") if isinstance(items, dict) else None
    for name in re.findall(r"\{([^{}]*)\}", " ".join(rows)):
        if name.partition(".")[0] not in (columns or ()):
            inner.refuse(
                "rows", f"no column {name[:100]!r}", nearest(name[:100], columns or ()), "unknown_name"
            )
    choices = inner.choice("take", "first", CHOICES[:3]), inner.choice("unlabelled", "", (*CHOICES, ""))
    lines = inner.number("lines", 1)
    if lines != int(lines) or not 1 <= lines <= MOST_LINES:
        inner.refuse(
            "lines",
            f"must be a whole number from 1 to {MOST_LINES}",
            f"write {MOST_LINES} or less",
            "out_of_range",
        )
        lines = 1
    return Find(pattern, *choices, rows, int(lines), inner.texts("until"))
