"""The programs `fieldassay`, `pytest` and `python -c`, with everything imported once and forked for each command.

A page with twenty commands starts once. A command ends when whoever started it is killed.
"""

from __future__ import annotations

import array
import atexit
import importlib
import json
import os
import pkgutil
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

_STUB = """#!{python} -SE
import array, json, os, socket, sys
with socket.socket(socket.AF_UNIX) as line:
    line.connect({address!r})
    told = json.dumps([[{name!r}, *sys.argv[1:]], dict(os.environ), os.getcwd()]).encode()
    streams = array.array("i", [0, 1, 2])
    line.sendmsg([len(told).to_bytes(8, "big")], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, streams)])
    line.sendall(told)
    code = line.recv(1)
sys.exit(code[0] if code else 70)
"""


def run_code() -> int:
    """Run `python -c CODE ARGUMENTS`; a program in a file runs in a process of its own."""
    if sys.argv[1] != "-c":
        return subprocess.run([sys.executable, *sys.argv[1:]], check=False).returncode
    _, _, code, *arguments = sys.argv
    sys.argv = ["-c", *arguments]
    exec(code, {"__name__": "__main__"})
    return 0


_ENTRIES = {
    "fieldassay": "fieldassay.commands.cli.main:run_program",
    "pytest": "pytest:main",
    "python": "warm_program:run_code",
}

_LATE = (
    "babel.units", "charset_normalizer", "jinja2", "numpy.ma", "numpy.random", "phonenumbers",
    "pydantic.dataclasses", "pytest", "rich.console",
    "rich.table", "rich.text", "ruamel.yaml", "scipy.optimize", "scipy.sparse", "scipy.special", "stdnum.au",
)  # fmt: skip
"""Modules that commands import when they need them."""


@contextmanager
def warm_program(folder: Path) -> Iterator[Path]:
    """Make the programs runnable from the folder while the context lasts; yields the folder."""
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(sys.path),
        "LC_ALL": "C.UTF-8",
        "PYTHONUTF8": "1",
    }
    server = subprocess.Popen(
        [sys.executable, __file__, str(folder)],
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    try:
        assert server.stdout is not None
        assert server.stdout.readline() == b"ready\n"
        yield folder
    finally:
        server.communicate()


def _serve(folder: Path) -> None:
    address = str(folder / "line")
    with socket.socket(socket.AF_UNIX) as door:
        door.bind(address)
        door.listen(16)
        for name in _ENTRIES:
            stub = folder / name
            stub.write_text(_STUB.format(python=sys.executable, address=address, name=name), encoding="utf-8")
            stub.chmod(0o755)
        warm()
        print("ready", flush=True)
        parent = os.fork()
        if parent:
            sys.stdin.read()  # ends when whoever started this closes it, or dies
            os.kill(parent, 9)
            os.waitpid(parent, 0)
            return
        signal.signal(signal.SIGCHLD, _reap)
        while True:
            line, _ = door.accept()
            if os.fork() == 0:
                _answer(line)
            line.close()


def _reap(*_: object) -> None:
    """Wait for those who answered, so that what they took counts as this process's children's."""
    with suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


def warm() -> None:
    """Import what a command or a test may need."""
    package = importlib.import_module("fieldassay")
    for found in pkgutil.walk_packages(package.__path__, "fieldassay."):
        if "pytest" not in found.name and "transformers" not in found.name:
            importlib.import_module(found.name)
    for name in _LATE:
        importlib.import_module(name)
    importlib.import_module("fieldassay.values.types.dates.dates").DateReader().read("1 March 2025")
    assert threading.active_count() == 1


def _answer(line: socket.socket) -> None:
    """Run one command in a child of this process, and send its exit code."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    streams = array.array("i")
    head, rights, *_ = line.recvmsg(8, socket.CMSG_SPACE(3 * streams.itemsize))
    streams.frombytes(rights[0][2])
    size, told = int.from_bytes(head, "big"), bytearray()
    while len(told) < size:
        told += line.recv(size - len(told))
    child = os.fork()
    if child == 0:
        arguments, environment, folder = json.loads(told)
        _run(arguments, environment, folder, streams)
    ended = threading.Event()
    threading.Thread(target=_end_with, args=(line, child, ended), daemon=True).start()
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    ended.set()
    line.sendall(bytes([code if code >= 0 else 128 - code]))
    os._exit(0)


def _end_with(line: socket.socket, child: int, ended: threading.Event) -> None:
    """Kill a command when the line to whoever started it is closed."""
    if not line.recv(1) and not ended.is_set():
        os.kill(child, signal.SIGKILL)


def _run(arguments: list[str], environment: dict[str, str], folder: str, streams: array.array[int]) -> None:
    for target, stream in enumerate(streams):
        os.dup2(stream, target)
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(folder)
    sys.argv = arguments
    module, _, function = _ENTRIES[arguments[0]].partition(":")
    code = 70
    try:
        code = int(getattr(importlib.import_module(module), function)())
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else 1
    finally:
        atexit._run_exitfuncs()
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


if __name__ == "__main__":
    _serve(Path(sys.argv[1]))
