"""All presets: documented, and fed by inputs of any shape."""

import re
from pathlib import Path

import pytest
from tests.spec.presets.engineering_cases import counts, judge

from fieldassay.commands.cli.main import main
from fieldassay.errors import ProblemsError
from fieldassay.metrics.catalogue.definitions import Definition, Vocabulary, select_metrics
from fieldassay.scoring.explain import explain_field, list_changes, validate
from fieldassay.scoring.score import score
from fieldassay.spec.plan.compile import read_plan
from fieldassay.spec.presets.catalogue import preset_head, preset_names

# Each shipped protocol says where it comes from, and has its place in the pages on protocols

_PAGES = Path(__file__).resolve().parents[3] / "docs"
_ROWS = (_PAGES / "spec.md").read_text(encoding="utf-8").partition("| protocol |")[2].splitlines()


@pytest.mark.parametrize("name", preset_names())
def test_the_list_of_protocols_links_to_a_page_with_its_source_and_how_to_run_it(name):
    row = next(
        line for line in _ROWS if re.search(rf"^\|.*(?<![\w-]){re.escape(name)}(?![\w-]).*\|.*\|", line)
    )
    (linked,) = re.findall(r"\]\(([^)#]+\.md)(?:#[a-z-]+)?\)", row)
    text = (_PAGES / linked).read_text(encoding="utf-8")
    assert name in text and f"--protocol {name.removesuffix('-chamfer').removesuffix('-mean')}" in text
    assert "**Source**" in text or not linked.startswith("protocols/")


@pytest.mark.parametrize("name", preset_names())
def test_its_text_says_its_version_its_source_and_what_it_judges(name, capsys):
    head = preset_head(name)
    assert (head.name, bool(head.version), bool(head.citation), bool(head.description)) == (
        name,
        True,
        True,
        True,
    )
    assert main(["protocols", "show", name]) == 0
    shown = capsys.readouterr().out
    assert re.search(rf"^version: [\"']?{re.escape(head.version)}[\"']?$", shown, re.MULTILINE)
    assert re.search(r"^citation: \S", shown, re.MULTILINE)
    assert re.search(r"^description: \S", shown, re.MULTILINE)


# Shapes of gold and predictions that are odd, but mean something; the numbers are worked by hand


@pytest.mark.parametrize(
    ("beside", "rate"),
    [
        pytest.param({"parse_success": 0}, 0.0, id="parse-0"),
        pytest.param({"parse_success": "0"}, 0.0, id="parse-0-as-text"),
        pytest.param({"parse_success": 1}, 100.0, id="parse-1"),
        pytest.param({"parse_success": None}, 100.0, id="parse-unknown"),
    ],
)
def test_a_parse_that_failed_may_be_a_0(beside, rate):
    gold = [{"doc_id": "a", "medications": [{"nombre_medicamento": "X", "dosis": "5 mg"}]}]
    result = score(gold, {"s": [{**gold[0], **beside}]}, {"protocol": "prescription"}, bootstrap=0)
    assert result.value("pipeline_success_rate") == rate
    assert result.value("prescription_accuracy") == 100.0


@pytest.mark.parametrize(
    ("accepted", "actual", "overall", "structure"),
    [
        pytest.param({"a": [None]}, None, 1.0, 1.0, id="null-accepted"),
        pytest.param({"a": ["n/a"]}, "n/a", 1.0, 1.0, id="text-accepted"),
        pytest.param({"a": [None]}, 7, 0.5, 0.5, id="not-accepted"),
        pytest.param({}, None, 0.5, 0.5, id="nothing-accepted"),
    ],
)
def test_an_accepted_value_in_place_of_a_container_is_one_match(accepted, actual, overall, structure):
    result = judge({"a": {"b": 1, "c": 2}, "d": "x"}, {"a": actual, "d": "x"}, accepted=accepted)
    assert (result.value("overall_accuracy"), result.value("shape_accuracy")) == (overall, structure)
    assert counts(result) == ({"structure": 1} if overall < 1 else {})


def test_predicted_business_fields_may_stand_under_extracted_data():
    gold = [{"image_file": "a.png", "SUPPLIER_NAME": "Acme Corp Ltd", "TOTAL_AMOUNT": "$5.00"}]
    pred = [
        {
            "image_name": "a.png",
            "extracted_data": {"SUPPLIER_NAME": "Acme Corp", "TOTAL_AMOUNT": "5"},
            "processing_time": 12,
        }
    ]
    result = score(gold, {"s": pred}, {"protocol": "business-documents"}, bootstrap=0)
    assert result.value("overall_accuracy") == pytest.approx((0.9 + 1) / 2, abs=1e-9)
    assert result.value("throughput") == pytest.approx(5.0)


def test_a_definition_that_fixes_several_values_can_be_narrowed_to_some_of_them():
    vocabulary = Vocabulary(
        (Definition("covered", 'mean(column=coverage, type="text|list")'),), ("text", "list", "enum")
    )
    assert [str(call) for call in select_metrics(["covered(type=text)"], vocabulary)] == [
        "covered(type=text)"
    ]
    with pytest.raises(ValueError, match="covered has no parameter 'type'"):
        select_metrics(["covered(type=enum)"], vocabulary)


@pytest.mark.parametrize(
    ("protocol", "field", "gold", "pred", "found"),
    [
        pytest.param(
            "prescription", "medications[].dosis", "1-2 TABLETAS", "1 2 tabletas.", 1.0, id="attribute"
        ),
        pytest.param(
            "prescription", "medications[].dosis", "1-2 TABLETAS", "12 TABLETAS", 0.0, id="attribute-wrong"
        ),
        pytest.param("lab-report", "results[].valor", "5,0", "5.1", 1.0, id="value"),
        pytest.param("lab-report", "results[].valor", "5,0", "5.11", 0.0, id="value-wrong"),
        pytest.param("engineering-extractor", "flow_rate.value", 5000, 5050, 1.0, id="number-in-a-tree"),
        pytest.param(
            "engineering-extractor", "flow_rate.value", 5000, 5050.01, 0.0, id="number-in-a-tree-wrong"
        ),
        pytest.param("engineering-extractor", "list[3].unit", "m3/h", "M3 / H", 1.0, id="unit-in-a-tree"),
        pytest.param("entry-matching", "entries[].name", "Dupont", "Dupond", 5 / 6, id="name"),
        pytest.param("entry-matching", "entries[].pages", [1, 2], [1, 3], 1 / 3, id="pages"),
        pytest.param("anls-star", "shop", "OAK STREET BOOKS", "oak street book", 15 / 16, id="leaf"),
    ],
)
def test_two_values_of_a_field_inside_of_others_are_explained(protocol, field, gold, pred, found):
    [step] = explain_field(read_plan({"protocol": protocol}), field, gold, pred)
    assert step.score == pytest.approx(found, abs=1e-9)


@pytest.mark.parametrize(
    ("protocol", "field", "said"),
    [
        ("prescription", "medications[].dose", "did you mean 'medications\\[\\].dosis'"),
        ("anls-star", "a[", "not a path"),
    ],
    ids=["nearest", "no-path"],
)
def test_a_field_that_is_nowhere_is_refused(protocol, field, said):
    with pytest.raises(ProblemsError, match=said):
        explain_field(read_plan({"protocol": protocol}), field, "a", "b")


def test_on_the_command_line_values_of_a_tree_are_json(capsys):
    field = ["--protocol", "engineering-extractor", "--field", "flow_rate.value"]
    assert main(["explain", *field, "5000", "5050"]) == 0
    assert "score 1.0, the numbers are within the tolerance" in " ".join(capsys.readouterr().out.split())


# A spec changes a protocol in what it names, and in nothing else

_SCORED = [name for name in preset_names() if preset_head(name).kind == "spec"]
_CHANGES = [
    ({"gates": ["f1 >= 0.123"]}, ["gates: added f1 >= 0.123"]),
    ({"metrics": ["documents_repaired"]}, ["metrics: added documents_repaired"]),
    ({"slices": ["batch"]}, ["slices: added batch"]),
    ({"prices": {"m": {"prompt": 1}}}, ["prices.m: added {prompt: 1}"]),
    ({"definitions": {"own": "1 - accuracy"}}, ['definitions.own: added "1 - accuracy"']),
    ({"statistics": {"bootstrap": 77}}, ["statistics.bootstrap: added 77"]),
    ({"data": {"wrap": "answer"}}, ["data.wrap: added answer"]),
    ({"checks": {"zz": "not_empty"}}, ["checks.zz: added not_empty"]),
    ({"locale": "de_DE"}, ["locale: added de_DE"]),
    ({"unreadable_gold": "failed"}, ["unreadable_gold: added failed"]),
]


@pytest.mark.parametrize("name", _SCORED)
@pytest.mark.parametrize(("own", "told"), _CHANGES, ids=[next(iter(own)) for own, _ in _CHANGES])
def test_one_key_changes_a_protocol_in_that_key_alone(name, own, told):
    found = validate({"protocol": name, **own})
    assert found.problems == ()
    assert list(found.changes) == told


@pytest.mark.parametrize("name", _SCORED)
def test_one_field_more_leaves_the_others_as_they_are(name):
    given, field = (
        read_plan({"protocol": name}),
        "**.zz" if "*" in str(preset_head(name).data.get("fields")) else "zz",
    )
    spec = read_plan({"protocol": name, "fields": {field: "text"}}).spec
    assert next(iter(list_changes(spec, given.spec))).startswith(
        f"fields.{field}: added" if field == "zz" else 'fields["**.zz"]: added'
    )
    assert len(list(list_changes(spec, given.spec))) == 1


FIELDS = 'fields="dosis|frecuencia|duracion|instrucciones|via", without=lone_parent'
VIA = {"formula": f"correct({FIELDS}) + absent({FIELDS})"}


@pytest.mark.parametrize(
    ("spec", "told"),
    [
        (
            {"protocol": "engineering-extractor", "fields": {"**.concentration": {"critical": True}}},
            'fields["**.concentration"]: added as **, with critical: true',
        ),
        (
            {"protocol": "prescription", "definitions": {"correct_attributes": VIA}},
            "|instrucciones|via",
        ),
    ],
    ids=["a pattern", "a long text"],
)
def test_a_change_shows_what_was_written(spec, told):
    below = {"protocol": spec["protocol"]}
    (found,) = list_changes(*(read_plan(one).spec for one in (spec, below)))
    assert told in found


@pytest.mark.parametrize(
    ("name", "kind"), [(name, kind) for name in _SCORED for kind in preset_head(name).data.get("types", {})]
)
def test_a_rule_of_a_type_changes_the_fields_of_this_type_in_this_rule_alone(name, kind):
    found = validate({"protocol": name, "types": {kind: {"accept": 0.123}}})
    assert found.problems == () or "no effect on a list" in str(found.problems)
    assert all(re.search(r"accept: .*0.123$", line) for line in found.changes)


def test_one_more_type_of_document_is_one_of_five_names():
    spec = {"protocol": "business-documents", "document_type": {"aliases": {"payslip": ["pay slip"]}}}
    gold = [{"image_file": "a", "DOCUMENT_TYPE": "payslip"}, {"image_file": "b", "DOCUMENT_TYPE": "invoice"}]
    pred = [
        {"image_file": "a", "DOCUMENT_TYPE": "Pay Slip"},
        {"image_file": "b", "DOCUMENT_TYPE": "tax invoice"},
    ]
    assert score(gold, pred, spec).value("field_accuracy", field="DOCUMENT_TYPE") == 1.0


def test_chamfer_differs_from_slot_filling_in_its_comparators_alone():
    own, below = (read_plan({"protocol": name}).spec for name in ("slot-filling-chamfer", "slot-filling"))
    assert {line.partition(":")[0].rpartition(".")[2] for line in list_changes(own, below)} == {
        "compare",
        "score",
    }
    result = score(
        [{"id": 1, "incident_location": "Lima"}],
        [{"id": 1, "incident_location": ["Lima"]}],
        {"protocol": "slot-filling-chamfer"},
    )
    assert result.value("nes") == 1.0
