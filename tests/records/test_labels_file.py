"""Labels files: what is written is read back; every problem is told with its line and place."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fieldassay.errors import ProblemsError
from fieldassay.paths import join_path
from fieldassay.records.labels_file import (
    Label,
    Region,
    Sheet,
    is_labels_file,
    labels_lines,
    parse_labels,
)

LINE: dict[str, Any] = {"id": "a", "reviewer": "ada", "labels": {"total": {"state": "value", "text": "5"}}}


def bad(labels: Any) -> dict[str, Any]:
    return {**LINE, "labels": labels}


@pytest.mark.parametrize(
    ("line", "where", "what"),
    [
        pytest.param("{", "x.jsonl:1", "not JSON", id="no JSON"),
        pytest.param(
            {"id": "a", "total": 5}, "x.jsonl:1", "not a line of a labels file", id="a plain record"
        ),
        pytest.param({**LINE, "version": 2}, "x.jsonl:1: $.version", "reads version 1", id="a newer version"),
        pytest.param({**LINE, "revewer": 1}, "x.jsonl:1: $", "unknown key `revewer`", id="an unknown key"),
        pytest.param({**LINE, "id": 5}, "x.jsonl:1: $.id", "expected `str`", id="an id that is a number"),
        pytest.param({**LINE, "reviewer": " "}, "x.jsonl:1: $.reviewer", "is empty", id="no reviewer"),
        pytest.param({**LINE, "blind": 1}, "x.jsonl:1: $.blind", "expected `bool`", id="blind as a number"),
        pytest.param(bad([]), "x.jsonl:1: $.labels", "expected `object`", id="labels as a list"),
        pytest.param(
            bad({"t": {"state": "gone"}}), 'x.jsonl:1: $.labels["t"].state', "gone", id="an unknown state"
        ),
        pytest.param(bad({"t": {}}), 'x.jsonl:1: $.labels["t"]', "`state` is missing", id="no state"),
        pytest.param(
            bad({"t": {"state": "absent", "text": "5"}}),
            "",
            "has a text, and the state",
            id="absent with a text",
        ),
        pytest.param(bad({"a[].b": {"state": "absent"}}), "", "path of one value", id="the path of a field"),
        pytest.param(
            bad({"t": {"state": "value", "text": "5\ud800"}}),
            "",
            "half of a character",
            id="half a character",
        ),
        pytest.param(bad({"a..b": {"state": "absent"}}), "", "not a path", id="no path"),
        pytest.param(
            bad({'["a"]': {"state": "absent"}}), "", "path of one value", id="a path quoted needlessly"
        ),
        pytest.param(
            bad({"a": {"state": "absent"}, "a[0].b": {"state": "value", "text": "1"}}),
            'x.jsonl:1: $.labels["a[0].b"]',
            "is below 'a'",
            id="a value below an absent one",
        ),
        pytest.param(
            bad({"t": {"state": "value", "text": "1", "regions": [{"page": 0, "box": [0, 0, 1, 1]}]}}),
            'x.jsonl:1: $.labels["t"].regions[0]',
            "pages count from 1",
            id="page 0",
        ),
        pytest.param(
            bad({"t": {"state": "value", "text": "1", "regions": [{"page": 1, "box": [0, 0, 2, 1]}]}}),
            "",
            "from 0 to 1",
            id="a box in pixels",
        ),
        pytest.param(
            '{"id": "a", "reviewer": "b", "labels": {"st": {"state": "absent"}, "st": {"state": "skipped"}}}',
            "x.jsonl:1",
            "the key 'st' twice",
            id="one place twice",
        ),
        pytest.param(
            '{"id": "a", "id": "b", "reviewer": "b", "labels": {}}',
            "x.jsonl:1",
            "the key 'id' twice",
            id="two ids",
        ),
    ],
)
def test_what_is_wrong_is_told_with_its_place(line: Any, where: str, what: str) -> None:
    text = line if isinstance(line, str) else json.dumps(line)
    with pytest.raises(ProblemsError) as caught:
        parse_labels([text.encode()], "x.jsonl")
    first = caught.value.problems[0]
    assert first.kind == "labels_file"
    assert first.where.startswith(where)
    assert what in first.what


def test_all_problems_come_together_and_blank_lines_are_counted() -> None:
    lines = [b"{\n", b"\n", json.dumps(bad({"t": {"state": "?"}})).encode(), json.dumps(LINE).encode()]
    with pytest.raises(ProblemsError) as caught:
        parse_labels(lines, "x.jsonl")
    assert [one.where.partition(": ")[0] for one in caught.value.problems] == ["x.jsonl:1", "x.jsonl:3"]


def test_a_reviewer_labels_a_sheet_once() -> None:
    line = json.dumps(LINE).encode()
    other = json.dumps({**LINE, "sheet": 1}).encode()
    assert len(parse_labels([line, other], "x.jsonl")) == 2
    with pytest.raises(ProblemsError, match="is in line 1 already"):
        parse_labels([line, other, line], "x.jsonl")


def test_a_labels_file_is_told_from_gold(tmp_path: Path) -> None:
    for name, line, expected in (("a", LINE, True), ("b", {"id": "a", "total": 5}, False)):
        (tmp_path / name).write_bytes(b"\xef\xbb\xbf\n" + json.dumps(line).encode() + b"\n")
        assert is_labels_file(tmp_path / name) is expected
    (tmp_path / "c").write_text("id,total\na,5\n")
    assert not is_labels_file(tmp_path / "c")


steps = st.text('ab.["é', min_size=1, max_size=3)
boxes = st.tuples(*[st.floats(0, 1)] * 4).map(
    lambda box: (min(box[0], box[2]), min(box[1], box[3]), max(box[0], box[2]), max(box[1], box[3]))
)
regions = st.builds(Region, st.integers(1, 300), boxes, st.none() | st.text(max_size=3))
states = st.one_of(
    st.tuples(st.just("value"), st.text(max_size=5)),
    st.tuples(st.sampled_from(["absent", "illegible", "skipped"]), st.none()),
)
label = st.builds(
    lambda state, places, origin, shown: Label(state[0], state[1], tuple(places), origin, shown),
    states,
    st.lists(regions, max_size=2),
    st.sampled_from([None, "blind", "confirmed", "corrected", "adjudicated", "imported"]),
    st.sampled_from([None, "nothing", "prediction"]),
)
sheet = st.builds(
    Sheet,
    st.text(min_size=1, max_size=4).filter(str.strip),
    st.sampled_from(["ada", "bob"]),
    st.integers(0, 2),
    st.booleans(),
    st.dictionaries(steps.map(lambda step: join_path([step])), label, max_size=4),
)


@given(st.lists(sheet, max_size=4, unique_by=lambda one: (one.document, one.reviewer, one.slot)))
def test_what_is_written_is_read_back(sheets: list[Sheet]) -> None:
    ordered = sorted(sheets, key=lambda one: (one.document, one.slot, one.reviewer))
    assert list(parse_labels([line.encode() for line in labels_lines(sheets)], "x")) == ordered
