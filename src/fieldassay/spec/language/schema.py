"""JSON Schemas as specs."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from fieldassay.errors import ProblemsError, kind_of, nearest
from fieldassay.paths import Step, join_path
from fieldassay.spec.language.names import as_definition
from fieldassay.spec.language.yaml_text import DEEPEST, Report, Steps, as_text

# The results of unions and intersections of JSON Schemas.

_UNIONS = ("anyOf", "oneOf")


def without_null(schema: dict[str, Any]) -> dict[str, Any]:
    """Return the schema without the choice of null; the same object if there is none.

    >>> without_null({"anyOf": [{"type": "string"}, {"type": "null"}], "title": "A"})
    {'type': 'string', 'title': 'A'}
    >>> without_null({"type": ["integer", "null"]})
    {'type': 'integer'}
    """
    kind = schema.get("type")
    if isinstance(kind, list):
        kinds = [name for name in kind if name != "null"]
        rest = {key: value for key, value in schema.items() if key != "type"}
        return (
            {"type": kinds[0] if kinds else "null", **rest}
            if len(kinds) < 2
            else {"anyOf": [{"type": name} for name in kinds], **rest}
        )
    for key in _UNIONS:
        options = schema.get(key)
        if isinstance(options, list):
            choices = [option for option in options if not (isinstance(option, Mapping) and _is_null(option))]
            if len(choices) == 1 and isinstance(choices[0], dict):
                return {**choices[0], **{name: value for name, value in schema.items() if name != key}}
            if len(choices) < len(options):
                return {**schema, key: choices}
    return schema


def _is_null(option: Mapping[str, Any]) -> bool:
    return (
        str(option.get("type")).casefold() == "null"
        or option.get("enum") == [None]
        or ("const" in option and option["const"] is None)
    )


def merged_all(schema: dict[str, Any], parts: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return one schema that combines all parts.

    Later parts win, the schema's own keys come last, properties are joined.

    >>> merged_all({}, [{"properties": {"a": {}}}, {"properties": {"b": {}}}])
    {'properties': {'a': {}, 'b': {}}}
    """
    merged: dict[str, Any] = {}
    properties: dict[str, Any] = {}
    for part in (*parts, schema):
        properties.update(part.get("properties", {}))
        merged.update(part)
    return {**merged, "properties": properties} if "properties" in merged else merged


def union_of(options: Sequence[dict[str, Any]]) -> dict[str, Any] | None:
    """Return one schema for a union of resolved schemas, or None if they are unlike.

    Enums are joined; a number beside a text (Pydantic's form of decimals) is a number; integer and number are
    number; different kinds of text are text, and so is an integer beside a text.
    """
    if len(options) == 1:
        return options[0]
    if options and all("enum" in option or "const" in option for option in options):
        return {"enum": [value for option in options for value in option.get("enum", [option.get("const")])]}
    kinds = {str(option.get("type")) for option in options}
    if kinds <= {"integer", "number"}:
        return {"type": "number"}
    if kinds == {"string"}:
        formats = {option.get("format") for option in options}
        return {"type": "string", **({"format": formats.pop()} if len(formats) == 1 else {})}
    if kinds == {"number", "string"}:
        return {"type": "number"}
    return {"type": "string"} if kinds <= {"integer", "number", "string", "boolean"} and kinds else None


def merged_definitions(definitions: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return one definition for values that are one of several.

    Objects have the fields of all, enums the values of all. Where the definitions disagree the type is `any`,
    and the description says so.

    >>> invoice = {"type": "object", "fields": {"total": {"type": "number"}, "due": {"type": "date"}}}
    >>> receipt = {"type": "object", "fields": {"total": {"type": "number"}}}
    >>> list(merged_definitions([invoice, receipt])["fields"])
    ['total', 'due']
    >>> merged_definitions([{"type": "date"}, {"type": "number"}])
    {'type': 'any', 'description': 'the choices of the schema differ: date, number'}
    """
    plain = [
        {key: value for key, value in definition.items() if key != "description"}
        for definition in definitions
    ]
    if not plain:
        return {"type": "any"}
    if all(definition == plain[0] for definition in plain):
        return definitions[0]
    kinds = list(dict.fromkeys(str(definition["type"]) for definition in plain))
    keys = {"object": "fields", "list": "items", "map": "values", "enum": "values"}
    key = keys.get(kinds[0]) if len(kinds) == 1 else None
    if key is not None and all(isinstance(definition.get(key), dict | list) for definition in plain):
        return {**plain[0], key: _merged_parts([definition[key] for definition in plain], key)}
    if (
        kinds != ["text"]
        and set(kinds) <= {"integer", "number", "boolean", "text"}
        and {"integer", "number"} & {*kinds}
    ):
        return {"type": "number"}  # texts that are no numbers are compared as texts, and flagged
    return {"type": "any", "description": f"the choices of the schema differ: {', '.join(kinds)}"}


def _merged_parts(parts: Sequence[Any], key: str) -> Any:
    """Return the fields, the items or the values of several definitions together."""
    if key == "values" and isinstance(parts[0], list):
        return list(dict.fromkeys(value for values in parts for value in values))
    if key in ("items", "values"):
        return merged_definitions(parts)
    fields: dict[str, list[dict[str, Any]]] = {}
    for part in parts:
        for name, inner in part.items():
            fields.setdefault(name, []).append(as_definition(inner) or {"type": "any"})
    return {name: merged_definitions(definitions) for name, definitions in fields.items()}


# JSON Schema as a spec: types, enums, formats and descriptions carry over; `x-fieldassay` keys refine.

EXTENSION = "x-fieldassay"

_FORMATS = {
    "date": "date", "date-time": "datetime", "time": "time", "duration": "duration", "email": "email",
    "idn-email": "email", "uri": "url", "url": "url", "iri": "url", "uri-reference": "url",
    **dict.fromkeys(("decimal", "number", "float", "double"), "number"),
    **dict.fromkeys(("integer", "int32", "int64"), "integer"),
}  # fmt: skip
_DECIMAL = "^(?!^[-+.]*$)[+-]?0*"
"""How the pattern begins that Pydantic writes for a decimal number."""
_TYPES = {"string": "text", "integer": "integer", "number": "number", "boolean": "boolean", "null": "any"}
_DIALECTS = {
    **{name: name for name in (*_TYPES, "object", "array")},
    **dict.fromkeys(("float", "double", "decimal"), "number"),
    **dict.fromkeys(("int", "int32", "int64", "long"), "integer"),
    **dict.fromkeys(("str", "text"), "string"),
    **dict.fromkeys(("dict", "map", "record", "struct"), "object"),
    **dict.fromkeys(("list", "tuple"), "array"),
    **{name: f"string {name}" for name in ("date", "time", "uuid", "email")},
    **dict.fromkeys(("datetime", "timestamp"), "string date-time"),
    "bool": "boolean",
}
"""The types of JSON Schema, with a format, by what Gemini (in capitals), Python and databases call them."""
_LARGEST_TUPLE = 32
_LARGEST = 50_000
_LONGEST_TEXT = 100
"""The characters of a description, or values of an enum, per counted part."""
_KINDS = {
    "properties": dict,
    "patternProperties": dict,
    "allOf": list,
    "anyOf": list,
    "oneOf": list,
    "enum": list,
}


def is_schema(data: Any) -> bool:
    """Return whether data is a JSON Schema, not a spec.

    >>> is_schema({"properties": {"total": {"type": "number"}}}), is_schema({"fields": {"total": "number"}})
    (True, False)
    """
    if not isinstance(data, dict):
        return False
    if "$schema" in data or "$defs" in data or isinstance(data.get("properties"), dict):
        return True
    return "$ref" in data or (data.get("type") in ("object", "array") and "fields" not in data)


def schema_data(
    schema: dict[str, Any], report: Report, at: Steps = ()
) -> tuple[dict[str, Any], dict[Steps, Steps]]:
    """Return a JSON Schema as a mapping in the spec language, and the origin of each field.

    `at` is the place of the schema. `required` has no effect: gold data decide whether a value is missing. A
    map of values becomes a tree with typed patterns, a union of objects an object with the fields of all, and
    a union of unlike types the type `any`. Recursive and remote references are problems.
    """
    walk = _SchemaWalk(schema, report)
    root = walk.definition(schema, _Place(at))
    data: dict[str, Any] = {key: root[key] for key in ("fields", "description") if key in root}
    if root.get("type") == "list":
        report.add(
            at, "the schema describes a list, not a record", "give the schema of one record", "invalid"
        )
    if root.get("type") != "object":
        data["type"] = "any"
    if isinstance(schema.get("title"), str):
        data["name"] = schema["title"]
    extension = schema.get(EXTENSION, {})
    if not isinstance(extension, dict):
        report.add(
            (*at, EXTENSION),
            f"must be a mapping, not {kind_of(extension)}",
            "write keys of a spec",
            "wrong_kind",
        )
        extension = {}
    own = extension.get("fields")
    fields = {**data.get("fields", {}), **own} if isinstance(own, dict) else data.get("fields")
    return {**data, **extension, **({"fields": fields} if fields else {})}, walk.origins


class _Place(Struct, frozen=True):
    """The place of a definition.

    `here` is in the schema, `spec_steps` in the spec, `path` in a record; `above` are the references being
    followed.
    """

    here: Steps
    spec_steps: Steps = ()
    path: tuple[str, ...] = ()
    """Pieces of a path pattern."""
    above: tuple[str, ...] = ()

    def member(self, name: str, *here: Step) -> "_Place":
        return replace(
            self,
            here=(*self.here, *here),
            spec_steps=(*self.spec_steps, "fields", name),
            path=(*self.path, key_piece(name)),
        )

    def items(self) -> "_Place":
        return replace(
            self, here=(*self.here, "items"), spec_steps=(*self.spec_steps, "items"), path=(*self.path, "[]")
        )

    def inside(self, *here: Step) -> "_Place":
        return replace(self, here=(*self.here, *here))


class _SchemaWalk(Struct):
    """One pass over a schema: its definitions, the places of the fields made, and the problems."""

    root: dict[str, Any]
    report: Report
    origins: dict[Steps, Steps] = field(default_factory=dict)
    count: int = 0

    def definition(self, schema: Any, place: _Place) -> dict[str, Any]:
        """Return the definition of the field at a place."""
        self.origins[place.spec_steps] = place.here
        if len(place.path) > DEEPEST:
            self._stop(
                place,
                f"the schema nests deeper than {DEEPEST} levels once its references are followed",
                "flatten it",
                "too_deep",
            )
        if not isinstance(schema, dict):
            return {"type": "any"}
        if place.spec_steps and _says_any(schema.get(EXTENSION)):
            return self._refined({"type": "any"}, schema, place)
        resolved, above = self._resolved(schema, place)
        core = self._core(resolved, replace(place, above=above))
        text = resolved.get("description") or _telling_title(resolved.get("title"), place, above)
        if isinstance(text, str) and text:
            self._count(place, len(text))
            core = {**core, "description": text}
        return self._refined(core, resolved, place)

    def _count(self, place: _Place, size: int = 0) -> None:
        """Count one more part of the schema, a long one as several.

        A few lines of references can expand to millions.
        """
        self.count += 1 + size // _LONGEST_TEXT
        if self.count > _LARGEST:
            what = f"the schema has more than {_LARGEST:,} parts once its references are followed"
            self._stop(
                place, what, "split it, or set `x-fieldassay: any` on what need not be declared", "too_large"
            )

    def _stop(self, place: _Place, what: str, remedy: str, kind: str) -> None:
        self.report.add(place.here, what, remedy, kind)
        raise ProblemsError(self.report.problems)

    def _refined(self, core: dict[str, Any], schema: Mapping[str, Any], place: _Place) -> dict[str, Any]:
        extension = schema.get(EXTENSION)
        if extension is None or not place.spec_steps:
            return core
        if isinstance(extension, str):
            extension = {"type": extension}
        if not isinstance(extension, dict):
            what = f"must be a type or a mapping, not {kind_of(extension)}"
            self.report.add((*place.here, EXTENSION), what, "write keys of a field", "wrong_kind")
            return core
        if "type" in extension and extension["type"] != core.get("type"):
            core = {key: value for key, value in core.items() if key == "description"}
        return {**core, **extension}

    def _resolved(self, schema: dict[str, Any], place: _Place) -> tuple[dict[str, Any], tuple[str, ...]]:
        """Return the simplified schema, and the references now being followed.

        References are followed, `allOf` is merged and null is removed from unions.
        """
        above = place.above
        schema = self._sound(schema, place)
        for _ in range(DEEPEST):
            self._count(place)
            reference = schema.get("$ref")
            if isinstance(reference, str):
                target = self._sound(self._target(reference, place.here, above), place)
                above = (*above, reference)
                schema = {**target, **{key: value for key, value in schema.items() if key != "$ref"}}
            elif "allOf" in schema:
                parts = [
                    self._resolved(part, replace(place.inside("allOf", position), above=above))
                    for position, part in enumerate(schema["allOf"])
                    if isinstance(part, dict)
                ]
                above = tuple(dict.fromkeys((*above, *(name for _, names in parts for name in names))))
                schema = merged_all(
                    {key: value for key, value in schema.items() if key != "allOf"},
                    [part for part, _ in parts],
                )
            else:
                simpler = without_null(schema)
                if simpler is schema:
                    return schema, above
                schema = self._sound(simpler, place)
        self._stop(
            place,
            f"more than {DEEPEST} references follow each other",
            "refer to the definition itself",
            "too_deep",
        )
        return {}, above

    def _sound(self, schema: dict[str, Any], place: _Place) -> dict[str, Any]:
        """Return the schema without keywords with invalid values, which are noted as problems."""
        wrong = [key for key, kind in _KINDS.items() if key in schema and not isinstance(schema[key], kind)]
        for key in wrong:
            kind = "a mapping" if _KINDS[key] is dict else "a list"
            what = f"must be {kind}, not {kind_of(schema[key])}"
            self.report.add((*place.here, key), what, "correct the schema", "wrong_kind")
        sound = {key: value for key, value in schema.items() if key not in wrong} if wrong else schema
        kinds = sound.get("type")
        named = kinds if isinstance(kinds, list) else [] if kinds is None else [kinds]
        if set(map(str, named)) <= _TYPES.keys() | {"object", "array"}:
            return sound
        rest = {key: value for key, value in sound.items() if key != "type"}
        types = [_DIALECTS.get(str(kind).casefold(), "") for kind in named]
        if "" in types:
            unknown = str(named[types.index("")])[:60]
            what = f"{unknown!r} is not a type of JSON Schema"
            self.report.add((*place.here, "type"), what, nearest(unknown, tuple(_DIALECTS)), "unknown_name")
            return rest
        kind, _, form = types[0].partition(" ") if len(types) == 1 else ("", "", "")
        formats = {"format": form} if form else {}
        return {**formats, **rest, "type": kind or [spelling.partition(" ")[0] for spelling in types]}

    def _target(self, reference: str, here: Steps, above: tuple[str, ...]) -> dict[str, Any]:
        if reference in above:
            remedy = (
                "a spec has no recursive fields: declare the levels that matter, "
                "or set `x-fieldassay: any` on the field"
            )
            self.report.add(here, f"the reference {reference[:200]!r} is recursive", remedy, "cycle")
            return {}
        target: Any = self.root if reference.startswith("#") else None
        for part in reference[1:].strip("/").split("/") if len(reference) > 1 else ():
            key = part.replace("~1", "/").replace("~0", "~")
            target = target.get(key) if isinstance(target, dict) else None
        if not isinstance(target, dict):
            self.report.add(
                here,
                f"the reference {reference[:200]!r} leads nowhere",
                "use a reference inside this schema (#/$defs/…)",
                "unknown_name",
            )
            return {}
        return target

    def _core(self, schema: dict[str, Any], place: _Place) -> dict[str, Any]:
        """Return the definition of a resolved schema without its description."""
        union = next((key for key in _UNIONS if schema.get(key)), None)
        if union is not None:
            return self._union(schema, union, place)
        if "enum" in schema or "const" in schema:
            self._count(place, len(schema.get("enum", ())))
            return _enum(schema)
        kind = schema.get("type")
        if schema.get("properties") and kind in (None, "object"):
            return {"type": "object", "fields": self._fields(schema["properties"], place)}
        if kind in (None, "object") and (values := value_schemas(schema)):
            return self._map(values, place)
        if kind == "array":
            return self._list(schema, place)
        if kind == "string":
            if str(schema.get("format")).casefold().startswith("uuid"):
                return {"type": "id", "case_sensitive": False}
            is_decimal = str(schema.get("pattern", "")).startswith(_DECIMAL)
            return {
                "type": "number" if is_decimal else _FORMATS.get(str(schema.get("format")).casefold(), "text")
            }
        return {"type": _TYPES.get(kind, "any") if isinstance(kind, str) else "any"}

    def _union(self, schema: dict[str, Any], key: str, place: _Place) -> dict[str, Any]:
        """Return the definition shared by all choices.

        For values it is the one that reads them all, for objects one with the fields of each.
        """
        choices = [
            (*self._resolved(choice, place.inside(key, position)), position)
            for position, choice in enumerate(schema[key])
            if isinstance(choice, dict)
        ]
        base = {name: value for name, value in schema.items() if name not in _UNIONS}
        if base.get("properties"):  # the choices add to the object, such as its required fields
            choices = [(merged_all(choice, [base]), above, position) for choice, above, position in choices]
        simple = union_of([choice for choice, _, _ in choices])
        if simple is not None and len(choices) > 1:
            return self._core(simple, place)
        return merged_definitions(
            [
                self._core(choice, replace(place.inside(key, position), above=above))
                for choice, above, position in choices
            ]
        )

    def _fields(self, properties: Mapping[str, Any], place: _Place) -> dict[str, Any]:
        return {
            name: self.definition(inner, place.member(name, "properties", name))
            for name, inner in properties.items()
        }

    def _map(self, values: Sequence[tuple[str, Steps, Any]], place: _Place) -> dict[str, Any]:
        """Return a map, or a tree with a pattern for each kind of value if keys are of several kinds."""
        if place.path and [here for _, here, _ in values] == [("additionalProperties",)]:
            [(_, here, schema)] = values
            inner = replace(
                place.inside(*here), spec_steps=(*place.spec_steps, "values"), path=(*place.path, ".*")
            )
            definition = self.definition(schema, inner)
            return {"type": "any"} if definition == {"type": "any"} else {"type": "map", "values": definition}
        patterns: dict[str, Any] = {}
        for glob, here, schema in values:
            path = (*place.path, f".{glob}")
            inner = replace(
                place.inside(*here), spec_steps=(*place.spec_steps, "fields", pattern_text(path)), path=path
            )
            for text, definition, steps in patterns_of(self.definition(schema, inner), path):
                patterns.setdefault(text, definition)
                self.origins.setdefault(
                    (*place.spec_steps, "fields", text),
                    self.origins.get((*inner.spec_steps, *steps), inner.here),
                )
        return {"type": "any", "fields": patterns} if patterns else {"type": "any"}

    def _list(self, schema: dict[str, Any], place: _Place) -> dict[str, Any]:
        items = schema.get("items")
        places = schema.get("prefixItems", items)
        if isinstance(places, list) and 0 < len(places) <= _LARGEST_TUPLE:
            return self._tuple(places, place)
        if not isinstance(items, dict):
            return {"type": "any"}
        definition = {"type": "list", "items": self.definition(items, place.items())}
        is_fixed = schema.get("minItems") == schema.get("maxItems") != None  # noqa: E711
        return {**definition, "align": "ordered"} if is_fixed and schema["minItems"] != 1 else definition

    def _tuple(self, places: Sequence[Any], place: _Place) -> dict[str, Any]:
        """Return a list in order, or an object of places where these have different types."""
        fields = {
            str(at): self.definition(inner, place.member(str(at), "prefixItems", at))
            for at, inner in enumerate(places)
        }
        first = fields["0"]
        if len(fields) > 1 and any(definition != first for definition in fields.values()):
            return {"type": "object", "fields": fields}
        return {"type": "list", "align": "ordered", "items": self.definition(places[0], place.items())}


def _telling_title(title: Any, place: _Place, above: Sequence[str]) -> Any:
    """Return a title that adds to the name of the field or of the definition, else None.

    Generated schemas repeat these names as titles.
    """
    names = (
        {_folded(str(place.spec_steps[-1])), *(_folded(name.rpartition("/")[2]) for name in above)}
        if place.spec_steps
        else None
    )
    return None if names is None or not isinstance(title, str) or _folded(title) in names else title


def _folded(text: str) -> str:
    return re.sub(r"[\W_]+", "", text).casefold()


def _says_any(extension: Any) -> bool:
    return extension == "any" or (isinstance(extension, dict) and extension.get("type") == "any")


def _enum(schema: Mapping[str, Any]) -> dict[str, Any]:
    listed = [value for value in schema.get("enum", [schema.get("const")]) if value is not None]
    if all(isinstance(value, bool) for value in listed):
        return {"type": "boolean"}
    texts = [as_text(value) for value in listed]
    return {"type": "any"} if None in texts else {"type": "enum", "values": texts}


_PREFIX = re.compile(r"\^([\w-]+)(?:\.\*\$?)?")
_SUFFIX = re.compile(r"(?:\^?\.\*)?([\w-]+)\$")
_WHOLE = re.compile(r"\^([\w-]+)\$")


def value_schemas(schema: Mapping[str, Any]) -> list[tuple[str, Steps, Any]]:
    """Return the value schemas of a map: a glob of keys, the place of the schema, and the schema.

    A regular expression becomes a glob if one is equivalent; alone, it stands for every key.

    >>> value_schemas({"additionalProperties": {"type": "number"}})
    [('*', ('additionalProperties',), {'type': 'number'})]
    """
    patterns = schema.get("patternProperties", {})
    rest = schema.get("additionalProperties")
    candidates = [(_glob(text), ("patternProperties", text), inner) for text, inner in patterns.items()]
    is_alone = len(candidates) == 1 and not isinstance(rest, dict)
    schemas: list[tuple[str, Steps, Any]] = [
        ("*" if glob is None else glob, place, inner) for glob, place, inner in candidates if glob or is_alone
    ]
    return [*schemas, ("*", ("additionalProperties",), rest)] if isinstance(rest, dict) else schemas


def _glob(expression: str) -> str | None:
    """Return the glob equivalent to a simple regular expression, or None.

    >>> _glob("^S_"), _glob("_unit$"), _glob("^[A-Z]+$")
    ('S_*', '*_unit', None)
    """
    for fullmatch, glob in ((_WHOLE.fullmatch, "{}"), (_PREFIX.fullmatch, "{}*"), (_SUFFIX.fullmatch, "*{}")):
        match = fullmatch(expression)
        if match is not None:
            return glob.format(match[1])
    return None


def key_piece(name: str) -> str:
    """Return a literal key as a piece of a path pattern.

    >>> key_piece("total"), key_piece("a*b")
    ('.total', '["a*b"]')
    """
    if "*" in name:
        return f"[{json.dumps(name, ensure_ascii=False)}]"
    text = join_path([name])
    return text if text.startswith("[") else f".{text}"


def pattern_text(pieces: Sequence[str]) -> str:
    """Return the path pattern of its pieces."""
    return "".join(pieces).removeprefix(".")


def patterns_of(
    definition: Mapping[str, Any], pieces: tuple[str, ...], steps: Steps = ()
) -> Iterator[tuple[str, dict[str, Any], Steps]]:
    """Yield the patterns of the values below a definition, each with their definition and its place.

    The places start at `steps`.

    >>> prices = {"type": "object", "fields": {"net": {"type": "number"}}}
    >>> [(text, inner["type"]) for text, inner, _ in patterns_of(prices, (".rates", ".*"))]
    [('rates.*.net', 'number')]
    """
    kind, fields = definition.get("type"), definition.get("fields")
    if "compare" not in definition and kind == "list":
        yield from patterns_of(
            as_definition(definition.get("items")) or {}, (*pieces, "[]"), (*steps, "items")
        )
    elif kind == "map":
        yield from patterns_of(
            as_definition(definition.get("values")) or {}, (*pieces, ".*"), (*steps, "values")
        )
    elif "compare" not in definition and kind in ("object", "any"):
        for name, raw in fields.items() if isinstance(fields, dict) else ():
            inner, place = as_definition(raw) or {}, (*steps, "fields", name)
            if kind == "object":
                yield from patterns_of(inner, (*pieces, key_piece(name)), place)
            else:
                yield name, inner, place
    elif kind is not None:
        yield pattern_text(pieces), dict(definition), steps
