"""Writes docs/cli.md from the commands' own help; `make docs` calls it, and a test compares."""

from __future__ import annotations

from pathlib import Path

import click

from fieldassay.commands.cli.grouping import HELP_ALL
from fieldassay.commands.cli.main import COMMANDS, commands

WIDTH = 100
HEAD = """# Command line

This page is made from `fieldassay --help` by `docs/generate.py`. How to use the commands:

- [Write a spec](write-a-spec.md): `init`, `score --check`
- [Start](start.md): `score`, `demo`
- [Why is it wrong?](why-wrong.md): `explain`, `attribute`
- [Is B better than A?](compare.md): `diff`, `run`, `runs`
- [Fail the build](fail-the-build.md): `gate`, `baseline`
- [Extract](extract.md): `extract`
- [Make gold](review.md): `review`
- [Straight-through processing](straight-through.md): `calibrate`
- [Reports](reports.md): `report`

## Exit codes

| code | meaning |
|---:|---|
| 0 | ok |
| 1 | a gate or a threshold failed, or a check of `score --check` |
| 2 | the command, the spec or the data cannot be used as they are; every problem is named |
| 3 | the run is incomplete |
| 4 | a gate is inconclusive (`gate`, and `score --strict`), or no gate is about any document (`score`) |
| 5 | nothing was evaluated |
| 70 | an internal error; `FIELDASSAY_DEBUG=1` shows the traceback |
| 130 | interrupted |

Results go to standard output, everything else to standard error. `NO_COLOR=1` turns colors off.
`COLUMNS` sets the width where there is no terminal.
"""


def render_reference() -> str:
    """Return the page: the help of the program and of every command."""
    parent = click.Context(
        commands, info_name="fieldassay", terminal_width=WIDTH, help_option_names=["-h", "--help"]
    )
    parts = [HEAD, f"## fieldassay\n\n```text\n{commands.get_help(parent)}\n```\n"]
    for name in COMMANDS:
        command = commands.get_command(parent, name)
        assert command is not None
        parts += _helps(command, name, parent, "##")
    return "\n".join(parts)


def _helps(command: click.Command, name: str, parent: click.Context, level: str) -> list[str]:
    """Return the help of a command, and of those below it."""
    context = click.Context(command, info_name=name, parent=parent, terminal_width=WIDTH)
    context.meta[HELP_ALL] = True
    lines = "\n".join(line.rstrip() for line in command.get_help(context).split("\n"))
    parts = [f"{level} {context.command_path}\n\n```text\n{lines}\n```\n"]
    below = command.commands if isinstance(command, click.Group) else {}
    return parts + [text for inner, one in below.items() for text in _helps(one, inner, context, f"{level}#")]


if __name__ == "__main__":
    (Path(__file__).parent / "cli.md").write_text(render_reference(), encoding="utf-8")
