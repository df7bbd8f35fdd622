"""`fieldassay lock`, and the options that hold a scoring run to a lock."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import click

from fieldassay.cli.grouping import GroupedCommand, add_options, option
from fieldassay.cli.inputs import read_inputs, read_spec_option, reading_options, spec_options

if TYPE_CHECKING:
    from fieldassay.gates.baseline.locking import Held
    from fieldassay.scoring.options import InputOptions

Command = TypeVar("Command", bound=Callable[..., Any])
DEFAULT = "fieldassay.lock.json"

_RESET = option(
    "--reset-baseline",
    "is_reset",
    group="Gates and baselines",
    is_flag=True,
    help="Start a new baseline; the lock's history keeps the old ones.",
)
_REASON = option(
    "--reason",
    group="Gates and baselines",
    metavar="TEXT",
    help="Why a new baseline is started; the lock keeps it.",
)


def lock_options(command: Command) -> Command:
    """Add `--lock`, `--reset-baseline` and `--reason` to a command that scores."""
    file = option(
        "--lock",
        group="Gates and baselines",
        metavar="FILE",
        type=click.Path(path_type=Path),
        help="Refuse to score unless spec and gold are as locked.",
    )
    return add_options(command, (file, _RESET, _REASON))


class LockRequest(NamedTuple):
    """The lock that a scoring run is held to; with a `reason` the run starts a new baseline."""

    path: Path
    reason: str | None = None

    def hold(self, spec: Any, gold: Any, inputs: InputOptions) -> Held:
        """Return the lock compared with the spec and the gold.

        Raises `ProblemsError` if they differ and no new baseline is requested.
        """
        from datetime import UTC, datetime

        from fieldassay.gates.baseline.lock_file import read_lock
        from fieldassay.gates.baseline.locking import check_reason, freeze, hold_lock, reset_lock

        read_lock(self.path)  # gold need not be read if there is no lock
        if self.reason is None:
            held = hold_lock(self.path, freeze(spec, gold, inputs))
            held.demand_equal()
            return held
        reason = check_reason(self.reason)
        return reset_lock(self.path, freeze(spec, gold, inputs), reason, datetime.now(UTC))


def read_lock_options(given: Mapping[str, Any]) -> LockRequest | None:
    """Return the lock by the options of a scoring run, None without one; raise UsageError if invalid."""
    path, gold = given["lock"], given["gold"]
    _check_reset(given)
    if path is None:
        if given["is_reset"]:
            raise click.UsageError("--reset-baseline goes with --lock FILE.")
        return None
    if given["fields"]:
        raise click.UsageError("--lock holds the whole spec: leave out --fields.")
    if given["is_reset"] and (given["limit"] is not None or given["only"] or given["where"]):
        raise click.UsageError(
            "--reset-baseline starts a baseline, which needs every document: leave out --limit, --only and "
            "--where."
        )
    if gold == "-" or (Path(gold).exists() and not Path(gold).is_file() and not Path(gold).is_dir()):
        raise click.UsageError("--lock needs gold that can be read twice: a file or a folder.")
    return LockRequest(path, given["reason"] if given["is_reset"] else None)


def _check_reset(given: Mapping[str, Any]) -> None:
    if given["is_reset"] and given["reason"] is None:
        raise click.UsageError('--reset-baseline needs --reason "…": the lock keeps it.')
    if given["reason"] is not None and not given["is_reset"]:
        raise click.UsageError("--reason goes with --reset-baseline.")


@click.command(cls=GroupedCommand)
@spec_options
@click.option(
    "-g",
    "--gold",
    metavar="PATH",
    required=True,
    help="The right values: CSV, TSV, Excel, JSONL, JSON, Parquet, a folder of JSON files, or -.",
)
@click.option(
    "--gold-key", metavar="KEY", help="Where in a gold row the record is. Default: the row is the record."
)
@reading_options
@click.option(
    "--lock",
    metavar="FILE",
    type=click.Path(path_type=Path),
    default=DEFAULT,
    show_default=True,
    help="The file of the lock.",
)
@click.option(
    "--check", "is_check", is_flag=True, help="Only say whether spec and gold are as locked; write nothing."
)
@_RESET
@_REASON
@click.option(
    "-j", "--json", "is_json", is_flag=True, help="Print the lock's digests and the differences as JSON."
)
def lock(**given: Any) -> int:
    """Freeze the spec and the gold data that a baseline stands on.

    The lock is a small file to commit. Once there is one, a spec, a formula or gold data that changed is
    refused with exit code 2, by this command and by `fieldassay score --lock FILE`, until a new baseline is
    started with a reason.

    \b
    fieldassay lock --spec spec.yaml --gold gold.jsonl
    fieldassay lock --spec spec.yaml --gold gold.jsonl --check
    fieldassay lock --spec spec.yaml --gold gold.jsonl --reset-baseline --reason "two labels were wrong"
    """
    from fieldassay.cli.output import complain, json_text, write

    if given["is_check"] and given["is_reset"]:
        raise click.UsageError("--check writes nothing; leave out --reset-baseline.")
    _check_reset(given)
    held = _held(given)
    held.save()
    if given["is_json"]:
        write(json_text(held.to_dict()))
    elif held.status != "different":
        write(_render(held, given["is_check"]))
    if held.status == "different":
        complain("\n".join(map(str, held.problems())))
        return 2
    return 0


def _held(given: Mapping[str, Any]) -> Held:
    from datetime import UTC, datetime

    from fieldassay.gates.baseline.lock_file import FORMAT, read_lock
    from fieldassay.gates.baseline.locking import check_reason, freeze, hold_lock, make_lock, reset_lock

    inputs = read_inputs({**given, "preds": ()}, needs_data=False)
    spec, path = read_spec_option(given), given["lock"]
    reason = check_reason(given["reason"]) if given["is_reset"] else None
    if given["is_check"] or given["is_reset"] or FORMAT.read_bytes(path) is not None:
        read_lock(path)  # a lock that is missing or broken is told before gold is read
    frozen, now = freeze(spec, inputs.gold, inputs.options), datetime.now(UTC)
    if given["is_check"]:
        return hold_lock(path, frozen)
    return make_lock(path, frozen, now) if reason is None else reset_lock(path, frozen, reason, now)


_WIDTH = 12


def _render(held: Held, is_check: bool) -> str:
    """Return the action taken and the digests as text."""
    from fieldassay.wording.shown import visible

    baseline, frozen = held.lock.baseline, held.lock.frozen
    lines = [f"{held.path}: spec and gold are as locked" if is_check else held.headline()]
    notes = {
        "spec": frozen.name,
        "gold": "1 document" if frozen.gold.documents == 1 else f"{frozen.gold.documents:,} documents",
    }
    has_models = bool(frozen.models.content)
    for part, digest in frozen.digests().items():
        if part != "models" or has_models:
            lines.append(f"  {part:<9} {digest[:_WIDTH]}  {notes.get(part, '')}".rstrip())
    lines.append(f"  baseline  {baseline.created}")
    return "".join(f"{visible(line)}\n" for line in (*lines, *held.remarks()))
