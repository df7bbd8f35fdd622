"""Every executor does the same, on processes and on Ray; what is left of the pool when its parent is killed."""

import contextlib
import importlib.util
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from fieldassay.commands.cli.main import main
from fieldassay.errors import MissingExtraError, Problem, ProblemsError
from fieldassay.io.workers.program import Worker, WorkerDiedError, WorkerStartError, run_pool, run_ray
from fieldassay.scoring.score import score

# Every executor does the same: outcomes in order, shards taken as needed, errors as they were raised.

Executor: TypeAlias = Callable[[Callable[[Any], Any], Iterable[Any]], Iterator[Any]]
needs_ray = pytest.mark.skipif(
    importlib.util.find_spec("ray") is None, reason="without Ray: `make test-ray` installs it"
)


def run_on_one_ray(function: Callable[[Any], Any], shards: Iterable[Any]) -> Iterator[Any]:
    """Run on a Ray that is started once for all tests of this file."""
    import ray

    if not ray.is_initialized():
        ray.init(address="local", num_cpus=2, include_dashboard=False, log_to_driver=False)
    return run_ray(function, shards, 2)


@pytest.fixture(scope="module", autouse=True)
def end_ray() -> Iterator[None]:
    yield
    if "ray" in sys.modules:
        sys.modules["ray"].shutdown()


EXECUTORS = [
    pytest.param(map, id="this process"),
    pytest.param(partial(run_pool, workers=2), id="processes", marks=pytest.mark.slow),
    pytest.param(run_on_one_ray, id="ray", marks=[pytest.mark.slow, needs_ray]),
]
APART = EXECUTORS[1:]
"""The executors whose workers are processes of their own."""


def double(number: int) -> int:
    return 2 * number


def refuse(number: int) -> int:
    if number == 2:
        raise ProblemsError([Problem("gold.jsonl:3", "is wrong", "correct it", "bad_gold")])
    return number


def die_once(place: str) -> str:
    if place.endswith("2") and not Path(place).exists():
        Path(place).touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return place


def die(number: int) -> int:
    if number == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    return number


@pytest.mark.parametrize("execute", EXECUTORS)
def test_outcomes_come_in_the_order_of_shards(execute: Executor) -> None:
    assert list(execute(double, range(12))) == list(range(0, 24, 2))
    assert list(execute(double, [])) == []


@pytest.mark.parametrize("execute", EXECUTORS)
def test_shards_are_taken_as_they_are_needed(execute: Executor) -> None:
    taken: list[int] = []
    outcomes = execute(double, (taken.append(number) or number for number in range(50)))
    assert next(outcomes) == 0 and len(taken) <= 4
    assert next(outcomes) == 2 and len(taken) <= 5
    del outcomes


@pytest.mark.parametrize("execute", EXECUTORS)
def test_an_error_is_raised_as_it_was(execute: Executor) -> None:
    with pytest.raises(ProblemsError) as raised:
        list(execute(refuse, range(5)))
    assert raised.value.problems == (Problem("gold.jsonl:3", "is wrong", "correct it", "bad_gold"),)


@pytest.mark.parametrize("execute", APART)
def test_a_worker_that_is_killed_changes_no_outcome(execute: Executor, tmp_path: Path) -> None:
    shards = [str(tmp_path / f"{number}") for number in range(6)]
    assert list(execute(die_once, shards)) == shards
    assert Path(shards[2]).exists()


@pytest.mark.parametrize("execute", APART)
def test_a_shard_that_always_kills_its_worker_ends_the_run(execute: Executor) -> None:
    with pytest.raises(WorkerDiedError, match=r"^shard 2: ") as raised:
        list(execute(die, range(3)))
    assert raised.value.exit_code == 3


def test_without_the_extra_the_message_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(MissingExtraError, match=r"pip install '\.\[ray\]'"):
        list(run_ray(double, [1], 2))


# The pool of worker processes, and what is left of it when its parent is killed.

NOTE = """
import os
import time
from pathlib import Path


def note(place: str) -> None:
    (Path(place) / str(os.getpid())).touch()
    time.sleep(0.3)
"""

PARENT = """
import sys

from notes import note
from fieldassay.io.workers.program import run_pool

for _ in run_pool(note, [sys.argv[1]] * 6, 2):
    pass
print("done", flush=True)
list(run_pool(note, [sys.argv[1]] * 10_000, 2))
"""


def is_alive(number: int) -> bool:
    """Return whether a process runs; one that has ended and that nobody has asked for is not alive."""
    status = Path(f"/proc/{number}/stat")
    try:
        return status.read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def children() -> set[int]:
    """Return the processes that this one has started and that still run."""
    started = (one.read_text().split() for one in Path("/proc/self/task").glob("*/children"))
    return {int(number) for numbers in started for number in numbers}


like_linux = pytest.mark.skipif(
    not Path("/proc/self/stat").exists(), reason="looks at processes the way Linux shows them"
)


@like_linux
@pytest.mark.slow
def test_workers_end_when_their_parent_is_killed(tmp_path: Path) -> None:
    script, seen = tmp_path / "parent.py", tmp_path / "seen"
    script.write_text(PARENT)
    (tmp_path / "notes.py").write_text(NOTE)
    seen.mkdir()
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    parent = subprocess.Popen(
        [sys.executable, str(script), str(seen)], env=environment, stdout=subprocess.PIPE, text=True
    )
    assert parent.stdout is not None and parent.stdout.readline() == "done\n"
    before = {path.name for path in seen.iterdir()}
    deadline = time.monotonic() + 600
    while (
        not (workers := {int(path.name) for path in seen.iterdir() if path.name not in before})
        and time.monotonic() < deadline
    ):
        time.sleep(0.05)
    parent.kill()
    parent.wait()
    assert workers
    while any(map(is_alive, workers)) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not [number for number in workers if is_alive(number)]


def sleep_after_the_first(number: int) -> int:
    if number:
        time.sleep(3600)
    return number


@like_linux
@pytest.mark.slow
@pytest.mark.parametrize("stop", [KeyboardInterrupt, GeneratorExit], ids=["interrupted", "not read on"])
def test_workers_end_with_the_shards_in_hand_when_a_run_is_stopped(stop: type[BaseException]) -> None:
    others = children()
    outcomes = run_pool(sleep_after_the_first, range(9), 2)
    assert next(outcomes) == 0
    workers = children() - others
    assert workers
    with pytest.raises(stop):
        outcomes.throw(stop())  # type: ignore[attr-defined]
    deadline = time.monotonic() + 300
    while any(map(is_alive, workers)) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not [number for number in workers if is_alive(number)]


EXTRACT = """
open("billing.log", "a").write("charged\\n")
import fieldassay as fa

def read(document):
    return {"total": 5}

if MODE == "daemonic":
    import multiprocessing
    def work(_):
        return fa.extract("docs", "fields: {total: number}", "out", read).counts["predicted"]
    with multiprocessing.get_context("fork").Pool(1) as pool:
        print(pool.map(work, [0]))
else:
    counts = fa.extract("docs", "fields: {total: number}", "out", read).counts
    print([counts["predicted"]])
    import multiprocessing
    multiprocessing.set_start_method("spawn")
"""


@pytest.mark.slow
@pytest.mark.parametrize("way", ["file", "standard input", "daemonic"])
def test_workers_run_nothing_of_the_program_that_starts_them(tmp_path: Path, way: str) -> None:
    (tmp_path / "docs").mkdir()
    for name in "abc":
        (tmp_path / "docs" / f"{name}.txt").write_text("Total 5")
    code = f"MODE = {way!r}\n{EXTRACT}"
    (tmp_path / "script.py").write_text(code)
    arguments = ["-"] if way == "standard input" else ["script.py"]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=tmp_path,
        env=environment,
        input=code,
        capture_output=True,
        text=True,
    )
    assert done.stdout == "[3]\n", done.stderr
    if way != "scored":
        assert (tmp_path / "billing.log").read_text() == "charged\n"


def test_what_only_the_program_has_is_refused_before_work_is_spent() -> None:
    def own() -> None: ...

    own.__module__ = "__main__"
    worker = Worker()
    with pytest.raises(ProblemsError, match="move it into a module"):
        worker.call(own)
    worker.stop()


def test_a_worker_that_does_not_start_says_what_it_wrote() -> None:
    worker = Worker(("no_such_module",))
    with pytest.raises(WorkerStartError, match="No module named 'no_such_module'"):
        worker.call(print)
    assert not worker.is_alive()


# Scoring on Ray: the same bits as on this machine, however many workers, and if one of them is killed.

SPEC = "{fields: {total: number, name: text}, checks: {total: {range: {least: 1}}}}"
DOCUMENTS = 3000
SAME = ("metrics.json", "documents.parquet", "evidence.parquet", "statistics.parquet", "violations.jsonl")


@pytest.fixture(scope="module")
def inputs(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Return the options of gold and predictions in files, with a spec."""
    folder = tmp_path_factory.mktemp("inputs")
    rows = [{"id": f"d{at}", "total": at, "name": f"n{at % 50}"} for at in range(DOCUMENTS)]
    wrong = [{**row, "total": row["total"] + (row["total"] % 9 == 0)} for row in rows]
    for name, records in (("gold", rows), ("pred", wrong)):
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records))
    (folder / "spec.yaml").write_text(SPEC)
    return [
        *(
            "--spec",
            f"{folder}/spec.yaml",
            "--gold",
            f"{folder}/gold.jsonl",
            "--pred",
            f"{folder}/pred.jsonl",
        ),
        *("--bootstrap", "100", "--batch", "40", "--quiet"),
    ]


@pytest.fixture(scope="module")
def local(inputs: list[str], tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """Return the files of a run on this machine."""
    out = tmp_path_factory.mktemp("local") / "run"
    assert main(["score", *inputs, "--out", str(out)]) == 0
    return files_of(out)


def files_of(out: Path) -> dict[str, bytes]:
    return {name: (out / name).read_bytes() for name in SAME}


@pytest.mark.slow
@pytest.mark.skipif(
    importlib.util.find_spec("ray") is None, reason="without Ray: `make test-ray` installs it"
)
@pytest.mark.parametrize("workers", [1, 2, 4, 8])
def test_runs_are_the_same_bytes(
    inputs: list[str], local: dict[str, bytes], tmp_path: Path, workers: int
) -> None:
    out = tmp_path / "run"
    more = ["--engine", "ray", "--workers", str(workers), "--out", str(out)]
    assert main(["score", *inputs, *more]) == 0
    assert files_of(out) == local
    assert [path.name for path in tmp_path.iterdir()] == ["run"]


@pytest.mark.slow
@pytest.mark.skipif(
    importlib.util.find_spec("ray") is None, reason="without Ray: `make test-ray` installs it"
)
def test_a_worker_that_is_killed_changes_nothing(inputs: list[str]) -> None:
    given = dict(zip(inputs[::2], inputs[1::2], strict=False))
    sources = given["--gold"], given["--pred"], given["--spec"]
    killed: list[int] = []

    def kill(documents: int) -> None:
        for one in workers_of(os.getpid())[: 2 - len(killed)]:
            killed.append(one)
            with contextlib.suppress(ProcessLookupError):
                os.kill(one, signal.SIGKILL)

    options: dict[str, Any] = {"batch": 40, "bootstrap": 100}
    here = score(*sources, **options)
    there = score(*sources, None, kill, **options, engine="ray", workers=2)
    assert killed
    assert there.estimates == here.estimates and there.counts == here.counts
    assert there.documents.equals(here.documents) and there.evidence.sort("doc", "field").equals(
        here.evidence.sort("doc", "field")
    )


def workers_of(process: int) -> list[int]:
    """Return the processes of Ray that judge shards of a process."""
    found = [process]
    for one in found:
        for task in Path(f"/proc/{one}/task").glob("*/children"):
            with contextlib.suppress(OSError):
                found += map(int, task.read_text().split())
    return [one for one in found if name_of(one).startswith("ray::_do_away")]


def name_of(process: int) -> str:
    with contextlib.suppress(OSError):
        return Path(f"/proc/{process}/cmdline").read_text()
    return ""


@pytest.mark.slow
@pytest.mark.skipif(
    importlib.util.find_spec("ray") is None, reason="without Ray: `make test-ray` installs it"
)
def test_a_cluster_that_is_not_there_is_said(inputs: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["score", *inputs, "--engine", "ray=127.0.0.1:1"]) == 2
    told = capsys.readouterr().err
    assert "ray=127.0.0.1:1: cannot be reached" in told and "Traceback" not in told
