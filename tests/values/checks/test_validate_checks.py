"""`fieldassay score --check` with checks: with gold and without."""

import json

import pytest

from fieldassay.commands.cli.main import main
from fieldassay.scoring.validate import validate

SPEC = "name: s\nfields: {total: money, unit: text}\nchecks: {total: number, unit: unit_format}\n"
GOLD = [{"id": "a", "total": 5, "unit": "m3/h"}, {"id": "b", "total": 6, "unit": "K"}]
BAD = [{"id": "a", "total": "5", "unit": "m³/h"}, {"id": "c", "total": "7", "unit": "K"}]


@pytest.fixture
def run(tmp_path, capsys):
    def call(*arguments, spec=SPEC, pred=BAD):
        (tmp_path / "spec.yaml").write_text(spec)
        for name, rows in (("gold", GOLD), ("llama", pred)):
            text = rows if isinstance(rows, str) else "".join(json.dumps(row) + "\n" for row in rows)
            (tmp_path / f"{name}.jsonl").write_text(text, encoding="utf-8")
        places = {"GOLD": tmp_path / "gold.jsonl", "PRED": tmp_path / "llama.jsonl"}
        capsys.readouterr()
        code = main(
            [
                "score",
                "--check",
                "--spec",
                str(tmp_path / "spec.yaml"),
                *(str(places.get(one, one)) for one in arguments),
            ]
        )
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return call


def test_violations_without_gold_exit_with_1_and_are_listed_the_worst_first(run):
    code, out, err = run("--pred", "PRED")
    assert (code, err) == (1, "")
    assert out.index("total: number: 2 violations in 2 documents (2 values looked at)") < out.index(
        "unit: unit_format: 1 violation"
    )
    assert "a: unit \"m³/h\" holds '³'" in out and "3 violations of checks, and no other problem." in out


def test_sound_predictions_exit_with_0(run):
    code, out, _ = run("--pred", "PRED", pred=GOLD)
    assert code == 0 and "No prediction violates a check." in out and "No problem found." in out


def test_beside_gold_only_predictions_with_gold_are_checked(run):
    code, out, _ = run("--gold", "GOLD", "--pred", "PRED")
    assert code == 1 and "total: number: 1 violation in 1 document (1 value looked at)" in out


def test_json_lists_every_violation(run):
    pred = [{"id": str(number), "total": "x", "unit": "°C"} for number in range(2500)]
    code, out, _ = run("--pred", "PRED", "--json", pred=pred)
    data = json.loads(out)
    assert code == 1 and len(data["violations"]) == 5000
    assert data["violations"][0] == {
        "system": "llama", "doc": "0", "path": "total", "check": "number",
        "message": "is a text, not a number", "value": '"x"', "at": "total",
    }  # fmt: skip
    assert data["check_counts"][0] == {
        "system": "llama",
        "at": "total",
        "check": "number",
        "values": 2500,
        "violations": 2500,
        "documents": 2500,
    }
    assert data["checks"] == [{"at": "total", "check": "number"}, {"at": "unit", "check": "unit_format"}]
    assert data["predictions"]["llama"]["records"] == 2500 and data["documents"] is None


def test_the_list_for_people_is_capped(run):
    spec = "name: s\nfields: {total: money}\nchecks:\n" + "".join(
        f"  k{number}: number\n" for number in range(30)
    )
    code, out, _ = run(
        "--pred", "PRED", spec=spec, pred=[{"id": "a", **{f"k{number}": "x" for number in range(30)}}]
    )
    assert (
        code == 1 and out.count("1 violation in") == 20 and "and 10 more; --json lists every violation" in out
    )


@pytest.mark.parametrize(
    ("pred", "code", "said"),
    [
        ([*BAD, BAD[0]], 2, "duplicate id 'a'"),
        ("", 2, "is empty"),
        ("{oops\n", 2, "not JSON"),
        ('{"id": "a", "total": 1, "unit": "K"}\n{"id": "b", "total": oops\n', 0, "llama 2 1 … llama: b: "),
        ([{"id": "a", "error": "timeout"}], 0, "llama 1 1"),
    ],
    ids=["duplicate", "empty", "all broken", "one broken", "error"],
)
def test_predictions_without_gold_that_cannot_be_used_are_told(run, pred, code, said):
    found, out, err = run("--pred", "PRED", pred=pred)
    text = " ".join((out + err).split())
    assert found == code and all(part in text for part in said.split(" … "))


def test_problems_of_the_spec_come_first_and_exit_with_2(run):
    code, _, err = run("--pred", "PRED", spec="fields: {total: mony}\nchecks: {total: nmber}\n")
    assert code == 2 and "mony" in err and "nmber" in err and "--gold" not in err


def test_the_spec_alone_shows_its_checks(run):
    code, out, _ = run()
    assert code == 0 and "What is checked in predictions" in out and "unit_format" in out


def test_a_check_with_a_wrong_path_is_noted(run):
    code, out, _ = run(
        "--pred", "PRED", spec=SPEC.replace("unit: unit_format", "uint: unit_format"), pred=GOLD
    )
    assert code == 0 and "are their paths right? unit_format at uint" in " ".join(out.split())


def test_from_python_violations_are_counted_and_listed_only_if_asked_for():
    counted = validate(SPEC, predictions={"llama": BAD})
    assert [count.violations for count in counted.counts] == [2, 1] and counted.violations == ()
    assert len(validate(SPEC, predictions={"llama": BAD}, lists_violations=True).violations) == 3
