"""Baselines on disk: the same bytes for the same baseline, read back equal, and refused if changed."""

import contextlib
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from fieldassay.decisions.baseline import (
    Baseline,
    BaselineEntry,
    BaselineSystem,
    Headline,
    decode_run_lengths,
    encode_run_lengths,
    read_baseline,
    write_baseline,
)
from fieldassay.errors import ProblemsError
from fieldassay.io.files.whole_files import checksum
from fieldassay.metrics.estimate import PARTS

DOCUMENTS = ("a", "b\u2028\u202e", "c\ud800", "é")
SYSTEM = BaselineSystem(
    "llama",
    {"kind": (("x",), ("x", "y"), (), ("z",))},
    {
        ("f00d", None): np.array([1, 1, 1, 0]),
        ("f00d", "lines[].amount"): np.array([-(2**61), 0, 2**61, 5]),
        ("beef", "a"): np.zeros(4, np.int64),
    },
)
BASELINE = Baseline(
    fieldassay="1.0",
    created="2026-03-01T00:00:00+00:00",
    run="main",
    spec="receipts",
    reason="prompt 7",
    is_frozen=True,
    digests={part: f"{part}-digest" for part in PARTS},
    basis={"spec": {"fields": {"lines": "any"}}, "formulas": {}, "models": []},
    metrics=("accuracy", "f1{kind=x}"),
    headlines=(
        Headline("llama", "accuracy", 0.1 + 0.2, 4, 4, (0.25, 1 / 3)),
        Headline("llama", "f1", None, 0, 0),
    ),
    documents=DOCUMENTS,
    gold=("0a", "0b", "0c", "0d"),
    systems=(SYSTEM,),
    history=(
        BaselineEntry("2026-02-01T00:00:00+00:00", "old", "0.9"),
        BaselineEntry("2026-03-01T00:00:00+00:00", "main", "1.0", "prompt 7", is_frozen=True),
    ),
)


def plain(baseline: Baseline) -> Any:
    """Return a baseline as data that compares."""
    systems = [
        (one.name, dict(one.slices), {key: values.tolist() for key, values in one.columns.items()})
        for one in baseline.systems
    ]
    return replace(baseline, systems=()), systems


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "baseline.json"
    write_baseline(path, BASELINE)
    return path


def fields_of(baseline: Baseline) -> list[Any]:
    return [getattr(baseline, name) for name in Baseline.__slots__ if name != "systems"]


def test_what_was_written_is_read_back(file: Path) -> None:
    found = read_baseline(file)
    assert fields_of(found) == fields_of(BASELINE)
    assert plain(found)[1] == plain(BASELINE)[1]


def edit(change: Callable[[dict[str, Any]], object], *, is_signed: bool) -> Callable[[str], str]:
    """Return an edit of the file's data; `is_signed`: the checksum is made to fit."""

    def apply(text: str) -> str:
        data = json.loads(text)
        change(data)
        if is_signed:
            data["checksum"] = checksum(
                {
                    key: value
                    for key, value in data.items()
                    if key not in ("format", "schema_version", "checksum")
                }
            )
        return json.dumps(data)

    return apply


def statistic(text: str) -> Callable[[dict[str, Any]], object]:
    def change(data: dict[str, Any]) -> None:
        data["systems"][0]["statistics"][0][2] = text

    return change


FIRST = '   "a",\n   "0a"'
"""The first document and the digest of its gold."""
DAMAGES: dict[str, tuple[Callable[[str], str], str]] = {
    "empty": (lambda _: "", "not JSON"),
    "an empty object": (lambda _: "{}", "not a baseline of fieldassay"),
    "a list": (lambda _: "[]", "not a baseline of fieldassay"),
    "truncated": (lambda text: text[: len(text) // 2], "not JSON"),
    "merge conflict": (
        lambda text: text.replace(FIRST, '<<<<<<< HEAD\n   "a",\n=======\n   "aa",\n>>>>>>> other\n   "0a"'),
        "a merge cannot join",
    ),
    "both sides of a merge": (
        lambda text: text.replace(FIRST, f'   "A",\n   "0a"\n  ],\n  [\n{FIRST}'),
        "checksum",
    ),
    "thawed by hand": (lambda text: text.replace('"frozen": true', '"frozen": false'), "checksum"),
    "a label by hand": (lambda text: text.replace(FIRST, FIRST.replace("0a", "0b")), "checksum"),
    "a document without a digest": (
        edit(lambda data: data["documents"].__setitem__(1, ["b"]), is_signed=True),
        "not a valid baseline",
    ),
    "a number by hand": (lambda text: text.replace("1*3 0", "0*4"), "checksum"),
    "a headline by hand": (
        edit(lambda data: data["headlines"][0].update(value=0.99), is_signed=False),
        "checksum",
    ),
    "a key twice": (
        lambda text: text.replace('"frozen": true', '"frozen": true, "frozen": true'),
        "the key 'frozen' twice",
    ),
    "NaN": (lambda text: text.replace('"n": 4', '"n": NaN'), "NaN is not a JSON number"),
    "a number too large for a float": (
        lambda text: text.replace('"n": 4', '"n": 1e999'),
        "1e999 is too large",
    ),
    "Infinity": (lambda text: text.replace('"n": 4', '"n": -Infinity'), "Infinity is not a JSON number"),
    "another version": (edit(lambda data: data.update(schema_version=2), is_signed=True), "reads only 1"),
    "version true": (edit(lambda data: data.update(schema_version=True), is_signed=True), "reads only 1"),
    "no checksum": (edit(lambda data: data.pop("checksum"), is_signed=False), "checksum"),
    "a document twice": (
        edit(lambda data: data["documents"].__setitem__(1, ["a", "0b"]), is_signed=True),
        "unsorted or repeated",
    ),
    "no documents": (
        edit(lambda data: data.update(documents=[], systems=[]), is_signed=True),
        "no documents",
    ),
    "no systems": (edit(lambda data: data.update(systems=[]), is_signed=True), "no system"),
    "a system twice": (
        edit(lambda data: data["systems"].append(data["systems"][0]), is_signed=True),
        "is there 2 times",
    ),
    "a statistic twice": (
        edit(
            lambda data: data["systems"][0]["statistics"].append(data["systems"][0]["statistics"][0]),
            is_signed=True,
        ),
        "statistic twice",
    ),
    "a column too short": (edit(statistic("1*3"), is_signed=True), "3 numbers for 4 documents"),
    "a column too long": (edit(statistic("1*99999999999"), is_signed=True), "numbers for 4 documents"),
    "a column of text": (edit(statistic("1 2 x 4"), is_signed=True), "not a whole number"),
    "a column of fractions": (edit(statistic("1 2 0.5 4"), is_signed=True), "not a whole number"),
    "a column of NaN": (edit(statistic("1 2 nan 4"), is_signed=True), "not a whole number"),
    "a number too large": (edit(statistic(f"{2**62} 0 0 0"), is_signed=True), "not a whole number"),
    "a slice too short": (
        edit(lambda data: data["systems"][0]["slices"].update(kind=[["x"]]), is_signed=True),
        "a line for each document",
    ),
    "no digest of gold": (edit(lambda data: data["digests"].pop("gold"), is_signed=True), "digests"),
    "an empty digest": (edit(lambda data: data["digests"].update(gold=""), is_signed=True), "digests"),
    "a list for a text": (
        edit(lambda data: data.update(run=[]), is_signed=True),
        "not a valid baseline",
    ),
    "a policy": (
        edit(lambda data: data.update(format="fieldassay policy"), is_signed=True),
        "not a baseline of fieldassay",
    ),
    "deep nesting": (lambda _: "[" * 200_000, "nested too deeply"),
}


@pytest.mark.parametrize("name", DAMAGES)
def test_a_file_that_was_damaged_is_refused(name: str, file: Path) -> None:
    damage, said = DAMAGES[name]
    text = file.read_text(encoding="utf-8")
    damaged = damage(text)
    assert damaged != text
    file.write_text(damaged, encoding="utf-8")
    with pytest.raises(ProblemsError, match=said):
        read_baseline(file)


def test_bytes_that_are_no_text_are_refused(file: Path) -> None:
    file.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ProblemsError, match="UTF-8"):
        read_baseline(file)


def test_a_missing_file_is_told_with_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(ProblemsError, match="fieldassay baseline set"):
        read_baseline(tmp_path / "none.json")


@pytest.mark.parametrize(
    "make", [lambda path: path.mkdir(), lambda path: os.mkfifo(path)], ids=["folder", "pipe"]
)
def test_what_is_no_file_is_refused(make: Callable[[Path], None], tmp_path: Path) -> None:
    make(tmp_path / "there")
    for act in (read_baseline, lambda path: write_baseline(path, BASELINE)):
        with pytest.raises(ProblemsError, match="not a file"):
            act(tmp_path / "there")


def test_another_file_is_not_written_over(tmp_path: Path) -> None:
    path = tmp_path / "package.json"
    path.write_text('{"name": "site"}')
    with pytest.raises(ProblemsError, match="not a baseline of fieldassay"):
        write_baseline(path, BASELINE)
    assert path.read_text() == '{"name": "site"}' and len(list(tmp_path.iterdir())) == 1


def test_an_earlier_baseline_keeps_its_rights_and_leaves_nothing_else(file: Path) -> None:
    file.chmod(0o640)
    write_baseline(file, replace(BASELINE, reason="later"))
    assert file.stat().st_mode & 0o777 == 0o640
    assert read_baseline(file).reason == "later" and len(list(file.parent.iterdir())) == 1


def test_nothing_is_left_where_nothing_can_be_written(tmp_path: Path) -> None:
    with pytest.raises(ProblemsError, match="cannot be written"):
        write_baseline(tmp_path / "none" / "baseline.json", BASELINE)
    assert list(tmp_path.iterdir()) == []


@given(st.lists(st.integers(-(2**62) + 1, 2**62 - 1) | st.integers(0, 2), max_size=60))
def test_runs_of_numbers_are_read_back(values: list[int]) -> None:
    column = np.array(values, np.int64)
    assert decode_run_lengths(encode_run_lengths(column), len(values)).tolist() == values


@given(st.text(alphabet="0123456789*- +.e²", max_size=12), st.integers(0, 5))
def test_any_text_is_a_column_or_a_value_error(text: str, length: int) -> None:
    with contextlib.suppress(ValueError):
        assert len(decode_run_lengths(text, length)) == length
