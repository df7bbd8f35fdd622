"""Laws for every spec and every record, a second opinion in plain recursion, and cases that once broke a law."""

import json
import random
from collections import Counter
from itertools import permutations
from typing import Any

import polars as pl
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from tests.effort import few_examples
from tests.judging import leaves_of, result_of, rows_of, with_ids
from tests.strategies_records import (
    COVERED,
    OF_ANY_KIND,
    OPTIONS,
    TEXT_COMPARATORS,
    TYPED_COMPARATORS,
    VALUES,
    Maker,
    Tastes,
    chances,
    name_of,
)

from fieldassay.metrics.evidence import Outcome, evidence_schema
from fieldassay.paths import split_path
from fieldassay.values.catalogue import COMPARATORS, READERS

# Laws for every spec and every record: identity, bounds, order, partition, monotonicity, denominators.

METRICS = (
    "accuracy",
    "f1",
    "presence",
    "items",
    "counts",
    "accuracy(regime=baseline)",
    "f1(granularity=slot)",
    "latency_p90",
)
UNORDERED = Tastes(aligners=("assignment", "key"), trees=False)
WILD = Tastes(aligners=("assignment", "key", "ordered", "sequence"))
EVERY_ALIGNER = Tastes(aligners=WILD.aligners, trees=False, odd_items=False)
HOSTILE: list[Any] = [
    None,
    "",
    "junk",
    7,
    -1.5,
    True,
    [],
    ["junk"],
    [["junk"]],
    {},
    {"a": "junk"},
    [{"a": "junk"}],
    "N/A",
    [None, 3],
]


LAWS = settings(few_examples(), derandomize=True)
"""The same cases every time, so that a failure can be seen again."""


def case(chance, tastes, documents=4):
    """Return a random spec with gold and predictions."""
    maker = Maker(chance, tastes)
    spec = maker.spec()
    gold = [maker.record(spec) for _ in range(documents)]
    return (
        spec,
        gold,
        [{**maker.answer(spec, record), "timing": {"duration_ms": chance.randint(1, 9)}} for record in gold],
    )


def told(spec, gold, pred, **options):
    """Return the estimates as plain data."""
    found = result_of(spec, gold, pred, metrics=METRICS, evidence="none", **options)
    return [estimate.to_dict() for estimate in found.estimates]


def wrong_leaves(evidence):
    """Return the value rows that are anything but right, silent or outside."""
    bad = evidence.filter(pl.col("kind") == "value", ~pl.col("outcome").is_in(["match", "absent", "failed"]))
    return bad.select("field", "outcome", "reason", "gold", "pred").rows()


FIELDS: list[tuple[str, Any, list[Any]]] = [
    *(
        (kind, {"type": kind, **options}, VALUES[kind])
        for kind in VALUES
        for options in OPTIONS.get(kind, [{}])
    ),
    *(
        (f"text-{name_of(call)}", {"type": "text", "compare": call}, VALUES["text"])
        for call in TEXT_COMPARATORS
    ),
    *(
        (f"{kind}-{name}", {"type": kind, "compare": name}, VALUES[kind])
        for kind, names in TYPED_COMPARATORS.items()
        for name in names
    ),
    *(
        (
            f"any-{name_of(name)}",
            {"type": "any", "compare": name},
            [1, "x", True, 1.5, "", [1, ["y"]], {"a": 2}],
        )
        for name in OF_ANY_KIND
    ),
    ("any", {"type": "any"}, [1, "x", True, 1.5, "", [1, [2, {"a": None}]], {"a": {"b": [3]}, "c.d": "x"}]),
]


@pytest.mark.slow
def test_the_laws_cover_every_type_and_comparator():
    assert set(COMPARATORS.entries) == COVERED
    assert set(READERS.names()) == {*VALUES, "any"}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("field", "values"), [pytest.param(field, values, id=name) for name, field, values in FIELDS]
)
@pytest.mark.parametrize("unreadable", ["text", "failed"])
def test_gold_is_right_against_itself_alone_and_in_lists(field, values, unreadable):
    values = [*values, "see page 2", 17, [1], {"a": 1}, None]
    aligned = {
        name: {"type": "list", "align": name, "items": field}
        for name in ("ordered", "sequence", "assignment")
    }
    spec = {"unreadable_gold": unreadable, "fields": {"v": field, **aligned}}
    gold: list[dict[str, Any]] = [{"v": value} for value in values] + [dict.fromkeys(aligned, values)]
    result = result_of(spec, gold, gold, metrics=METRICS)
    assert wrong_leaves(result.evidence) == []
    right = result.evidence.filter(pl.col("kind") == "value", pl.col("outcome") == "match")
    assert set(right["score"]) == {1.0}
    assert [result.value(name) for name in ("accuracy", "accuracy_pooled", "precision", "recall")] == [
        1.0
    ] * 4


@pytest.mark.slow
@LAWS
@given(chances)
def test_gold_is_right_against_itself(chance):
    maker = Maker(chance, WILD)
    spec = maker.spec()
    gold = [maker.record(spec) for _ in range(4)]
    result = result_of(spec, gold, gold)
    assert wrong_leaves(result.evidence) == []
    assert result.value("accuracy") in (None, 1.0)


@pytest.mark.slow
@LAWS
@given(chances)
def test_scores_and_ratios_are_between_0_and_1(chance):
    result = result_of(*case(chance, WILD), metrics=METRICS, bootstrap=20)
    scored = result.evidence.filter(pl.col("kind") == "value")
    assert (scored["score"].is_null() == scored["outcome"].is_in(["failed", "absent"])).all()
    assert scored["score"].drop_nulls().is_between(0, 1).all()
    for estimate in result.estimates:
        assert estimate.n >= 0
        if estimate.unit == "ratio" and estimate.value is not None:
            assert 0 <= estimate.value <= 1
            assert estimate.interval is None or 0 <= estimate.interval[0] <= estimate.interval[1] <= 1


def shuffled(field, value, chance):
    """Return the value with the items of its lists in another order, wherever order means nothing."""
    if isinstance(value, list) and field["type"] == "list" and field.get("compare") is None:
        items = field["items"] if isinstance(field["items"], dict) else {"type": field["items"]}
        value = [shuffled(items, item, chance) for item in value]
        return chance.sample(value, len(value))
    if isinstance(value, dict) and field["type"] == "object":
        return {
            name: shuffled(field["fields"].get(name, {"type": "text"}), inner, chance)
            for name, inner in value.items()
        }
    return value


def turned(spec, records, chance):
    """Return the records with their lists in another order."""
    return [
        {
            name: shuffled(spec["fields"].get(name, {"type": "text"}), value, chance)
            for name, value in record.items()
        }
        for record in records
    ]


@pytest.mark.slow
@LAWS
@given(chances)
def test_the_order_of_items_does_not_show(chance):
    spec, gold, pred = case(chance, UNORDERED)
    expected = told(spec, gold, pred)
    assert told(spec, turned(spec, gold, chance), pred) == expected
    assert told(spec, gold, turned(spec, pred, chance)) == expected


WORDS = st.sampled_from(["a", "ab", "abc", "b", "ba"])
PARTS = st.fixed_dictionaries({"x": WORDS, "y": st.sampled_from([1, 2])})
LINES = st.lists(
    st.fixed_dictionaries(
        {"name": WORDS, "n": st.sampled_from([1, 2]), "parts": st.lists(PARTS, max_size=2)}
    ),
    max_size=5,
)


@pytest.mark.slow
@LAWS
@given(
    LINES,
    LINES,
    st.sampled_from(["exact", "levenshtein"]),
    st.sampled_from(["mean", "weighted", "product"]),
    chances,
)
def test_the_order_of_items_does_not_show_among_many_ties(gold, pred, comparator, combine, chance):
    text = {"type": "text", "compare": comparator}
    parts = {"type": "list", "items": {"type": "object", "fields": {"x": "text", "y": "number"}}}
    items = {"type": "object", "fields": {"name": text, "n": {"type": "number", "weight": 2}, "parts": parts}}
    spec = {"fields": {"lines": {"type": "list", "combine": combine, "items": items}}}
    expected = told(spec, [{"lines": gold}], [{"lines": pred}])
    for _ in range(3):
        other = turned(spec, [{"lines": gold}], chance), turned(spec, [{"lines": pred}], chance)
        assert told(spec, *other) == expected


@pytest.mark.slow
@LAWS
@given(chances)
def test_batches_and_the_order_of_documents_do_not_show(chance):
    spec, gold, pred = case(chance, EVERY_ALIGNER, 8)
    gold, pred = with_ids(gold), with_ids(pred)
    expected = told(spec, gold, pred, bootstrap=30)
    assert told(spec, gold, pred, bootstrap=30, batch=1) == expected
    assert told(spec, gold, pred, bootstrap=30, batch=3) == expected
    assert told(spec, chance.sample(gold, 8), chance.sample(pred, 8), bootstrap=30, batch=3) == expected


def at_path(record, path, value):
    """Put a value at a path, and return whether there was one."""
    for step in path[:-1]:
        if not isinstance(record, list if isinstance(step, int) else dict):
            return False
        record = record[step]
    if not isinstance(record, list if isinstance(path[-1], int) else dict):
        return False
    record[path[-1]] = value
    return True


def steps_of(path):
    """Return the steps of a path without odd keys."""
    return [
        int(step) if step.isdigit() else step for step in path.replace("[", ".").replace("]", "").split(".")
    ]


@pytest.mark.slow
@LAWS
@given(chances)
def test_mending_a_value_lowers_nothing(chance):
    spec, gold, pred = case(chance, Tastes(aligners=("ordered",), trees=False, distinct=False))
    metrics = ("accuracy", "f1", "precision", "recall")
    before = result_of(spec, gold, pred, metrics=metrics)
    is_wrong = pl.col("kind").eq("value") & pl.col("outcome").is_in(["mismatch", "partial"])
    for row in before.evidence.filter(is_wrong).head(3).iter_rows(named=True):
        mended = json.loads(json.dumps(pred))
        if not at_path(mended[int(row["doc"])], steps_of(row["pred_path"]), json.loads(row["gold"])):
            continue
        after = result_of(spec, gold, mended, metrics=metrics)
        for name in ("accuracy", "accuracy_strict", "accuracy_pooled", "f1", "precision", "recall"):
            old, new = before.value(name), after.value(name)
            assert old is None or (new is not None and new >= old), (name, row)


def gold_places(spec, gold, pred):
    """Return the (document, field, path) of every value that gold brings into the denominators."""
    evidence = result_of(spec, gold, pred, metrics=("counts",)).evidence
    counted = evidence.filter(
        pl.col("kind") == "value", pl.col("outcome").is_in(["match", "partial", "mismatch", "missing"])
    )
    return sorted(counted.select("doc", "field", "gold_path").rows())


@pytest.mark.slow
@LAWS
@given(chances)
def test_no_prediction_changes_what_gold_counts(chance):
    spec, gold, pred = case(chance, WILD)
    expected = gold_places(spec, gold, [{}] * 4)
    assert gold_places(spec, gold, pred) == expected
    assert gold_places(spec, gold, gold) == expected
    for record in pred:
        record |= {name: chance.choice(HOSTILE) for name in spec["fields"] if chance.random() < 0.5}
    assert gold_places(spec, gold, pred) == expected


# Every number is a function of the evidence, and the evidence says what the records say.

TASTES = Tastes(aligners=("assignment", "key", "ordered", "sequence"))
FREE = Tastes(aligners=("assignment", "key", "ordered", "sequence"))


def judged(chance, tastes):
    """Return random gold and predictions, their result and its evidence."""
    maker = Maker(chance, tastes)
    spec = maker.spec()
    gold = [maker.record(spec) for _ in range(4)]
    pred = [maker.answer(spec, record) for record in gold]
    result = result_of(spec, gold, pred, metrics=("default", "hr", "accuracy_pooled", "failed"))
    assert result.evidence is not None
    return gold, pred, result, result.evidence


def ratio(numerator, denominator):
    """Return a ratio, None where it is undefined."""
    return numerator / denominator if denominator else None


def recount(rows):
    """Return the pooled metrics of value rows, counted one by one."""
    count = Counter(row["outcome"] for row in rows)
    right = count["match"]
    wrong = count["partial"] + count["mismatch"]
    score = sum(row["score"] for row in rows if row["outcome"] in ("match", "partial", "mismatch"))
    missing, spurious, absent = count["missing"], count["spurious"], count["absent"]
    return {
        "accuracy_pooled": ratio(score, right + wrong + missing + spurious),
        "precision": ratio(right, right + wrong + spurious),
        "recall": ratio(right, right + wrong + missing),
        "f1": ratio(2 * right, 2 * (right + wrong) + missing + spurious),
        "hr": ratio(spurious, spurious + absent),
        "mr": ratio(missing, right + wrong + missing),
        "failed": count["failed"],
    }


@pytest.mark.slow
@settings(few_examples(), derandomize=True)
@given(chances)
def test_estimates_are_what_a_recount_of_the_evidence_gives(chance):
    _, _, result, evidence = judged(chance, TASTES)
    rows = evidence.filter(pl.col("kind") == "value").to_dicts()
    found = {name: result.value(name) for name in recount(rows)}
    assert found == pytest.approx(recount(rows), abs=1e-8)
    for field in {row["field"] for row in rows}:
        own = recount([row for row in rows if row["field"] == field])
        names = ("precision", "recall", "f1", "hr", "mr")
        assert {name: result.value(name, field=field) for name in names} == pytest.approx(
            {name: own[name] for name in names}, abs=1e-8
        )
        assert result.value("field_accuracy", field=field) == pytest.approx(own["accuracy_pooled"], abs=1e-8)
    by_document = [
        recount([row for row in rows if row["doc"] == name])["accuracy_pooled"]
        for name in {row["doc"] for row in rows}
    ]
    defined = [value for value in by_document if value is not None]
    assert result.value("accuracy") == pytest.approx(ratio(sum(defined), len(defined)), abs=1e-8)
    assert result.estimate("accuracy").n == len(defined)


@pytest.mark.slow
@settings(few_examples(), derandomize=True)
@given(chances)
def test_rows_are_sound(chance):
    _, _, _, evidence = judged(chance, TASTES)
    assert evidence.columns[: len(evidence_schema())] == list(evidence_schema())
    names = {outcome.name.lower() for outcome in Outcome}
    for row in evidence.filter(pl.col("kind") == "value").iter_rows(named=True):
        assert row["outcome"] in names
        assert bool(row["diagnoses"]) == (row["outcome"] not in ("match", "absent", "failed")), row
        sides = (row["gold"] is not None, row["pred"] is not None)
        wanted = {"missing": (True, False), "spurious": (False, True), "absent": (False, False)}
        if row["outcome"] != "failed":
            assert sides == wanted.get(row["outcome"], (True, True)), row
            assert (row["gold_path"] is not None, row["pred_path"] is not None) == sides, row


def look_up(record, path):
    """Return what stands at a path; a text that holds JSON is read, and a single value is a list of one."""
    for step in split_path(path):
        opening = "[" if isinstance(step, int) else "{"
        if isinstance(record, str) and record.strip().startswith(opening):
            record = json.loads(record)
        record = [record][step] if isinstance(step, int) and not isinstance(record, list) else record[step]
    return record


@pytest.mark.slow
@settings(few_examples(), derandomize=True)
@given(chances)
@example(random.Random(8461))  # a text that holds an object, where a list of lists is due
@example(random.Random(2131667))  # a text that holds a list, where a list is one value
def test_paths_lead_to_the_values_given(chance):
    gold, pred, _, evidence = judged(chance, FREE)
    for row in evidence.filter(pl.col("kind") == "value").iter_rows(named=True):
        for records, side in ((gold, "gold"), (pred, "pred")):
            if row[f"{side}_path"] is not None:
                found, shown = look_up(records[int(row["doc"])], row[f"{side}_path"]), json.loads(row[side])
                assert found == shown or (isinstance(shown, list) and json.loads(found) == shown), row


@pytest.mark.slow
@pytest.mark.parametrize(
    "key", ["odd.key", "x[0]", " lead", 'quo"te', "a\\b", "naïve", "new\nline", "1", "a.b[].c"]
)
def test_paths_of_odd_keys_lead_to_their_values(key):
    spec = {
        "fields": {
            key: {"type": "object", "fields": {key: {"type": "list", "align": "ordered", "items": "text"}}},
            "t": "any",
        }
    }
    record: dict[str, Any] = {key: {key: ["x", "y"]}, "t": {key: [{key: "z"}]}}
    evidence = result_of(spec, [record], [record]).evidence
    rows = evidence.filter(pl.col("kind") == "value", pl.col("outcome") == "match")
    assert [look_up(record, path) for path in rows["gold_path"]] == ["x", "y", "z"]


# A second opinion: the default judgement of small records in plain recursion, with every pairing tried.

LEAVES = {"name": "text", "n": "number"}
PART = {"type": "object", "fields": {"p": "text", "q": "number"}}
LINE = {"type": "object", "fields": {**LEAVES, "parts": {"type": "list", "items": PART}}}
SPEC: dict[str, Any] = {
    "fields": {
        "title": "text",
        "lines": {"type": "list", "items": LINE},
        "tags": {"type": "list", "items": "text"},
    }
}


def is_nothing(value):
    """Return whether a value holds nothing at all."""
    if isinstance(value, dict):
        return all(map(is_nothing, value.values()))
    if isinstance(value, list):
        return all(map(is_nothing, value))
    return value is None or value == ""


def count(value):
    """Return the number of leaves of a value."""
    if isinstance(value, dict):
        return sum(map(count, value.values()))
    if isinstance(value, list):
        return sum(map(count, value))
    return 0 if is_nothing(value) else 1


def pair(gold, pred):
    """Return the similarity of two items, the number of matching leaves, and that on either side.

    An item's similarity is the mean over its fields; a list among them counts as one field, with matches /
    leaves.
    """
    if not isinstance(gold, dict):
        return float(gold == pred), int(gold == pred), 1
    similarities, matches, union = [], 0, 0
    for name in gold:
        found, leaves = (
            pair_lists(gold[name], pred[name])
            if isinstance(gold[name], list)
            else pair_leaves(gold[name], pred[name])
        )
        similarities += [found / leaves] if leaves else []
        matches, union = matches + found, union + leaves
    return (sum(similarities) / len(similarities) if similarities else 0.0), matches, union


def pair_leaves(gold, pred):
    """Return whether two values match, and whether there is any."""
    has_both = not is_nothing(gold) and not is_nothing(pred)
    return int(has_both and gold == pred), int(not is_nothing(gold) or not is_nothing(pred))


def pair_lists(gold, pred):
    """Return matches and leaves of the one best pairing; a case with differing best pairings is given up."""
    ways = best_pairings(gold, pred)
    assume(len(ways) == 1)
    return next(iter(ways))


def best_pairings(gold, pred):
    """Return (matches, leaves) of every pairing with the largest total; unlike items stay apart."""
    gold, pred = ([item for item in items if not is_nothing(item)] for items in (gold, pred))
    table = [[pair(item, other) for other in pred] for item in gold]
    places = [*range(len(pred)), *([None] * len(gold))]
    found: dict[tuple[int, int], float] = {}
    for way in set(permutations(places, len(gold))):
        chosen = [
            (row, column)
            for row, column in enumerate(way)
            if column is not None and table[row][column][0] > 0
        ]
        alone = [item for row, item in enumerate(gold) if row not in dict(chosen)]
        alone += [item for column, item in enumerate(pred) if column not in [taken for _, taken in chosen]]
        matches = sum(table[row][column][1] for row, column in chosen)
        leaves = sum(table[row][column][2] for row, column in chosen) + sum(map(count, alone))
        total = sum(table[row][column][0] for row, column in chosen)
        found[matches, leaves] = max(found.get((matches, leaves), 0.0), total)
    return {way for way, total in found.items() if total > max(found.values()) - 1e-9}


TEXTS = st.sampled_from(["a", "b", "c", "", None])
NUMBERS = st.sampled_from([1, 2.5, 3, None])
SMALL_PARTS = st.lists(st.fixed_dictionaries({"p": TEXTS, "q": NUMBERS}), max_size=2)
SMALL_LINES = st.lists(st.fixed_dictionaries({"name": TEXTS, "n": NUMBERS, "parts": SMALL_PARTS}), max_size=4)
RECORDS = st.fixed_dictionaries({"title": TEXTS, "lines": SMALL_LINES, "tags": st.lists(TEXTS, max_size=4)})


@settings(derandomize=True)
@given(RECORDS, RECORDS)
def test_the_engine_finds_what_trying_every_pairing_finds(gold, pred):
    title = pair_leaves(gold["title"], pred["title"])
    ways = {
        (title[0] + lines[0] + tags[0], title[1] + lines[1] + tags[1])
        for lines in best_pairings(gold["lines"], pred["lines"])
        for tags in best_pairings(gold["tags"], pred["tags"])
    }
    result = result_of(SPEC, [gold], [pred], metrics=("correct", "accuracy_pooled"))
    matches, leaves = result.value("correct"), result.estimate("accuracy_pooled").n
    assert (matches, leaves) in ways


# Laws that were once broken: the smallest records that show each.


def list_of(items=None, **fields):
    """Return a list of objects with these fields, or of these items."""
    return {"type": "list", "items": items or {"type": "object", "fields": fields}}


def wrong(spec, gold):
    """Return the value rows of gold against itself that are not right."""
    return [
        (path, outcome) for path, outcome in leaves_of(spec, gold, gold) if outcome not in ("match", "absent")
    ]


LINES_SPEC = {"fields": {"lines": list_of(a="text", b="text")}}
KEYED = {"fields": {"lines": {**list_of(a="text", b="text"), "align": {"key": "a"}}}}
IN_ITEM = {"fields": {"lines": list_of(o={"type": "object", "fields": {"a": "text"}})}}
FUZZY = {"fields": {"x": list_of(subs={"type": "list", "items": {"type": "text", "compare": "indel"}})}}


def test_ties_of_nested_lists_do_not_depend_on_the_order_of_items():
    gold = ["bcd", "abcdefgxyz", "abcdefghij"]
    pred = [{"subs": ["abcdefghix", "abcdefgxyz"]}, {"subs": ["abcdefghix", "abxd", "abxd"]}]
    other = [{"subs": ["abcdefgxyz", "abcdefghix"]}, pred[1]]
    values = [
        result_of(FUZZY, [{"x": [{"subs": first}]}], [{"x": second}]).value("f1")
        for first, second in ((gold, pred), (["bcd", "abcdefghij", "abcdefgxyz"], other))
    ]
    assert values[0] == values[1]


@pytest.mark.parametrize("turned", [False, True])
def test_a_value_of_another_kind_in_an_item_is_not_lost(turned):
    spec = {"fields": {"lines": list_of(parts={**list_of(a="text"), "align": {"key": "a"}})}}
    gold: list[Any] = [{"parts": 7}, {"parts": {"a": "x"}}]
    rows = rows_of(spec, {"lines": gold[::-1] if turned else gold}, {"lines": [{"parts": ["junk"]}]})
    assert rows.filter(kind="value", outcome="spurious").height == 1
    item = rows.filter(pl.col("field") == "lines[]", pl.col("outcome") == "spurious")
    assert item["pred_path"].to_list() == ["lines[0]"]


@pytest.mark.parametrize(
    ("spec", "gold"),
    [
        pytest.param(LINES_SPEC, {"lines": ["see page 2", {"a": "x"}]}, id="item-of-another-kind"),
        pytest.param(IN_ITEM, {"lines": [{"o": "see page 2"}]}, id="object-of-another-kind-in-an-item"),
        pytest.param(KEYED, {"lines": [{"b": "x"}]}, id="item-without-its-key"),
        pytest.param(
            {"fields": {"lines": {**list_of(a={"type": "list", "items": "text"}), "align": {"key": "a"}}}},
            {"lines": [{"a": ["x"]}]},
            id="key-that-is-a-list",
        ),
    ],
)
def test_gold_equals_itself_whatever_its_items_are(spec, gold):
    assert wrong(spec, gold) == []


def test_a_long_prediction_does_not_take_gold_out_of_the_denominator():
    spec = {"fields": {"a": {"type": "text", "compare": "levenshtein"}}}
    assert result_of(spec, [{"a": "ab" * 10_000}], [{"a": "xy" * 5_000_000}]).estimate("recall").n == 1


@pytest.mark.parametrize("align", ["ordered", "sequence"])
def test_empty_items_agree(align):
    spec = {"fields": {"lines": {**list_of(a="text"), "align": align}}}
    outcomes = set(
        rows_of(spec, {"lines": [{}, {"a": "x"}]}, {"lines": [{}, {"a": "x"}]}).filter(kind="item")["outcome"]
    )
    assert not outcomes & {"mismatch", "missing", "spurious"}


@pytest.mark.parametrize("align", ["assignment", "ordered"])
def test_an_item_of_another_kind_leaves_other_documents_alone(align):
    parts = {**list_of(a="text"), "combine": "product"}
    spec = {"fields": {"lines": {**list_of(parts=parts), "align": align}}}
    gold = [{"lines": [{"parts": [False]}]}, {"lines": [{"parts": [{"a": "x"}]}]}]
    pred = [{}, {"lines": [{"parts": [{"a": "x"}, {"a": "b"}]}]}]
    assert [result_of(spec, gold, pred, batch=size).value("precision") for size in (1, 2)] == [0.5, 0.5]
