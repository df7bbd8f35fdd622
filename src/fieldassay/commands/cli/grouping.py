"""Options and commands in groups, as `--help` shows them; click itself has no groups.

A command shows groups if it is declared with `cls=GroupedCommand`; the group of an option is named where the
option is declared.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, Literal, TypeVar

import click

Command = TypeVar("Command", bound=Callable[..., Any])
OptionGroup = Literal["Inputs", "Judging", "Output", "Statistics", "Gates and baselines", "Work", "Options"]
ORDER: tuple[OptionGroup, ...] = (
    "Inputs",
    "Judging",
    "Output",
    "Statistics",
    "Gates and baselines",
    "Work",
    "Options",
)
"""The groups in the order of `--help`; the last one holds the options outside all others."""


class FiniteRange(click.FloatRange):
    """A range of numbers that NaN and the infinities are not in."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Return the number. Raises `click.BadParameter`."""
        number: float = super().convert(value, param, ctx)
        if not math.isfinite(number):
            self.fail(f"{value} is no finite number.", param, ctx)
        return number


SHARE = FiniteRange(0, 1, min_open=True, max_open=True)
"""A share strictly between none and all."""
POSITIVE = FiniteRange(0, min_open=True)


class _Option(click.Option):
    """An option with its group."""

    def __init__(self, names: Sequence[str], group: OptionGroup, **attributes: Any) -> None:
        super().__init__(names, **attributes)
        self.group = group


def option(*names: str, group: OptionGroup, **attributes: Any) -> Callable[[Command], Command]:
    """Return the decorator that adds an option of a group to a command, otherwise as `click.option`."""
    return click.option(*names, cls=_Option, group=group, **attributes)


def add_options(command: Command, options: Sequence[Callable[[Command], Command]]) -> Command:
    """Return the command with the options, in their order."""
    for one in reversed(options):
        command = one(command)
    return command


json_option = click.option("-j", "--json", "is_json", is_flag=True, help="Print JSON.")
"""`--json` of commands with no other format than their text."""


class GroupedCommand(click.Command):
    """A command with its options listed by group in `--help`."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options under the titles of their groups."""
        sections: dict[OptionGroup, list[tuple[str, str]]] = {title: [] for title in ORDER}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx) if isinstance(parameter, click.Option) else None
            if record is not None:
                sections[parameter.group if isinstance(parameter, _Option) else "Options"].append(record)
        for title, records in sections.items():
            if records:
                with formatter.section(title):
                    formatter.write_dl(records)


_ANY_LENGTH = 1000


class GroupedCommands(click.Group):
    """Commands that are listed by group, each with its whole first sentence."""

    groups: ClassVar[Mapping[str, Sequence[str]]] = {}
    """The names of the commands by group; without groups all are listed together."""

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands under the titles of their groups."""
        groups = self.groups or {"Commands": self.list_commands(ctx)}
        for title, names in groups.items():
            with formatter.section(title):
                formatter.write_dl([(name, self.summary_of(ctx, name)) for name in names])

    def summary_of(self, ctx: click.Context, name: str) -> str:
        """Return the first sentence of the help of a command."""
        command = self.get_command(ctx, name)
        return "" if command is None else command.get_short_help_str(_ANY_LENGTH)
