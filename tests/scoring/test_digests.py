"""The digests of a spec and of gold data: they change with everything that decides a score, and with nothing else."""

import gzip
import json
import os
import subprocess
import sys
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from tests.scoring.labels_cases import GOLD, SPEC, labels, write_lines
from tests.strategies_spec import specs

from fieldassay.errors import ProblemsError
from fieldassay.metrics.catalogue.definitions import Definition
from fieldassay.options import option_names
from fieldassay.scoring.provenance import (
    canonical,
    canonical_record,
    declared_values,
    freeze_formulas,
    freeze_spec,
)
from fieldassay.spec.language.model import (
    Accept,
    Call,
    DataOptions,
    DocumentType,
    Field,
    Spec,
    StatisticsOptions,
)
from fieldassay.spec.language.parse import read_spec
from fieldassay.spec.plan.compile import digest_of, read_plan

# The digests of a spec: everything that decides a score or is a formula is in one of them.

FROZEN_SPEC = """
name: pinned
locale: es
null_values: [NOT_FOUND]
fields:
  dosis: {type: text, critical: true, normalize: [accents, {case: {form: upper}}]}
  total: {type: money, currency: AUD, tolerance: {relative: 0.01}}
  lines: {type: list, align: {key: sku}, items: {type: object, fields: {sku: id, n: number}}}
metrics: [accuracy, "f1(granularity=slot)"]
"""
PINNED_SPEC = "dc82c8c52dae8411ef28b5c4043ab4f9598ec4e2e34f03facbba96f51beee356"
PINNED_FORMULAS = "708566bb081572c4f636a32efd5af58782379060c5de6771daaa74c7c2635ec4"


def test_the_digests_are_the_pinned_ones():
    spec = read_spec(FROZEN_SPEC)
    assert (freeze_spec(spec).digest, freeze_formulas(spec).digest) == (PINNED_SPEC, PINNED_FORMULAS)


@given(spec=specs())
def test_the_frozen_spec_has_the_digest_of_the_plan(spec):
    assert freeze_spec(spec).digest == digest_of(spec)


OTHER: dict[str, Any] = {
    "type": "id",
    "options": (("case_sensitive", False),),
    "compare": Call("words"),
    "normalize": (Call("case"),),
    "accept": Accept(0.5),
    "accepted": ("x",),
    "applies_to": ("invoice",),
    "null_values": ("none",),
    "null": "value",
    "blank": "value",
    "unreadable_gold": "failed",
    "items": Field("", "id"),
    "align": Call("ordered"),
    "combine": "product",
    "other_kind": "empty",
    "separator": "|",
    "fields": (Field("inner"),),
    "patterns": (("**", Field("**", "id")),),
    "extra": "spurious",
    "data": DataOptions(names="loose"),
    "locale": "de",
    "document_type": DocumentType("kind"),
    "metrics": ("f1",),
    "definitions": (Definition("mine", "f1 + 1"),),
    "score": "f1",
    "prices": (("m", (("prompt", 1.0),)),),
    "checks": (("a", (Call("number"),)),),
    "version": 2,
}
"""Another value for spec parts or fields where a larger number, other claim or text `x` will not do."""

NOT_FROZEN = {"statistics", "name", "description", "edition", "citation", "protocol", "gates", "slices"}
FORMULAS = {"metrics", "definitions", "score", "prices"}


def parts(model):
    return list(model.__struct_fields__)


def other(model, part):
    value = getattr(model, part)
    if isinstance(value, bool):
        return not value
    return (
        value + 1
        if isinstance(value, float)
        else OTHER.get(part, ("x",) if isinstance(value, tuple) else "x")
    )


FIELD_NOT_FROZEN = ("name", "description", "labels", "find")


@pytest.mark.parametrize("part", [part for part in parts(Field) if part not in FIELD_NOT_FROZEN])
def test_every_part_of_a_field_is_in_the_digest_of_the_spec(part):
    field = Field("a", {"items": "list", "fields": "object", "patterns": "any"}.get(part, "text"))
    changed = replace(field, **{part: other(field, part)})
    one, two = Spec("s", (field,)), Spec("s", (changed,))
    assert freeze_spec(one).digest != freeze_spec(two).digest, (
        f"does {part!r} decide scores? spec_data() does not write it"
    )
    assert freeze_formulas(one) == freeze_formulas(two)


@pytest.mark.parametrize("part", [part for part in parts(Spec) if part not in NOT_FROZEN])
def test_every_part_of_a_spec_is_in_one_digest(part):
    spec = Spec("s", (Field("a"),))
    changed = replace(spec, **{part: other(spec, part)})
    assert (freeze_spec(spec).digest == freeze_spec(changed).digest) is (part in FORMULAS)
    assert (freeze_formulas(spec).digest == freeze_formulas(changed).digest) is (part not in FORMULAS)


@pytest.mark.parametrize("part", sorted(NOT_FROZEN))
def test_what_decides_no_score_and_is_no_formula_is_in_none(part):
    spec = Spec("s", (Field("a"),))
    lists = dict.fromkeys(("gates", "slices"), ("accuracy >= 0.9",))
    value = {**lists, "statistics": StatisticsOptions(level=0.9)}.get(part, "other")
    changed = replace(spec, **{part: value})
    assert freeze_formulas(spec) == freeze_formulas(changed)
    if part != "protocol":
        assert freeze_spec(spec) == freeze_spec(changed)


@pytest.mark.parametrize("key", option_names(DataOptions))
def test_of_how_data_are_read_only_what_counts_as_a_name_is_in_the_digest(key):
    value = {"group": True, "names": "loose", "match_ids": "stem", "max_unpacked": "8GB"}.get(key, "x")
    spec = Spec("s", (Field("a"),))
    changed = replace(spec, data=DataOptions(**{key: value}))
    assert changed != spec and (freeze_spec(spec) != freeze_spec(changed)) is (key == "names")


DEFINED = Definition("score", "0.7 * recall + 0.3 * accuracy", unit="percent")
DEFINITION_CHANGES: dict[str, tuple[tuple[Definition, ...], bool]] = {
    "a weight": ((replace(DEFINED, formula="0.6 * recall + 0.4 * accuracy"),), False),
    "the unit": ((replace(DEFINED, unit="ratio"),), False),
    "the name": ((replace(DEFINED, name="mine"),), False),
    "one more": ((DEFINED, Definition("b", "f1")), False),
    "white space": ((replace(DEFINED, formula="0.7 * recall\n  + 0.3 * accuracy"),), True),
    "its description": ((replace(DEFINED, description="as published"),), True),
}


@pytest.mark.parametrize("name", DEFINITION_CHANGES)
def test_a_changed_definition_is_a_changed_formula(name):
    definitions, is_same = DEFINITION_CHANGES[name]
    base, changed = Spec("s", (), definitions=(DEFINED,)), Spec("s", (), definitions=definitions)
    assert (freeze_formulas(base).digest == freeze_formulas(changed).digest) is is_same
    assert freeze_spec(base) == freeze_spec(changed)


# The digest of gold data: it changes with every value and with nothing else.

PINNED = "25684dae012688863a084d1a6106ce64ee42effe71fca4f75ec8e9ade1495eec"
PINNED_DOCUMENTS = {
    "d1": "9a42bc0af01967271a12deaf19e9aa0e",
    "d2": "bd952f968460345ef3fc56fe7c95169c",
    "d3": "ddf3cd32bf4fed0f2f8d05a6d84175c8",
}


def test_the_digest_is_the_pinned_one():
    found = labels(GOLD)
    assert (found.digests, found.digest) == (PINNED_DOCUMENTS, PINNED)


def flipped(value):
    """Return the value with the keys of all its objects the other way round."""
    if isinstance(value, dict):
        return {key: flipped(value[key]) for key in reversed(value)}
    return [flipped(item) for item in value] if isinstance(value, list) else value


def as_jsonl(folder):
    return write_lines(folder / "gold.jsonl", [flipped(record) for record in reversed(GOLD)])


def as_array(folder):
    (folder / "gold.json").write_text(json.dumps(GOLD, indent=3, ensure_ascii=False), encoding="utf-8")
    return folder / "gold.json"


def as_gzip_with_mark(folder):
    text = "".join(json.dumps(record, ensure_ascii=False) + "\r\n" for record in GOLD)
    (folder / "gold.jsonl.gz").write_bytes(gzip.compress(text.encode("utf-8-sig")))
    return folder / "gold.jsonl.gz"


def as_utf_16(folder):
    text = "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in GOLD)
    (folder / "gold.jsonl").write_bytes(text.encode("utf-16"))
    return folder / "gold.jsonl"


def as_folder(folder):
    (folder / "gold").mkdir()
    for record in GOLD:
        (folder / "gold" / f"{record['id']}.json").write_text(json.dumps(record), encoding="utf-8")
    return folder / "gold"


def as_mapping(folder):
    return {record["id"]: {key: value for key, value in record.items() if key != "id"} for record in GOLD}


@pytest.mark.parametrize("shape", [as_jsonl, as_array, as_gzip_with_mark, as_utf_16, as_folder, as_mapping])
def test_the_digest_is_the_same_in_every_file_that_holds_the_same_values(shape, tmp_path):
    assert labels(shape(tmp_path)).digest == PINNED


CHANGES: dict[str, Any] = {
    "a text": lambda gold: gold[0].update(total="5.0"),
    "a space": lambda gold: gold[0].update(total="5.00 "),
    "a number": lambda gold: gold[1].update(total=8),
    "the sign of zero": lambda gold: gold[2].update(total=0.0),
    "a whole number to a fraction": lambda gold: gold[1].update(total=7.0),
    "a number to text": lambda gold: gold[1].update(total="7"),
    "true to one": lambda gold: gold[2].update(flag=1),
    "null to nothing": lambda gold: gold[1].pop("name"),
    "null to the empty text": lambda gold: gold[1].update(name=""),
    "an empty list to null": lambda gold: gold[1].update(lines=None),
    "the order of a list": lambda gold: gold[0]["lines"].reverse(),
    "a nested value": lambda gold: gold[0]["lines"][1].update(n=2.25),
    "the Unicode form": lambda gold: gold[0].update(name="N\u0303andu\u0301 😀"),
    "an id": lambda gold: gold[0].update(id="D1"),
    "a document more": lambda gold: gold.append({"id": "d4"}),
    "a document less": lambda gold: gold.pop(),
    "two documents exchange their data": lambda gold: (gold[0].update(id="d2"), gold[1].update(id="d1")),
    "critical paths": lambda gold: gold[0].update(critical_fields=["total"]),
    "unreviewed paths": lambda gold: gold[0].update(unreviewed_fields=["total"]),
    "illegible paths": lambda gold: gold[0].update(illegible_fields=["total"]),
    "accepted values": lambda gold: gold[0].update(acceptable_variations={"total": ["5"]}),
    "the variant": lambda gold: gold[0].update(variant="clean"),
    "the difficulty": lambda gold: gold[0].update(difficulty="hard"),
    "a tag": lambda gold: gold[0].update(tags=["new"]),
}


@pytest.mark.parametrize("name", CHANGES)
def test_the_digest_changes_with(name):
    gold = json.loads(json.dumps(GOLD))
    CHANGES[name](gold)
    assert labels(gold).digest != PINNED


UNDECLARED: dict[str, Any] = {
    "a column": lambda gold: gold[0].update(label_status="reviewed"),
    "a key of an item": lambda gold: gold[0]["lines"][1].update(page=3),
    "a key that may be an object": lambda gold: gold[2].update(notes={"by": "second reader"}),
}


@pytest.mark.parametrize("name", UNDECLARED)
def test_the_digest_does_not_change_with_what_the_spec_does_not_declare(name):
    gold = json.loads(json.dumps(GOLD))
    UNDECLARED[name](gold)
    assert labels(gold).digests == PINNED_DOCUMENTS


@pytest.mark.parametrize(
    "spec",
    [
        pytest.param("type: any", id="of-a-tree-everything"),
        pytest.param("{document_type: label_status, fields: {total: money}}", id="the-type-of-the-document"),
        pytest.param(
            "fields: {total: money, status: {type: text, names: [label_status]}}",
            id="another-name-of-a-field",
        ),
    ],
)
def test_the_digest_changes_with_all_that_decides_a_score(spec):
    one, two = ([{"id": "d1", "total": "5.00", "label_status": status}] for status in ("labeled", "reviewed"))
    assert labels(one, spec).digest != labels(two, spec).digest


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(min_size=1, max_size=3), inner, max_size=3)
    ),
    max_leaves=5,
)
RECORDS = st.dictionaries(
    st.sampled_from("abcdefgh"), st.dictionaries(st.sampled_from(["total", "name", "x"]), VALUES), min_size=1
)


@given(gold=RECORDS, random=st.randoms(use_true_random=False))
def test_the_order_of_records_and_keys_never_counts(gold, random):
    names = list(gold)
    random.shuffle(names)
    assert labels({name: flipped(gold[name]) for name in names}) == labels(gold)


@given(gold=RECORDS, value=VALUES, data=st.data())
def test_a_changed_value_is_found_in_its_document_alone(gold, value, data):
    name = data.draw(st.sampled_from(sorted(gold)))
    changed = {**gold, name: {**gold[name], "total": value}}
    before, after = labels(gold), labels(changed)
    is_same = json.dumps(gold[name], sort_keys=True) == json.dumps(changed[name], sort_keys=True)
    differing = {one for one in gold if before.digests[one] != after.digests[one]}
    assert differing == (set() if is_same else {name})
    assert (before.digest == after.digest) is is_same


@pytest.mark.parametrize("seed", ["0", "1"])
@pytest.mark.slow
def test_the_digest_does_not_depend_on_the_process(seed, tmp_path):
    path = write_lines(tmp_path / "gold.jsonl", GOLD)
    code = (
        "from fieldassay import score; from pathlib import Path; "
        f"print(score(Path({str(path)!r}), [{{'id': 'd1'}}], {SPEC!r}).run['digests']['gold'])"
    )
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(sys.path),
        "PYTHONHASHSEED": seed,
        "LC_ALL": "C",
    }
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, timeout=600, check=True
    )
    assert done.stdout.strip() == PINNED


HOSTILE: dict[str, Any] = {
    "long-text": "x" * 1_000_000,
    "nul": "a\0b",
    "lone-surrogate": "\ud800",
    "bidi": "\u202eabc",
    "not-a-number": float("nan"),
    "infinity": float("-inf"),
    "huge-integer": 10**5000,
    "deep": json.loads("[" * 90 + "]" * 90),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_values_have_digests_that_tell_them_apart(name):
    gold = [{"id": 1, "name": HOSTILE[name]}]
    assert labels(gold) == labels(gold)
    assert labels(gold).digest != labels([{"id": 1, "name": "HOSTILE"}]).digest
    others = {labels([{"id": 1, "name": value}]).digest for other, value in HOSTILE.items() if other != name}
    assert labels(gold).digest not in others


BROKEN: dict[str, tuple[str, str]] = {
    "not-json": ('{"id": 1,}\n', "not_json"),
    "two-with-one-id": ('{"id": 1}\n{"id": "1 "}\n', "duplicate_id"),
    "a-key-twice": ('{"id": 1, "a": 1, "a": 2}\n', "bad_gold"),
    "empty": ("", "empty_input"),
    "no-id-in-one": ('{"id": 1}\n{"a": 1}\n', "no_id"),
    "too-deep": ('{"id": 1, "a": ' + "[" * 200 + "]" * 200 + "}\n", "bad_gold"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_gold_that_cannot_be_scored_has_no_digest(name, tmp_path):
    text, kind = BROKEN[name]
    (tmp_path / "gold.jsonl").write_text(text, encoding="utf-8")
    with pytest.raises(ProblemsError) as caught:
        labels(tmp_path / "gold.jsonl")
    assert caught.value.problems[0].kind == kind


_NUMBERS = st.integers() | st.floats() | st.sampled_from([1e-5, 1e16, 5e-324, -0.0, 10**4000])
_VALUES = st.recursive(
    st.none() | st.booleans() | _NUMBERS | st.text() | st.sampled_from(["1e5", "null", "\x7f", "0.00001"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(st.lists(_VALUES, max_size=3))
def test_records_have_the_same_canonical_text_by_either_encoder(values):
    assert list(map(canonical_record, values)) == list(map(canonical, values))


_NESTED: dict[str, Any] = {
    "fields": {
        "a": "text",
        "b": {"type": "object", "fields": {"a": "text", "c": {"items": {"fields": {"a": "text"}}}}},
        "c": {"items": {"fields": {"a": "text", "b": {"type": "object", "fields": {"a": "text"}}}}},
    }
}
_KEYS: dict[str, Any] = {"a": None, "b": {"a": None, "c": {"a": None}}, "c": {"a": None, "b": {"a": None}}}
_TREES = st.recursive(
    st.sampled_from([None, 1, "x"]),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from("abcd"), inner, max_size=3),
    max_leaves=8,
)


def _declared(value, keys):
    """Return the declared values of one record the obvious way: key by key."""
    if keys is None or not isinstance(value, dict):
        return value
    return {
        key: [_declared(item, keys[key]) for item in held]
        if isinstance(held, list) and (key == "c")
        else _declared(held, keys[key])
        for key, held in value.items()
        if key in keys
    }


@pytest.mark.parametrize("kind", [None, "b", "d"])
@given(st.lists(st.dictionaries(st.sampled_from("abcd"), _TREES, max_size=4), max_size=3))
def test_declared_values_of_a_record_are_those_of_its_declared_keys_and_its_type(kind, records):
    given_before = json.dumps(records)
    pick = declared_values(read_plan(_NESTED | ({"document_type": {"field": kind}} if kind else {})))
    keys = _KEYS | ({"d": None} if kind == "d" else {})
    assert list(map(pick, records)) == [_declared(one, keys) for one in records]
    assert json.dumps(records) == given_before
