"""The options for inputs, the same for every command with inputs."""

from __future__ import annotations

import signal
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import click

from fieldassay.commands.cli.grouping import OptionGroup, add_options, option, record_option, split_calls

if TYPE_CHECKING:
    from fieldassay.spec.plan.nodes import Plan

Command = TypeVar("Command", bound=Callable[..., Any])

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
        help="A published protocol instead of a spec.",
    ),
)
gold_option = option(
    "-g",
    "--gold",
    group="Inputs",
    metavar="PATH",
    help="The right values: a file, a folder of JSON, or -.",
)
"""`--gold` of a command."""
_DATA = (
    gold_option,
    option(
        "-p",
        "--pred",
        "preds",
        group="Inputs",
        metavar="[NAME=]PATH",
        multiple=True,
        help="A system's predictions; repeat for more. PATH,PATH are repeated runs of one system.",
    ),
)
_READING: Mapping[str, tuple[str, str]] = {
    "gold_key": ("KEY", "The key or dotted path of the record in a row of gold."),
    "pred_key": ("KEY", "The same for predictions."),
    "systems_key": (
        "KEY",
        "The key, in each row of --pred, of an object with an answer per system.",
    ),
    "match_ids": (
        "FORM",
        "How ids are compared: exact, name (ignores folders), stem (and endings), number, or a pattern such "
        "as '{id}_*.pdf={id}_expected'.",
    ),
    "names": (
        "[exact|loose]",
        "loose: keys may differ in case and separators.",
    ),
    "id_key": ("KEY", "The key of the id; repeat for more."),
    "wrap": ("KEY", "Put an answer that is a list under this key."),
    "group": ("", "Rows with the same id are the items of one record."),
    "encoding": ("NAME", "Read files that are not Unicode in this encoding, such as cp1252."),
    "max_unpacked": ("SIZE", "How large a packed file may unpack, such as 8GB."),
}
_STATISTICS: Mapping[str, tuple[str, str]] = {
    "reference": ("NAME", "The system that others are compared with."),
    "compare": ("LIST", "Compare systems by these metrics."),
    "correction": (
        "[min_p|holm]",
        "How p values are adjusted.",
    ),
    "level": ("SHARE", "The confidence level of intervals."),
    "bootstrap": ("N", "Bootstrap replicates; 0: no intervals."),
    "seed": ("N", "The seed of all random draws."),
    "cluster": (
        "KEY",
        "What documents of one family share: a field of gold, a key next to it, or a part of the id, such as "
        "'{family}/*'.",
    ),
}


_LISTS = ("id_key", "compare")


def spec_options(command: Command) -> Command:
    """Add `--spec` and `--protocol` to a command."""
    return add_options(command, _SPEC)


def data_options(command: Command) -> Command:
    """Add the options of gold and predictions to a command."""
    return add_options(command, _DATA)


def section_options(command: Command) -> Command:
    """Add the options that a spec has in `data:` and `statistics:` to a command."""
    sections: tuple[tuple[OptionGroup, str, Mapping[str, tuple[str, str]]], ...] = (
        ("Inputs", "DataOptions", _READING),
        ("Statistics", "StatisticsOptions", _STATISTICS),
    )
    return add_options(
        command,
        [
            record_option(
                f"fieldassay.spec.language.model:{kind}",
                name,
                group=group,
                is_rare=True,
                help=text,
                **({"metavar": metavar, "multiple": name in _LISTS} if metavar else {"is_flag": True}),
            )
            for group, kind, texts in sections
            for name, (metavar, text) in texts.items()
        ],
    )


def read_section_options(params: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options of a command that stand in place of those of the spec."""
    named = {name: params[name] for name in (*_READING, *_STATISTICS) if params[name] not in (None, ())}
    return {**named, **({"compare": split_calls(named["compare"])} if "compare" in named else {})}


class Inputs(NamedTuple):
    """The inputs by the options: gold (None: not given), and predictions by system."""

    gold: str | None
    predictions: Mapping[str, str | tuple[str, ...]]


def with_paths(params: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options with the paths beside them: gold first, unless --gold names it, then predictions."""
    paths = list(params["paths"])
    gold = params["gold"] if params["gold"] is not None or not paths else paths.pop(0)
    return {**params, "gold": gold, "preds": (*params["preds"], *paths)}


def read_inputs(params: Mapping[str, Any], *, needs_data: bool = True) -> Inputs:
    """Return the inputs by the options of a command; raise UsageError for invalid combinations."""
    if needs_data and params["gold"] is None:
        raise click.UsageError("Give gold and predictions: GOLD PRED, or --gold and --pred.")
    if needs_data and not params["preds"]:
        raise click.UsageError("Give predictions: PRED after GOLD, or --pred.")
    predictions = name_predictions(params["preds"])
    paths = [
        path
        for prediction in predictions.values()
        for path in ((prediction,) if isinstance(prediction, str) else prediction)
    ]
    if [params["gold"], *paths].count("-") > 1:
        raise click.UsageError("Only one of --gold and --pred can be standard input (-).")
    if not all(Path(path).is_file() or Path(path).is_dir() for path in (params["gold"] or "-", *paths)):
        keep_interruptible()
    return Inputs(params["gold"], predictions)


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
    by_system: dict[str, str | tuple[str, ...]] = {}
    for text in texts:
        name, equals, path = text.partition("=")
        is_named = bool(equals and name.strip()) and not Path(text).exists()
        paths = _split_paths(path if is_named else text)
        if not is_named:
            from fieldassay.scoring.inputs import system_name

            name = system_name(paths[0])
        if not all(paths):
            raise click.UsageError(f"--pred {text}: the path is empty.")
        name = name.strip()
        earlier = by_system.get(name, ())
        if earlier and not is_named:
            raise click.UsageError(
                f"--pred: two systems are called {name!r}; name them apart: --pred NAME=PATH, or give the "
                f"repeated runs of one system one name: --pred {name}=PATH,PATH."
            )
        whole = (*((earlier,) if isinstance(earlier, str) else earlier), *paths)
        if len(set(whole)) < len(whole):
            raise click.UsageError(f"--pred {text}: a file is given twice; name each run of {name!r} once.")
        by_system[name] = whole[0] if len(whole) == 1 else whole
    return by_system


def _split_paths(text: str) -> tuple[str, ...]:
    """Return the paths in a text that separates them by commas; a text that is a path itself is that one."""
    if "," not in text or Path(text).exists():
        return (text,)
    return tuple(part.strip() for part in text.split(","))


def read_spec_option(params: Mapping[str, Any]) -> Any:
    """Return the source of the spec of `--spec` or `--protocol`; raise UsageError unless one is given."""
    spec, protocol = params["spec"], params["protocol"]
    if (spec is None) == (protocol is None):
        raise click.UsageError(
            "Give either --spec FILE or --protocol NAME."
            if spec is None
            else "Give --spec or --protocol, not both."
        )
    if protocol is not None:
        from fieldassay.spec.presets.catalogue import preset_text

        preset_text(protocol, "--protocol")
        return {"fieldassay": 1, "name": protocol, "protocol": protocol}
    from fieldassay.spec.language.parse import named_source

    return named_source(spec, Path.cwd())


def read_plan_option(params: Mapping[str, Any]) -> Plan:
    """Return the plan of the spec of `--spec` or `--protocol`."""
    from fieldassay.spec.plan.compile import read_plan

    return read_plan(read_spec_option(params))
