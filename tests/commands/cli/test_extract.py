"""Documents become predictions that `score` takes: by a model, a program, a function; resumed, priced, limited."""

import json
import os
import re
import shlex
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from command_runs import Ran, spawn
from tests.extraction.endpoints.scripted_server import Hit, Reply, ScriptedServer, completion

Run = Callable[..., Ran]
SPEC = """
fieldassay: 1
name: totals
fields: {total: money, buyer: text}
prices: {m: {prompt: 1.0, completion: 2.0}}
"""
PROMPT_TOKENS = 1000
BUYERS = ("Ada", "Bo", "Cy")


def answer(hit: Hit) -> Reply:
    """Answer with the total and the buyer that stand in the prompt."""
    text = json.dumps(hit.body["messages"])
    total, buyer = re.search(r"Total: ([0-9.]+)", text), re.search(r"Buyer: (\w+)", text)
    assert total and buyer
    return Reply(body=completion(json.dumps({"total": total[1], "buyer": buyer[1]}), PROMPT_TOKENS))


@pytest.fixture
def place(tmp_path: Path, server: ScriptedServer) -> Path:
    (tmp_path / "docs").mkdir()
    for at, buyer in enumerate(BUYERS):
        (tmp_path / "docs" / f"{buyer}.txt").write_text(f"Invoice\nBuyer: {buyer}\nTotal: {at}.50\n")
    (tmp_path / "spec.yaml").write_text(SPEC)
    gold = [{"id": f"{buyer}.txt", "buyer": buyer, "total": f"{at}.50"} for at, buyer in enumerate(BUYERS)]
    (tmp_path / "gold.jsonl").write_text("".join(json.dumps(row) + "\n" for row in gold))
    systems = {
        "endpoints": {"local": {"url": server.url, "timeout_s": 5}},
        "systems": {"base": {"strategy": "prompted", "endpoint": "local", "model": "m"}},
    }
    (tmp_path / "systems.json").write_text(json.dumps(systems))
    return tmp_path


def write_systems(place: Path, systems: dict[str, Any], **more: Any) -> None:
    (place / "systems.json").write_text(json.dumps({"systems": systems, **more}))


def change_base(place: Path, **options: Any) -> None:
    """Change options of the system."""
    held = json.loads((place / "systems.json").read_text())
    held["systems"]["base"] |= options
    (place / "systems.json").write_text(json.dumps(held))


def extract(run: Run, place: Path, *more: Any, out: str = "out") -> Ran:
    given = ("--docs", place / "docs", "--spec", place / "spec.yaml", "--out", place / out, "--jobs", 0)
    return run("extract", *given, "--system", place / "systems.json", *more)


def rows(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "predictions.jsonl").read_text().splitlines()]


def test_a_model_makes_predictions_that_score_takes(run: Run, place: Path) -> None:
    ran = extract(run, place)
    assert (ran.code, "3 documents, 3 predicted, 0 failed" in ran.out) == (0, True), ran
    assert [row["pred"] for row in rows(place / "out")] == [
        {"total": f"{at}.50", "buyer": buyer} for at, buyer in enumerate(BUYERS)
    ]
    scored = run(
        "score", "--spec", place / "spec.yaml", "--gold", place / "gold.jsonl", "--pred", f"base={place / 'out'}",
        "--json", "-m", "accuracy,cost_usd,tokens",
    )  # fmt: skip
    found = {one["metric"]: one["value"] for one in json.loads(scored.out)["estimates"] if not one["field"]}
    assert found["accuracy"] == 1.0
    assert found["cost_usd"] == pytest.approx((PROMPT_TOKENS * 1.0 + 20 * 2.0) / 1e6, rel=1e-6)


def test_the_same_command_asks_for_nothing_twice(run: Run, place: Path, server: ScriptedServer) -> None:
    extract(run, place)
    before = rows(place / "out")
    assert (extract(run, place).code, sum(server.billed.values())) == (0, len(BUYERS))
    for old, new in zip(before, rows(place / "out"), strict=True):
        assert new.pop("reused")
        assert {**old, "timing": None} == {**new, "timing": None}


def test_another_model_is_asked_anew_and_the_change_is_named(
    run: Run, place: Path, server: ScriptedServer
) -> None:
    extract(run, place)
    text = (place / "systems.json").read_text()
    (place / "systems.json").write_text(text.replace('"model": "m"', '"model": "other"'))
    again = extract(run, place)
    assert sum(server.billed.values()) == 2 * len(BUYERS)
    assert "changed since the last extraction: strategy" in again.err


def test_a_dry_run_sends_nothing_and_gives_a_range(run: Run, place: Path, server: ScriptedServer) -> None:
    (one,) = json.loads(extract(run, place, "--dry-run", "--json").out).values()
    assert (one["documents"], one["calls"], server.hits) == (3, 3, [])
    assert not (place / "out").exists()


def test_a_refused_key_stops_the_run_and_leaves_valid_predictions(
    run: Run, place: Path, server: ScriptedServer
) -> None:
    extract(run, place, "--limit", 1)
    server.script = lambda hit: Reply(status=401, body={"error": {"message": "bad key"}})
    ran = extract(run, place)
    assert (ran.code, "stopped" in ran.out) == (3, True), ran
    assert [row["id"] for row in rows(place / "out")] == ["Ada.txt"]
    server.script = answer
    assert extract(run, place).code == 0
    assert len(rows(place / "out")) == len(BUYERS)


def test_every_document_has_a_row_and_failures_have_a_kind(
    run: Run, place: Path, server: ScriptedServer
) -> None:
    (place / "docs" / "Dee.txt").write_text(" \n")
    server.script = lambda hit: (
        Reply(body=completion("no idea", PROMPT_TOKENS))
        if "Buyer: Bo" in json.dumps(hit.body)
        else answer(hit)
    )
    ran = extract(run, place)
    told = {row["id"]: row.get("error", {}).get("kind") for row in rows(place / "out")}
    assert told == {"Ada.txt": None, "Bo.txt": "not_json", "Cy.txt": None, "Dee.txt": "unreadable"}
    assert "failed: 1 not_json, 1 unreadable" in ran.out
    (bo,) = [row for row in rows(place / "out") if row["id"] == "Bo.txt"]
    assert ("no idea" in bo["error"]["answer"], "raw" in bo) == (True, False)
    server.script = answer
    again = extract(run, place, "--retry", "not_json")
    assert [row["id"] for row in rows(place / "out") if "error" in row] == ["Dee.txt"], again


def test_repeats_are_asked_apart_and_scored_as_runs(run: Run, place: Path, server: ScriptedServer) -> None:
    extract(run, place, "--repeats", 2)
    assert sum(server.billed.values()) == 2 * len(BUYERS)
    assert [(row["id"], row["repeat"]) for row in rows(place / "out")] == [
        (f"{buyer}.txt", repeat) for buyer in BUYERS for repeat in (1, 2)
    ]
    scored = run(
        "score", "--spec", place / "spec.yaml", "--gold", place / "gold.jsonl", "--pred", f"base={place / 'out'}",
        "--json",
    )  # fmt: skip
    found = {one["metric"]: one["value"] for one in json.loads(scored.out)["estimates"] if not one["field"]}
    assert found["accuracy"] == 1.0, scored


@pytest.mark.parametrize(
    ("make", "kind"),
    [
        (lambda out: (out / "notes.txt").write_text("mine"), "holds other files than an extraction"),
        (lambda out: (out / "extraction.json").write_text("{"), "not JSON"),
    ],
)
def test_a_folder_of_something_else_is_left_alone(
    run: Run, place: Path, make: Callable[[Path], Any], kind: str
) -> None:
    (place / "out").mkdir()
    make(place / "out")
    before = {path.name: path.read_bytes() for path in (place / "out").iterdir()}
    ran = extract(run, place)
    assert (ran.code, kind in ran.err) == (2, True), ran
    assert {path.name: path.read_bytes() for path in (place / "out").iterdir()} == before


def test_an_extraction_that_was_killed_is_not_scored(run: Run, place: Path) -> None:
    extract(run, place)
    manifest = json.loads((place / "out" / "extraction.json").read_text())
    (place / "out" / "extraction.json").write_text(json.dumps({**manifest, "status": "running"}))
    ran = run(
        "score",
        "--spec",
        place / "spec.yaml",
        "--gold",
        place / "gold.jsonl",
        "--pred",
        f"base={place / 'out'}",
    )
    assert (ran.code, "continues where it stopped" in ran.err) == (2, True), ran


@pytest.mark.parametrize(
    "text", ["", "{", "[1]", '{"schema_version": 1}', '{"schema_version": 2, "status": "complete"}']
)
def test_a_damaged_manifest_is_written_anew_from_the_answers(
    run: Run, place: Path, server: ScriptedServer, text: str
) -> None:
    assert extract(run, place).code == 0
    before, asked = rows(place / "out"), len(server.hits)
    (place / "out" / "extraction.json").write_text(text)
    given = ("--spec", place / "spec.yaml", "--gold", place / "gold.jsonl", "--pred", f"base={place / 'out'}")
    ran = run("score", *given)
    told = "extraction.json" in ran.err and "run the same `fieldassay extract` again" in ran.err
    assert (ran.code, told) == (2, True), ran
    ran = extract(run, place, "--retry", "truncated")
    assert (ran.code, "it is written again" in ran.err) == (0, True), ran
    assert ([row["pred"] for row in rows(place / "out")], len(server.hits)) == (
        [row["pred"] for row in before],
        asked,
    )
    assert run("score", *given).code == 0


def test_an_example_with_several_documents_is_an_error(run: Run, place: Path, server: ScriptedServer) -> None:
    for name in ("2024/inv.txt", "2025/inv.txt"):
        (place / "train" / name).parent.mkdir(parents=True)
        (place / "train" / name).write_text(f"Buyer: Di\nTotal: 9.00\n{name}")
    (place / "train.jsonl").write_text(json.dumps({"id": "inv", "total": "9.00", "buyer": "Di"}) + "\n")
    change_base(place, examples={"from": "train.jsonl", "docs": "train", "k": 1})
    ran = extract(run, place)
    told = "train.jsonl: inv: has several documents: 2024/inv.txt, 2025/inv.txt" in ran.err
    assert (ran.code, told, server.hits) == (2, True, []), ran


@pytest.mark.parametrize("option", ["--max-cost", "--max-time"])
@pytest.mark.parametrize("value", ["nan", "inf", "-inf", "-1", "0"])
def test_a_limit_that_limits_nothing_is_refused(
    run: Run, place: Path, server: ScriptedServer, option: str, value: str
) -> None:
    ran = extract(run, place, option, value)
    assert (ran.code, option in ran.err, server.hits) == (2, True, []), ran


@pytest.mark.parametrize("form", ["images", "both"])
def test_pictures_of_pages_are_sent_and_kept_by_digest(
    run: Run, place: Path, server: ScriptedServer, form: str
) -> None:
    change_base(place, input={"as": form, "dpi": 40})
    found = json.dumps({"total": "1.50", "buyer": "Bo"})
    server.script = lambda hit: Reply(body=completion(found, PROMPT_TOKENS))
    ran = extract(run, place, "--limit", 1)
    assert ran.code == 0, ran
    (content,) = [
        message["content"] for message in server.hits[0].body["messages"] if message["role"] == "user"
    ]
    (image,) = [part["image_url"]["url"] for part in content if part["type"] == "image_url"]
    assert image.startswith("data:image/png;base64,")
    assert ("Buyer: Ada" in json.dumps(content[0])) == (form == "both")
    (kept,) = (place / "out" / "images").iterdir()
    assert f"sha256:{kept.stem}" in (place / "out" / "journal.jsonl").read_text()


def offline(run: Run, place: Path, *more: Any) -> Ran:
    given = ("--spec", place / "spec.yaml", "--out", place / "out", "--jobs", 0)
    return run("extract", *given, *(more if "--docs" in more else ("--docs", place / "docs", *more)))


def test_a_folder_of_documents_that_is_not_there_is_an_error(run: Run, place: Path) -> None:
    ran = offline(run, place, "--docs", place / "dcos")
    assert (ran.code, "dcos: is not there" in ran.err, (place / "out").exists()) == (2, True, False), ran


@pytest.mark.skipif(sys.platform != "linux", reason="names of files are any bytes on Linux only")
def test_a_name_that_is_no_text_is_an_id_with_its_bytes_escaped(run: Run, place: Path) -> None:
    Path(os.fsdecode(os.fsencode(place / "docs") + b"/d\xff.txt")).write_text("Total: 1.00")
    assert offline(run, place).code == 0
    assert [row["id"] for row in rows(place / "out")] == ["Ada.txt", "Bo.txt", "Cy.txt", "d\\xff.txt"]


@pytest.mark.parametrize("folder", ["docs", "nowhere"])
def test_answers_are_taken_from_extractions_only(run: Run, place: Path, folder: str) -> None:
    ran = offline(run, place, "--reuse", place / folder)
    assert (ran.code, f"{folder}: is not an extraction; name" in ran.err) == (2, True), ran


@pytest.mark.parametrize(
    "choice",
    [
        {"message": "text"},
        {"message": {"tool_calls": 3}},
        {"message": {"tool_calls": [{"function": "f"}]}},
        {"message": {"content": None}, "finish_reason": {"a": 1}, "logprobs": {"content": [{"token": 3}]}},
    ],
    ids=lambda choice: json.dumps(choice)[:40],
)
def test_an_answer_of_another_shape_is_a_failure_of_the_document(
    run: Run, place: Path, server: ScriptedServer, choice: dict[str, Any]
) -> None:
    server.script = lambda _: Reply(body={"choices": [choice], "usage": "none"})
    ran = extract(run, place)
    assert (ran.code, "3 documents, 0 predicted, 3 failed" in ran.out) == (5, True), ran


def test_the_command_that_is_named_next_works(run: Run, place: Path) -> None:
    write_systems(place, {"a": {"strategy": "rules"}}, matrix={"a": {"repeats": [1, 2]}})
    made = run(
        "extract", "--docs", place / "docs", "--spec", place / "spec.yaml", "--out", place / "my out",
        "--jobs", 0, "--system", f"{place / 'systems.json'}#a_repeats=2",
    )  # fmt: skip
    named = shlex.split(made.err.replace("GOLD", str(place / "gold.jsonl")).partition("fieldassay ")[2])
    assert run(*named).code == 0, made


LINES = """import json, os, sys
%s
for line in sys.stdin:
    os.write(3, (json.dumps({"result": {"total": value()}}) + "\\n").encode())
"""
VALUE = 'def value():\n    return "%s"\n'
MAIN = "def main(document):\n    return {'total': value()}\n"
OWN = {"strategy": "command", "run": [sys.executable, "own.py"]}
MINE = {"strategy": "function", "call": "own_code:main"}


@pytest.mark.parametrize(
    ("system", "name", "text", "changed"),
    [
        (OWN, "own.py", LINES.replace("%s", VALUE), "own.py"),
        (OWN, "own.py", LINES % "from own_helper import value", "own_helper.py"),
        (OWN, "own.py", LINES % 'value = lambda: open("prompt.txt").read()', "prompt.txt"),
        (MINE, "own_code.py", VALUE + MAIN, "own_code.py"),
        (MINE, "own_code.py", "from own_helper import value\n" + MAIN, "own_helper.py"),
        (MINE, "own_code.py", MAIN.replace(":\n", ":\n    from own_helper import value\n"), "own_helper.py"),
        (MINE, "own_code.py", 'VALUE = "%s"\nvalue = lambda: VALUE\n' + MAIN, "own_code.py"),
        (MINE, "own_code.py", 'value = lambda: open("prompt.txt").read()\n' + MAIN, "prompt.txt"),
    ],
    ids=lambda value: value if isinstance(value, str) and "\n" not in value else "",
)
def test_a_program_that_was_edited_is_asked_anew(
    system: dict[str, Any],
    name: str,
    text: str,
    changed: str,
    run: Run,
    place: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(place)
    monkeypatch.syspath_prepend(place)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    write_systems(place, {"own": system})
    told = []
    for total in ("1.00", "1.00", "12.00"):  # of another length: Python keeps bytecode by time and size
        texts = {"own_helper.py": VALUE, "prompt.txt": "%s", name: text}
        for file, held in texts.items():
            (place / file).write_text(held.replace("%s", total if file == changed else "1.00"))
        for module in ("own_code", "own_helper"):
            sys.modules.pop(module, None)
        told.append(extract(run, place))
        assert {row["pred"]["total"] for row in rows(place / "out")} == {total}
    assert ["answered before: 3 of 3" in ran.out for ran in told] == [False, True, False]
    assert ["changed since the last extraction: program" in ran.err for ran in told] == [False, False, True]


@pytest.mark.parametrize(
    ("code", "exit_code", "said"),
    [
        ("def main(:\n", 2, "bad_module:main: cannot be imported"),
        ("raise SystemExit(3)\n", 2, "bad_module:main: cannot be imported"),
        ("def main(document):\n    raise SystemExit(3)\n", 5, "3 exception"),
    ],
    ids=["syntax", "exit at import", "exit when called"],
)
def test_no_function_ends_the_program(
    run: Run, place: Path, monkeypatch: pytest.MonkeyPatch, code: str, exit_code: int, said: str
) -> None:
    monkeypatch.chdir(place)
    monkeypatch.delitem(sys.modules, "bad_module", raising=False)
    (place / "bad_module.py").write_text(code)
    write_systems(place, {"own": {"strategy": "function", "call": "bad_module:main"}})
    ran = extract(run, place)
    assert (ran.code, said in ran.out + ran.err) == (exit_code, True), ran


PRINTING = """
import json
import os
print("imported")
def main(document):
    print("a word")
    os.system("echo a program")
    os.chdir("/")
    total = document["pages"][0].split("Total: ")[1].split()[0]
    return "Here it is: " + json.dumps({"total": total})
"""


@pytest.mark.parametrize("more", [("--json",), ("--json", "--dry-run")], ids=["json", "dry run"])
def test_a_function_may_print_change_the_folder_and_answer_in_a_text(
    place: Path, more: tuple[str, ...]
) -> None:
    (place / "printing.py").write_text(PRINTING)
    write_systems(place, {"own": {"strategy": "function", "call": "printing:main"}})
    given = ("--docs", "docs", "--spec", "spec.yaml", "--out", "out", "--jobs", 0, "--system", "systems.json")
    process = spawn("extract", *given, *more, cwd=place)
    out, err = process.communicate(timeout=600)
    assert process.returncode == 0, err
    assert b"imported" in err and (b"a word" in err and b"a program" in err) == ("--dry-run" not in more)
    assert b"imported" not in out and b"a word" not in out and b"a program" not in out
    assert not more or json.loads(out)
    totals = [row["pred"]["total"] for row in rows(place / "out")] if "--dry-run" not in more else ["1"]
    assert all(map(float, totals))


def test_a_program_that_is_not_there_has_its_place_in_the_file(run: Run, place: Path) -> None:
    (place / "systems.json").write_text(
        '{"systems": {"own": {"strategy": "command", "run": ["no-such-program"]}}}'
    )
    ran = extract(run, place)
    assert (ran.code, "systems.json" in ran.err and "$.systems.own.run: no program" in ran.err) == (
        2,
        True,
    ), ran


ON_A_TERMINAL = "import fcntl, os, sys, termios; fcntl.ioctl(0, termios.TIOCSCTTY, 0); os.execv(sys.argv[1], sys.argv[1:])"


@pytest.mark.skipif(os.name != "posix", reason="pseudo terminals")
@pytest.mark.parametrize("is_early", [True, False], ids=["while workers start", "while a model answers"])
def test_ctrl_c_at_a_terminal_ends_cleanly_and_says_how_to_go_on(
    run: Run, place: Path, server: ScriptedServer, is_early: bool
) -> None:
    done = threading.Event()
    server.script = lambda hit: answer(hit) if done.wait(600) else Reply(500)
    master, slave = os.openpty()
    given = ("--docs", place / "docs", "--spec", place / "spec.yaml", "--out", place / "out", "--jobs", 2)
    command = [
        sys.executable,
        "-m",
        "fieldassay.commands.cli.main",
        "extract",
        *given,
        "--system",
        place / "systems.json",
    ]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "TERM": "xterm"}
    process = subprocess.Popen(
        [sys.executable, "-c", ON_A_TERMINAL, *map(str, command)],
        stdin=slave, stdout=slave, stderr=slave, start_new_session=True, env=environment,
    )  # fmt: skip
    os.close(slave)
    shown = bytearray()
    reader = threading.Thread(target=read_all, args=(master, shown), daemon=True)
    reader.start()
    while not (b"loading" in shown if is_early else server.hits):
        assert process.poll() is None, shown.decode()
        time.sleep(0.01)
    os.write(master, b"\x03")
    threading.Timer(3, done.set).start()
    assert process.wait(600) == 130
    reader.join(600)
    os.close(master)
    text = shown.decode()
    assert "Traceback" not in text and "run the same command again to continue" in text.casefold(), text
    assert extract(run, place).code == 0
    assert [row["pred"]["buyer"] for row in rows(place / "out")] == list(BUYERS)


def read_all(master: int, into: bytearray) -> None:
    while True:
        try:
            into += os.read(master, 4096)
        except OSError:  # the other side is closed
            return


def test_a_kind_of_failure_that_no_document_has_is_told(run: Run, place: Path) -> None:
    (place / "docs" / "Bo.txt").write_text("")
    assert offline(run, place).code == 0
    ran = offline(run, place, "--retry", "truncatd", "--retry", "unreadable")
    assert (ran.code, "failed as truncatd; its failures: unreadable" in ran.err) == (0, True), ran


def tokens(*texts: str) -> dict[str, Any]:
    """Return log-probabilities as llama.cpp gives them: tokens outside of the content, alternatives unasked."""
    return {
        "content": [
            {
                "token": text,
                "bytes": list(text.encode()),
                "logprob": -0.5,
                "top_logprobs": [{"token": f"alternative {at}", "logprob": -9.0} for at in range(20)],
            }
            for text in texts
        ]
    }


def test_confidences_come_from_tokens_around_which_others_stand(
    run: Run, place: Path, server: ScriptedServer
) -> None:
    spelled = ("```", "json", "\n", '{"total', '": "0', ".50", '", "buyer": null}', "\n", "```")
    text = "".join(spelled[3:-2])
    server.script = lambda hit: Reply(body=completion(text, PROMPT_TOKENS, logprobs=tokens(*spelled)))
    change_base(place, decode={"logprobs": True})
    extract(run, place, "--limit", 1)
    (row,) = rows(place / "out")
    assert row["confidence"] == {"total": pytest.approx(0.3679, abs=1e-4)}
    assert "alternative" not in (place / "out" / "journal.jsonl").read_text()
    extract(run, place, "--limit", 1)
    assert rows(place / "out")[0]["confidence"] == row["confidence"] and len(server.hits) == 1


def test_the_repeats_of_a_system_are_made(run: Run, place: Path) -> None:
    (place / "systems.json").write_text('{"systems": {"a": {"strategy": "rules", "repeats": 3}}}')
    assert extract(run, place).code == 0
    assert len(rows(place / "out")) == 9


def test_a_spec_that_cannot_be_compiled_is_an_error_before_any_document(run: Run, place: Path) -> None:
    (place / "spec.yaml").write_text("fields: {total: {type: money, compare: nosuch}}\n")
    ran = extract(run, place)
    assert (ran.code, "nosuch" in ran.err, (place / "out").exists()) == (2, True, False), ran
