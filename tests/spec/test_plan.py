"""The compiled plan."""

import pytest
from hypothesis import given
from tests.judging import problems
from tests.strategies_spec import specs

from fieldassay.errors import ProblemsError
from fieldassay.metrics.evidence import Kind
from fieldassay.scoring.explain import explain_values
from fieldassay.scoring.score import score
from fieldassay.spec.language.names import apply_aliases
from fieldassay.spec.plan.compile import compile_plan, read_plan
from fieldassay.spec.plan.nodes import COLUMNS, ListNode, ObjectNode, describe


def leaf(definition, **spec):
    return read_plan({"fields": {"x": definition}, **spec}).root.children[0]


def nodes(node):
    yield node
    below = (
        node.children if isinstance(node, ObjectNode) else [node.items] if isinstance(node, ListNode) else []
    )
    for inner in below:
        yield from nodes(inner)


@given(spec=specs())
def test_every_valid_spec_compiles_and_its_nodes_index_their_fields(spec):
    plan = compile_plan(spec)
    for child in plan.root.children:
        for node in nodes(child):
            info = plan.fields[node.field]
            assert info.path == node.path and info.weight == node.weight
            if isinstance(node, ListNode):
                assert info.kind is Kind.LIST and plan.fields[node.item_field].path == f"{node.path}[]"
    assert plan.slots == tuple(field.name for field in spec.fields)
    assert all(0 <= info.slot < len(plan.slots) for info in plan.fields)
    assert compile_plan(spec).digest == plan.digest


@given(spec=specs())
def test_every_valid_spec_can_be_described(spec):
    assert all(
        tuple(row) == COLUMNS and all(isinstance(text, str) for text in row.values())
        for row in describe(compile_plan(spec))
    )


def test_an_option_goes_to_reader_and_comparator_by_who_declares_it():
    node = leaf({"type": "money", "currency": "AUD", "tolerance": {"relative": 0.01}})
    assert (
        node.reader.currency == "AUD"
        and node.comparator.currency == "lenient"
        and str(node.comparator.tolerance.relative) == "0.01"
    )


def test_an_option_that_both_declare_goes_to_whichever_takes_its_value():
    node = leaf({"type": "money", "currency": "strict"})
    assert node.reader.currency is None and node.comparator.currency == "strict"
    assert any(
        "$.fields.x.currency" in problem
        for problem in problems({"fields": {"x": {"type": "money", "currency": "Dollars"}}})
    )


def test_weights_multiply_and_criticality_passes_down():
    plan = read_plan(
        {"fields": {"o": {"weight": 2, "critical": True, "fields": {"a": {"type": "text", "weight": 3}}}}}
    )
    assert [(info.weight, info.critical) for info in plan.fields] == [(2.0, True), (6.0, True)]


def test_null_values_and_gold_failures_come_from_the_spec_unless_the_field_says_otherwise():
    spec = {"null_values": [" N/A "], "unreadable_gold": "failed"}
    assert leaf("text", **spec).null_values == {"n/a"} and leaf("text", **spec).is_gold_failable
    own = leaf({"null_values": ["."], "unreadable_gold": "text"}, **spec)
    assert own.null_values == {"."} and not own.is_gold_failable


def test_document_types_are_known_by_all_their_names():
    kinds = {"field": "KIND", "aliases": {"invoice": ["Tax Invoice"], "statement": []}}
    plan = read_plan({"document_type": kinds, "fields": {"a": {"applies_to": ["tax invoice"]}}})
    assert dict(plan.document_types) == {
        "invoice": "invoice",
        "tax invoice": "invoice",
        "statement": "statement",
    }
    assert plan.root.children[0].applies_to == {"invoice"}


@pytest.mark.parametrize(
    ("fields", "where", "said"),
    [
        ({"a": {"type": "date", "ordr": "dmy"}}, "$.fields.a.ordr", "did you mean 'order'?"),
        ({"a": {"type": "date", "order": "dym"}}, "$.fields.a.order", "'order' cannot be the text 'dym'"),
        ({"a": {"type": "text", "zzz": 1}}, "$.fields.a.zzz", "have no option 'zzz'"),
        (
            {"a": {"compare": {"anls": {"treshold": 1}}}},
            "$.fields.a.compare.anls.treshold",
            "did you mean 'threshold'?",
        ),
        (
            {"a": {"compare": {"anls": {"threshold": "high"}}}},
            "$.fields.a.compare.anls.threshold",
            "cannot be the text 'high'",
        ),
        ({"a": {"type": "money", "tolerance": {"relativ": 1}}}, "$.fields.a", "unknown part 'relativ'"),
        ({"a": {"type": "money", "currency": [1]}}, "$.fields.a.currency", "cannot be a list"),
        ({"a": {"type": "id", "checksum": "au.abm"}}, "$.fields.a", "unknown checksum"),
        (
            {"a": {"normalize": [{"punctuation": {"mod": "space"}}]}},
            "$.fields.a.normalize[0].punctuation.mod",
            "did you mean 'mode'?",
        ),
        (
            {"a": {"type": "money", "normalize": ["case"]}},
            "$.fields.a.normalize",
            "does not apply to the type 'money'",
        ),
        (
            {"a": {"items": {"fields": {"sku": "id"}}, "align": {"key": "skuu"}}},
            "$.fields.a.align",
            "did you mean 'sku'?",
        ),
        ({"a": {"items": "id", "align": {"key": "sku"}}}, "$.fields.a.align", "needs a list of objects"),
        ({"a": {"items": "id", "align": "key"}}, "$.fields.a.align", "needs the option 'fields'"),
        (
            {"a": {"items": "id", "align": {"assignment": {"min_similarity": 2}}}},
            "$.fields.a.align",
            "from 0 to 1",
        ),
        ({"a": {"items": "id", "accept": 0.5}}, "$.fields.a.accept", "does not apply to the type 'list'"),
        (
            {"a": {"items": {"fields": {"b": "id"}}, "compare": "iou"}},
            "$.fields.a.items",
            "cannot hold the type 'object'",
        ),
        (
            {"a": {"compare": {"iou": {"items": "wrods"}}, "items": "text"}},
            "$.fields.a.compare.iou.items",
            "did you mean 'words'?",
        ),
        (
            {"a": {"type": "text", "compare": {"synonyms": {"words": {"Yes": ["Y"], "No": ["y"]}}}}},
            "$.fields.a.compare",
            "'y' cannot stand for both 'no' and 'yes'",
        ),
        (
            {"a": {"type": "any", "fields": {"**.x": {"fields": {"b": "id"}}}}},
            "$.fields.a.fields",
            "a pattern cannot have the type 'object'",
        ),
    ],
)
def test_a_wrong_option_is_a_problem_at_its_place(fields, where, said):
    found = problems({"fields": fields})
    assert any(where in problem and said in problem for problem in found), found


@pytest.mark.parametrize(
    ("key", "text", "said"),
    [
        ("metrics", "accurcy", "did you mean 'accuracy'?"),
        ("metrics", "f1(", "$.metrics[0]"),
        ("gates", "accuracy > ", "expected a number"),
        ("gates", "field_accuracy[TOTL] >= 0.5", "unknown field 'TOTL'; did you mean 'TOTAL'?"),
    ],
)
def test_metrics_and_gates_are_checked(key, text, said):
    assert any(said in problem for problem in problems({"fields": {"TOTAL": "money"}, key: [text]}))


@pytest.mark.parametrize("weight", [2.5e9, 1e300, 1001, 1e-12, 0.0009])
def test_a_weight_that_sums_cannot_hold_is_refused_at_its_place(weight):
    with pytest.raises(ProblemsError, match=r"\$\.fields\.a\.weight: has the weight"):
        read_plan({"fields": {"a": {"type": "number", "weight": weight}, "b": "number"}})


def test_weights_are_bounded_with_those_around_them():
    inner = {"b": {"weight": 200, "type": "number"}, "c": {"type": "number", "weight": 0}}
    with pytest.raises(ProblemsError, match="2000") as refusal:
        read_plan({"fields": {"o": {"weight": 10, "fields": inner}}})
    assert len(refusal.value.problems) == 1


# The compiled plan.

# Options of a field reach the comparators inside its comparator

STEPS = {"cascade": {"steps": ["exact", "bare_number"]}}


@pytest.mark.parametrize(
    ("definition", "compared"),
    [
        ({"compare": STEPS, "tolerance": 0.5}, "cascade(steps=[exact, bare_number(tolerance=relative 0.5)])"),
        (
            {"compare": {"cascade": ["exact", "bare_number"]}, "tolerance": 0.5},
            "cascade(steps=[exact, bare_number(tolerance=relative 0.5)])",
        ),
        (
            {
                "compare": {"cascade": {"steps": ["exact", {"bare_number": {"tolerance": 0.1}}]}},
                "tolerance": 0.5,
            },
            None,
        ),
        ({"compare": {"number": 0.1}, "tolerance": 0.5}, None),
        (
            {"type": "list", "compare": {"by_position": {"items": STEPS}}, "tolerance": 0},
            "by_position(items=cascade(steps=[exact, bare_number(tolerance=relative 0)]))",
        ),
        ({"type": "list", "compare": {"by_position": {"items": "exact"}}, "tolerance": 0}, None),
        ({"compare": STEPS, "tolerence": 0.5}, None),
    ],
)
def test_an_option_goes_to_whoever_has_it_and_to_nobody_else(definition, compared):
    if compared is None:
        with pytest.raises(ProblemsError, match=r"no option|stands here"):
            read_plan({"fields": {"x": definition}})
    else:
        assert describe(read_plan({"fields": {"x": definition}}))[0]["compared"] == compared


@pytest.mark.parametrize("text", ["number: 0.1", {"number": 0.1}, {"number": {"tolerance": 0.1}}], ids=str)
def test_an_option_of_a_field_takes_the_place_of_that_within_the_comparator_of_its_type(text):
    for compare, compared in ((text, "{}"), ({"cascade": ["exact", text]}, "cascade(steps=[exact, {}])")):
        types = {"amount": {"type": "text", "compare": compare}}
        plan = read_plan({"types": types, "fields": {"x": {"type": "amount", "tolerance": 0.5}}})
        assert describe(plan)[0]["compared"] == compared.format("number(tolerance=relative 0.5)")


def test_the_option_counts():
    values = [
        explain_values("100", "105", {"compare": STEPS, "tolerance": tolerance})[0].score
        for tolerance in (0.04, 0.05)
    ]
    assert values == [0.0, 1.0]


# Fields that records may hold under other keys (`names:`)

SPEC = """
fields:
  total: {type: integer, names: [sum, amount]}
  vendor: {names: [seller], fields: {name: {type: text, names: [called]}}}
  lines: {type: list, names: [rows], items: {fields: {sku: {type: id, names: [code]}}}}
"""
GOLD = [{"id": 1, "total": 5, "vendor": {"name": "Ada"}, "lines": [{"sku": "x"}, {"sku": "y"}]}]


@pytest.mark.parametrize(
    ("record", "wanted"),
    [
        pytest.param({"a": 1}, {"a": 1}, id="own"),
        pytest.param({"b": 1}, {"a": 1}, id="other"),
        pytest.param({"c": 2, "b": 1}, {"c": 2, "a": 1}, id="the-first-listed-counts"),
        pytest.param({"a": None, "c": 2}, {"a": 2}, id="null-gives-way"),
        pytest.param({"b": None, "c": 2}, {"a": 2}, id="a-null-other-is-passed-over"),
        pytest.param({"b": None}, {"a": None}, id="a-null-other-alone-is-the-field"),
        pytest.param({"a": 0, "b": 1}, {"a": 0, "b": 1}, id="own-counts-first"),
        pytest.param({"a": [], "b": 1}, {"a": [], "b": 1}, id="empty-is-not-null"),
        pytest.param({}, {}, id="neither"),
    ],
)
def test_which_key_counts(record, wanted):
    given = dict(record)
    assert apply_aliases(record, (("a", ("b", "c")),)) == wanted
    assert record == given


def test_fields_are_found_under_their_other_names_at_every_level():
    pred = [{"id": 1, "amount": 5, "seller": {"called": "Ada"}, "rows": [{"code": "y"}, {"code": "x"}]}]
    result = score(GOLD, pred, SPEC)
    assert result.value("accuracy") == 1.0
    assert result.warnings == ()


@pytest.mark.parametrize("extra", ["ignore", "spurious"])
def test_a_skipped_field_and_its_unit_are_neither_judged_nor_undeclared(extra):
    weight = "weight: {type: quantity, unit_field: weight_unit}"
    spec = f"{{fields: {{sum: number, {weight}}}, absent_fields: skip, extra: {extra}}}"
    result = score([{"id": 1, "sum": 5}], [{"id": 1, "sum": 5, "weight": 3, "weight_unit": "kg"}], spec)
    assert result.value("accuracy") == 1.0
    assert result.warnings == ("ignored, since no gold record has them: weight",)


def test_other_names_are_no_undeclared_keys_and_a_second_one_is():
    result = score(GOLD, [{**GOLD[0], "sum": 6}], f"extra: spurious\n{SPEC}")
    spurious = result.evidence.filter(result.evidence["outcome"] == "spurious")
    assert spurious["field"].to_list() == ["sum"]


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        pytest.param(
            "fields: {a: {type: text, names: [b]}, b: text}",
            "the field 'b' is declared twice",
            id="of-another-field",
        ),
        pytest.param(
            "fields: {a: {type: text, names: [c]}, b: {type: text, names: [c]}}",
            "the field 'c' is declared twice",
            id="of-two",
        ),
        pytest.param(
            "fields: {a: {type: list, items: {type: text, names: [b]}}}",
            "'names' does not apply to the items",
            id="of-items",
        ),
        pytest.param(
            'fields: {a: {fields: {"**.x": {type: text, names: [b]}}}}',
            "'names' does not apply",
            id="of-a-pattern",
        ),
        pytest.param("fields: {a: {type: text, names: [[b]]}}", "must be a text, not a list", id="a-list"),
    ],
)
def test_names_that_make_no_sense_are_refused(spec, message):
    assert message in "\n".join(problems(spec))
