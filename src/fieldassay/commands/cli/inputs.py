"""The options for inputs, the same for every command with inputs."""

from __future__ import annotations

import re
import signal
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import click

from fieldassay.commands.cli.grouping import add_options, option
from fieldassay.regex import lazy_regex

if TYPE_CHECKING:
    from fieldassay.scoring.inputs.options import InputOptions

Command = TypeVar("Command", bound=Callable[..., Any])

_SIZE = lazy_regex(r"([0-9]{1,15}) ?([KMGT]?)(?:i?B)?", re.IGNORECASE)


class _Size(click.ParamType[int]):
    """A number of bytes, such as 8GB."""

    name = "size"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        found = _SIZE.fullmatch(str(value))
        if found is None:
            self.fail(f"{value!r} is not a size; write one such as 8GB.", param, ctx)
        powers: dict[str, int] = {"": 0, "K": 1, "M": 2, "G": 3, "T": 4}
        return int(found[1]) * (1 << 10 * powers[found[2].upper()])


_SPEC = (
    option(
        "-s",
        "--spec",
        group="Inputs",
        metavar="FILE",
        help="How each field is judged: YAML, JSON, a JSON Schema, or module:Model.",
    ),
    option(
        "--protocol",
        group="Inputs",
        metavar="NAME",
        help="A published protocol in place of a spec.",
    ),
)
_READING = (
    option(
        "--id-key",
        "id_keys",
        group="Inputs",
        is_rare=True,
        metavar="KEY",
        multiple=True,
        help=(
            "The key of the id; repeat for several names, the first that a row has counts. Default: the "
            "spec's."
        ),
    ),
    option(
        "--wrap",
        group="Inputs",
        is_rare=True,
        metavar="KEY",
        help="Put an answer that is a list under this key. Default: such an answer is invalid.",
    ),
    option(
        "--group",
        group="Inputs",
        is_rare=True,
        is_flag=True,
        help="Take the rows of a table that have one id as the items of one record.",
    ),
    option(
        "--encoding",
        group="Inputs",
        is_rare=True,
        metavar="NAME",
        help="The encoding of files that are not in Unicode, such as cp1252. Default: found out.",
    ),
    option(
        "--max-unpacked",
        "unpacked",
        group="Inputs",
        is_rare=True,
        metavar="SIZE",
        type=_Size(),
        help="The limit of an unpacked file, such as 8GB.  [default: 2GB, or 100 times the packed size]",
    ),
)
"""How records are read from their files."""

_GOLD = (
    option(
        "-g",
        "--gold",
        group="Inputs",
        metavar="PATH",
        help="The right values: a file, a folder of JSON, or -.",
    ),
    option(
        "--gold-key",
        group="Inputs",
        is_rare=True,
        metavar="KEY",
        help="Where in a gold row the record is, as a key or a dotted path. Default: the row is the record.",
    ),
)
_DATA = (
    *_GOLD,
    option(
        "-p",
        "--pred",
        "preds",
        group="Inputs",
        metavar="[NAME=]PATH",
        multiple=True,
        help="A system's predictions; repeat for more. PATH,PATH are repeated runs of one system.",
    ),
    option(
        "--pred-key",
        group="Inputs",
        is_rare=True,
        metavar="KEY",
        help="Where in a row of predictions the record is.",
    ),
    option(
        "--systems-key",
        group="Inputs",
        is_rare=True,
        metavar="KEY",
        help="An object in each row of --pred with one answer per system, under the system's name.",
    ),
    option(
        "--where",
        group="Inputs",
        is_rare=True,
        metavar="KEY=VALUE",
        multiple=True,
        help=(
            "Take the documents with this value in gold only, by a key of --slice; repeat for more: "
            "another value of a key is or, another key and."
        ),
    ),
    option(
        "--match-ids",
        group="Inputs",
        is_rare=True,
        metavar="FORM",
        help=(
            "Compare ids as they are (exact), without folders (name), without folders and endings such as "
            ".pdf.json (stem), as numbers (number: 00123 is 123.0), or by a pattern such as "
            "'{id}_*.pdf={id}_expected'.  [default: exact, or by parts of names where none is the same]"
        ),
    ),
    option(
        "--names",
        "key_names",
        group="Inputs",
        is_rare=True,
        type=click.Choice(["exact", "loose"]),
        help="Take keys as they are, or whatever their case and separators.  [default: exact]",
    ),
)


bootstrap_option = option(
    "--bootstrap",
    group="Statistics",
    is_rare=True,
    metavar="N",
    type=click.IntRange(0),
    default=2000,
    show_default=True,
    help="Bootstrap replicates; 0: no intervals.",
)
"""`--bootstrap` of the commands that score."""


def spec_options(command: Command) -> Command:
    """Add `--spec` and `--protocol` to a command."""
    return add_options(command, _SPEC)


def data_options(command: Command) -> Command:
    """Add the options of gold and predictions to a command."""
    return add_options(command, (*_DATA, *_READING))


def gold_options(command: Command) -> Command:
    """Add the options of gold to a command that makes its predictions itself."""
    return add_options(command, (*_GOLD, *_READING))


def read_gold_options(given: Mapping[str, Any]) -> InputOptions:
    """Return how records are read, by the options of a command."""
    from fieldassay.scoring.inputs.options import InputOptions

    return InputOptions(**{name: given[option] for name, option in OPTION_OF.items() if given.get(option)})


def reading_options(command: Command) -> Command:
    """Add the options for reading records from their files."""
    return add_options(command, _READING)


OPTION_OF: Mapping[str, str] = {
    **{name: name for name in (
        "gold_key", "pred_key", "systems_key", "wrap", "match_ids", "encoding", "unpacked", "group",
        "where",
    )},
    "id_names": "id_keys",
    "names": "key_names",
}  # fmt: skip
"""The option of the command line for each of `InputOptions`."""


class Inputs(NamedTuple):
    """The inputs by the options: gold (None: not given), predictions by system, and how to read them."""

    gold: str | None
    predictions: Mapping[str, str | tuple[str, ...]]
    options: InputOptions


def read_inputs(given: Mapping[str, Any], *, needs_data: bool = True) -> Inputs:
    """Return the inputs by the options of a command; raise UsageError for invalid combinations."""
    if needs_data and given["gold"] is None:
        raise click.UsageError("Missing option '--gold'.")
    if needs_data and not given["preds"]:
        raise click.UsageError("Missing option '--pred'.")
    predictions = name_predictions(given["preds"])
    paths = [path for one in predictions.values() for path in ((one,) if isinstance(one, str) else one)]
    if [given["gold"], *paths].count("-") > 1:
        raise click.UsageError("Only one of --gold and --pred can be standard input (-).")
    if not all(Path(path).is_file() or Path(path).is_dir() for path in (given["gold"] or "-", *paths)):
        keep_interruptible()
    return Inputs(given["gold"], predictions, read_gold_options(given))


def keep_interruptible() -> None:
    """Let Ctrl-C end a wait for standard input or a pipe, which polars, once imported, would continue."""
    import polars  # noqa: F401

    if hasattr(signal, "siginterrupt"):
        signal.siginterrupt(signal.SIGINT, True)


def name_predictions(texts: Sequence[str]) -> dict[str, str | tuple[str, ...]]:
    """Return the paths of predictions by system, from `NAME=PATH` or `PATH`; an existing file is a path.

    A system has several paths, separated by commas, where there are repeated runs of it.

    >>> name_predictions(["new=out/llama.jsonl", "out/qwen.jsonl.gz"])
    {'new': 'out/llama.jsonl', 'qwen': 'out/qwen.jsonl.gz'}
    >>> name_predictions(["new=1.jsonl,2.jsonl", "new=3.jsonl"])
    {'new': ('1.jsonl', '2.jsonl', '3.jsonl')}
    """
    found: dict[str, str | tuple[str, ...]] = {}
    for text in texts:
        name, equals, path = text.partition("=")
        is_named = bool(equals and name.strip()) and not Path(text).exists()
        paths = _split_paths(path if is_named else text)
        if not is_named:
            from fieldassay.scoring.inputs.open_inputs import system_name

            name = system_name(paths[0])
        if not all(paths):
            raise click.UsageError(f"--pred {text}: the path is empty.")
        name = name.strip()
        known = found.get(name, ())
        if known and not is_named:
            raise click.UsageError(
                f"--pred: two systems are called {name!r}; name them apart: --pred NAME=PATH, or give the "
                f"repeated runs of one system one name: --pred {name}=PATH,PATH."
            )
        whole = (*((known,) if isinstance(known, str) else known), *paths)
        if len(set(whole)) < len(whole):
            raise click.UsageError(f"--pred {text}: a file is given twice; name each run of {name!r} once.")
        found[name] = whole[0] if len(whole) == 1 else whole
    return found


def _split_paths(text: str) -> tuple[str, ...]:
    """Return the paths in a text that separates them by commas; a text that is a path itself is that one."""
    if "," not in text or Path(text).exists():
        return (text,)
    return tuple(part.strip() for part in text.split(","))


def read_spec_option(given: Mapping[str, Any]) -> Any:
    """Return the source of the spec of `--spec` or `--protocol`; raise UsageError unless one is given."""
    spec, protocol = given["spec"], given["protocol"]
    if (spec is None) == (protocol is None):
        raise click.UsageError(
            "Give either --spec FILE or --protocol NAME."
            if spec is None
            else "Give --spec or --protocol, not both."
        )
    if protocol is not None:
        return _protocol(protocol)
    from fieldassay.spec.language.source import named_source

    return named_source(spec, Path.cwd())


def _protocol(name: str) -> dict[str, Any]:
    from fieldassay.spec.presets.catalogue import preset_text

    preset_text(name, "--protocol")
    return {"fieldassay": 1, "name": name, "protocol": name}
