"""The command `fieldassay`: its subcommands, and the exit codes of all errors."""

from __future__ import annotations

import importlib
import os
import signal
import sys
from collections.abc import Sequence
from typing import ClassVar

import click

from fieldassay import __version__
from fieldassay.cli.grouping import GroupedCommands
from fieldassay.cli.output import complain
from fieldassay.errors import FieldassayError

GROUPS: dict[str, dict[str, str]] = {
    "Start": {
        "demo": "fieldassay.cli.demo:demo",
        "init": "fieldassay.cli.init:init",
        "validate": "fieldassay.cli.validate:validate",
        "protocols": "fieldassay.cli.protocols:protocols",
    },
    "Extract": {
        "run": "fieldassay.cli.run:run",
        "extract": "fieldassay.cli.extract:extract",
        "corpus": "fieldassay.cli.corpus:corpus",
    },
    "Score and look closer": {
        "score": "fieldassay.cli.score:score",
        "explain": "fieldassay.cli.explain:explain",
        "attribute": "fieldassay.cli.attribute:attribute",
        "report": "fieldassay.cli.report:report",
        "export": "fieldassay.cli.export:export",
        "calibrate": "fieldassay.cli.calibrate:calibrate",
    },
    "Compare and decide": {
        "diff": "fieldassay.cli.diff:diff",
        "gate": "fieldassay.cli.gate:gate",
        "baseline": "fieldassay.cli.baseline:baseline",
        "lock": "fieldassay.cli.lock:lock",
    },
    "Review": {
        "review": "fieldassay.cli.review:review",
        "agreement": "fieldassay.cli.agreement:agreement",
    },
    "Runs and installation": {
        "runs": "fieldassay.cli.runs:runs",
        "redact": "fieldassay.cli.redact:redact",
        "doctor": "fieldassay.cli.doctor:doctor",
    },
}
"""The module of each command, by its group in `--help`; imported on demand."""

COMMANDS = {name: place for group in GROUPS.values() for name, place in group.items()}

INTERNAL, INTERRUPTED = 70, 130


class Commands(GroupedCommands):
    """The commands, each imported on its first use."""

    groups: ClassVar = {title: tuple(group) for title, group in GROUPS.items()}

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        module, _, name = COMMANDS.get(cmd_name, "").partition(":")
        if not module:
            return None
        command: click.Command = getattr(importlib.import_module(module), name)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        from fieldassay.errors import nearest

        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            ctx.fail(f"no command {args[0]!r}; {nearest(args[0], COMMANDS)}")
        return super().resolve_command(ctx, args)


@click.command(
    cls=Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100}
)
@click.version_option(__version__, prog_name="fieldassay")
def commands() -> None:
    """Measure structured data extraction: field by field, why a value is wrong, and how sure the numbers are.

    Exit codes: 0 ok, 1 a gate failed, 2 usage or input error, 3 run incomplete, 4 a gate cannot be decided, 5
    nothing was evaluated, 70 internal error, 130 interrupted.
    """


def _terminate(number: int, frame: object) -> None:  # noqa: ARG001
    """End the run as an interrupt does, so that nothing half-written stays behind."""
    raise KeyboardInterrupt


def main(arguments: Sequence[str] | None = None) -> int:
    """Return the exit code of one run of the command line; no user error leaves a traceback."""
    signal.signal(signal.SIGTERM, _terminate)
    try:
        found = commands.main(
            args=None if arguments is None else list(arguments), prog_name="fieldassay", standalone_mode=False
        )
        return found if isinstance(found, int) else 0
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
        complain("not enough memory; use a smaller --batch, fewer --workers or a smaller --bootstrap")
        return 3
    except Exception as error:
        if os.environ.get("FIELDASSAY_DEBUG"):
            raise
        complain(
            f"internal error: {type(error).__name__}: {error}"[:500]
            + "; run with FIELDASSAY_DEBUG=1 for the traceback"
        )
        return INTERNAL


if __name__ == "__main__":
    sys.exit(main())
