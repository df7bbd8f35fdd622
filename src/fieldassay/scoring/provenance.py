"""Where a result comes from: digests of inputs, specs, plans and labels, and how two differ."""

import hashlib
import json
import math
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from functools import cache, lru_cache
from itertools import chain
from pathlib import Path
from typing import Any, TypeAlias

import msgspec
import numpy as np
import numpy.typing as npt
from msgspec import Struct

from fieldassay.errors import ProblemsError, list_names
from fieldassay.io.files.whole_files import digest_file, list_folder
from fieldassay.metrics.catalogue.definitions import Definition
from fieldassay.metrics.fold import FoldPlan
from fieldassay.options import options_of
from fieldassay.paths import split_path
from fieldassay.records.files import is_url, list_urls, open_url, split_sheet
from fieldassay.records.matching import Matching
from fieldassay.records.record import Record
from fieldassay.spec.language.model import Spec
from fieldassay.spec.language.names import apply_aliases
from fieldassay.spec.language.parse import RecordedSpec, read_spec
from fieldassay.spec.language.write import write_spec
from fieldassay.spec.plan.compile import field_paths, scoring_data
from fieldassay.spec.plan.nodes import AnyNode, Leaf, ListNode, Node, ObjectNode, Plan, list_leaves
from fieldassay.values.comparators.base import Comparator

# Plain data as canonical text, and its digest.

_ENCODER = json.JSONEncoder(sort_keys=True, ensure_ascii=True, separators=(",", ":"))
_SORTED = msgspec.json.Encoder(order="sorted")
_EXPONENT = re.compile(rb"e[0-9-]")
_MOST_BITS = 10_000  # Python refuses str() of integers above 4300 digits


class BasisPart(Struct, frozen=True):
    """One part of a basis: plain data, and the SHA-256 of its canonical text."""

    digest: str
    content: Any


def part_of(content: Any) -> BasisPart:
    """Return plain data with its digest.

    >>> part_of([]).digest[:16]
    '4f53cda18c2baa0c'
    """
    return BasisPart(hashlib.sha256(canonical(content)).hexdigest(), content)


def canonical(value: Any) -> bytes:
    """Return JSON data as canonical text: sorted keys, no white space, ASCII; equal on every machine.

    Numbers and text differ (`1`, `"1"`), and so do whole numbers and fractions (`1`, `1.0`), since a text
    field distinguishes them.

    >>> canonical({"b": [1, 1.0, "1", None], "a": "é"})
    b'{"a":"\\\\u00e9","b":[1,1.0,"1",null]}'
    """
    try:
        text = _ENCODER.encode(value)
    except ValueError:
        text = _ENCODER.encode(_without_long_numbers(value))
    return text.encode("ascii")


def canonical_record(value: Any) -> bytes:
    """Return `canonical` of plain JSON data whose keys are text, by a faster encoder where both agree.

    They differ in characters beyond ASCII, small fractions, exponents and numbers that are not finite.

    >>> canonical_record({"b": [1, 1.0, 1e-7], "a": "é"}) == canonical({"b": [1, 1.0, 1e-7], "a": "é"})
    True
    """
    try:
        text = _SORTED.encode(value)
    except (TypeError, ValueError, OverflowError, RecursionError):
        return canonical(value)
    is_same = text.isascii() and b"0.0000" not in text and b"\x7f" not in text and not _EXPONENT.search(text)
    return text if is_same and (b"null" not in text or _is_finite(value)) else canonical(value)


def _is_finite(value: Any) -> bool:
    """Return whether all numbers of the data are finite; the others would be written as null."""
    if isinstance(value, dict):
        return all(map(_is_finite, value.values()))
    if isinstance(value, list):
        return all(map(_is_finite, value))
    return not isinstance(value, float) or math.isfinite(value)


def _without_long_numbers(value: Any) -> Any:
    """Return the data with integers too long to be written as objects that hold their digits as text."""
    if isinstance(value, dict):
        return {key: _without_long_numbers(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_without_long_numbers(item) for item in value]
    if isinstance(value, int) and value.bit_length() > _MOST_BITS:
        return {"\0integer": str(Decimal(value))}
    return value


# SHA-256 of inputs, so that a run names exactly its sources.


def digest_input(label: str) -> str | None:
    """Return the SHA-256 of a file, or of a directory's file names and digests in order.

    None for inputs that cannot be read twice.
    """
    named = split_sheet(label)[0]
    if is_url(named):
        return _digest_url(named)
    path = Path(named)
    if path.is_file():
        return digest_file(path)
    if not path.is_dir():
        return None
    return _digest_all((inner, digest_file(place)) for inner, place in list_folder(path).files)


def _digest_url(url: str) -> str:
    """Return the digest of an object, or of all objects below a URL, as of the same files."""

    def digest(place: str) -> str:
        with open_url(place) as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()  # type: ignore[arg-type]

    listed = list_urls(url)
    if listed is None:
        return digest(url)
    return _digest_all((inner, digest(place)) for inner, place in listed)


def _digest_all(files: Iterable[tuple[str, str]]) -> str:
    """Return the digest of files by their paths below a folder and their own digests."""
    whole = hashlib.sha256()
    for inner, digest in files:
        whole.update(f"{inner}\0{digest}\n".encode("utf-8", "surrogateescape"))
    return whole.hexdigest()


def digest_inputs(labels: Iterable[str]) -> dict[str, str | None]:
    """Return the digests of inputs by the labels under which they were given; standard input has none."""
    return {label: digest_input(label) for label in dict.fromkeys(labels)}


# The differences between the bases of two runs, in words.

MOST_NAMED = 5
"""Changes that a text names, and documents of each kind."""

_WIDTH = 60
_ABSENT = object()


def describe_documents(
    added: Sequence[str] = (), removed: Sequence[str] = (), changed: Sequence[str] = ()
) -> str:
    """Return how many documents of gold are new, gone, or labeled differently, and the first of each.

    >>> describe_documents(["d4"], ["d3"])
    '1 document added (d4), 1 removed (d3)'
    """
    kinds = [
        (kind, names)
        for kind, names in (("added", added), ("changed", changed), ("removed", removed))
        if names
    ]
    phrases: list[str] = []
    for kind, names in kinds:
        noun = "" if phrases else " document" if len(names) == 1 else " documents"
        more = ", …" if len(names) > MOST_NAMED else ""
        phrases.append(f"{len(names):,}{noun} {kind} ({', '.join(map(_short, names[:MOST_NAMED]))}{more})")
    return ", ".join(phrases)


def describe_changes(before: Any, after: Any) -> str:
    """Return the first changes between two specs, formulas or models as plain data, place by place.

    >>> describe_changes({"fields": {"total": "money"}}, {"fields": {"total": "id"}, "locale": "es"})
    'fields.total.type was "money", is now "id", locale was added ("es")'
    """
    return list_names(list(_list_changes(before, after)), MOST_NAMED)


def _list_changes(before: Any, after: Any, steps: tuple[str, ...] = ()) -> Iterator[str]:
    """Yield each change; lists are compared as a whole."""
    place = _short(".".join(steps))
    if before is _ABSENT:
        yield f"{place} was added ({_text(after)})"
        return
    if after is _ABSENT:
        yield f"{place} was removed ({_text(before)})"
        return
    if steps[-1:] == ("items",) or steps[-2:-1] == ("fields",):  # a field may be its type alone
        before, after = ({"type": side} if isinstance(side, str) else side for side in (before, after))
    if isinstance(before, Mapping) and isinstance(after, Mapping):
        for key in sorted(before.keys() | after.keys()):
            yield from _list_changes(before.get(key, _ABSENT), after.get(key, _ABSENT), (*steps, key))
    elif json.dumps(before, sort_keys=True) != json.dumps(after, sort_keys=True):
        yield (
            f"{place} was {_text(before)}, is now {_text(after)}"
            if steps
            else f"{_text(before)}, now {_text(after)}"
        )


def _text(value: Any) -> str:
    return _short(json.dumps(value, sort_keys=True, ensure_ascii=False))


def _short(text: str) -> str:
    """Return a text in one line, its end left out if it is long."""
    text = text[: _WIDTH + 1].replace("\n", "\\n").replace("\r", "\\r")
    return text if len(text) <= _WIDTH else f"{text[: _WIDTH - 1]}…"


# The digest of gold data: ids and declared values, whatever the file and the order of records and keys.

Picker: TypeAlias = Callable[[Any], Any]
"""From a value to its declared part."""


def declared_values(plan: Plan) -> Picker:
    """Return a function from a gold record to its declared values.

    That is the record without undeclared keys, or all of a tree without declared fields. The key with the
    document's type stays: it decides which fields apply.

    >>> from fieldassay.spec.plan.compile import read_plan
    >>> pick = declared_values(read_plan("fields: {total: money, lines: {items: {fields: {sku: id}}}}"))
    >>> pick({"total": "5", "label_status": "reviewed", "lines": [{"sku": "A", "page": 3}]})
    {'total': '5', 'lines': [{'sku': 'A'}]}
    """
    kind = plan.spec.document_type
    return _picker(plan.root, () if kind is None else split_path(kind.field)[:1]) or (lambda value: value)


def _picker(node: Node, more: Sequence[Any] = ()) -> Picker | None:
    """Return the function from a value at a node's place to its declared part; None: all is declared.

    `more` are keys of the object that stay, too, as they are given.
    """
    if isinstance(node, ListNode):
        return _list_picker(node)
    if not isinstance(node, ObjectNode) or any(
        isinstance(child, AnyNode) and not child.path for child in node.children
    ):
        return None
    declared = _declared_keys(node)
    deeper = {child.name: pick for child in node.children if (pick := _picker(child)) is not None}

    def pick_object(value: Any) -> Any:
        if value.__class__ is not dict:
            return value
        renamed = apply_aliases(value, node.other_names) if node.other_names else value
        declared_part = (
            renamed
            if declared.issuperset(renamed)
            else {name: renamed[name] for name in renamed if name in declared}
        )
        for name in deeper.keys() & declared_part.keys():
            picked = deeper[name](declared_part[name])
            declared_part = declared_part if picked is declared_part[name] else declared_part | {name: picked}
        return {key: value[key] for key in more if key in value} | declared_part if more else declared_part

    return pick_object


def _declared_keys(node: ObjectNode) -> frozenset[str]:
    units = {name for child in node.children if isinstance(child, Leaf) for name in child.unit_fields}
    return frozenset({child.name for child in node.children} | units)


def _list_picker(node: ListNode) -> Picker | None:
    pick, items = _picker(node.items), node.items
    if pick is None:
        return None
    is_flat = (
        isinstance(items, ObjectNode) and not items.other_names and not any(map(_picker, items.children))
    )
    declared = _declared_keys(items) if isinstance(items, ObjectNode) else frozenset()

    def pick_items(value: Any) -> Any:
        if value.__class__ is list:
            has_all = (
                is_flat
                and set(map(type, value)) == {dict}
                and declared.issuperset(chain.from_iterable(value))
            )
            return value if has_all else [pick(item) for item in value]
        if node.is_map and value.__class__ is dict:
            return {name: pick(item) for name, item in value.items()}
        return pick(value)

    return pick_items


SIZE = 16
"""Bytes of a document's digest."""

_HEAD = b"fieldassay gold 1\n"


def digest_part(plan: Plan, records: Sequence[Record]) -> npt.NDArray[np.uint8]:
    """Return the digests of some gold records, one row of `SIZE` bytes each, for `digest_rows`.

    The digest of a record covers its id, its declared values as read, and the data beside it that belongs to
    gold: critical, illegible and unreviewed paths, accepted values, variant, tags and difficulty.

    >>> from fieldassay.spec.plan.compile import read_plan
    >>> from fieldassay.records.source import open_source
    >>> plan = read_plan("fields: {a: integer, b: integer}")
    >>> one = open_source([{"id": 1, "a": 1, "b": 2}]).fetch([0])
    >>> two = open_source([{"b": 2, "id": 1, "a": 1, "note": "new"}]).fetch([0])
    >>> digest_part(plan, one).tobytes() == digest_part(plan, two).tobytes()
    True
    """
    pick = declared_values(plan)
    digests = (
        hashlib.sha256(canonical_record([record.id, pick(record.data), _beside(record)])).digest()[:SIZE]
        for record in records
    )
    return np.frombuffer(b"".join(digests), dtype=np.uint8).reshape(len(records), SIZE)


def digest_rows(rows: npt.NDArray[np.uint8]) -> str:
    """Return the digest of gold data from rows of `SIZE` bytes, one a document.

    It is the SHA-256 of the rows in sorted order.
    """
    words = np.ascontiguousarray(rows).view(">u8")
    order = np.lexsort((words[:, 1], words[:, 0]))
    return hashlib.sha256(_HEAD + np.ascontiguousarray(rows[order]).tobytes()).hexdigest()


def _beside(record: Record) -> dict[str, Any]:
    """Return the data beside the record that belongs to gold, without missing parts."""
    meta = record.meta
    paths = meta.critical_paths or meta.illegible_paths or meta.unreviewed_paths
    if not (paths or meta.accepted_values or meta.variant or meta.tags or meta.attributes):
        return {}
    accepted = {path: sorted(values, key=canonical) for path, values in meta.accepted_values.items()}
    facts = {
        "critical": sorted(set(meta.critical_paths)),
        "illegible": sorted(set(meta.illegible_paths)),
        "unreviewed": sorted(set(meta.unreviewed_paths)),
        "accepted": accepted,
        "variant": meta.variant,
        "tags": sorted(set(meta.tags)),
        "difficulty": meta.attributes.get("difficulty"),
    }
    return {name: value for name, value in facts.items() if value}


# The frozen parts of a spec: the part that decides the scores, and the formulas over them.


def recorded_spec(run: Mapping[str, Any]) -> Spec | None:
    """Return the spec in the provenance of a result; None where there is none, or none that can be read."""
    recorded = run.get("spec")
    text = recorded.get("text") if isinstance(recorded, Mapping) else None
    try:
        return read_spec(RecordedSpec(text)) if isinstance(text, str) and text else None
    except ProblemsError:
        return None


def recorded_paths(run: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the paths of all fields of a result's spec in their order; () where it cannot be read."""
    spec = recorded_spec(run)
    return () if spec is None else field_paths(spec)


def freeze_spec(spec: Spec) -> BasisPart:
    """Return the scoring-relevant part of a spec; its digest is that of `spec.plan.digest.digest_of`.

    >>> from fieldassay.spec.language.parse import read_spec
    >>> freeze_spec(read_spec("fields: {total: {type: money, description: with tax}}")).content
    {'fieldassay': 1, 'fields': {'total': 'money'}}
    """
    return part_of(scoring_data(spec))


def freeze_formulas(spec: Spec) -> BasisPart:
    """Return the formulas of a spec: metrics, its own ones, the one scoring a document, and the prices.

    The order of metrics, and white space in formulas, have no part in it. Gates and slices are no formulas:
    they judge and group numbers.

    >>> from fieldassay.spec.language.parse import read_spec
    >>> spec = read_spec({"fields": {"total": "money"}, "metrics": ["f1", "accuracy"]})
    >>> freeze_formulas(spec).content["metrics"]
    ['accuracy', 'f1']
    """
    prices = {model: {kind: float(price) for kind, price in kinds} for model, kinds in spec.prices}
    content: dict[str, Any] = {
        "metrics": sorted({_squeeze(text) for text in spec.metrics}),
        "prices": prices,
        "score": spec.score,
    }
    return part_of(
        {
            **content,
            "definitions": {definition.name: _definition(definition) for definition in spec.definitions},
        }
    )


def _definition(definition: Definition) -> dict[str, Any]:
    facts = {key: getattr(definition, key) for key in ("better", "unit", "scope")}
    return {
        "formula": _squeeze(definition.formula),
        **{key: value for key, value in facts.items() if value is not None},
    }


def _squeeze(text: str) -> str:
    return " ".join(text.split())


# The foundations of a plan's numbers, as digests: the spec, the formulas and the models.

_MODEL_FACTS = ("name", "backend", "digest")


def freeze_plan(plan: Plan) -> dict[str, BasisPart]:
    """Return the basis of a plan's numbers except the gold data: `spec`, `formulas` and `models`."""
    return _freeze(plan.spec, models(plan))


def freeze_recorded(text: str, models: Iterable[Mapping[str, Any]]) -> dict[str, BasisPart]:
    """Return the same of the text of a recorded spec and the recorded models.

    Raises `ProblemsError` for a text that is no spec of this version.
    """
    return _freeze(read_spec(RecordedSpec(text)), models)


def _freeze(spec: Spec, models: Iterable[Mapping[str, Any]]) -> dict[str, BasisPart]:
    used = [{key: facts[key] for key in _MODEL_FACTS if key in facts} for facts in models]
    return {
        "spec": freeze_spec(spec),
        "formulas": freeze_formulas(spec),
        "models": part_of(sorted(used, key=str)),
    }


def models(plan: Plan) -> list[dict[str, Any]]:
    """Return the identity of every model that a comparator of the plan runs, each once."""
    identities: list[dict[str, Any]] = []
    for leaf in list_leaves(plan.root):
        for comparator in _nested(leaf.comparator):
            identity = getattr(comparator, "identity", None)
            if identity is not None and (own := dict(identity())) not in identities:
                identities.append(own)
    return identities


def _nested(comparator: Comparator) -> list[Comparator]:
    """Return a comparator and those it is made of."""
    comparators = [comparator]
    for option in options_of(type(comparator)):
        value = getattr(comparator, option.name)
        for inner in value if isinstance(value, tuple) else (value,):
            if isinstance(inner, Comparator):
                comparators += _nested(inner)
    return comparators


# Where a result comes from: versions, digests, seed and inputs.

PACKAGES = (
    "fieldassay",
    "numpy",
    "polars",
    "rapidfuzz",
    "scipy",
    "babel",
    "pint",
    "phonenumbers",
    "python-stdnum",
    "json-repair",
)
_ENDING = ".dist-info"


def provenance(plan: Plan, folding: FoldPlan, matching: Matching) -> dict[str, Any]:
    """Return the provenance of the numbers.

    That is the resolved spec and its digest, versions, metrics, the bootstrap's seed, inputs, encoders.
    """
    return {
        "spec": {"name": plan.spec.name, "digest": plan.digest, "text": write_spec(plan.spec)},
        "metrics": [str(call) for call in folding.metrics],
        "score": plan.spec.score,
        "definitions": [definition.name for definition in plan.spec.definitions],
        "labels": {
            definition.name: definition.label for definition in plan.spec.definitions if definition.label
        },
        "kept": {
            "compared": [str(call) for call in folding.compared],
            "also": [str(call) for call in folding.also_kept],
        },
        "slices": list(folding.slices),
        "gates": list(plan.spec.gates),
        "bootstrap": {
            "replicates": folding.replicates,
            "seed": folding.seed,
            "level": folding.level,
            **({} if folding.cluster is None else {"cluster": folding.cluster}),
        },
        "inputs": {
            "gold": matching.gold.label,
            "predictions": {name: source.label for name, source in matching.predictions.items()},
            **(
                {
                    "repeats": {
                        system: list(names)
                        for system, names in matching.systems.items()
                        if names[0] in matching.repeats
                    }
                }
                if matching.repeats
                else {}
            ),
        },
        "models": models(plan),
        "versions": {"python": sys.version.split()[0], **{name: _version(name) for name in PACKAGES}},
    }


@lru_cache(maxsize=64)
def _version(name: str) -> str:
    """Return the version of an installed package, by the name of its folder if that says it."""
    installed = _installed().get(name.replace("-", "_"))
    if installed is not None:
        return installed
    from importlib.metadata import PackageNotFoundError, version  # takes long, so only where it is needed

    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed"


@cache
def _installed() -> dict[str, str]:
    """Return the versions in the names of folders such as `numpy-2.1.0.dist-info`; the first of a package."""
    names = chain.from_iterable(map(_list_names, sys.path))
    folders = [name.removesuffix(_ENDING).partition("-") for name in names if name.endswith(_ENDING)]
    return {re.sub(r"[-_.]+", "_", name).lower(): version for name, _, version in reversed(folders)}


def _list_names(place: str) -> list[str]:
    """Return the names in a place of modules; none where there is no folder, or none that can be read."""
    try:
        return os.listdir(place or ".")  # noqa: PTH208
    except (OSError, ValueError):
        return []
