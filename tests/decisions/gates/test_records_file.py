"""Records files: which records count, which do not and why, and hostile ones."""

import json
from pathlib import Path
from typing import Any

import pytest

from fieldassay.decisions.gates.records import RunRecords, read_records
from fieldassay.errors import ProblemsError

RUN = {"success": True, "code": "4f2c1aa", "configuration": "local", "restarted": False}
OFFLINE = {
    "backend": "transformers",
    "command": "python demo.py",
    "hardware": "8 cores, 16 GB",
    "latency_seconds": 41.5,
}
PROOF = {"doc_id": "rx1", "measured": "12 s", "interpretation": "Fast enough for the ward."}


def read(folder: Path, data: Any) -> RunRecords:
    path = folder / "records.yaml"
    path.write_text(data if isinstance(data, str) else json.dumps(data, ensure_ascii=True), encoding="utf-8")
    return read_records(path)


def runs(*changes: dict[str, Any]) -> list[dict[str, Any]]:
    return [
        {**RUN, "started": f"2026-03-01T09:{10 + number}:00Z", **change}
        for number, change in enumerate(changes)
    ]


def without(record: dict[str, Any], *keys: str) -> dict[str, Any]:
    return {key: value for key, value in record.items() if key not in keys}


OK: dict[str, Any] = {}
FAILED = {"success": False}
STREAKS: dict[str, tuple[list[dict[str, Any]], int, str]] = {
    "five good": (runs(*[OK] * 5), 5, ""),
    "six good": (runs(*[OK] * 6), 6, ""),
    "four only": (runs(*[OK] * 4), 4, ""),
    "none": ([], 0, ""),
    "failure first": (runs(FAILED, *[OK] * 5), 5, "run 1 was no success"),
    "failure last": (runs(*[OK] * 5, FAILED), 0, "run 6 was no success"),
    "failure in the middle": (runs(OK, OK, FAILED, OK, OK), 2, "run 3 was no success"),
    "restart before the first": (runs({"restarted": True}, *[OK] * 4), 5, ""),
    "restart in the middle": (runs(OK, OK, {"restarted": True}, OK, OK), 3, "restart before run 3"),
    "changed commit": (runs(OK, OK, *[{"code": "bbb"}] * 3), 3, "code changed between runs 2 and 3"),
    "changed back": (runs(OK, {"code": "bbb"}, OK, OK, OK), 3, "code changed"),
    "changed configuration": (runs(OK, *[{"configuration": {"a": 1}}] * 4), 4, "configuration changed"),
    "configuration in another order": (
        runs({"configuration": {"a": 1, "b": 2}}, {"configuration": {"b": 2, "a": 1}}),
        2,
        "",
    ),
    "invalid in the middle": (runs(OK, OK, {"code": None}, OK, OK), 2, "record of run 3 is not valid"),
    "same run twice": ([runs(OK)[0]] * 5, 0, "record of run 5 is not valid"),
    "out of order": (runs(*[OK] * 5)[::-1], 0, "not valid"),
    "white space around the code": (runs(OK, {"code": " 4f2c1aa "}), 2, ""),
    "time zones mixed": (runs(OK, {"started": "2026-03-02T09:00:00"}), 0, "record of run 2 is not valid"),
    "invalid and too late": (
        runs(OK, {"code": None, "started": "2027-03-01T09:00:00Z"}, OK),
        1,
        "record of run 2 is not valid",
    ),
    "more than are listed": (runs(*[OK] * 30), 30, ""),
    "dates only": (runs(*[{"started": f"2026-03-0{day}"} for day in range(1, 6)]), 5, ""),
}


@pytest.mark.parametrize("case", STREAKS)
def test_stable_runs_are_counted_back_from_the_last(tmp_path: Path, case: str) -> None:
    reliability, stable, said = STREAKS[case]
    records = read(tmp_path, {"reliability": reliability})
    assert records.estimates["reliability_runs"].value == stable
    sentences = " ".join(records.evidence["reliability_runs"])
    assert said in sentences and ("goes back no further" in sentences) == bool(said)
    assert sentences.count("success, code") == min(stable, 12)
    assert (f"run {len(reliability)}, 2026" in sentences) == bool(stable)


INVALID_RUNS = {
    "no code": (without(RUN, "code"), "has no 'code'"),
    "code is a number": ({**RUN, "code": 1.10}, "must be a text, not the number 1.1; write it in quotes"),
    "code overflows": (
        "reliability: [{success: true, code: 12e4567, configuration: a, restarted: false, "
        'started: "2026-03-01"}]',
        "must be a text",
    ),
    "placeholder": ({**RUN, "code": "TODO"}, "says nothing"),
    "no restarted": (without(RUN, "restarted"), "has no 'restarted'"),
    "typo": ({**without(RUN, "restarted"), "restartd": False}, "did you mean 'restarted'?"),
    "misspelled note": ({**RUN, "nte": "boom"}, "did you mean 'note'?"),
    "restarted is a text": ({**RUN, "restarted": "no"}, "must be true or false"),
    "success is a number": ({**RUN, "success": 1}, "must be true or false"),
    "no success": (without(RUN, "success"), "has no 'success'"),
    "no time": (without({**RUN, "started": None}, "started"), "has no 'started'"),
    "bad time": ({**RUN, "started": "yesterday"}, "no date and time"),
    "long time": ({**RUN, "started": "9" * 100_000}, "no date and time"),
    "empty configuration": ({**RUN, "configuration": {"a": [""]}}, "must be a text"),
    "not a mapping": ("reliability: [ok]", "must be a mapping"),
}  # fmt: skip


@pytest.mark.parametrize("case", INVALID_RUNS)
def test_an_invalid_run_is_listed_with_its_line_and_does_not_count(tmp_path: Path, case: str) -> None:
    run, said = INVALID_RUNS[case]
    data = (
        run
        if isinstance(run, str)
        else {"reliability": [{"started": "2026-03-01T09:00:00Z", **run} if case != "no time" else run]}
    )
    records = read(tmp_path, data)
    assert records.estimates["reliability_runs"].value == 0
    assert any(said in str(problem) for problem in records.invalid), records.invalid
    assert all(
        problem.kind == "invalid_record" and "records.yaml:1: $.reliability[0]" in problem.where
        for problem in records.invalid
    )


OFFLINES = {
    "valid": (OFFLINE, 1, ""),
    "with a note": ({**OFFLINE, "note": "cold start"}, 1, ""),
    "no backend": (without(OFFLINE, "backend"), 0, "has no 'backend'"),
    "empty command": ({**OFFLINE, "command": "  "}, 0, "says nothing"),
    "invisible hardware": ({**OFFLINE, "hardware": "\u200b\u202e"}, 0, "says nothing"),
    "not applicable": ({**OFFLINE, "hardware": "N/A"}, 0, "says nothing"),
    "no latency": (without(OFFLINE, "latency_seconds"), 0, "has no 'latency_seconds'"),
    "zero latency": ({**OFFLINE, "latency_seconds": 0}, 0, "above 0"),
    "negative latency": ({**OFFLINE, "latency_seconds": -1}, 0, "above 0"),
    "infinite latency": ('offline: [{backend: a, command: b, hardware: c, latency_seconds: .inf}]', 0,
        "above 0"),
    "latency of 400 digits": ({**OFFLINE, "latency_seconds": 10**400}, 0, "must be a number above 0, not a number"),
    "latency is not a number": ('offline: [{backend: a, command: b, hardware: c, latency_seconds: .nan}]', 0,
        "above 0"),
    "latency in words": ({**OFFLINE, "latency_seconds": "fast"}, 0, "above 0"),
    "latency is true": ({**OFFLINE, "latency_seconds": True}, 0, "above 0"),
}  # fmt: skip


@pytest.mark.parametrize("case", OFFLINES)
def test_an_offline_run_counts_only_if_it_says_everything(tmp_path: Path, case: str) -> None:
    record, valid, said = OFFLINES[case]
    records = read(tmp_path, record if isinstance(record, str) else {"offline": [record]})
    assert records.estimates["offline_runs"].value == valid
    assert said in " ".join(map(str, records.invalid))


PROOFS = {
    "two": ([PROOF, {**PROOF, "measured": "13 s"}], 2, ""),
    "before and after": ([{**without(PROOF, "measured"), "before": 2, "after": 4}], 1, ""),
    "more than are listed": ([{**PROOF, "measured": f"{n} s"} for n in range(15)], 15, "and 3 more"),
    "a long observation": ([{**PROOF, "measured": "so long " * 100}], 1, "…"),
    "measured is not a number": (
        "manifest: [rx1]\nproofs: [{doc_id: rx1, measured: .nan, interpretation: Fast enough.}]",
        0,
        "has no evidence",
    ),
    "under evidence": (
        [{**without(PROOF, "measured"), "evidence": {"before": "a b", "after": "a c"}}],
        1,
        "",
    ),
    "numeric id": ([{**PROOF, "doc_id": 7}], 1, ""),
    "the same twice": (
        [PROOF, {**PROOF, "interpretation": "Said otherwise."}],
        1,
        "says the same as a record before it",
    ),
    "unknown document": ([{**PROOF, "doc_id": "rx11"}], 0, "not in the manifest; did you mean 'rx1'?"),
    "other case": ([{**PROOF, "doc_id": "RX1"}], 0, "not in the manifest"),
    "no document": ([without(PROOF, "doc_id")], 0, "has no 'doc_id'"),
    "no evidence": ([without(PROOF, "measured")], 0, "has no evidence"),
    "before only": ([{**without(PROOF, "measured"), "before": 2}], 0, "only one of"),
    "nothing changed": (
        [{**without(PROOF, "measured"), "before": "a  b", "after": "a b"}],
        0,
        "the same as 'before'",
    ),
    "measured nothing": ([{**PROOF, "measured": {"latency": None}}], 0, "has no evidence"),
    "measured is to come": ([{**PROOF, "measured": "tbd"}], 0, "has no evidence"),
    "measured is true": ([{**PROOF, "measured": True}], 0, "has no evidence"),
    "no interpretation": ([without(PROOF, "interpretation")], 0, "has no 'interpretation'"),
    "dots": ([{**PROOF, "interpretation": "..."}], 0, "says nothing"),
}


@pytest.mark.parametrize("case", PROOFS)
def test_a_proof_counts_only_with_document_evidence_and_interpretation(tmp_path: Path, case: str) -> None:
    proofs, valid, said = PROOFS[case]
    records = read(
        tmp_path, proofs if isinstance(proofs, str) else {"manifest": ["rx1", 7], "proofs": proofs}
    )
    assert records.estimates["proofs"].value == valid
    assert said in " ".join([*map(str, records.invalid), *records.evidence["proofs"]])


def test_without_a_manifest_no_proof_counts(tmp_path: Path) -> None:
    records = read(tmp_path, {"proofs": [PROOF]})
    assert records.estimates["proofs"].value == 0
    assert "no manifest" in str(records.invalid[0])


@pytest.mark.parametrize(
    "text",
    ["type,doc_id\na,rx1\n", "\ufeffdoc_id ;type\r\n rx1 ;a\r\n", "doc_id\nrx1\n"],
    ids=["commas", "bom", "one column"],
)
def test_the_manifest_may_be_a_csv_file_beside_the_records(tmp_path: Path, text: str) -> None:
    (tmp_path / "manifest.csv").write_bytes(text.encode())
    records = read(tmp_path, {"manifest": "manifest.csv", "proofs": [PROOF]})
    assert records.estimates["proofs"].value == 1


BOMB = "a: &a [x]\n" + "\n".join(
    f"{name}: &{name} [{', '.join(['*' + before] * 9)}]"
    for before, name in zip("abcdefg", "bcdefgh", strict=True)
)
WRONG_FILES = {
    "not YAML": ("a: [", "syntax"),
    "a list": ("- a", "wrong_kind"),
    "nothing": ("", "wrong_kind"),
    "unknown key": ("relibility: []", "unknown_key"),
    "section is a text": ("offline: yes please", "wrong_kind"),
    "section is a mapping": ("proofs: {a: 1}", "wrong_kind"),
    "same key twice": ("offline: []\noffline: []", "duplicate_key"),
    "manifest is not there": ("manifest: nowhere.csv", "unreadable_file"),
    "manifest has a strange name": ('manifest: "a\\0b"', "unreadable_file"),
    "manifest lacks the column": ("manifest: other.csv", "no_id_key"),
    "manifest is a mapping": ("manifest: {a: b}", "wrong_kind"),
    "manifest is an empty list": ("manifest: []", "wrong_kind"),
    "manifest lists nothing": ("manifest: [rx1, ~]", "wrong_kind"),
    "manifest is too large": ("manifest: large.csv", "too_large"),
    "manifest is binary": ("manifest: binary.csv", "no_id_key"),
    "aliases without end": (BOMB, "too_large"),
    "an alias of itself": ("offline: &a [*a]", "syntax"),
    "too deep": ("offline: " + "[" * 150 + "]" * 150, "too_deep"),
}  # fmt: skip


@pytest.mark.parametrize("case", WRONG_FILES)
def test_a_file_that_is_wrong_is_refused(tmp_path: Path, case: str) -> None:
    text, kind = WRONG_FILES[case]
    (tmp_path / "other.csv").write_text("id\na\n", encoding="utf-8")
    (tmp_path / "binary.csv").write_bytes(b"\xff\xfe\x00\xff")
    with (tmp_path / "large.csv").open("wb") as large:
        large.truncate((1 << 26) + 1)
    with pytest.raises(ProblemsError) as caught:
        read(tmp_path, text)
    assert kind in [problem.kind for problem in caught.value.problems]


def test_all_problems_of_a_file_come_at_once_with_their_lines(tmp_path: Path) -> None:
    with pytest.raises(ProblemsError) as caught:
        read(tmp_path, "ofline: []\nproofs: 3\nmanifest: nowhere.csv\n")
    places = [problem.where.removeprefix(f"{tmp_path}/") for problem in caught.value.problems]
    assert places == ["records.yaml:1: $.ofline", "records.yaml:2: $.proofs", "records.yaml:3: $.manifest"]
    assert all(problem.remedy for problem in caught.value.problems)


def test_hostile_texts_neither_crash_nor_count(tmp_path: Path) -> None:
    long = "a\x00\u202e" * 10_000
    data = {
        "offline": [{**OFFLINE, "command": long}],
        "proofs": [{**PROOF, "doc_id": long, "measured": {"x": [long]}}],
    }
    records = read(tmp_path, data)
    assert records.estimates["proofs"].value == 0
    assert all(len(str(problem)) < 1000 for problem in records.invalid)
