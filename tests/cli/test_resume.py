"""Runs that were killed or interrupted go on where they were, and end as if they had not been."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from command_runs import Ran, spawn

from fieldassay.scoring.kept_shards import KeptShards, open_kept

Run = Callable[..., Ran]
DOCUMENTS, SHARD = 1000, 200
SPEC = """
name: shops
checks: {total: {range: {least: 0}}}
slices: [city]
metrics: [accuracy, f1, field_accuracy, latency_p95]
fields: {shop: text, total: money, lines: {type: list, items: {fields: {sku: id, price: number}}}}
"""
SAME = ("metrics.json", "documents.parquet", "evidence.parquet", "statistics.parquet", "violations.jsonl")
"""The files of a run in which no time of day is recorded."""


@pytest.fixture(scope="module")
def inputs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a spec, gold, and the predictions of two systems."""
    folder = tmp_path_factory.mktemp("inputs")
    (folder / "spec.yaml").write_text(SPEC)
    rows = [record(number) for number in range(DOCUMENTS)]
    for name, wrong in (("gold", 0), ("one", 7), ("two", 11)):
        lines = [json.dumps(spoil(row, wrong) if wrong else row) for row in rows]
        (folder / f"{name}.jsonl").write_text("\n".join(lines) + "\n")
    return folder


def record(number: int) -> dict[str, Any]:
    lines = [{"sku": f"A{number}-{at}", "price": at + 0.5} for at in range(number % 3)]
    city = ("Bonn", "Ulm")[number % 2]
    return {
        "id": f"d{number}",
        "shop": f"Shop {number % 9}",
        "total": number + 0.25,
        "lines": lines,
        "city": city,
    }


def spoil(row: dict[str, Any], wrong: int) -> dict[str, Any]:
    number = int(row["id"][1:])
    timing = {"timing": {"duration_ms": number % 50 + wrong}}
    return {**row, **timing, "total": -row["total"]} if number % wrong == 0 else {**row, **timing}


def arguments(inputs: Path, out: Path, *more: Any) -> list[Any]:
    systems = [part for name in ("one", "two") for part in ("--pred", f"{name}={inputs / name}.jsonl")]
    work = ["--batch", SHARD // 5, "--bootstrap", 50, "--quiet", "--out", out]
    return ["score", "--spec", inputs / "spec.yaml", "--gold", inputs / "gold.jsonl", *systems, *work, *more]


@pytest.fixture(scope="module")
def unbroken(inputs: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """Return the files of a run that nothing stopped."""
    from fieldassay.cli.main import main

    out = tmp_path_factory.mktemp("unbroken") / "run"
    assert main([str(part) for part in arguments(inputs, out)]) == 0
    assert not incomplete(out).exists()
    return files_of(out)


def incomplete(out: Path) -> Path:
    return out.with_name(f"{out.name}.incomplete")


def files_of(out: Path) -> dict[str, bytes]:
    return {name: (out / name).read_bytes() for name in SAME}


STOPPING = """
import os, signal, sys
from fieldassay.cli.main import main
from fieldassay.scoring.kept_shards import KeptShards

how, shards = map(int, sys.argv[1:3])
save = KeptShards.save


def save_and_stop(self, number, done):
    save(self, number, done)
    if len([*self.folder.glob("shard-*.done")]) >= shards:
        os.kill(os.getpid() if __name__ == "__main__" else os.getppid(), how)


KeptShards.save = save_and_stop
if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a job in the background ignores it
    sys.exit(main(sys.argv[3:]))
"""
"""The command line, which gets a signal when so many shards are finished, in whatever process they are."""


def stop(inputs: Path, out: Path, shards: int, how: int, *more: Any) -> subprocess.CompletedProcess[str]:
    """Run until so many shards are finished, and return the process, which was stopped then."""
    program = inputs / "stopping.py"
    program.write_text(STOPPING)
    command = [sys.executable, program, int(how), shards, *arguments(inputs, out, *more)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    return subprocess.run(
        [str(part) for part in command],
        env=environment,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("shards", "how", "before", "after"),
    [
        pytest.param(1, signal.SIGKILL, [], [], id="killed, early"),
        pytest.param(3, signal.SIGKILL, [], ["--workers", 2], id="killed, late, resumed by two workers"),
        pytest.param(2, signal.SIGKILL, ["--workers", 2], [], id="killed with two workers, resumed by one"),
        pytest.param(2, signal.SIGINT, [], [], id="interrupted"),
    ],
)
def test_a_stopped_run_goes_on_and_ends_with_the_same_bytes(
    inputs: Path,
    unbroken: dict[str, bytes],
    tmp_path: Path,
    run: Run,
    shards: int,
    how: int,
    before: list[Any],
    after: list[Any],
) -> None:
    out = tmp_path / "run"
    stopped = stop(inputs, out, shards, how, *before)
    told = stopped.stderr
    assert stopped.returncode == (130 if how == signal.SIGINT else -how), told
    assert "Traceback" not in told and ("--resume goes on" in told) == (how == signal.SIGINT)
    kept = {file.name: file.read_bytes() for file in incomplete(out).glob("shard-*.done")}
    assert len(kept) >= shards and not out.exists()
    ran = run(*arguments(inputs, out, "--resume", *after))
    assert ran.code == 0, ran.err
    assert files_of(out) == unbroken
    assert [path.name for path in tmp_path.iterdir()] == ["run"]


@pytest.fixture
def stopped(inputs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the place of a run that was interrupted after two shards, made in this process."""
    from fieldassay.cli.main import main
    from fieldassay.scoring import shard_runs

    done = shard_runs.do_work

    def interrupt(work: Any, progress: Any) -> Any:
        if work.number == 2:
            raise KeyboardInterrupt
        return done(work, progress)

    out = tmp_path / "run"
    with monkeypatch.context() as patch:
        patch.setattr(shard_runs, "do_work", interrupt)
        assert main([str(part) for part in arguments(inputs, out)]) == 130
    assert len(list(incomplete(out).glob("shard-*.done"))) == 2
    return out


def test_finished_shards_are_not_judged_again(
    inputs: Path, stopped: Path, unbroken: dict[str, bytes], run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    from fieldassay.scoring import shard_runs

    numbers, done = [], shard_runs.do_work

    def watch(work: Any, progress: Any) -> Any:
        numbers.append(work.number)
        return done(work, progress)

    monkeypatch.setattr(shard_runs, "do_work", watch)
    assert run(*arguments(inputs, stopped, "--resume")).code == 0
    assert numbers == [2, 3, 4] and files_of(stopped) == unbroken


def test_the_same_command_without_resume_discards_nothing(inputs: Path, stopped: Path, run: Run) -> None:
    ran = run(*arguments(inputs, stopped))
    assert ran.code == 2 and "holds 2 finished shards" in ran.err and "--resume" in ran.err
    assert len(list(incomplete(stopped).glob("shard-*.done"))) == 2


@pytest.mark.parametrize(
    ("change", "named"),
    [
        pytest.param(["--bootstrap", 60], "choice of options", id="another option"),
        pytest.param(["--only", "d1"], "choice of options", id="too few documents to keep shards"),
        pytest.param("gold.jsonl", "gold", id="gold"),
        pytest.param("two.jsonl", "prediction two", id="a prediction"),
        pytest.param("spec.yaml", "spec", id="the spec"),
    ],
)
def test_shards_of_another_run_are_refused(
    inputs: Path, stopped: Path, tmp_path: Path, run: Run, change: Any, named: str
) -> None:
    if isinstance(change, list):
        ran = run(*arguments(inputs, stopped, "--resume", *change))
    else:
        other = tmp_path / "inputs"
        other.mkdir()
        for file in inputs.iterdir():
            (other / file.name).write_bytes(file.read_bytes())
        text = (other / change).read_text()
        (other / change).write_text(
            text.replace("Shop 3", "Shop 4").replace("price: number", "price: integer")
        )
        ran = run(*arguments(other, stopped, "--resume"))
    assert ran.code == 2 and f"had another {named}; " in ran.err, ran.err


def test_shards_of_another_version_are_refused(
    inputs: Path, stopped: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    from fieldassay.scoring import provenance

    monkeypatch.setattr(provenance, "_version", lambda name: "9.9.9")
    ran = run(*arguments(inputs, stopped, "--resume"))
    assert ran.code == 2 and "had another version of a package; " in ran.err


@pytest.mark.parametrize(
    ("name", "spoilt"),
    [
        pytest.param("shard-00001.done", lambda data: data[:-5], id="results cut off"),
        pytest.param("shard-00001.done", lambda data: data[:50] + b"x" + data[51:], id="results changed"),
        pytest.param("part-00000-00000.parquet", lambda data: data[:-1] + b"x", id="evidence changed"),
        pytest.param("incomplete.json", lambda data: data.replace(b'"size": 200', b'"size": 300'), id="head"),
    ],
)
def test_a_damaged_shard_is_refused(
    inputs: Path, stopped: Path, run: Run, name: str, spoilt: Callable[[bytes], bytes]
) -> None:
    file = incomplete(stopped) / name
    file.write_bytes(spoilt(file.read_bytes()))
    ran = run(*arguments(inputs, stopped, "--resume"))
    assert ran.code == 2 and "Traceback" not in ran.err, ran.err
    assert "is damaged" in ran.err or "was changed" in ran.err
    assert not stopped.exists()


def test_a_shard_that_somebody_else_wrote_calls_nothing(inputs: Path, stopped: Path, run: Run) -> None:
    from fieldassay.atomic.sealed_values import write_sealed

    class Forged:
        def __reduce__(self) -> Any:
            return os.mkdir, (str(stopped.with_name("called")),)

    write_sealed(incomplete(stopped) / "shard-00001.done", Forged())
    ran = run(*arguments(inputs, stopped, "--resume"))
    assert ran.code == 2 and "object of another kind" in ran.err
    assert not stopped.with_name("called").exists()


@pytest.mark.slow
def test_two_processes_do_not_share_shards(inputs: Path, stopped: Path) -> None:
    import fcntl

    with (incomplete(stopped) / ".owner").open("wb") as held:
        fcntl.lockf(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        process = spawn(*arguments(inputs, stopped, "--resume"))
        _, told = process.communicate()
    assert process.returncode == 2 and b"in use by another process" in told


REFUSED = """
import sys
from pathlib import Path
from fieldassay.errors import ProblemsError
from fieldassay.scoring.kept_shards import KeptShards, open_kept
try:
    with open_kept(KeptShards(Path(sys.argv[1]), 200, None), {}, is_resumed=True):
        print("has them")
except ProblemsError as error:
    print(error)
"""


def test_a_process_that_is_refused_leaves_what_the_other_began(tmp_path: Path) -> None:
    folder = tmp_path / "run.incomplete"
    with open_kept(KeptShards(folder, 200, None), {}, is_resumed=False):
        began = sorted(folder.iterdir())
        told = subprocess.run(
            [sys.executable, "-c", REFUSED, folder], capture_output=True, text=True, check=True
        )
        assert "in use by another process" in told.stdout
        assert sorted(folder.iterdir()) == began
    assert not folder.exists()


def test_resume_needs_a_run_to_go_on_with(inputs: Path, run: Run) -> None:
    ran = run("score", "--gold", inputs / "gold.jsonl", "--pred", inputs / "one.jsonl", "--resume")
    assert ran.code == 2 and "--out" in ran.err


def test_gold_that_cannot_be_read_leaves_no_shards(inputs: Path, tmp_path: Path, run: Run) -> None:
    gold = tmp_path / "gold.jsonl"
    lines = (inputs / "gold.jsonl").read_text().splitlines()
    lines[700] = json.dumps({"id": "d700", "error": "no answer"})
    gold.write_text("\n".join(lines))
    out = tmp_path / "run"
    ran = run(*arguments(inputs, out, "--gold", gold))
    assert ran.code == 2 and "gold.jsonl:701" in ran.err, ran.err
    assert not incomplete(out).exists()


def test_each_input_is_digested_once(
    inputs: Path, tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    from fieldassay.fingerprint import inputs as fingerprints

    digest, seen = fingerprints.digest_file, list[str]()
    monkeypatch.setattr(
        fingerprints, "digest_file", lambda path: seen.append(Path(path).name) or digest(path)
    )
    assert run(*arguments(inputs, tmp_path / "run")).code == 0
    assert sorted(seen) == ["gold.jsonl", "one.jsonl", "two.jsonl"]
    recorded = json.loads((tmp_path / "run" / "run.json").read_bytes())["inputs"]["sha256"]
    assert recorded == {str(inputs / name): digest(inputs / name) for name in seen}
