"""Ids, names and paths with control characters, escapes and direction marks are escaped everywhere."""

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from fieldassay.commands.cli.main import main
from fieldassay.paths import join_path
from fieldassay.reports.formats import FORMATS

HIDDEN = "\x1b[31m\x07\x00\x85\u202e\u2066\u200f\u2028\r\t"
BAD = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2028\u2029\u2066-\u2069]")
COMMAND = re.compile(r"^\s*::|##\[", re.MULTILINE)
CALL = re.compile(r"(?<![0-9A-Za-z_])@[0-9A-Za-z]|#[0-9A-Za-z]")
VALUE = "value\x1b[2J\u202e"
ID, FIELD = f"id{HIDDEN}", f"field{HIDDEN}"


def hidden(word: str) -> str:
    """Return a name that would move the cursor."""
    return f"{word}{HIDDEN}"


def commanding(word: str) -> str:
    """Return a name that a runner of GitHub Actions would obey at the start of a line, or anywhere."""
    return f"::error::{word} ##[group]{word} @octocat #12"


def record(name: Callable[[str], str], at: int, value: Any) -> dict[str, Any]:
    return {
        "id": f"{name('id')}{at}",
        name("field"): value,
        "part": name("slice"),
        "lines": [{name("field"): value}, {name("field"): at}],
        name("undeclared"): 1,
        "tree": {name("key"): {name("key"): value}},
    }


def make_runs(folder: Path, name: Callable[[str], str], value: str) -> Path:
    """Write two runs in which everything that can have a hostile name has one."""
    fields = {
        name("field"): "text",
        "part": "text",
        "lines": {"type": "list", "items": {"type": "object", "fields": {name("field"): "text"}}},
        "tree": "any",
    }
    gates = [
        f"field_accuracy[{json.dumps(join_path([name('field')]))}] >= 0.9",
        f"accuracy{{part={json.dumps(name('slice'))}}} >= 0.2",
    ]
    spec = {
        "name": name("spec"),
        "description": name(""),
        "fields": fields,
        "slices": ["part"],
        "gates": gates,
    }
    (folder / "spec.json").write_text(json.dumps(spec))
    for file, rows in {
        "gold": [record(name, at, value) for at in range(4)],
        "one": [record(name, at, value if at % 2 else f"other{value}") for at in range(4)],
        "two": [
            record(name, 0, None),
            {"id": f"{name('id')}1", "raw": f"no answer {name('')}"},
            {"id": f"{name('id')}2", "error": f"{name('broken')}"},
        ],
    }.items():
        (folder / f"{file}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        for out, files in (("run", ("one", "two")), ("after", ("one",))):
            preds = [
                part
                for file in files
                for part in ("--pred", f"{name('system')} {file}={file}.jsonl".replace("\x00", ""))
            ]
            data = ["-s", "spec.json", "--gold", "gold.jsonl", *preds]
            assert main(["score", *data, "--runs", "store", "--bootstrap", "20", "-q"]) in (0, 1, 4)
            latest = max((folder / "store").iterdir(), key=lambda path: path.stat().st_mtime)
            (folder / out).symlink_to(latest)
        main(["baseline", "set", "run", "--out", "baseline.json"])
    return folder


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_runs(tmp_path_factory.mktemp("made"), hidden, VALUE)


@pytest.fixture(scope="module")
def obeyed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_runs(
        tmp_path_factory.mktemp("obeyed"), commanding, "##[error]\n::stop-commands::x\r::x @octocat"
    )


def commands() -> Iterator[tuple[str, ...]]:
    """Yield every command that shows names of a run, with all its formats but JSON."""
    preds = ("--pred", "one.jsonl")
    data = ("-s", "spec.json", "--gold", "gold.jsonl", *preds)
    yield ("score", *data, "--bootstrap", "20")
    yield ("score", "--check", *data)
    yield ("explain", "run", f"{ID}1")
    yield ("explain", "run", f"{ID}0", join_path(["lines", -1, FIELD]))
    yield ("explain", "run", "nobody\x1b[31m")
    yield from (("report", "run", "--format", name) for name in sorted(FORMATS) if name != "html")
    yield ("report", "run", "--format", "html", "--out", "page.html")
    yield from (("diff", "run", "after", "--format", name) for name in ("table", "markdown", "csv"))
    yield ("diff", "run", "--format", "html", "--out", "diff.html")
    yield from (
        ("report", "run", "--table", "errors", "-o", name) for name in ("out.csv", "out.md", "errors.md")
    )
    yield ("report", "run", "--table", "suspicious-gold", "-o", "suspicious.csv")
    yield ("report", "run", "--table", "suspicious-gold")
    yield ("gate", "run")
    yield ("gate", "run", "--baseline", "baseline.json")
    yield ("baseline", "show", "baseline.json")
    yield ("runs", "list", "--runs", "store")
    yield ("runs", "show", "latest", "--runs", "store")
    yield ("report", "run", "-o", f"out{HIDDEN[:5]}.nothing")
    yield ("report", f"no run {HIDDEN}".replace("\x00", ""), "--format", "markdown")


@pytest.mark.parametrize(
    "command", list(commands()), ids=lambda command: re.sub(r"[^ -~]|/", "", " ".join(command))[:60]
)
def test_nothing_hidden_is_shown(
    made: Path, command: tuple[str, ...], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(made)
    monkeypatch.delenv("GITHUB_STEP_SUMMARY", raising=False)
    before = {path.name for path in made.iterdir()}
    code = main([part.replace("\x00", "") if part.startswith("out") else part for part in command])
    shown = capsys.readouterr()
    assert code in (0, 1, 2, 4), shown.err
    texts = {"out": shown.out, "err": shown.err}
    texts |= {
        name: (made / name).read_text(encoding="utf-8")
        for name in command
        if (made / name).is_file() and name not in before
    }
    for name, text in texts.items():
        found = BAD.search(text)
        assert found is None, f"{name}: {text[max(0, found.start() - 60) : found.end() + 20]!a}"


@pytest.mark.parametrize(
    "command", list(commands()), ids=lambda command: re.sub(r"[^ -~]|/", "", " ".join(command))[:60]
)
def test_no_name_is_a_command_to_a_runner_or_calls_anybody(
    obeyed: Path,
    command: tuple[str, ...],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(obeyed)
    monkeypatch.delenv("GITHUB_STEP_SUMMARY", raising=False)
    command = tuple(part.replace(ID, f"{commanding('id')}").replace("\x00", "") for part in command)
    assert main(list(command)) in (0, 1, 2, 4)
    shown = capsys.readouterr()
    text = (
        shown.out
        if "annotations" not in command
        else re.sub(r"(?m)^::(error|warning|notice) .*", "", shown.out)
    )
    assert not COMMAND.search(text.replace("\r", "\n")), text
    assert not COMMAND.search(shown.err), shown.err
    files = [obeyed / part for part in command if part.endswith(".md")]
    for page in [
        *(file.read_text(encoding="utf-8") for file in files),
        *([text] if "markdown" in command else []),
    ]:
        assert not CALL.search(re.sub(r"&#\d+;", " ", page)), page
