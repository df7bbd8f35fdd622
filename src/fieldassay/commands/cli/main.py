"""The command `fieldassay`: its subcommands, and the exit codes of all errors."""

import _thread
import gc
import importlib
import os
import signal
import sys
import threading
import time
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar

import click

from fieldassay.commands.cli.grouping import GroupedCommands
from fieldassay.commands.cli.output import complain, fill_streams
from fieldassay.errors import FieldassayError
from fieldassay.version import __version__

GROUPS: dict[str, dict[str, str]] = {
    "Start": {
        "demo": "Score the shipped sample: 72 documents, three systems.",
        "init": "Write a first spec from gold or from a schema.",
        "protocols": "List and show the published protocols.",
    },
    "Measure": {
        "score": "Score predictions against gold.",
        "explain": "Explain the judgement of a value, step by step.",
        "report": "Write a report of a run, or its data.",
    },
    "Decide": {
        "diff": "Compare two runs, or two systems of one run.",
        "gate": "Decide GO or NO-GO on finished runs.",
        "baseline": "Set and show what later runs are compared with.",
        "calibrate": "Certify which values need no review.",
    },
    "Extract": {
        "extract": "Make predictions from documents.",
        "run": "Extract with several systems, score and compare them.",
        "attribute": "Tell reading errors from model errors.",
    },
    "Review and keep": {
        "review": "Let people make gold and check systems.",
        "runs": "List and show runs.",
    },
}
"""The first sentence of each command, by its group in `--help`, which so imports none of them."""

_CHAPTERS = {
    **dict.fromkeys(("demo", "init", "protocols"), "begin"),
    **dict.fromkeys(("diff", "gate", "baseline", "calibrate"), "decide"),
    **dict.fromkeys(("explain", "attribute"), "why"),
    "run": "extract",
    "runs": "report",
}
COMMANDS = {
    name: f"fieldassay.commands.cli.{_CHAPTERS.get(name, name)}:{name}"
    for group in GROUPS.values()
    for name in group
}
"""The place of each command; it is imported on its first use."""

INTERNAL, INTERRUPTED = 70, 130
_NO_MEMORY = "not enough memory; use a smaller --batch, fewer --workers or a smaller --bootstrap"
_NEXT_TO_NOTHING = 64 * 2**20
LEAST_MEMORY = 600 * 10**6
"""Bytes of address space: with less, libraries abort or wait for ever while they load."""
NEW_OBJECTS = 100_000
"""New objects before the garbage collector looks for cycles: loading the code of a command makes many, and
none is garbage.
"""


class Commands(GroupedCommands):
    """The commands, each imported on its first use."""

    groups: ClassVar = {title: tuple(group) for title, group in GROUPS.items()}

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        return list(COMMANDS)

    def summary_of(self, ctx: click.Context, name: str) -> str:  # noqa: ARG002
        return next(group[name] for group in GROUPS.values() if name in group)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        module, _, name = COMMANDS.get(cmd_name, "").partition(":")
        if not module:
            return None
        command: click.Command = getattr(importlib.import_module(module), name)
        return command


@click.command(
    cls=Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100}
)
@click.version_option(__version__, prog_name="fieldassay")
def commands() -> None:
    """Measure how good structured data extraction is.

    Exit codes: 0 ok, 1 a gate failed, 2 wrong input, 3 incomplete, 4 undecided, 5 nothing evaluated.
    """


def _terminate(number: int, frame: object) -> None:  # noqa: ARG001
    """End the run as an interrupt does, so that nothing half-written stays behind."""
    raise KeyboardInterrupt


def _keep_interrupt(lost: "sys.UnraisableHookArgs") -> None:
    """Interrupt again where Python drops it: in `__del__`, and in callbacks of weak references.

    Every import runs such a callback, so that a Ctrl-C at the start of a command is lost now and then.
    """
    if issubclass(lost.exc_type, KeyboardInterrupt):
        _thread.start_new_thread(_interrupt_soon, ())  # `Thread` takes locks that may be held here
    else:
        sys.__unraisablehook__(lost)


def _interrupt_soon() -> None:
    time.sleep(0.05)
    if hasattr(signal, "pthread_kill"):  # this ends a wait for a lock, too
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGTERM)
    else:
        _thread.interrupt_main(signal.SIGTERM)


def main(arguments: Sequence[str] | None = None) -> int:
    """Return the exit code of one run of the command line; no user error leaves a traceback."""
    memory = _memory_left()
    if memory is not None and memory[0] < LEAST_MEMORY and not {"-h", "--help"} & {*(arguments or sys.argv)}:
        least, limit = LEAST_MEMORY // 10**6, memory[0] // 10**6
        complain(f"not enough memory: the limit is {limit:,} MB; raise it to {least:,} MB (ulimit -v)")
        return 3
    try:
        code = commands.main(
            args=None if arguments is None else list(arguments), prog_name="fieldassay", standalone_mode=False
        )
        return code if isinstance(code, int) else 0
    except click.ClickException as error:
        error.show()
        return 2
    except (click.Abort, KeyboardInterrupt):
        complain("interrupted")
        return INTERRUPTED
    except FieldassayError as error:
        complain(str(error))
        return error.exit_code
    except BrokenPipeError:
        return 0
    except OSError as error:
        complain(f"{error.filename or 'output'}: {error.strerror or error}")
        return 2
    except MemoryError:
        complain(_NO_MEMORY)
        return 3
    except Exception as error:
        memory = _memory_left()
        if memory is not None and memory[1] < _NEXT_TO_NOTHING:  # a library then raises anything
            complain(_NO_MEMORY)
            return 3
        if os.environ.get("FIELDASSAY_DEBUG"):
            raise
        complain(
            f"internal error: {type(error).__name__}: {error}"[:500]
            + "; run with FIELDASSAY_DEBUG=1 for the traceback"
        )
        return INTERNAL


def _memory_left() -> tuple[int, int] | None:
    """Return the limit of the address space in bytes, and what is left of it; None without a limit."""
    try:
        import resource

        limit = resource.getrlimit(resource.RLIMIT_AS)[0]
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
    except (ImportError, OSError, ValueError):
        return None
    return None if limit == resource.RLIM_INFINITY else (limit, limit - pages * resource.getpagesize())


def run_program() -> int:
    """Return the exit code of the command line, with streams, warnings, collector and signals of its own."""
    fill_streams()
    warnings.showwarning = lambda message, *_: complain(f"warning: {message}")
    gc.set_threshold(NEW_OBJECTS, *gc.get_threshold()[1:])
    signal.signal(signal.SIGTERM, _terminate)
    sys.unraisablehook = _keep_interrupt
    return main()


if __name__ == "__main__":
    sys.exit(run_program())
