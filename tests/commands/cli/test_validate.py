"""`fieldassay score --check`: everything that is wrong at once, and what will be done."""

import json
from collections.abc import Callable

import pytest
from command_runs import GOLD, Files, Ran

Run = Callable[..., Ran]


def test_problems_of_spec_and_data_come_at_once(run: Run, files: Files) -> None:
    (files.folder / "spec.yaml").write_text("fields: {total: mony}\nmetrics: [acuracy]\n")
    (files.folder / "gold.jsonl").write_text("{oops\n")
    ran = run("score", "--check", *files.inputs[:4], "--pred", files.folder / "nowhere.jsonl")
    assert ran.code == 2
    for said in ("unknown type 'mony'", "acuracy", "gold.jsonl:1", "nowhere.jsonl"):
        assert said in ran.err
    assert "problems:" in ran.out


def test_unreadable_ambiguous_missing_and_undeclared_are_counted_with_examples(
    run: Run, files: Files
) -> None:
    files.write(
        "gold.jsonl",
        [
            *GOLD,
            {"id": "d4", "total": "about 5", "name": "x", "extra": 1},
            {"id": "d5", "total": "1.234", "lines": "no list"},
        ],
    )
    data = json.loads(run("score", "--check", "--json", *files.inputs).out)
    total = next(one for one in data["gold"]["fields"] if one["field"] == "total")
    assert (total["present"], total["unreadable"], total["ambiguous"]) == (5, 1, 1)
    assert total["examples"][0]["document"] == "d4" and total["examples"][0]["value"] == '"about 5"'
    assert data["gold"]["undeclared"] == {"extra": 1}
    llama = data["predictions"]["llama"]
    assert llama["missing"] == 2 and llama["undeclared"] == {"colour": 1}
    seven = next(one for one in llama["fields"] if one["field"] == "total")["examples"]
    assert [example["value"] for example in seven] == ['"seven"']
    text = run("score", "--check", *files.inputs).out
    assert "about 5 in d4" in text and "keys that the spec lacks: extra (1)" in text


def test_predictions_without_gold_are_counted_by_system_and_field(run: Run, files: Files) -> None:
    other = files.write("other.jsonl", [{"id": "d9", "total": "1.234"}, {"id": "d8", "error": "timeout"}])
    arguments = (
        "score",
        "--check",
        *files.inputs[:2],
        "--pred",
        f"a={files.folder / 'llama.jsonl'}",
        "--pred",
        other,
    )
    data = json.loads(run(*arguments, "--json").out)
    assert data["documents"] is None and data["gold"] is None
    counts = {
        name: [(one["present"], one["unreadable"], one["ambiguous"]) for one in system["fields"][:2]]
        for name, system in data["predictions"].items()
    }
    assert counts == {"a": [(3, 1, 0), (3, 0, 0)], "other": [(1, 0, 1), (0, 0, 0)]}
    assert [one["undeclared"] for one in data["predictions"].values()] == [{"colour": 1}, {}]
    assert [(one["records"], one["invalid"]) for one in data["predictions"].values()] == [(3, 0), (2, 1)]
    ran = run(*arguments)
    text = " ".join(ran.out.split())
    assert (ran.code, ran.err) == (0, "") and text.endswith("No problem found.")
    for said in (
        "Values of a field present unreadable ambiguous",
        "total 3 1 ·",
        "seven in d3",
        "a: keys that the spec lacks: colour (1)",
        "Values of other",
        '"1.234" in d9: read as',
        "other: d8: ",
    ):
        assert said in text


@pytest.mark.parametrize(
    "lines,arguments,code,said",
    [
        ("", (), 2, "is empty"),
        ('{"id": "a", "total": 1}\n{"id": "a", "total": 2}', (), 2, "duplicate id 'a'"),
        ('{"id": null, "total": 1}\n{"id": "b", "total": 2}', (), 0, "note: p.jsonl: 1 of 2 records have no id"),
        ('{"id": null, "total": 1}\n{"id": "b", "total": 2}', (), 0, "note: p.jsonl:1: has no id"),
        ('{"total": 1}\n{"total": 2}', ("--id-key", "doc"), 2, "no row has the id key 'doc'"),
        ('{"id": "a", "amount": 1}', (), 2, "no record has a field of the spec (total, name, kind, lines)"),
        (
            json.dumps({"id": "a", "data": 'It is {"total": 1, "name": "x", "kind": "a"}.'}),
            (),
            2,
            "did you mean `data: {pred_key: data}`?",
        ),
        ("1\n2", (), 0, "No problem found, but 1 warning"),
        ("1\n2", (), 0, "warning: p.jsonl: no record can be read"),
        ('{"id": "a", "total": 1}', ("--where", "type=x", "--pred", "no.jsonl"), 2, "add --gold no.jsonl: "),
        ('{"id": "a", "total": 1}', ("--pred", "nowhere.jsonl"), 2, "nowhere.jsonl: cannot be read"),
    ],
    ids=[
        "empty file", "one id twice", "one without an id", "which has no id", "no such id key", "other fields", "one level down",
        "warned of", "no records", "chosen by gold", "one file is not there",
    ],
)  # fmt: skip
def test_predictions_without_gold_that_cannot_be_meant_are_told(
    run: Run,
    files: Files,
    monkeypatch: pytest.MonkeyPatch,
    lines: str,
    arguments: tuple[str, ...],
    code: int,
    said: str,
) -> None:
    monkeypatch.chdir(files.folder)
    (files.folder / "p.jsonl").write_text(lines)
    ran = run("score", "--check", *files.inputs[:2], "--pred", "p.jsonl", *arguments)
    assert ran.code == code and said in " ".join((ran.out + ran.err).split())


@pytest.mark.parametrize(
    "text", ["", "[]", "fields: [", "x" * 100_000, "\0"], ids=["empty", "list", "broken", "long", "nul"]
)
def test_text_that_is_no_spec_is_a_problem_and_no_crash(run: Run, files: Files, text: str) -> None:
    (files.folder / "spec.yaml").write_text(text)
    ran = run("score", "--check", *files.inputs)
    assert ran.code == 2 and "spec.yaml" in ran.err and "internal error" not in ran.err


@pytest.mark.parametrize(
    ("definition", "value", "count"),
    [
        ("{type: date}", "03/04/2025", 1),
        ("{type: date, order: dmy}", "03/04/2025", 0),
        ("{type: date, order: dmy}", "03/04/25", 0),
        ("{type: date, order: dmy}", "03/15/2025", 1),
        ("{type: date, order: dmy}", "March 15", 1),
        ("{type: number}", "1.250", 1),
        ("{type: number, decimal: ','}", "1.250", 0),
        ("{type: money, currency: IDR}", "60.000", 0),
        ("{type: money, currency: AUD}", "1.250", 1),
        ("{type: money, currency: AUD, decimal: .}", "1.250", 0),
    ],
)
def test_a_value_that_the_field_itself_decides_is_not_ambiguous(
    run: Run, files: Files, definition: str, value: str, count: int
) -> None:
    (files.folder / "one.yaml").write_text(f"fields:\n  x: {definition}\n")
    ran = run(
        "score",
        "--check",
        "--spec",
        files.folder / "one.yaml",
        "--gold",
        files.write("one.jsonl", [{"id": "a", "x": value}]),
        "--json",
    )
    assert json.loads(ran.out)["gold"]["fields"][0]["ambiguous"] == count
