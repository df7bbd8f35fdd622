"""`fieldassay calibrate`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fieldassay.commands.cli.grouping import GroupedCommand, json_option, record_option
from fieldassay.commands.cli.runs import find_stored, lookup_option

if TYPE_CHECKING:
    from fieldassay.decisions.calibration.certificate import Guarantee

_PATH = click.Path(path_type=Path)
_GUARANTEE = "fieldassay.decisions.calibration.certificate:Guarantee"


@click.command(cls=GroupedCommand)
@click.argument("run", metavar="[RUN]", required=False)
@lookup_option
@click.option("--system", metavar="NAME", help="The system, if the run has several.")
@click.option(
    "--field",
    "fields",
    metavar="FIELD",
    multiple=True,
    help="This field only; repeat for more.",
)
@record_option(
    _GUARANTEE,
    "risk",
    group="Options",
    metavar="SHARE",
    help="The largest share of wrong values among those accepted.  [default: 0.02]",
)
@record_option(
    _GUARANTEE,
    "confidence",
    group="Options",
    metavar="SHARE",
    help="How sure the guarantee is.  [default: 0.95]",
)
@record_option(
    "fieldassay.decisions.calibration.policy:CalibrationOptions",
    "scale",
    group="Options",
    metavar="[probability|percent|logprob]",
    help="The scale of the confidences.  [default: probability]",
)
@click.option(
    "-o",
    "--out",
    metavar="FILE",
    type=_PATH,
    help="The review policy, as JSON; with --policy the queue, as .csv or .jsonl.",
)
@click.option(
    "--policy",
    metavar="FILE",
    type=_PATH,
    help="List what to review in new predictions by this policy.",
)
@click.option(
    "-p", "--pred", "preds", metavar="[NAME=]PATH", multiple=True, help="The new predictions, with --policy."
)
@click.option(
    "-s",
    "--spec",
    metavar="FILE",
    help="The spec of the policy.  [default: its run's]",
)
@click.option("--protocol", metavar="NAME", help="The protocol of the policy.")
@click.option(
    "--plan",
    "is_plan",
    is_flag=True,
    help="Print how many labels the guarantee needs.",
)
@json_option
def calibrate(**given: Any) -> int:
    """Certify which values need no review.

    RUN is a run's folder, or its id, name or `latest` in the store.

    \b
    fieldassay calibrate --plan --risk 0.02
    fieldassay calibrate runs/labeled --system llama --risk 0.01 --out policy.json
    fieldassay calibrate --policy policy.json --pred llama=new.jsonl -o queue.csv
    """
    if given["policy"] is not None:
        return _queue(given)
    if given["preds"] or given["spec"] or given["protocol"]:
        raise click.UsageError("--pred, --spec and --protocol go with --policy.")
    if given["is_plan"]:
        return _plan(given)
    if given["run"] is None:
        raise click.UsageError("Give a RUN, or --plan.")
    return _calibrate(given)


def _plan(given: Mapping[str, Any]) -> int:
    from fieldassay.commands.cli.output import screen, tell
    from fieldassay.decisions.calibration.certificate import needed_labels
    from fieldassay.reports.content.calibration import render_plan

    _refuse("--plan", ("run", "out", "fields", "scale", "system"), "needs none of these")
    guarantee = _guarantee(given)
    needed = [needed_labels(guarantee.risk, guarantee.delta, errors) for errors in range(4)]
    data = {"risk": guarantee.risk, "confidence": guarantee.confidence, "needed": needed}
    tell(lambda: data, lambda: render_plan(guarantee, screen()), is_json=given["is_json"])
    return 0


def _calibrate(given: Mapping[str, Any]) -> int:
    from datetime import UTC, datetime

    from fieldassay.commands.cli.output import complain, screen, tell
    from fieldassay.decisions.calibration.policy import CalibrationOptions, write_policy
    from fieldassay.decisions.calibration.policy import calibrate as calibrate_run
    from fieldassay.reports.content.calibration import render_calibration

    _check_out(given)
    options = CalibrationOptions(
        given["system"], given["fields"], _guarantee(given), given["scale"] or "probability"
    )
    calibrated = calibrate_run(find_stored(given["run"], given["store"]), options)
    page = calibrated.page
    tell(page.to_dict, lambda: render_calibration(page, screen()), is_json=given["is_json"])
    if given["out"] is not None:
        policy = calibrated.make_policy(datetime.now(UTC))
        write_policy(given["out"], policy)
        what = "; it reviews everything" if policy.reviews_everything else ""
        complain(f"policy written to {given['out']}{what}")
    return 0


def _queue(given: Mapping[str, Any]) -> int:
    from fieldassay.commands.cli.inputs import keep_interruptible, read_spec_option
    from fieldassay.commands.cli.output import complain, screen, tell
    from fieldassay.decisions.calibration.policy import check_ending, queue_reviews, read_policy
    from fieldassay.reports.content.calibration import render_queue

    _refuse("--policy", ("fields", "risk", "confidence", "scale", "is_plan", "system", "run"))
    if len(given["preds"]) != 1:
        raise click.UsageError("--policy takes the predictions of one system: give --pred once.")
    if given["out"] is not None:
        check_ending(given["out"])
    policy = read_policy(given["policy"])
    path = _new_predictions(given["preds"][0], policy.system)
    spec = read_spec_option(given) if given["spec"] or given["protocol"] else None
    keep_interruptible()
    queue = queue_reviews(policy, path, spec)
    has_rows = given["out"] is None
    tell(queue.to_dict, lambda: render_queue(queue, screen(), has_rows=has_rows), is_json=given["is_json"])
    if given["out"] is not None:
        queue.write(given["out"])
        complain(f"queue written to {given['out']}")
    return 0


def _new_predictions(text: str, system: str) -> str:
    """Return the path of predictions; raise UsageError for another system's name than the policy's."""
    name, equals, path = text.partition("=")
    if not equals or not name.strip() or Path(text).exists():
        return text
    if name.strip() != system:
        raise click.UsageError(
            f"--pred {text}: the policy is for the system {system!r}, not for {name.strip()!r}."
        )
    return path


def _guarantee(given: Mapping[str, Any]) -> Guarantee:
    from fieldassay.decisions.calibration.certificate import Guarantee

    return Guarantee(**{name: given[name] for name in ("risk", "confidence") if given[name] is not None})


def _refuse(option: str, names: Sequence[str], why: str = "takes what the policy says") -> None:
    """Refuse options that mean nothing beside another."""
    context = click.get_current_context()
    given = [
        name for name in names if context.get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE
    ]
    if given:
        flags = [parameter.opts[-1] for parameter in context.command.params if parameter.name in given]
        raise click.UsageError(f"{option} {why}: leave out {', '.join(flags)}.")


def _check_out(given: Mapping[str, Any]) -> None:
    """Refuse to write into the run that is read."""
    out, run = given["out"], find_stored(given["run"], given["store"])
    if out is not None and (out.is_dir() or run.resolve() in (out.resolve(), *out.resolve().parents)):
        raise click.UsageError(f"--out {out}: is a folder, or inside the run; name another file.")
