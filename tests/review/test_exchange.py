"""Labels in the forms of other programs: what comes back is what was held, and what is lost is told."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from tests.effort import few_examples

from fieldassay.commands.cli.main import main
from fieldassay.errors import ProblemsError
from fieldassay.records.labels_file import Label, Region, Sheet, labels_lines, read_labels
from fieldassay.review.exchange import export_labels, import_labels

FORMS = (".jsonl", ".json")
REGION = Region(2, (0.25, 0.5, 0.5, 0.75), "1,250.00")
SHEET = Sheet(
    "inv-1.pdf",
    "r1",
    1,
    True,
    {
        "total": Label("value", "=1,250.00", (REGION, Region(1, (0.0, 0.0, 1.0, 0.125))), "blind", "nothing"),
        "due": Label("absent", origin="blind"),
        "stamp": Label("illegible", regions=(REGION,)),
        "note": Label("skipped"),
        "lines": Label("value"),
        "lines[0].net/gross": Label("value", "'x\n"),
        'lines[1]["odd.key"]': Label("value", "-5", value=-5),
    },
)


def held_by(form, sheet):
    """Return what a form holds of a sheet."""
    labels = dict(sheet.labels)
    if form == ".json":
        labels = {
            path: replace(
                label,
                origin=None,
                shown=None,
                value=None,
                regions=tuple(replace(one, text=None) for one in label.regions),
            )
            for path, label in labels.items()
        }
    return replace(sheet, labels=labels)


def there_and_back(folder, form, sheets):
    target = folder / f"labels{form}"
    export_labels(sheets, target)
    return list(import_labels(target).sheets)


@pytest.mark.parametrize("form", FORMS)
def test_labels_come_back_as_far_as_the_form_holds_them(tmp_path, form):
    assert there_and_back(tmp_path, form, [SHEET]) == [held_by(form, SHEET)]


texts = st.text("a5=-'\"\n,é ", min_size=1, max_size=5).filter(lambda text: text == text.strip())
edges = st.sampled_from([0.0, 0.125, 0.25, 0.5, 1.0])
boxes = st.tuples(edges, edges, edges, edges).map(
    lambda box: (min(box[0], box[2]), min(box[1], box[3]), max(box[0], box[2]), max(box[1], box[3]))
)
regions = st.lists(st.builds(Region, st.integers(1, 9), boxes, st.none() | texts), max_size=2).map(tuple)
labels = st.one_of(
    st.builds(Label, st.just("value"), texts, regions, st.sampled_from([None, "blind", "confirmed"])),
    st.builds(Label, st.sampled_from(["absent", "illegible", "skipped"])),
)
places = st.sampled_from(["total", "a.b", "lines[0].sku", "lines[1].sku", "tags[0]", "x/y", "~.z"])
sheets = st.lists(
    st.builds(
        Sheet,
        st.sampled_from(["a.pdf", "b"]),
        st.sampled_from(["r1", "r2"]),
        st.integers(0, 1),
        st.booleans(),
        st.dictionaries(places, labels, min_size=1, max_size=4),
    ),
    max_size=3,
    unique_by=lambda one: (one.document, one.reviewer, one.slot),
)


@pytest.mark.parametrize("form", FORMS)
@few_examples()
@given(found=sheets)
def test_any_labels_come_back(tmp_path_factory, form, found):
    back = there_and_back(tmp_path_factory.mktemp("labels"), form, found)
    ordered = sorted(found, key=lambda one: (one.document, one.slot, one.reviewer))
    assert back == [held_by(form, one) for one in ordered]


@pytest.mark.parametrize(
    ("form", "words"),
    [
        pytest.param(
            ".json",
            ["the origin, or what was shown, of 2 labels", "the text of the page in 2"],
            id="ls",
        ),
        pytest.param(".jsonl", [], id="labels"),
    ],
)
def test_what_a_form_cannot_hold_is_told(tmp_path, form, words):
    lost = "; ".join(export_labels([SHEET], tmp_path / f"labels{form}"))
    assert all(word in lost for word in words)
    assert bool(lost) == bool(words)


def test_an_ending_of_no_form_is_refused_with_those_there_are(tmp_path):
    with pytest.raises(ProblemsError, match=r"use one of: \.jsonl \(a labels file\), \.json \(tasks of"):
        export_labels([SHEET], tmp_path / "out.xlsx")


FOREIGN: list[dict[str, Any]] = [
    {
        "id": 7,
        "data": {"image": "scans/a.png"},
        "predictions": [{"result": []}],
        "annotations": [
            {"was_cancelled": True, "result": []},
            {
                "completed_by": {"id": 3, "email": "person@example.org"},
                "lead_time": 4.2,
                "result": [
                    {
                        "id": "x", "type": "rectanglelabels", "from_name": "label", "to_name": "image",
                        "original_width": 200, "original_height": 100,
                        "value": {"x": 50, "y": 50, "width": 10, "height": 40, "rotation": 90,
                                  "rectanglelabels": ["total"]},
                    },
                    {
                        "id": "x", "type": "textarea", "from_name": "transcription", "to_name": "image",
                        "value": {"x": 50, "y": 50, "width": 10, "height": 40, "rotation": 90, "text": ["5"]},
                    },
                    {"id": "y", "type": "textarea", "from_name": "buyer", "value": {"text": ["ACME"]}},
                    {"id": "z", "type": "rectanglelabels",
                     "value": {"x": 0, "y": 0, "width": 1, "height": 1, "rectanglelabels": ["lines[].sku"]}},
                    {"id": "v", "type": "rating", "from_name": "quality", "value": {"rating": 5}},
                ],
            },
        ],
    }
]  # fmt: skip


def test_tasks_of_others_are_read_and_persons_stay_numbers(tmp_path):
    (tmp_path / "tasks.json").write_text(json.dumps(FOREIGN))
    found = import_labels(tmp_path / "tasks.json")
    [one] = found.sheets
    assert (one.document, one.reviewer, list(one.labels)) == (
        "scans/a.png", "annotator 3", ["total", "buyer", "lines[0].sku"],
    )  # fmt: skip
    assert one.labels["total"].text == "5"
    assert one.labels["total"].regions[0].box == pytest.approx((0.3, 0.5, 0.5, 0.7))
    assert found.notes == (
        "1 prediction left out",
        "1 cancelled annotation left out",
        "1 result without a field left out",
    )


BOX = {"x": 95, "y": 0, "width": 10, "height": 40}
RESULTS: dict[str, tuple[list[dict[str, Any]], str, str | None, int]] = {
    "two boxes without a text": ([{"type": "rectanglelabels", "value": BOX}] * 2, "value", "", 2),
    "the first text": ([{"type": "textarea", "value": {"text": text}} for text in ("5.0", ["6"])], "value", "5.0", 0),
    "lines of a text": ([{"type": "textarea", "value": {"text": ["5", "6"]}}], "value", "5\n6", 0),
    "a state and its box": (
        [{"type": "choices", "value": {**BOX, "choices": ["illegible"]}}], "illegible", None, 1
    ),
    "the text of a span": (
        [{"type": "labels", "value": {"text": "5"}}, {"type": "textarea", "value": {"text": ["6"]}}], "value", "6", 0
    ),
    "a list that is there": ([{"type": "choices", "value": {"choices": ["present"]}}], "value", None, 0),
}  # fmt: skip


@pytest.mark.parametrize("case", RESULTS)
def test_results_about_one_path_are_one_label(tmp_path, case):
    results, *label = RESULTS[case]
    result = [{"meta": {"text": ["total"]}, **one} for one in results]
    task = {"data": {"image": "a"}, "annotations": [{"result": result, "completed_by": "me@example.org"}]}
    numbered = {**task, "data": {"image": "a", "sheet": 1}}
    (tmp_path / "tasks.json").write_text(json.dumps([task, task, numbered]))
    imported = import_labels(tmp_path / "tasks.json")
    named = [(sheet.reviewer, sheet.slot) for sheet in imported.sheets]
    assert (named, imported.notes) == ([("annotator 0", slot) for slot in range(3)], ())
    total = imported.sheets[0].labels["total"]
    assert all(0 <= edge <= 1 for region in total.regions for edge in region.box)
    assert [total.state, total.text, len(total.regions)] == label


@pytest.mark.parametrize(
    ("name", "content"),
    [
        pytest.param("tasks.json", "{}", id="no list of tasks"),
        pytest.param(
            "tasks.json", '[{"data": {"id": 1}, "annotations": [{"result": [{"type": "choices", '
            '"from_name": "total", "value": {"choices": ["gone"]}}]}]}]', id="no state",
        ),
        pytest.param("tasks.json", '[{"data": {}, "annotations": [{"result": []}]}]', id="no document"),
    ],
)  # fmt: skip
def test_what_is_no_labels_is_told_with_its_place(tmp_path, name, content):
    (tmp_path / name).write_text(content)
    with pytest.raises(ProblemsError) as caught:
        import_labels(tmp_path / name)
    assert caught.value.problems[0].kind == "labels_file"
    assert "IndexError" not in str(caught.value)


def test_the_commands_go_there_and_back(tmp_path, capsys):
    (tmp_path / "labels.jsonl").write_text("".join(labels_lines([replace(SHEET, reviewer="r2")])))
    paths = [str(tmp_path / name) for name in ("labels.jsonl", "tasks.json", "back.jsonl")]
    assert main(["review", "export", paths[0], "-o", paths[1]]) == 0
    assert "tasks.json does not hold the origin" in capsys.readouterr().err
    assert main(["review", "export", paths[1], "-o", paths[2]]) == 0
    assert "1 sheet with 7 labels" in capsys.readouterr().out
    assert [one.reviewer for one in read_labels(tmp_path / "back.jsonl")] == ["r2"]
