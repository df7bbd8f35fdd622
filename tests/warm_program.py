"""The programs `fieldassay`, `pytest` and `python -c`, with everything imported once and forked for each command.

A page with twenty commands starts once. A command ends when whoever started it is killed.
"""

import array
import atexit
import gc
import importlib
import os
import pkgutil
import selectors
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

_STUB = """#!{python} -SE
import _socket, os, sys
line = _socket.socket(_socket.AF_UNIX)
line.connect({address!r})
told = [os.getcwd(), {name!r}, *sys.argv[1:]]
told = [str(len(told)), *told, *(f"{{key}}={{value}}" for key, value in os.environ.items())]
told = os.fsencode("\\0".join(told))
streams = b"".join(number.to_bytes(4, sys.byteorder) for number in (0, 1, 2))
line.sendmsg([len(told).to_bytes(8, "big")], [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, streams)])
line.sendall(told)
code = line.recv(1)
os._exit(code[0] if code else 70)
"""
"""A command tells its folder, arguments (and how many these are) and environment, and imports next to nothing."""


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
        gc.collect()
        gc.freeze()  # a page that no search for garbage writes to is shared with every command
        print("ready", flush=True)
        watched = selectors.DefaultSelector()
        watched.register(sys.stdin, selectors.EVENT_READ)  # closed by whoever started this, or when it dies
        watched.register(door, selectors.EVENT_READ)
        while True:
            for key, _ in watched.select():
                if key.fileobj is door:
                    _start(door, watched)
                elif key.data is None:
                    return
                else:
                    _settle(key.data, key.fileobj, watched)


def warm() -> None:
    """Import what a command or a test may need."""
    package = importlib.import_module("fieldassay")
    for found in pkgutil.walk_packages(package.__path__, "fieldassay."):
        if not any(part in found.name for part in ("pytest", "transformers", "integrations.")):
            importlib.import_module(found.name)
    for name in _LATE:
        importlib.import_module(name)
    importlib.import_module("fieldassay.values.types.dates.dates").DateReader().read("1 March 2025")
    assert threading.active_count() == 1


class _Command(NamedTuple):
    """A running command: its process, and the line to whoever started it."""

    process: int
    line: socket.socket
    end: int
    """The descriptor of the process, readable when it has ended."""


def _start(door: socket.socket, watched: selectors.BaseSelector) -> None:
    """Run one command in a child of this process."""
    line, _ = door.accept()
    streams = array.array("i")
    head, rights, *_ = line.recvmsg(8, socket.CMSG_SPACE(3 * streams.itemsize))
    streams.frombytes(rights[0][2])
    size, told = int.from_bytes(head, "big"), bytearray()
    while len(told) < size:
        told += line.recv(size - len(told))
    process = os.fork()
    if process == 0:
        count, folder, *rest = os.fsdecode(bytes(told)).split("\0")
        arguments, variables = rest[: int(count) - 1], rest[int(count) - 1 :]
        _run(arguments, dict(one.split("=", 1) for one in variables), folder, streams)
    for stream in streams:
        os.close(stream)
    command = _Command(process, line, os.pidfd_open(process))
    watched.register(line, selectors.EVENT_READ, command)
    watched.register(command.end, selectors.EVENT_READ, command)


def _settle(command: _Command, source: object, watched: selectors.BaseSelector) -> None:
    """Send the exit code of a command that has ended; kill one whose line is closed."""
    if source is command.line:
        watched.unregister(command.line)
        os.kill(command.process, signal.SIGKILL)
        return
    watched.unregister(command.end)
    if command.line in watched.get_map():
        watched.unregister(command.line)
    os.close(command.end)
    code = os.waitstatus_to_exitcode(os.waitpid(command.process, 0)[1])
    with suppress(OSError):
        command.line.sendall(bytes([code if code >= 0 else 128 - code]))
    command.line.close()


def _run(arguments: list[str], environment: dict[str, str], folder: str, streams: "array.array[int]") -> None:
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
