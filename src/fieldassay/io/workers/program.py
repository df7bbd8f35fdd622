"""How programs start, and workers: programs of the package that run functions for their parent, in pools."""

import importlib
import io
import os
import pickle
import queue
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from itertools import islice
from pathlib import Path
from queue import Empty, SimpleQueue
from types import MappingProxyType
from typing import IO, Any, BinaryIO, TypeVar

from msgspec import Struct

from fieldassay.errors import FieldassayError, MissingExtraError, ProblemsError, install_line, problem
from fieldassay.io.text.shown import clip

# How programs start, and workers: programs of the package that run functions for their parent.

# How programs start: nothing that lies in the current folder becomes a part of them.

_PATHS = ("PATH", "PYTHONPATH")


def python_command(*arguments: str) -> list[str]:
    """Return the command that runs this Python without the current folder on its path of modules.

    >>> python_command("-m", "json.tool")[-3:]
    ['-P', '-m', 'json.tool']
    """
    flags: list[str] = subprocess._args_from_interpreter_flags()  # type: ignore[attr-defined]
    return [sys.executable, *flags, "-P", *arguments]


def find_program(name: str) -> str | None:
    """Return the path of a program in one of the absolute folders of PATH, None if there is none.

    A name with a slash is the path of a program itself.
    """
    return shutil.which(name, path=clean_environment().get("PATH", ""))


def clean_environment(**added: str) -> dict[str, str]:
    """Return this process's environment and more, without the relative folders of PATH and PYTHONPATH."""
    environment = {**os.environ, **added}
    for name in _PATHS:
        folders = environment.get(name, "").split(os.pathsep)
        environment[name] = os.pathsep.join(filter(os.path.isabs, folders))
    return {name: value for name, value in environment.items() if value or name not in _PATHS}


# A worker: a program of the package that runs functions for its parent, and nothing of the parent's
# program. `python -P -m fieldassay.io.workers.program` reads pickled calls from standard input and writes
# their outcomes to standard output. It imports the modules that its calls name, never the `__main__` of
# whoever started it.

Outcome = TypeVar("Outcome")

NOTHING: Mapping[str, str] = MappingProxyType({})
STARTING = 120.0
"""Seconds that a worker may take to start, on a busy machine."""
_BEAT, _RETURN, _RAISE = range(3)
_LENGTH = 8
_RSS_UNIT = 1 if sys.platform == "darwin" else 1024
_TOLD = 300


class WorkerEndedError(RuntimeError):
    """A worker that ended in the middle of a call; the message says how."""

    def __init__(self, said: str, memory: int = 0) -> None:
        super().__init__(said)
        self.memory = memory
        """The most bytes that it had in memory, 0 where that is unknown."""


class WorkerLateError(RuntimeError):
    """A worker that took longer for a call than it may; it is ended."""


class WorkerStartError(FieldassayError):
    """A worker that never said that it is ready; the message has what it wrote to its standard error."""

    exit_code = 3


class Setting(Struct, frozen=True):
    """What a worker is told before its first call."""

    path: list[str]
    modules: tuple[str, ...]
    memory: int


class Worker:
    """A process that runs one call after the other, for one thread at a time.

    `modules` are imported before it is ready; `memory` are the bytes of address space that it may have
    (0: any), `environment` is added to this process's. It ends with its parent, sees no Ctrl-C, and what it
    prints goes nowhere.
    """

    def __init__(
        self, modules: tuple[str, ...] = (), memory: int = 0, environment: Mapping[str, str] = NOTHING
    ) -> None:
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 - closed by `stop`
        package = str(Path(__file__).parents[3])
        paths = [package, *filter(None, [os.environ.get("PYTHONPATH")])]
        added = {**environment, "PYTHONPATH": os.pathsep.join(paths)}
        try:
            self._process = subprocess.Popen(
                python_command("-m", __name__),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._errors,
                env=clean_environment(**added),
                start_new_session=True,  # a terminal sends Ctrl-C to all processes of its group
                bufsize=0,
            )
        except OSError as error:
            self._errors.close()
            raise WorkerStartError(f"a worker process did not start: {error}") from None
        self._frames: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        threading.Thread(target=self._listen, name="worker", daemon=True).start()
        self._setting = Setting(sys.path, modules, memory)
        self._is_ready = False
        self._memory_before = 0

    def is_alive(self) -> bool:
        """Return whether it can take a call."""
        return self._process.poll() is None and not self._errors.closed

    def call(
        self, function: Callable[..., Outcome], *arguments: Any, seconds: float | None = None
    ) -> Outcome:
        """Return the outcome of a function of a module, or raise what it raises.

        `seconds` (None: any) begin anew with every `beat` of the function.
        Raises `WorkerStartError`, `WorkerEndedError` and `WorkerLateError`.
        """
        call = io.BytesIO()
        _Pickler(call, pickle.HIGHEST_PROTOCOL).dump((function, arguments))
        if not self._is_ready:
            self._start()
        self._send(call.getvalue())
        kind, outcome = self._receive(seconds)
        if kind == _RAISE:
            raise outcome
        result: Outcome = outcome
        return result

    def stop(self) -> None:
        """End it, by the thread that uses it."""
        self.kill()
        self._process.wait(5)
        for stream in (self._process.stdin, self._errors):
            if stream is not None:
                with suppress(OSError, ValueError):
                    stream.close()

    def kill(self) -> None:
        """End it, by any thread: the one that waits for it sees its end."""
        self._process.kill()

    def _start(self) -> None:
        try:
            self._send(pickle.dumps(self._setting))
            _, self._memory_before = self._receive(STARTING)
        except (WorkerEndedError, WorkerLateError) as error:
            raise WorkerStartError(f"a worker process did not start: {error}") from None
        self._is_ready = True

    def _send(self, message: bytes) -> None:
        assert self._process.stdin is not None
        try:
            write_frame(self._process.stdin, message)
        except (OSError, ValueError):
            raise self._ended() from None

    def _receive(self, seconds: float | None) -> tuple[int, Any]:
        late = None if seconds is None else time.monotonic() + seconds
        while True:
            frame = self._next(late)
            if frame is None:
                raise self._ended()
            kind, outcome = pickle.loads(frame)
            if kind != _BEAT:
                return kind, outcome
            late = None if seconds is None else time.monotonic() + seconds

    def _next(self, late: float | None) -> bytes | None:
        """Return the next frame; None at the process's end, also where a fork of this one holds its pipe."""
        while True:
            has_ended = self._process.poll() is not None
            left = 1.0 if late is None else min(1.0, late - time.monotonic())
            try:
                return self._frames.get(timeout=max(left, 0.0))
            except queue.Empty:
                if has_ended:
                    return None
                if late is not None and time.monotonic() >= late:
                    self.stop()
                    raise WorkerLateError("took longer than it may") from None

    def _listen(self) -> None:
        assert self._process.stdout is not None
        with self._process.stdout as stream:
            while (frame := read_frame(stream)) is not None:
                self._frames.put(frame)
        self._frames.put(None)

    def _ended(self) -> WorkerEndedError:
        memory = self._reap()
        try:
            code: int | None = self._process.wait(5)
        except subprocess.TimeoutExpired:
            code = None
        said = "" if self._errors.closed else _last_line(self._errors)
        self.stop()
        return WorkerEndedError(describe_exit(code) + (f": {said}" if said else ""), memory)

    def _reap(self) -> int:
        """Take the exit code of an ended process; return the most bytes that it had in memory, 0 if unknown.

        The system counts the memory of the process that started it, too: no more than before says nothing.
        """
        late, number, memory = time.monotonic() + 5.0, 0, 0
        with suppress(AttributeError, ChildProcessError):  # on Windows; where the code was asked for before
            while not number and time.monotonic() < late:
                number, status, usage = os.wait4(self._process.pid, os.WNOHANG)
                time.sleep(0.01)
            if number:
                self._process.returncode = os.waitstatus_to_exitcode(status)
                memory = usage.ru_maxrss * _RSS_UNIT
        return memory if memory > self._memory_before else 0


def describe_exit(code: int | None) -> str:
    """Return the end of a process in words.

    >>> describe_exit(-9), describe_exit(1)
    ('signal 9, SIGKILL', 'exit code 1')
    """
    if code is None or code >= 0:
        return f"exit code {code}"
    try:
        return f"signal {-code}, {signal.Signals(-code).name}"
    except ValueError:
        return f"signal {-code}"


def _last_line(errors: IO[bytes]) -> str:
    errors.seek(0, os.SEEK_END)
    errors.seek(max(0, errors.tell() - 4096))
    lines = errors.read().decode("utf-8", "replace").split("\n")
    return clip(" ".join(next((line for line in reversed(lines) if line.strip()), "").split()), _TOLD)


class _Pickler(pickle.Pickler):
    """Refuses what only the program of the caller has: a worker does not import that."""

    def reducer_override(self, obj: Any) -> Any:
        if getattr(obj, "__module__", "") == "__main__" and isinstance(obj, type) | hasattr(obj, "__code__"):
            what = f"{obj.__qualname__!r} is defined in the program itself, which workers do not run"
            raise problem("workers", what, "move it into a module, or use one process", "not_importable")
        return NotImplemented


def write_frame(stream: IO[bytes], data: bytes) -> None:
    """Write bytes behind their length."""
    rest = memoryview(len(data).to_bytes(_LENGTH, "big") + data)
    while rest:
        rest = rest[stream.write(rest) or 0 :]
    stream.flush()


def read_frame(stream: IO[bytes]) -> bytes | None:
    """Return the next bytes of a stream; None at its end, or where it breaks off."""
    head = _read(stream, _LENGTH)
    return None if head is None else _read(stream, int.from_bytes(head, "big"))


def _read(stream: IO[bytes], length: int) -> bytes | None:
    parts = []
    while length:
        try:
            part = stream.read(min(length, 1 << 20))
        except (OSError, ValueError):
            part = b""
        if not part:
            return None
        parts.append(part)
        length -= len(part)
    return b"".join(parts)


_ANSWERS: list[BinaryIO] = []
"""In a worker, where its outcomes go."""
_WRITING = threading.Lock()


def beat() -> None:
    """Tell the parent of a worker that it makes progress: its limit of time begins anew."""
    if _ANSWERS:
        _answer(_BEAT, time.monotonic())


def _answer(kind: int, outcome: object) -> None:
    try:
        frame = pickle.dumps((kind, outcome), pickle.HIGHEST_PROTOCOL)
    except Exception as error:
        frame = pickle.dumps((_RAISE, RuntimeError(f"{type(error).__name__}: {error}")))
    with _WRITING:
        write_frame(_ANSWERS[0], frame)


def serve() -> None:
    """Run the calls of a parent until its end."""
    calls, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb", 0)
    nowhere = os.open(os.devnull, os.O_RDWR)
    os.dup2(nowhere, 0)
    os.dup2(nowhere, 1)  # what libraries print is no outcome
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides what an interrupt means
    _ANSWERS.append(answers)
    frames: queue.SimpleQueue[bytes] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(calls, frames), daemon=True).start()
    setting: Setting = pickle.loads(frames.get())
    sys.path[:] = setting.path
    for name in setting.modules:
        importlib.import_module(name)
    _limit_memory(setting.memory)
    os.dup2(nowhere, 2)  # so far it says why a worker does not start
    _answer(_RETURN, _memory())
    while True:
        try:
            function, arguments = pickle.loads(frames.get())
            _answer(_RETURN, function(*arguments))
        except BaseException as error:
            _answer(_RAISE, error)


def _listen(calls: BinaryIO, frames: queue.SimpleQueue[bytes]) -> None:
    while (frame := read_frame(calls)) is not None:
        frames.put(frame)
    os._exit(0)  # the parent has ended, or needs this worker no more


def _memory() -> int:
    """Return the most bytes that this process has had in memory, 0 on Windows."""
    try:
        import resource
    except ImportError:
        return 0
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * _RSS_UNIT


def _limit_memory(memory: int) -> None:
    if not memory:
        return
    try:
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    except (ImportError, OSError, ValueError):  # a system without such limits
        return


if __name__ == "__main__":
    from fieldassay.io.workers import program

    program.serve()


# Pools of workers, on this machine and on Ray.

# Runs shards of work in several processes; a shard whose worker died is run once more, alone.

AHEAD = 2
"""Shards per worker that are at work, waiting, or done and not yet taken."""

Work = TypeVar("Work")


class Workers:
    """The workers of one caller's threads: started as they are needed, and ended together.

    `memory` and `environment` are those of each `Worker`.
    """

    def __init__(self, memory: int = 0, environment: Mapping[str, str] = NOTHING) -> None:
        self._memory, self._environment = memory, environment
        self._idle: SimpleQueue[Worker] = SimpleQueue()
        self._started: list[Worker] = []
        self.is_ended = False
        """Whether they are killed, and so is every new one."""

    @contextmanager
    def worker(self, *modules: str, is_new: bool = False) -> Iterator[Worker]:
        """Yield an idle worker, or a new one with these modules; it is idle again if it outlives this."""
        worker = None
        if not is_new:
            with suppress(Empty):
                worker = self._idle.get_nowait()
        worker = worker or self._start(modules)
        try:
            yield worker
        finally:
            if worker.is_alive():
                self._idle.put(worker)

    def _start(self, modules: tuple[str, ...]) -> Worker:
        worker = Worker(modules, self._memory, self._environment)
        self._started.append(worker)
        if self.is_ended:
            worker.kill()
        return worker

    def kill(self) -> None:
        """End all, and what will be started: threads that wait for one see its end."""
        self.is_ended = True
        for worker in list(self._started):
            worker.kill()

    def stop(self) -> None:
        """Let go of all, once no thread uses one any more."""
        for worker in self._started:
            worker.stop()


class WorkerDiedError(FieldassayError):
    """A worker process was killed twice on the same shard, usually for lack of memory."""

    exit_code = 3


def run_pool(function: Callable[[Work], Outcome], shards: Iterable[Work], workers: int) -> Iterator[Outcome]:
    """Yield the function's outcome for each shard, in order, computed by `workers` processes.

    Shards are taken as they are needed, `AHEAD` per worker ahead of what was yielded. An exception of the
    function stops the run and is raised here. A shard whose worker was killed runs again in a worker of its
    own; a second death raises `WorkerDiedError`. An error or an interrupt ends the workers with the shards in
    hand. Raises `WorkerStartError` where workers do not start at all.
    """
    crew = Workers()

    def run(number: int, shard: Work) -> Outcome:
        try:
            with crew.worker(function.__module__) as worker:
                return worker.call(function, shard)
        except WorkerEndedError:
            if crew.is_ended:
                raise
        try:
            with crew.worker(function.__module__, is_new=True) as worker:
                return worker.call(function, shard)
        except WorkerEndedError as error:
            raise WorkerDiedError(
                f"shard {number + 1}: the worker process was killed twice ({error}), most often for want of "
                "memory; use fewer --workers"
            ) from error

    threads = ThreadPoolExecutor(workers, thread_name_prefix="shards")
    try:
        rest, waiting = enumerate(shards), deque[Future[Outcome]]()
        while True:
            for number, shard in islice(rest, AHEAD * workers - len(waiting)):
                waiting.append(threads.submit(run, number, shard))
            if not waiting:
                return
            yield waiting.popleft().result()
    finally:
        threads.shutdown(wait=False, cancel_futures=True)
        crew.kill()
        threads.shutdown()
        crew.stop()


# Runs shards of work as tasks of Ray, on this machine or on a cluster.

RETRIES = 3
"""How often the task of a worker that died is run again."""

_ATTEMPTS = 3
"""Starts of Ray on this machine: it gives up after 30 seconds, which a busy machine may need."""

_ANSWERS_S = 10.0
"""Seconds in which a cluster takes a connection."""

_STORE = 1 << 28
"""Bytes of shared memory for the outcomes that wait, where Ray is started here."""


def run_ray(
    function: Callable[[Work], Outcome], shards: Iterable[Work], workers: int, address: str | None = None
) -> Iterator[Outcome]:
    """Yield the function's outcome for each shard, in order, computed by the workers of a Ray cluster.

    Without an address, Ray is started on this machine with `workers` processors, and ended with the run.
    Shards are taken as they are needed. An exception of the function stops the run and is raised here. The
    task of a worker that died runs again; after `RETRIES` deaths `WorkerDiedError` is raised. The module of
    the function must be installed wherever it runs.
    """
    try:
        import ray
    except ImportError:
        raise MissingExtraError(
            f"--engine ray needs Ray, which is not installed: {install_line('ray')}"
        ) from None
    with _connected(ray, workers, address) as processors:
        task = ray.remote(num_cpus=1, max_retries=RETRIES)(function)
        rest, waiting = enumerate(shards), deque[tuple[int, Any]]()
        try:
            while True:
                for position, shard in islice(rest, AHEAD * processors - len(waiting)):
                    waiting.append((position, task.remote(shard)))
                if not waiting:
                    return
                yield _outcome(ray, *waiting.popleft())
        finally:
            for _, reference in waiting:
                ray.cancel(reference, force=True)


@contextmanager
def _connected(ray: Any, workers: int, address: str | None) -> Iterator[int]:
    """Yield the number of processors of a cluster that the program is connected to meanwhile."""
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # Ray would report its use to its makers
    quiet = {"logging_level": "error", "log_to_driver": False}
    local = {"num_cpus": workers, "include_dashboard": False, "object_store_memory": _STORE}
    is_ours = not ray.is_initialized()
    if address:
        _check_address(address)
    if is_ours and address:
        _start(ray, f"ray={address}", {"address": address, **quiet}, 1)
    elif is_ours:
        _start(ray, "ray", {"address": "local", **quiet, **local}, _ATTEMPTS)
    try:
        yield max(1, int(ray.cluster_resources().get("CPU", workers)))
    finally:
        if is_ours:
            ray.shutdown()


def _check_address(address: str) -> None:
    """Raise `ProblemsError` where nothing listens at HOST:PORT: Ray itself tries for minutes."""
    import socket

    host, _, port = address.rpartition("/")[2].rpartition(":")
    if not host or not port.isdecimal():
        return
    try:
        socket.create_connection((host.strip("[]"), int(port)), _ANSWERS_S).close()
    except (OSError, OverflowError) as error:
        raise _unreachable(f"ray={address}", error) from None


def _unreachable(named: str, error: Exception) -> ProblemsError:
    what = f"cannot be reached ({' '.join(str(error).split())[:200]})"
    return problem(named, what, "give the address of a running cluster, or use --engine local", "ray")


def _start(ray: Any, named: str, settings: dict[str, Any], attempts: int) -> None:
    for attempt in range(attempts):
        try:
            ray.init(**settings)
            return
        except Exception as error:  # Ray raises many kinds, and a bare one where a start takes over 30 s
            ray.shutdown()
            if attempt == attempts - 1:
                raise _unreachable(named, error) from None


def _outcome(ray: Any, position: int, reference: Any) -> Any:
    try:
        return ray.get(reference)
    except ray.exceptions.RayTaskError as error:
        raise error.cause from None
    except (
        ray.exceptions.LocalRayletDiedError,
        ray.exceptions.WorkerCrashedError,
        ray.exceptions.OutOfMemoryError,
        ray.exceptions.NodeDiedError,
    ) as error:
        raise WorkerDiedError(
            f"shard {position + 1}: its Ray worker died {RETRIES + 1} times, usually for lack of memory; "
            "use a smaller --batch"
        ) from error
