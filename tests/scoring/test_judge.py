"""Judging records, and markers of an empty value."""

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.judging import leaves_of, result_of, rows_of

from fieldassay import explain_values
from fieldassay.decisions.losses import count_mistakes, find_losses

# Judging records.

# What the engine says of presence, kinds of JSON, readability and lists


@pytest.mark.parametrize(
    ("gold", "pred", "outcome"),
    [
        pytest.param("x", "x", "match", id="equal"),
        pytest.param("x", " x ", "match", id="equal-after-trimming"),
        pytest.param("x", "X", "match", id="case-is-forgiven"),
        pytest.param("x", "Y", "mismatch", id="another-letter"),
        pytest.param("x", None, "missing", id="null-prediction"),
        pytest.param("x", "", "missing", id="blank-prediction"),
        pytest.param("x", [], "missing", id="empty-list-prediction"),
        pytest.param(None, "x", "spurious", id="null-gold"),
        pytest.param("  ", "x", "spurious", id="blank-gold"),
        pytest.param(None, "", "absent", id="both-empty"),
        pytest.param({}, [], "absent", id="both-empty-containers"),
        pytest.param([None, {"b": ""}], None, "absent", id="gold-is-a-list-of-only-empties"),
        pytest.param("x", ["x"], "mismatch", id="list-where-a-scalar-is-declared"),
        pytest.param("x", {"x": 1}, "mismatch", id="object-where-a-scalar-is-declared"),
        pytest.param(None, {"x": 1}, "spurious", id="object-where-there-is-nothing"),
        pytest.param("5", 5, "match", id="number-for-text"),
    ],
)
def test_a_scalar_has_one_row_with_this_outcome(gold, pred, outcome):
    assert leaves_of({"fields": {"a": "text"}}, {"a": gold}, {"a": pred}) == [("a", outcome)]


@pytest.mark.parametrize(
    ("gold", "pred", "outcome", "flags"),
    [
        pytest.param(
            "12 pcs", "12 pcs", "match", ["unreadable_gold"], id="unreadable-gold-is-compared-as-text"
        ),
        pytest.param(
            "12 pcs", 12, "mismatch", ["unreadable_gold"], id="unreadable-gold-does-not-equal-a-number"
        ),
        pytest.param(
            "12 pcs", None, "missing", ["unreadable_gold"], id="unreadable-gold-stays-in-the-denominator"
        ),
        pytest.param(12, "12 pcs", "mismatch", ["unreadable_pred"], id="unreadable-prediction-is-wrong"),
        pytest.param(12, [12], "mismatch", ["unreadable_pred", "wrong_kind"], id="a-list-is-wrong"),
        pytest.param("12", 12.0, "match", [], id="a-number-in-a-string"),
    ],
)
def test_readability_of_gold_is_decided_first(gold, pred, outcome, flags):
    row = rows_of({"fields": {"n": "number"}}, {"n": gold}, {"n": pred}).row(0, named=True)
    assert (row["outcome"], row["flags"]) == (outcome, flags)


@pytest.mark.parametrize("pred", [12, None, "12 pcs"])
def test_unreadable_gold_can_be_left_out_whatever_the_prediction(pred):
    spec = {"unreadable_gold": "failed", "fields": {"n": "number"}}
    assert leaves_of(spec, {"n": "12 pcs"}, {"n": pred}) == [("n", "failed")]
    result = result_of(spec, [{"n": "12 pcs"}], [{"n": pred}])
    assert result.value("accuracy") is None
    assert result.estimate("accuracy").n == 0


LINES = {
    "fields": {"lines": {"type": "list", "items": {"type": "object", "fields": {"sku": "id", "n": "number"}}}}
}


def test_a_wrong_kind_is_one_structure_mismatch_and_gold_stays_in_recall():
    rows = rows_of(LINES, {"lines": [{"sku": "a", "n": 1}]}, {"lines": "see attachment"})
    told = [(row["kind"], row["outcome"], "wrong_kind" in row["flags"]) for row in rows.iter_rows(named=True)]
    assert sorted(told) == sorted(
        [
            ("list", "mismatch", True),
            ("value", "spurious", True),
            ("item", "missing", False),
            ("value", "missing", False),
            ("value", "missing", False),
        ]
    )
    assert all(
        "under_wrong_kind" in row["flags"]
        for row in rows.filter(pl.col("outcome") == "missing", kind="value").iter_rows(named=True)
    )
    gold, pred = [{"lines": [{"sku": "a", "n": 1}]}], [{"lines": "see attachment"}]
    result = result_of(LINES, gold, pred, metrics=("default", "structure_errors"))
    assert (result.value("precision"), result.value("recall"), result.value("structure_errors")) == (
        0.0,
        0.0,
        1,
    )


def test_gold_of_another_kind_is_compared_as_text_and_flagged():
    rows = rows_of(LINES, {"lines": "none given"}, {"lines": "none given"})
    row = rows.filter(kind="value").row(0, named=True)
    assert (row["outcome"], row["flags"], row["gold"]) == ("match", ["unreadable_gold"], '"none given"')


@pytest.mark.parametrize("batch", [1, 1000])
def test_gold_that_cannot_be_read_is_warned_of_and_no_fault_of_a_system(batch):
    fields = {**LINES["fields"], "total": "number", "party": {"fields": {"name": "text"}}, "vendor": "text"}
    right = {"id": "a", "lines": [{"sku": "a", "n": 1}], "total": 1, "party": {"name": "x"}, "vendor": "y"}
    odd = {"lines": [{"sku": "a", "n": "few"}, {"sku": "b", "n": "few"}], "total": "ten", "party": "x"}
    gold = [right, right | odd | {"id": "b"}, right | {"id": "c", "lines": "A; B", "total": "one"}]
    answer = right | {"vendor": "z"}
    result = result_of({"fields": fields}, gold, [answer | {"id": name} for name in "abc"], batch=batch)
    assert [warning.partition(";")[0] for warning in result.warnings] == [
        "gold: 1 value of 'lines' cannot be read as a list (first in 'c')",
        "gold: 2 values of 'lines[].n' cannot be read as number (first in 'b')",
        "gold: 1 value of 'party' cannot be read as an object (first in 'b')",
        "gold: 2 values of 'total' cannot be read as number (first in 'b')",
    ]
    (losses,) = find_losses(result.evidence.lazy(), result).values()
    assert {loss.field for loss in losses} == {"vendor", "lines[]"}
    assert {mistake.field for mistake in count_mistakes(result.evidence.lazy())} == {
        "vendor",
        "lines[].n",
        "lines[].sku",
    }


@pytest.mark.parametrize(
    ("pred", "count"),
    [
        pytest.param({"sku": "a", "n": 1}, 2, id="one-object-for-a-list"),
        pytest.param('[{"sku": "a", "n": 1}]', 2, id="json-text-for-a-list"),
    ],
)
def test_a_list_is_coerced_where_that_is_sensible(pred, count):
    rows = rows_of(LINES, {"lines": [{"sku": "a", "n": 1}]}, {"lines": pred})
    assert rows.filter(kind="value", outcome="match").height == count
    assert rows.filter(kind="list").row(0, named=True)["flags"] == ["coerced"]


def test_a_delimited_string_is_a_list_where_the_spec_says_so():
    spec = {"fields": {"tags": {"type": "list", "items": "text", "separator": "|"}}}
    assert leaves_of(spec, {"tags": "a | b |"}, {"tags": ["b", "a"]}) == [
        ("tags[0]", "match"),
        ("tags[1]", "match"),
    ]


def test_every_leaf_of_missing_and_spurious_items_counts():
    gold = {"lines": [{"sku": "a", "n": 1}, {"sku": "b", "n": 2}]}
    pred = {"lines": [{"sku": "b", "n": 2}, {"sku": "zz", "n": 99}, {"sku": "yy", "n": 98}]}
    result = result_of(LINES, [gold], [pred], metrics=("default", "items"))
    assert result.value("precision") == pytest.approx(2 / 6)
    assert result.value("recall") == pytest.approx(2 / 4)
    assert result.value("accuracy") == pytest.approx(2 / 8)
    assert [result.value(name) for name in ("items_matched", "items_missing", "items_spurious")] == [1, 1, 2]


@pytest.mark.parametrize("weights", [(2, 3), (0.2, 0.3)])
def test_items_pair_by_the_weighted_mean_of_their_fields(weights):
    """3/5 beats 2/5, and is above .55."""
    types = zip(("sku", "n"), ("id", "number"), weights, strict=True)
    fields = {name: {"type": type, "weight": weight} for name, type, weight in types}
    pairing = {"combine": "weighted", "align": {"assignment": {"min_similarity": 0.55}}}
    spec = {"fields": {"l": {"type": "list", **pairing, "items": {"type": "object", "fields": fields}}}}
    rows = rows_of(spec, {"l": [{"sku": "a", "n": 1}]}, {"l": [{"sku": "a", "n": 2}, {"sku": "b", "n": 1}]})
    items = rows.filter(kind="item").select("gold_path", "pred_path", "outcome").rows()
    assert sorted(items, key=str) == [("l[0]", "l[1]", "partial"), (None, "l[0]", "spurious")]


def test_paths_say_where_each_side_was():
    gold = {"lines": [{"sku": "a", "n": 1}, {"sku": "b", "n": 2}]}
    pred = {"lines": [{"sku": "b", "n": 2}, {"sku": "a", "n": 1}]}
    rows = rows_of(LINES, gold, pred).filter(field="lines[].sku")
    assert rows.select("gold_path", "pred_path").rows() == [
        ("lines[0].sku", "lines[1].sku"),
        ("lines[1].sku", "lines[0].sku"),
    ]


@pytest.mark.parametrize(
    ("align", "matches"),
    [
        pytest.param("ordered", 1, id="ordered-pairs-by-position"),
        pytest.param("sequence", 2, id="sequence-keeps-the-order"),
        pytest.param("assignment", 3, id="assignment-ignores-the-order"),
    ],
)
def test_the_aligner_decides_what_order_means(align, matches):
    spec = {"fields": {"tags": {"type": "list", "items": "text", "align": align}}}
    told = leaves_of(
        spec, {"tags": ["a", "b", "c"]}, {"tags": ["b", "c", "a"] if align != "ordered" else ["a", "c", "b"]}
    )
    assert sum(outcome == "match" for _, outcome in told) == matches


def test_repeated_items_count_as_often_as_they_stand_there_unless_distinct():
    spec = {"fields": {"tags": {"type": "list", "items": "text"}}}
    gold, pred = {"tags": ["a", "a", "b"]}, {"tags": ["a", "b", "b"]}
    assert sorted(outcome for _, outcome in leaves_of(spec, gold, pred)) == [
        "match",
        "match",
        "missing",
        "spurious",
    ]
    distinct = {"fields": {"tags": {"type": "list", "items": "text", "distinct": True}}}
    assert sorted(outcome for _, outcome in leaves_of(distinct, gold, pred)) == ["match", "match"]


def test_fields_that_do_not_apply_make_no_row():
    spec = {
        "document_type": {"field": "kind", "aliases": {"invoice": ["tax invoice"], "statement": []}},
        "fields": {
            "kind": "text",
            "total": {"type": "number", "applies_to": ["invoice"]},
            "rows": {"type": "list", "items": "text", "applies_to": ["statement"]},
        },
    }
    gold = [
        {"kind": "Tax Invoice", "total": 5, "rows": ["x"]},
        {"kind": "statement", "total": 5, "rows": ["x"]},
    ]
    rows = rows_of(spec, gold, gold).filter(kind="value")
    assert rows.select("doc", "field").rows() == [
        ("0", "kind"),
        ("1", "kind"),
        ("0", "total"),
        ("1", "rows[]"),
    ]


def test_a_document_of_unknown_type_has_all_fields_and_a_warning():
    spec = {
        "document_type": {"field": "kind", "aliases": {"invoice": []}},
        "fields": {"total": {"type": "number", "applies_to": ["invoice"]}},
    }
    result = result_of(spec, [{"kind": "letter", "total": 5}], [{"total": 5}])
    assert result.value("accuracy") == 1.0
    assert any("no known document type" in warning for warning in result.warnings)


def test_accepted_values_are_right_beside_gold():
    spec = {"fields": {"a": {"type": "text", "accepted": ["n/k", "unknown"]}}}
    row = rows_of(spec, {"a": "x"}, {"a": "unknown"}).row(0, named=True)
    assert (row["outcome"], row["score"], row["reason"], row["flags"]) == (
        "match",
        1.0,
        "accepted",
        ["accepted_variation"],
    )


def test_null_can_be_a_value():
    spec = {"fields": {"a": {"type": "number", "null": "value"}}}
    told = [
        leaves_of(spec, gold, pred)[0][1]
        for gold, pred in [
            ({"a": None}, {"a": None}),
            ({"a": None}, {}),
            ({"a": 1}, {"a": None}),
            ({}, {"a": None}),
        ]
    ]
    assert told == ["match", "missing", "mismatch", "spurious"]


@pytest.mark.parametrize(
    ("accept", "outcome"), [(None, "partial"), (0.5, "match"), ("> 0.75", "partial"), (">= 0.75", "match")]
)
def test_accept_decides_the_outcome_and_never_the_score(accept, outcome):
    field = {"type": "text", "compare": "levenshtein"} | ({} if accept is None else {"accept": accept})
    row = rows_of({"fields": {"a": field}}, {"a": "abcd"}, {"a": "abcx"}).row(0, named=True)
    assert (row["outcome"], row["score"]) == (outcome, 0.75)


def test_undeclared_keys_are_counted_and_not_judged():
    result = result_of({"fields": {"a": "text"}}, [{"a": "x"}], [{"a": "x", "iban": "DE00"}])
    assert result.counts["systems"]["s"]["undeclared"] == {"iban": 1}
    assert result.value("precision") == 1.0


def test_undeclared_keys_can_be_spurious():
    spec = {"fields": {"o": {"type": "object", "extra": "spurious", "fields": {"a": "text"}}}}
    told = leaves_of(spec, {"o": {"a": "x"}}, {"o": {"a": "x", "iban": "DE00", "more": {"deep": [1, 2]}}})
    assert told[0] == ("o.a", "match")
    assert sorted(told[1:]) == [
        ("o.iban", "spurious"),
        ("o.more.deep[0]", "spurious"),
        ("o.more.deep[1]", "spurious"),
    ]


TREE = {"fields": {"t": {"type": "any", "align": "ordered"}}}


def test_a_tree_reports_a_container_of_another_kind_once():
    rows = rows_of(TREE, {"t": {"a": {"b": 1, "c": 2}, "d": 5}}, {"t": {"a": "text", "d": {"x": 1}}})
    told = {
        (row["kind"], row["field"], row["outcome"], "wrong_kind" in row["flags"])
        for row in rows.iter_rows(named=True)
    }
    assert {
        ("object", "t.a", "mismatch", True),
        ("value", "t.a.b", "missing", False),
        ("value", "t.a.c", "missing", False),
        ("value", "t.d", "mismatch", True),
    } <= told
    assert not any(field == "t.d.x" for _, field, _, _ in told)


def test_values_of_a_tree_count_as_their_pattern_says():
    """Critical: one of two, `id` with all that is in `a.of`; weights: 3 of 3 and 0 of 1 and 0 of 1."""
    spec = {"type": "any", "fields": {"**.cas": {"critical": True, "weight": 3}, "**.of": {"critical": True}}}
    gold, pred = ({"a": {"cas": "x", "of": {"list": {"id": number}}, "n": number}} for number in (1, 2))
    result = result_of(spec, [gold], [pred], metrics=("critical_accuracy", "accuracy_weighted"))
    assert result.value("critical_accuracy") == 0.5
    assert result.value("accuracy_weighted") == pytest.approx(0.6)


def test_undeclared_top_level_keys_can_be_spurious():
    spec = {"extra": "spurious", "fields": {"a": "text"}}
    assert leaves_of(spec, {"a": "x"}, {"a": "x", "iban": "DE00"}) == [("a", "match"), ("iban", "spurious")]
    result = result_of(
        spec, [{"a": "x"}], [{"a": "x", "iban": "DE00"}], metrics=("precision", "precision(granularity=slot)")
    )
    assert result.value("precision") == 0.5
    assert result.value("precision(granularity=slot)") == 1.0


ONLY_ITEM = {"type": "text", "other_kind": "only_item"}


@pytest.mark.parametrize(
    ("field", "pred", "outcome", "flags"),
    [
        pytest.param(ONLY_ITEM, ["Lima"], "match", ["coerced"], id="a-list-of-one-is-that-value"),
        pytest.param(
            ONLY_ITEM,
            ["Lima", "Quito"],
            "mismatch",
            ["unreadable_pred", "wrong_kind"],
            id="a-list-of-two-is-of-another-kind",
        ),
        pytest.param(
            ONLY_ITEM,
            [["Lima"]],
            "mismatch",
            ["unreadable_pred", "wrong_kind"],
            id="a-list-in-a-list-is-of-another-kind",
        ),
        pytest.param(ONLY_ITEM, [None], "missing", ["coerced"], id="a-list-of-nothing-is-nothing"),
        pytest.param("text", ["Lima"], "mismatch", ["unreadable_pred", "wrong_kind"], id="not-by-default"),
    ],
)
def test_a_list_of_one_value_is_that_value_where_the_spec_says_so(field, pred, outcome, flags):
    row = rows_of({"fields": {"a": field}}, {"a": "Lima"}, {"a": pred}).row(0, named=True)
    assert (row["outcome"], row["flags"]) == (outcome, flags)


# Blank items of lists: left out or kept, and never a correct silence beside which there is nothing

ALIGNERS = ("ordered", "sequence", "assignment")
BASELINE = (
    "accuracy(regime=baseline)",
    "hr",
    "fda",
    "absent",
    "accuracy_pooled(regime=baseline)",
    "f1",
    "accuracy",
)


def spec(align, empty_items="drop", **more):
    return {
        "fields": {
            "t": {"type": "list", "items": "text", "align": align, "empty_items": empty_items, **more}
        },
        "metrics": list(BASELINE),
    }


def figures(spec, gold, pred):
    found = result_of(spec, [{"t": gold}], [{"t": pred}])
    return [found.estimate(metric).value for metric in BASELINE]


@pytest.mark.parametrize("empty_items", ["drop", "keep"])
@pytest.mark.parametrize("align", ALIGNERS)
@pytest.mark.parametrize("at", ["after", "both-sides-after"])
def test_blank_items_at_the_end_move_no_figure(align, empty_items, at):
    one = spec(align, empty_items)
    blank = [""] * 8
    gold = ["oak", *(blank[:3] if at == "both-sides-after" and empty_items == "drop" else [])]
    assert figures(one, gold, ["elm", "x", *blank]) == figures(one, ["oak"], ["elm", "x"])


@pytest.mark.parametrize("align", ALIGNERS)
@pytest.mark.parametrize("empty_items", ["drop", "keep"])
@pytest.mark.parametrize(("gold", "pred"), [("a||c", "a|b|c"), ("a||c", "a|c"), ("||a", "a"), (" | ", "")])
def test_a_text_with_a_separator_is_judged_as_the_list_of_its_parts(align, empty_items, gold, pred):
    one = spec(align, empty_items, separator="|")
    parts = [side.split("|") if side else [] for side in (gold, pred)]
    assert figures(one, gold, pred) == figures(one, *parts)


ITEMS = st.lists(st.sampled_from(["", " ", "a", "b"]), max_size=4)


@given(gold=ITEMS, pred=ITEMS, align=st.sampled_from(ALIGNERS), blanks=st.integers(0, 3))
def test_no_number_of_blank_items_after_the_others_moves_a_figure(gold, pred, align, blanks):
    assert figures(spec(align), gold, pred + [""] * blanks) == figures(spec(align), gold, pred)


# Markers of an empty value: one that a spec names stands for all of its kind, and for no other.


def outcome(gold, pred, type_, nulls):
    return [step.outcome for step in explain_values(gold, pred, {"type": type_, "null_values": nulls})]


@pytest.mark.parametrize("dash", ["-", "–", "—", "−", "－", "--"])
@pytest.mark.parametrize("type_", ["money", "text", "date"])
def test_one_dash_stands_for_all(dash, type_):
    assert outcome(dash, None, type_, ["-"]) == outcome(None, dash, type_, ["–"]) == ["absent"]
    assert outcome(None, dash, type_, ["N/A"]) == ["spurious"]


@pytest.mark.parametrize("zero", ["$0.00", 0, "0,00", "0", 0.0, "0 EUR"])
def test_one_zero_stands_for_all_of_an_amount(zero):
    assert outcome(None, zero, "money", ["0.00"]) == outcome(zero, None, "money", ["$0"]) == ["absent"]
    assert outcome(zero, "5", "money", ["0.00"]) == ["spurious"]
    assert outcome(None, zero, "money", ["-"]) == outcome(None, zero, "money", []) == ["spurious"]


@pytest.mark.parametrize(
    ("type_", "value"), [("text", "0"), ("money", "0x"), ("money", "0.5"), ("id", "000")]
)
def test_a_zero_that_is_no_amount_stays(type_, value):
    assert outcome(None, value, type_, ["0.00"]) == ["spurious"]
