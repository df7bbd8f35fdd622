"""Records files: which records count, which do not and why, and hostile ones."""

import json
from pathlib import Path
from typing import Any

import pytest
from scored_runs import write_measured

from fieldassay import score
from fieldassay.decisions.gates.records import RunRecords, read_records
from fieldassay.errors import ProblemsError

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


def without(record: dict[str, Any], *keys: str) -> dict[str, Any]:
    return {key: value for key, value in record.items() if key not in keys}


SPEC = "{fields: {total: number}}"
CAUSES = {
    "five alike": ([{}] * 5, 5, ""),
    "four only": ([{}] * 4, 4, ""),
    "none": ([], 0, "no reliability run is recorded"),
    "a failure first": ([{"failed": 1}, *[{}] * 5], 5, "run 1 failed"),
    "a failure last": ([*[{}] * 3, {"failed": 1}], 0, "run 4 failed"),
    "answers of before": ([{}, {"reused": 1}, {}], 1, "run 2 failed"),
    "stopped": ([{}, {"status": "stopped"}, {}], 1, "run 2 failed"),
    "another prompt": ([{}, {"parts": {"strategy": "b"}}, {"parts": {"strategy": "b"}}], 2, "the strategy changed"),
    "another version": ([{}, {"versions": {"fieldassay": "9"}}], 1, "the version changed"),
    "a run twice": ([{"started": "2026-03-01T09:00:00+00:00"}, {"started": "2026-03-01T09:00:00+00:00"}], 1, "run 2 repeats an earlier run"),
}  # fmt: skip


@pytest.mark.parametrize("case", CAUSES)
def test_measured_runs_that_are_stable_are_counted_back_from_the_last(tmp_path: Path, case: str) -> None:
    changes, stable, said = CAUSES[case]
    names = [write_measured(tmp_path, number, dict(change)) for number, change in enumerate(changes)]
    records = read(tmp_path, {"reliability": names})
    assert records.estimates["reliability_runs"].value == stable
    sentences = " ".join(records.evidence["reliability_runs"])
    assert said in sentences and sentences.count("measured in") == stable


@pytest.mark.parametrize(
    ("record", "said"),
    [("nowhere", "is not a folder that `run` wrote"), ({"success": True}, "has no 'started'"), (7, "must be a folder"),
     ({"started": "9 o'clock", "success": True, "code": "a", "configuration": "b"}, "'started' must be a time"),
     ({"started": "2026-03-02T09:00Z", "success": "yes", "code": "a", "configuration": "b"}, "'success' must be true or false")],
    ids=["no folder", "not all that is asked", "a number", "no time", "no truth value"],
)  # fmt: skip
def test_a_run_that_cannot_be_read_does_not_count(tmp_path: Path, record: Any, said: str) -> None:
    records = read(tmp_path, {"reliability": [record]})
    assert records.estimates["reliability_runs"].value == 0 and said in str(records.invalid[0])


def test_one_run_in_several_spellings_counts_once(tmp_path: Path) -> None:
    name = write_measured(tmp_path, 0, {})
    records = read(tmp_path, {"reliability": [name, f"./{name}", f"../{tmp_path.name}/{name}"]})
    assert records.estimates["reliability_runs"].value == 1
    times = ["2026-01-01 10:00", "2026-01-01T10:00:00.000", "2026-01-01T10:00Z", "2026-01-01T11:00+01:00"]
    runs = [{"started": time, "success": True, "code": "a", "configuration": "b"} for time in times]
    assert read(tmp_path, {"reliability": runs}).estimates["reliability_runs"].value == 1


def test_runs_that_were_written_down_count_and_say_so(tmp_path: Path) -> None:
    """The third changed its configuration, so that the row goes back to it and no further."""
    runs = [
        {"started": f"2026-03-02T09:0{at}:00Z", "success": True, "code": "8c1d0e4", "configuration": name}
        for at, name in enumerate(["a", "a", "b", "b"])
    ]
    records = read(tmp_path, {"reliability": runs})
    assert records.estimates["reliability_runs"].value == 2 and not records.invalid
    assert [line.count("as written down") for line in records.evidence["reliability_runs"]] == [0, 1, 1, 0]


@pytest.mark.parametrize(
    ("endpoint", "strategy", "counts"),
    [
        (None, "rules", 1), (None, "command", 0), ("http://127.0.0.1:8000/v1", "prompted", 1),
        ("http://192.168.1.9/v1", "prompted", 1), ("https://api.example.com/v1", "prompted", 0),
    ],
)  # fmt: skip
def test_a_run_that_asked_nobody_elsewhere_is_an_offline_run(
    tmp_path: Path, endpoint: str | None, strategy: str, counts: int
) -> None:
    asked = {} if endpoint is None else {"server": {"url": endpoint}}
    name = write_measured(tmp_path, 0, {"endpoints": asked, "options": {"strategy": strategy}})
    records = read(tmp_path, {"offline": [name]})
    assert records.estimates["offline_runs"].value == counts
    assert ("30 s, fieldassay run s.yaml (measured in r0)" in records.evidence["offline_runs"][0]) == bool(
        counts
    )


def test_a_proof_is_a_value_that_one_run_fixed_in_its_document(tmp_path: Path) -> None:
    gold = [{"id": "rx1", "total": 5}, {"id": "rx2", "total": 7}]
    for name, total in (("before", 4), ("after", 5)):
        score(gold, {"m": [{"id": "rx1", "total": total}, gold[1]]}, SPEC, bootstrap=0).save(tmp_path / name)
    proof = {
        "fixed_from": "before",
        "fixed_in": "after",
        "interpretation": "The second pass reads the total.",
    }
    records = read(tmp_path, {"proofs": [{**proof, "doc_id": "rx1"}, {**proof, "doc_id": "rx2"}]})
    assert records.estimates["proofs"].value == 1
    assert records.evidence["proofs"][0].startswith("rx1: total 4 → 5: The second pass")
    assert "has nothing right in 'rx2' that 'before' had wrong" in str(records.invalid[0])


OFFLINES = {
    "valid": (OFFLINE, 1, ""),
    "a whole number of seconds": ({**OFFLINE, "latency_seconds": 12.0}, 1, ": 12 s, "),
    "with a note": ({**OFFLINE, "note": "cold start"}, 1, ""),
    "no backend": (without(OFFLINE, "backend"), 0, "has no 'backend'"),
    "empty command": ({**OFFLINE, "command": "  "}, 0, "meaningful text"),
    "invisible hardware": ({**OFFLINE, "hardware": "\u200b\u202e"}, 0, "meaningful text"),
    "not applicable": ({**OFFLINE, "hardware": "N/A"}, 0, "meaningful text"),
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
    assert said in " ".join(map(str, records.invalid or records.evidence["offline_runs"]))


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
    "an object in other letters": ([{**PROOF, "measured": {"größe": "40 µm"}}], 1, '{"größe": "40 µm"}'),
    "numeric id": ([{**PROOF, "doc_id": 7}], 1, ""),
    "the same twice": (
        [PROOF, {**PROOF, "interpretation": "Said otherwise."}],
        1,
        "repeats an earlier record",
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
    "dots": ([{**PROOF, "interpretation": "..."}], 0, "meaningful text"),
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
    "manifest is binary": ("manifest: binary.csv", "empty_input"),
    "aliases without end": (BOMB, "too_large"),
    "an alias of itself": ("offline: &a [*a]", "syntax"),
    "too deep": ("offline: " + "[" * 150 + "]" * 150, "too_deep"),
}  # fmt: skip


@pytest.mark.parametrize("case", WRONG_FILES)
def test_a_file_that_is_wrong_is_refused(tmp_path: Path, case: str) -> None:
    text, kind = WRONG_FILES[case]
    (tmp_path / "other.csv").write_text("id\na\n", encoding="utf-8")
    (tmp_path / "binary.csv").write_bytes(b"\xff\xfe\x00\xff")
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
