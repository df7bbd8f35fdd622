"""Ids, names and paths with control characters, escapes and direction marks are escaped everywhere."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from fieldassay.commands.cli.main import main
from fieldassay.paths import join_path
from fieldassay.reports.formats import FORMATS

HIDDEN = "\x1b[31m\x07\x00\x85\u202e\u2066\u200f\u2028\r\t"
BAD = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2028\u2029\u2066-\u2069]")
ID, SYSTEM, FIELD, KEY, SLICE, NAME = (
    f"{word}{HIDDEN}" for word in ("id", "system", "field", "key", "slice", "spec")
)
VALUE = "value\x1b[2J\u202e"


def record(at: int, value: Any) -> dict[str, Any]:
    return {
        "id": f"{ID}{at}",
        FIELD: value,
        "part": SLICE,
        "lines": [{FIELD: value}, {FIELD: at}],
        f"undeclared{HIDDEN}": 1,
        "tree": {KEY: {KEY: value}},
    }


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with two runs, in which everything that can have a hostile name has one."""
    folder = tmp_path_factory.mktemp("made")
    fields = {
        FIELD: "text",
        "part": "text",
        "lines": {"type": "list", "items": {"type": "object", "fields": {FIELD: "text"}}},
        "tree": "any",
    }
    gates = [
        f"field_accuracy[{json.dumps(join_path([FIELD]))}] >= 0.9",
        f"accuracy{{part={json.dumps(SLICE)}}} >= 0.2",
    ]
    spec = {"name": NAME, "description": HIDDEN, "fields": fields, "slices": ["part"], "gates": gates}
    (folder / "spec.json").write_text(json.dumps(spec))
    for name, rows in {
        "gold": [record(at, VALUE) for at in range(4)],
        "one": [record(at, VALUE if at % 2 else f"other{VALUE}") for at in range(4)],
        "two": [
            record(0, None),
            {"id": f"{ID}1", "raw": f"no answer {HIDDEN}"},
            {"id": f"{ID}2", "error": f"broken {HIDDEN}"},
        ],
    }.items():
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        for out, files in (("run", ("one", "two")), ("after", ("one",))):
            preds = [
                part
                for name in files
                for part in ("--pred", f"{name} {SYSTEM}={name}.jsonl".replace("\x00", ""))
            ]
            assert main(
                [
                    "score",
                    "-s",
                    "spec.json",
                    "--gold",
                    "gold.jsonl",
                    *preds,
                    "--runs",
                    "store",
                    "--bootstrap",
                    "20",
                    "-q",
                ]
            ) in (
                0,
                1,
                4,
            )
            latest = max((folder / "store").iterdir(), key=lambda path: path.stat().st_mtime)
            (folder / out).symlink_to(latest)
        main(["baseline", "set", "run", "--out", "baseline.json"])
    return folder


def commands() -> Iterator[tuple[str, ...]]:
    """Yield every command that shows names of a run, with all its formats but JSON."""
    preds = ("--pred", "one.jsonl")
    data = ("-s", "spec.json", "--gold", "gold.jsonl", *preds)
    yield ("score", *data, "--bootstrap", "20")
    yield ("score", *data, "--bootstrap", "20", "--format", "markdown")
    yield ("score", *data, "--bootstrap", "20", "--format", "junit")
    yield ("validate", *data)
    yield ("explain", "run", f"{ID}1")
    yield ("explain", "run", f"{ID}0", join_path(["lines", -1, FIELD]))
    yield ("explain", "run", "nobody\x1b[31m")
    yield from (("report", "run", "--format", name) for name in sorted(FORMATS) if name != "html")
    yield ("report", "run", "--format", "html", "--out", "page.html")
    yield from (("diff", "run", "after", "--format", name) for name in ("table", "markdown", "csv"))
    yield ("diff", "run", "--format", "html", "--out", "diff.html")
    yield from (("export", "run", "-o", name) for name in ("out.csv", "out.md", "errors.md"))
    yield from (("export", "run", "--what", "losses", "-o", f"losses.{ending}") for ending in ("csv", "md"))
    yield from (("export", "run", "--what", what) for what in ("losses", "suspicious-gold"))
    yield ("gate", "run")
    yield ("gate", "run", "--format", "markdown")
    yield ("baseline", "check", "run", "baseline.json")
    yield ("baseline", "show", "baseline.json")
    yield ("runs", "list", "--runs", "store")
    yield ("runs", "show", "latest", "--runs", "store")
    yield ("runs", "history", "--format", "svg", "--runs", "store")
    yield ("export", "run", "-o", f"out{HIDDEN[:5]}.nothing")
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
        found = BAD.search(names_in(text, command))
        assert found is None, f"{name}: {text[max(0, found.start() - 60) : found.end() + 20]!a}"


def names_in(text: str, command: tuple[str, ...]) -> str:
    """Return the names of a text: without values in program tables and own attributes of an HTML page."""
    if "csv" in command[-1]:
        rows = csv.DictReader(io.StringIO(text, newline=""))
        values = ("extracted", "ground_truth", "gold", "pred", "before", "after")
        return " ".join(str(cell) for row in rows for name, cell in row.items() if name not in values)
    return re.sub(r'data-\w+="[^"]*"', "", text)
