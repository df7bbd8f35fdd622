"""One field of a spec, and the fields below it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from fieldassay.errors import kind_of, nearest
from fieldassay.paths import Pattern
from fieldassay.spec.language.calls import parse_accept, parse_call
from fieldassay.spec.language.cursor import Cursor
from fieldassay.spec.language.freeze import freeze, freeze_options
from fieldassay.spec.language.model import ONLY_ITEM, Accept, Call, Field, Find
from fieldassay.spec.language.names import CATALOGUES, unknown
from fieldassay.spec.language.report import Report, Steps
from fieldassay.spec.language.templates import Templates, as_definition, option_keys, over_preset_field
from fieldassay.values.types.catalogue import READERS

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

    def fields(self, raw: Any, steps: Steps, is_top: bool = False) -> tuple[Field, ...]:
        """Return the fields of a mapping from names to definitions."""
        if not isinstance(raw, dict):
            self.report.add(
                steps,
                f"must be a mapping of field names, not {kind_of(raw)}",
                "write `name: type` lines",
                "wrong_kind",
            )
            return ()
        presets = self.templates.fields if is_top else {}
        return tuple(
            self.field(name, value, (*steps, name), presets.get(name)) for name, value in raw.items()
        )

    def field(self, name: str, raw: Any, steps: Steps, preset: dict[str, Any] | None = None) -> Field:
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
        definition = over_preset_field(definition, preset)
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
                f"the type {name!r} stands within itself, or deeper than {MOST_LEVELS} levels"
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
            combine=cursor.choice("combine", "mean", ("mean", "weighted", "product", "agreement")),
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
        found = self.fields(raw, steps)
        for field in found:
            try:
                Pattern(field.name)
            except ValueError as error:
                self.report.add(
                    (*steps, field.name), str(error), 'write a pattern such as "**.total"', "invalid"
                )
        return tuple((field.name, field) for field in found)

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
            what, _, remedy = str(error).partition("; ")
            self.report.add(steps, what, remedy)
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
    found = cursor.text("separator")
    if found == "":
        cursor.refuse(
            "separator",
            "an empty separator cannot split a text",
            'write it in quotes, such as "|"',
            "invalid",
        )
        return None
    return found


def _find(cursor: Cursor) -> Find:
    """Return where a value is looked for; a pattern that cannot be matched in linear time is refused."""
    if not cursor.has("find"):
        return Find()
    from fieldassay.values.checks.texts import Matches

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
