"""Groups of commands and options, and short texts for parts of a spec."""

import pkgutil
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, Literal, TypeVar

import click

from fieldassay.errors import ProblemsError

SECTIONS: Mapping[str, str] = {
    **{f"--{key.replace('_', '-')}": f"data: {{{key}: {value}}}" for key, value in (
        ("gold_key", "KEY"), ("pred_key", "KEY"), ("systems_key", "KEY"), ("id_key", "KEY"), ("wrap", "KEY"),
        ("group", "true"), ("encoding", "NAME"), ("names", "loose"), ("match_ids", "FORM"),
        ("max_unpacked", "SIZE"),
    )},
    **{f"--{key}": f"statistics: {{{key}: {value}}}" for key, value in (
        ("level", "SHARE"), ("bootstrap", "N"), ("seed", "N"), ("correction", "holm"),
        ("compare", "[METRIC]"), ("reference", "NAME"), ("cluster", "KEY"),
    )},
}  # fmt: skip
"""By an option that `score` alone has: the line of the spec, which every command reads."""


# Short command line texts for parts of a spec.


def option_value(text: str) -> Any:
    """Return the value of a text in YAML; text that is not YAML is itself.

    >>> option_value("0.01"), option_value("[a, b]"), option_value("en_AU"), option_value("{relative: 0.1}")
    (0.01, ['a', 'b'], 'en_AU', {'relative': 0.1})
    """
    from fieldassay.spec.language.yaml_text import read_yaml

    try:
        data, _ = read_yaml(f"value: {text}", "option")
    except ProblemsError:
        return text
    return data["value"] if isinstance(data, dict) and set(data) == {"value"} else text


def split_calls(texts: Sequence[str]) -> tuple[str, ...]:
    """Return the metrics in texts that separate them by commas.

    >>> split_calls(["f1(granularity=slot, regime=filled), accuracy", "recall"])
    ('f1(granularity=slot, regime=filled)', 'accuracy', 'recall')
    """
    return tuple(part for text in texts for part in split_outside(text))


def split_outside(text: str, separator: str = ",") -> list[str]:
    """Return the parts of a text between separators outside brackets and quotes.

    >>> split_outside("f1(granularity=slot, regime=filled), accuracy")
    ['f1(granularity=slot, regime=filled)', 'accuracy']
    """
    parts, depth, start, quote = [], 0, 0, ""
    for position, char in enumerate(text):
        if quote:
            quote = "" if char == quote else quote
        elif char in "\"'":
            quote = char
        elif char in "([{":
            depth += 1
        elif char in ")]}":
            depth = max(0, depth - 1)
        elif char == separator and depth == 0:
            parts.append(text[start:position])
            start = position + 1
    return [part.strip() for part in (*parts, text[start:]) if part.strip()]


# Options and commands in groups, as `--help` shows them; click itself has no groups. A command shows groups
# if it is declared with `cls=GroupedCommand`; the group of an option is named where the option is declared.

Command = TypeVar("Command", bound=Callable[..., Any])
OptionGroup = Literal["Inputs", "Output", "Statistics", "Gates and baselines", "Work", "Options"]
ORDER: tuple[OptionGroup, ...] = (
    "Inputs",
    "Output",
    "Statistics",
    "Gates and baselines",
    "Work",
    "Options",
)
"""The groups in the order of `--help`; the last one holds the options outside all others."""


class _Option(click.Option):
    """An option with its group; a rare one stands in `--help-all` alone."""

    def __init__(
        self, names: Sequence[str], group: OptionGroup, *, is_rare: bool = False, **attributes: Any
    ) -> None:
        super().__init__(names, **attributes)
        self.group, self.is_rare = group, is_rare


def record_option(place: str, field: str, *names: str, **attributes: Any) -> Callable[[Command], Command]:
    """Return the decorator that adds the field of a record as an option to a command, as `option` does.

    The record says kind, range and names. It is named as `module:Class`, so that `--help` need not import it.
    Without a value the option is None, and the record's default holds.
    """
    flags = names or (f"--{field.replace('_', '-')}",)

    def read(value: Any) -> Any:
        from fieldassay.options import fit

        kind = pkgutil.resolve_name(place)
        try:
            fitting = fit(kind, field, value, flags[-1], is_text=True)
        except ProblemsError:
            fitting = fit(kind, field, option_value(str(value)), flags[-1])
        return value if isinstance(fitting, tuple) else fitting

    return option(*flags, field, type=read, default=None, **attributes)


def option(*names: str, group: OptionGroup, **attributes: Any) -> Callable[[Command], Command]:
    """Return the decorator that adds an option of a group to a command, otherwise as `click.option`."""
    return click.option(*names, cls=_Option, group=group, **attributes)


def add_options(command: Command, options: Sequence[Callable[[Command], Command]]) -> Command:
    """Return the command with the options, in their order."""
    for option in reversed(options):
        command = option(command)
    return command


json_option = click.option("--json", "is_json", is_flag=True, help="Print JSON.")
"""`--json` of commands with no other format than their text."""


class GroupedCommand(click.Command):
    """A command with its options listed by group in `--help`: the usual ones, and all in `--help-all`."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Return the arguments. Raises `click.UsageError` with the line of the spec for an option of its."""
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            line = SECTIONS.get(error.option_name)
            if line is None:
                raise
            what = f"no option {error.option_name}; write: {line}, in the spec"
            raise click.UsageError(what, ctx) from None

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """Return the parameters, with `--help-all` where an option is rare."""
        own = super().get_params(ctx)
        if not any(map(_is_rare, own)):
            return own
        names, text = ["--help-all"], "Show all options and exit."
        return [
            *own,
            click.Option(
                names, is_flag=True, expose_value=False, is_eager=True, callback=_help_all, help=text
            ),
        ]

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options under the titles of their groups; rare ones in `--help-all` alone."""
        sections: dict[OptionGroup, list[tuple[str, str]]] = {title: [] for title in ORDER}
        for parameter in self.get_params(ctx):
            if _is_rare(parameter) and not ctx.meta.get(HELP_ALL):
                continue
            record = parameter.get_help_record(ctx) if isinstance(parameter, click.Option) else None
            if record is not None:
                sections[parameter.group if isinstance(parameter, _Option) else "Options"].append(record)
        for title, records in sections.items():
            if records:
                with formatter.section(title):
                    formatter.write_dl(records)


_ANY_LENGTH = 1000
HELP_ALL = "fieldassay.help_all"


def _is_rare(parameter: click.Parameter) -> bool:
    return isinstance(parameter, _Option) and parameter.is_rare


def _help_all(ctx: click.Context, _: click.Parameter, is_asked: bool) -> None:
    if is_asked:
        ctx.meta[HELP_ALL] = True
        click.echo(ctx.get_help())
        ctx.exit()


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

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command. Raises `click.UsageError` with a near name."""
        names = self.list_commands(ctx)
        if args and args[0] not in names and not args[0].startswith("-"):
            from fieldassay.errors import nearest

            ctx.fail(f"no command {args[0]!r}; {nearest(args[0], names)}")
        return super().resolve_command(ctx, args)

    def summary_of(self, ctx: click.Context, name: str) -> str:
        """Return the first sentence of the help of a command."""
        command = self.get_command(ctx, name)
        return "" if command is None else command.get_short_help_str(_ANY_LENGTH)
