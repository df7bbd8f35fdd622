"""Hostile files through the command line: a report or a clear problem, in bounded time, never a traceback."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

MILLION = 1_000_000
GOOD_SPEC = json.dumps(
    {"fields": {"a": "text", "n": "number", "l": {"type": "list", "items": "text"}}}
).encode()
GOOD = b'{"id": "1", "a": "x", "n": 1, "l": ["p", "q"]}\n'
HUGE = {"1-mb-of-text": MILLION, "10-mb-of-text": 10 * MILLION}
FILES: dict[str, tuple[bytes, bytes, set[int]]] = {
    "sound": (GOOD, GOOD, {0}),
    "empty-gold": (b"", GOOD, {2, 5}),
    "empty-predictions": (GOOD, b"", {0, 2, 5}),
    "empty-both": (b"", b"", {2, 5}),
    "gold-is-not-json": (b"{not json\n", GOOD, {2, 5}),
    "prediction-is-prose": (GOOD, b'{"id": "1", "raw": "I am sorry, I cannot do that."}\n', {0}),
    "duplicate-keys": (GOOD, b'{"id": "1", "a": "y", "a": "x", "n": 1, "l": []}\n', {0}),
    "nan-and-infinity": (GOOD, b'{"id": "1", "a": NaN, "n": Infinity, "l": [-Infinity]}\n', {0}),
    "nul-bytes": (GOOD, b'{"id": "1", "a": "x\\u0000\x00", "n": 1}\n', {0, 2}),
    "lone-surrogates": (GOOD, b'{"id": "1", "a": "\\ud800", "n": 1}\n', {0}),
    "latin-1": (GOOD, b'{"id": "1", "a": "caf\xe9", "n": 1}\n', {0}),
    "mixed-encodings": (GOOD, '{"id": "1", "a": "é"}\n'.encode() + b'{"id": "2", "a": "\xe9"}\n', {0}),
    "utf-16": (GOOD, GOOD.decode().encode("utf-16"), {0}),
    "bidi-controls": (GOOD, '{"id": "1", "a": "\u202ex\u202c"}\n'.encode(), {0}),
    "terminal-escapes": (GOOD, b'{"id": "1", "a": "\\u001b[2J\\u001b]0;x\\u0007"}\n', {0}),
    "huge-integer": (GOOD, b'{"id": "1", "n": 1' + b"0" * 5000 + b"}\n", {0}),
    "deep-prediction": (GOOD, b'{"id": "1", "a": ' + b"[" * 1000 + b"]" * 1000 + b"}\n", {0}),
    "deep-gold": (b'{"id": "1", "a": ' + b"[" * 1000 + b"]" * 1000 + b"}\n", GOOD, {2}),
    "bottomless-prediction": (GOOD, b'{"id": "1", "a": ' + b"[" * MILLION + b"}\n", {0}),
    "no-common-id": (GOOD, b'{"id": "2", "a": "x"}\n', {2, 5}),
    "no-common-field": (GOOD, b'{"id": "1", "zzz": "x"}\n', {5}),
    "gold-without-the-spec's-fields": (b'{"id": "1", "zzz": "x"}\n', GOOD, {0, 5}),
    "a-list-for-a-record": (GOOD, b"[1, 2, 3]\n", {0, 2, 5}),
    "wrong-kinds": (GOOD, b'{"id": "1", "a": ["x"], "n": {"n": 1}, "l": {"p": "q"}}\n', {0}),
    "csv-with-a-torn-quote": (GOOD, b'id,a,n\n1,"x,1\n', {0, 2, 5}),
}


Score = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def score(programs: Path, tmp_path: Path) -> Score:
    """Return a function that runs `fieldassay score` on such files, in a process with a time limit."""
    return lambda *contents: run_score(programs / "fieldassay", tmp_path, *contents)


def run_score(
    program: Path, folder: Path, spec: bytes, gold: bytes, pred: bytes
) -> subprocess.CompletedProcess[str]:
    for name, content in (("spec.yaml", spec), ("gold.jsonl", gold), ("pred.jsonl", pred)):
        (folder / name).write_bytes(content)
    inputs = ["--spec", "spec.yaml", "--gold", "gold.jsonl", "--pred", "s=pred.jsonl"]
    command = [program, "score", *inputs, "--bootstrap", "0", "--out", "run"]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=600, check=False)


def content_of(name: str) -> tuple[bytes, bytes, set[int]]:
    if name in HUGE:
        return GOOD, b'{"id": "1", "a": "' + b"x" * HUGE[name] + b'", "n": 1}\n', {0}
    return FILES[name]


@pytest.mark.parametrize(
    "name", [*FILES, "1-mb-of-text", pytest.param("10-mb-of-text", marks=pytest.mark.full)]
)
def test_the_command_line_never_shows_a_traceback(name: str, score: Score, tmp_path: Path) -> None:
    gold, pred, codes = content_of(name)
    done = score(GOOD_SPEC, gold, pred)
    assert "Traceback" not in done.stderr + done.stdout
    assert done.returncode in codes, done.stderr
    assert done.stdout.strip() or done.stderr.strip()
    assert len(done.stderr) < 5000
    assert "\x1b[2J" not in done.stdout
    if done.returncode == 0:
        evidence = pl.read_parquet(tmp_path / "run" / "evidence.parquet")
        assert {"a", "n"} <= set(evidence.filter(kind="value")["field"]) <= {"a", "n", "l", "l[]"}


@pytest.mark.parametrize(
    "spec", [b"", b"fields: {}", b"fields: {a: mony}", b"\x00\xff", b"fields: &a [*a]", b"[" * 100_000]
)
def test_a_broken_spec_is_told_in_a_few_lines(spec: bytes, score: Score) -> None:
    done = score(spec, GOOD, GOOD)
    assert (done.returncode, "Traceback" in done.stderr + done.stdout) == (2, False)
    assert "spec.yaml" in done.stderr
    assert len(done.stderr) < 5000


def test_the_program_that_is_installed_starts_by_itself(tmp_path: Path) -> None:
    """The tests above fork one that has started."""
    installed = tmp_path / "fieldassay"
    installed.write_text(
        f"#!{sys.executable}\nimport sys\nfrom fieldassay.commands.cli.main import main\nsys.exit(main())\n"
    )
    installed.chmod(0o755)
    done = run_score(installed, tmp_path, GOOD_SPEC, *FILES["lone-surrogates"][:2])
    assert (done.returncode, "Traceback" in done.stderr) == (0, False), done.stderr
