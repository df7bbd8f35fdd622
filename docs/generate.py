"""Writes docs/cli.md from the commands' own help; `make docs` calls it, and a test compares."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import click

from fieldassay.commands.cli.grouping import HELP_ALL
from fieldassay.commands.cli.main import COMMANDS, commands

WIDTH = 100
Record = tuple[str, str]
MANY = 2
"""Options that so many commands have, with the same words, stand at the top of the page."""

HEAD = """# Commands

This page is made from the program's `--help`. `score --help` shows the usual options, `--help-all` all
of them. [Exit codes](errors.md#exit-codes) are the same for all commands.

Results go to standard output, everything else to standard error. `NO_COLOR=1` turns colors off.
`COLUMNS` sets the width where there is no terminal.
"""


def render_reference() -> str:
    """Return the page: the help of the program and of every command, options of many commands once."""
    parent = click.Context(commands, info_name="fieldassay", terminal_width=WIDTH)
    helps = [
        found
        for name in COMMANDS
        if (command := commands.get_command(parent, name)) is not None
        for found in _helps(command, name, parent)
    ]
    counts = Counter(record for _, records in helps for record in records)
    shared = [record for record, count in counts.items() if count >= MANY]
    parts = [HEAD, "## Options of many commands\n"]
    parts.append(f"```text\n{_write(parent, shared)}\n```\n")
    for context, records in helps:
        own = [record for record in records if record not in shared]
        body = "\n\n".join([_usage(context), *([_write(context, own)] if own else [])])
        parts.append(f"## {context.command_path}\n\n```text\n{body}\n```\n")
        also = [f"`{record[0].rsplit(', ', 1)[-1].split(' ')[0]}`" for record in records if record in shared]
        parts += [f"Also {', '.join(also)}.\n"] if also else []
    return "\n".join(parts)


def _helps(
    command: click.Command, name: str, parent: click.Context
) -> Iterator[tuple[click.Context, list[Record]]]:
    """Yield a command and those below it, each with its options and their help."""
    context = click.Context(command, info_name=name, parent=parent, terminal_width=WIDTH)
    context.meta[HELP_ALL] = True
    records = [one.get_help_record(context) for one in command.params if isinstance(one, click.Option)]
    yield context, [record for record in records if record]
    for inner, one in (command.commands if isinstance(command, click.Group) else {}).items():
        yield from _helps(one, inner, context)


def _usage(context: click.Context) -> str:
    """Return the usage and the text of a command."""
    formatter = context.make_formatter()
    arguments = [
        one.make_metavar(context) for one in context.command.params if isinstance(one, click.Argument)
    ]
    formatter.write(" ".join([context.command_path, *arguments]) + "\n" if arguments else "")
    context.command.format_help_text(context, formatter)
    return _trim(formatter)


def _write(context: click.Context, records: list[Record]) -> str:
    formatter = context.make_formatter()
    formatter.write_dl(records)
    return _trim(formatter)


def _trim(formatter: click.HelpFormatter) -> str:
    return "\n".join(line.rstrip() for line in formatter.getvalue().strip("\n").split("\n"))


if __name__ == "__main__":
    (Path(__file__).parent / "cli.md").write_text(render_reference(), encoding="utf-8")
