"""What decides: `fieldassay diff`, `gate`, `baseline` and `calibrate`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from fieldassay.commands.cli.grouping import GroupedCommand, GroupedCommands, json_option, record_option
from fieldassay.commands.cli.output import PAGE_ENDINGS
from fieldassay.commands.cli.report import find_stored, lookup_option
from fieldassay.commands.cli.thresholds import DEFAULT, REGRESSION_HELP, default_baseline

if TYPE_CHECKING:
    from fieldassay.decisions.baseline import Baseline, ChangeLine
    from fieldassay.decisions.calibration.certificate import Guarantee
    from fieldassay.decisions.diff.diff import DiffOptions
    from fieldassay.metrics.result.verdicts import Decision, DecisionPage


# `fieldassay diff`.


@click.command(cls=GroupedCommand)
@click.argument("runs", metavar="RUN...", nargs=-1, required=True)
@click.option(
    "--metrics",
    metavar="LIST",
    multiple=True,
    help="Compare by these metrics.  [default: the runs']",
)
@click.option(
    "--slice",
    "slices",
    metavar="KEY",
    multiple=True,
    help="Compare by this key; repeat for more.  [default: the runs']",
)
@click.option(
    "--common",
    "is_common",
    is_flag=True,
    help="Compare only the documents that all runs have with the same gold.",
)
@lookup_option
@click.option(
    "--most",
    metavar="N",
    type=click.IntRange(0),
    default=10,
    show_default=True,
    help="How many fixed and broken values to show; files have all.",
)
@json_option
@click.option(
    "-o",
    "--out",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help=f"Write .html, .csv (the values fixed and broken), {PAGE_ENDINGS}.",
)
def diff(**params: Any) -> int:
    """Compare two runs, or two systems of one run.

    RUN is a run's folder, id, name or `latest`; RUN:SYSTEM is one of its systems. The first is before, the
    second after; more systems are ranked. All runs must have the same spec and gold.

    \b
    fieldassay diff runs/before runs/after
    fieldassay diff latest:llama latest:qwen
    fieldassay diff run --out diff.md
    """
    from fieldassay.commands.cli.output import complain, tell_page
    from fieldassay.decisions.diff.diff import changes_csv, diff_runs
    from fieldassay.io.files.whole_files import write_whole
    from fieldassay.reports.content.diff import describe_diff
    from fieldassay.reports.report import render_diff

    target = params["out"]
    diff = diff_runs(*params["runs"], options=_options(params))
    ending = "" if target is None or params["is_json"] else target.suffix.lower()
    if ending not in (".html", ".csv"):
        tell_page(describe_diff(diff, params["most"]), diff.to_dict, target, is_json=params["is_json"])
        return 0
    write_whole(target, changes_csv(diff) if ending == ".csv" else render_diff(diff, params["store"]))
    complain(f"written to {target}")
    return 0


def _options(params: Mapping[str, Any]) -> DiffOptions:
    from fieldassay.commands.cli.grouping import split_calls
    from fieldassay.decisions.diff.diff import DiffOptions

    return DiffOptions(
        metrics=split_calls(params["metrics"]) or None,
        slices=tuple(params["slices"]) or None,
        is_common=params["is_common"],
        runs=params["store"],
        target=params["out"],
    )


# `fieldassay gate`.

_PATH = click.Path(path_type=Path)


@click.command(cls=GroupedCommand)
@click.argument("runs", metavar="RUN...", nargs=-1, required=True)
@click.option(
    "--gates",
    metavar="FILE",
    type=_PATH,
    help="A gates file, or a spec.  [default: the runs' specs]",
)
@click.option(
    "--protocol",
    metavar="NAME",
    help="The gates of a protocol, such as clinical-decision.",
)
@click.option(
    "--records",
    metavar="FILE",
    type=_PATH,
    help="Records of repeated runs, offline runs, proofs.",
)
@click.option("--system", metavar="NAME", help="The system to decide on.  [default: each]")
@click.option(
    "--baseline",
    metavar="FILE",
    type=_PATH,
    help=f"Compare with this baseline.  [default for regressions: {DEFAULT}]",
)
@click.option("--fail-on-regression", "regressions", metavar="METRIC", multiple=True, help=REGRESSION_HELP)
@click.option(
    "--metrics",
    metavar="LIST",
    multiple=True,
    help="With --baseline: compare by these metrics.  [default: all of it]",
)
@lookup_option
@json_option
@click.option(
    "-o",
    "--out",
    metavar="FILE",
    type=_PATH,
    help=f"Also write it to a file: {PAGE_ENDINGS}.",
)
def gate(**params: Any) -> int:
    """Decide GO or NO-GO on finished runs.

    RUN is a run's folder, or its id, name or `latest` in the store. Exits with 0 for GO, 1 for NO-GO, 4 if
    that cannot be decided. --baseline compares
    document by document, and needs no gates. It refuses a run of another spec; a frozen one also refuses
    other gold.

    \b
    fieldassay gate runs/prescriptions runs/labs --protocol clinical-decision --records records.yaml
    fieldassay gate latest --baseline fieldassay-baseline.json --fail-on-regression accuracy=0.01
    """
    from fieldassay.commands.cli.output import tell_page
    from fieldassay.decisions.baseline import demand_basis
    from fieldassay.decisions.gate import GateRequest, decide
    from fieldassay.reports.content.run.sections import describe_page
    from fieldassay.runs.run import Run

    if params["gates"] is not None and params["protocol"] is not None:
        raise click.UsageError("Give --gates or --protocol, not both.")
    is_json = params["is_json"]
    runs = tuple(find_stored(reference, params["store"]) for reference in params["runs"])
    _check_out(params, runs)
    baseline = params["baseline"] or default_baseline()
    if params["baseline"] is not None:
        demand_basis(params["baseline"], map(Run.open, runs))
    compared = _compare(params, runs)
    if compared is not None and not compared.has_gates:
        _print_change(compared, None, is_json=is_json)
        return compared.find_exit_code("GO")
    page = decide(
        GateRequest(runs, params["gates"], params["protocol"], params["records"], params["system"], baseline)
    )
    if compared is None:
        tell_page(describe_page(page), page.to_dict, is_json=is_json)
    else:
        _print_change(compared, page, is_json=is_json)
    if params["out"] is not None:
        tell_page(describe_page(page), page.to_dict, params["out"])
    return _CODES[str(page.answer)] if compared is None else compared.find_exit_code(str(page.answer))


_CODES = {"GO": 0, "NO-GO": 1, "INCONCLUSIVE": 4}


class _Compared(NamedTuple):
    """A run beside a baseline: its changes, and the verdicts of `--fail-on-regression`."""

    baseline: Baseline
    lines: Sequence[ChangeLine]
    decisions: tuple[Decision, ...]
    has_gates: bool

    def find_exit_code(self, answer: str) -> int:
        """Return the exit code of these verdicts and of the answer of other gates."""
        from fieldassay.commands.cli.thresholds import FAILED, find_exit_code

        codes = find_exit_code(self.decisions, (), is_strict=True), _CODES[answer]
        return FAILED if FAILED in codes else max(codes)


def _compare(params: Mapping[str, Any], runs: Sequence[Path]) -> _Compared | None:
    """Return a run beside its baseline; None without one, of several runs, or where only gates are asked."""
    from fieldassay.commands.cli.grouping import split_calls
    from fieldassay.commands.cli.thresholds import read_regressions
    from fieldassay.decisions.baseline import check_run, read_baseline
    from fieldassay.decisions.gate import decide_regressions
    from fieldassay.runs.run import Run

    path, asks = params["baseline"], bool(params["regressions"] or params["metrics"])
    path = Path(DEFAULT) if path is None and asks else path
    if asks and len(runs) != 1:
        raise click.UsageError("--fail-on-regression and --metrics go with one RUN.")
    if path is None or len(runs) != 1:
        return None
    run = Run.open(runs[0])
    has_gates = bool(run.file.gates or params["gates"] or params["protocol"])
    if has_gates and not asks:
        return None
    baseline, regressions = read_baseline(path), read_regressions(params["regressions"], run.plan)
    lines = check_run(run, baseline, split_calls(params["metrics"]))
    return _Compared(baseline, lines, decide_regressions(run, baseline, regressions), has_gates)


def _print_change(compared: _Compared, page: DecisionPage | None, *, is_json: bool) -> None:
    """Print the gates, if there are any, and then the comparison with the baseline."""
    from fieldassay.commands.cli.output import screen, write
    from fieldassay.io.json_value import json_text
    from fieldassay.reports.content.diff import check_data, render_check
    from fieldassay.reports.content.run.sections import describe_page
    from fieldassay.reports.writers.tables import lay_out_terminal

    changes = compared.baseline, compared.lines, compared.decisions
    if is_json:
        write(json_text({**({} if page is None else page.to_dict()), "comparison": check_data(*changes)}))
        return
    gates = "" if page is None else lay_out_terminal(describe_page(page), screen()) + "\n"
    write(gates + render_check(*changes, screen()))


def _check_out(params: Mapping[str, Any], runs: Sequence[Path]) -> None:
    """Refuse to overwrite input files."""
    out = params["out"]
    if out is None:
        return
    read = [*(params[name] for name in ("gates", "records", "baseline") if params[name] is not None), *runs]
    target = out.resolve()
    if out.is_dir() or any(target == path.resolve() or path.resolve() in target.parents for path in read):
        raise click.UsageError(f"--out {out}: is a folder, or would overwrite an input; name another file.")


# `fieldassay baseline`: sets and shows the baseline of regression gates.

_FILE = click.argument(
    "file", metavar="[FILE]", required=False, default=DEFAULT, type=click.Path(path_type=Path)
)
_METRICS = click.option(
    "--metrics",
    metavar="LIST",
    multiple=True,
    help="These metrics.  [default: all]",
)


@click.group(cls=GroupedCommands)
def baseline() -> None:
    """Set and show what later runs are compared with.

    The baseline is a file to commit. It holds the statistics of every document and no content, so that
    `fieldassay gate RUN --baseline` can say whether a change made anything worse.
    """


@baseline.command("set")
@click.argument("run")
@click.option(
    "--system",
    "systems",
    metavar="NAME",
    multiple=True,
    help="This system only; repeat for more.",
)
@_METRICS
@click.option(
    "-o",
    "--out",
    metavar="FILE",
    type=click.Path(path_type=Path),
    default=DEFAULT,
    show_default=True,
    help="The file to write.",
)
@click.option(
    "--freeze",
    "freezes",
    is_flag=True,
    help="Refuse runs of another spec or gold, and name what changed.",
)
@click.option("--reason", metavar="TEXT", default="", help="Why it is set; the file keeps all reasons.")
@lookup_option
@json_option
def set_baseline(**params: Any) -> int:
    """Make a finished run the baseline.

    RUN is a run's folder, or its id, name or `latest` in the store. To replace a frozen baseline,
    give a --reason.

    \b
    fieldassay baseline set runs/main --freeze --reason "two labels were wrong"
    """
    from datetime import UTC, datetime

    from fieldassay.commands.cli.grouping import split_calls
    from fieldassay.commands.cli.output import tell
    from fieldassay.decisions.baseline import BaselineRequest, make_baseline, read_before, write_baseline
    from fieldassay.reports.content.diff import baseline_data, render_set
    from fieldassay.runs.run import Run

    path = params["out"]
    metrics = split_calls(params["metrics"])
    request = BaselineRequest(params["systems"], metrics, params["reason"], params["freezes"])
    run = Run.open(find_stored(params["run"], params["store"]))
    baseline = make_baseline(run, request, datetime.now(UTC), read_before(path))
    write_baseline(path, baseline)
    tell(
        lambda: baseline_data(baseline),
        lambda: render_set(baseline, str(path), path.stat().st_size),
        is_json=params["is_json"],
    )
    return 0


@baseline.command("show")
@_FILE
@json_option
def show_baseline(file: Path, *, is_json: bool) -> int:
    """Show a baseline."""
    from fieldassay.commands.cli.output import screen, tell
    from fieldassay.decisions.baseline import read_baseline
    from fieldassay.reports.content.diff import baseline_data, render_baseline

    baseline = read_baseline(file)
    tell(lambda: baseline_data(baseline), lambda: render_baseline(baseline, screen()), is_json=is_json)
    return 0


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
def calibrate(**params: Any) -> int:
    """Certify which values need no review.

    RUN is a run's folder, or its id, name or `latest` in the store.

    \b
    fieldassay calibrate --plan --risk 0.02
    fieldassay calibrate runs/labeled --system llama --risk 0.01 --out policy.json
    fieldassay calibrate --policy policy.json --pred llama=new.jsonl -o queue.csv
    """
    if params["policy"] is not None:
        return _queue(params)
    if params["preds"] or params["spec"] or params["protocol"]:
        raise click.UsageError("--pred, --spec and --protocol go with --policy.")
    if params["is_plan"]:
        return _plan(params)
    if params["run"] is None:
        raise click.UsageError("Give a RUN, or --plan.")
    return _calibrate(params)


def _plan(params: Mapping[str, Any]) -> int:
    from fieldassay.commands.cli.output import screen, tell
    from fieldassay.decisions.calibration.certificate import needed_labels
    from fieldassay.reports.content.calibration import render_plan

    _refuse("--plan", ("run", "out", "fields", "scale", "system"), "needs none of these")
    guarantee = _guarantee(params)
    needed = [needed_labels(guarantee.risk, guarantee.delta, errors) for errors in range(4)]
    data = {"risk": guarantee.risk, "confidence": guarantee.confidence, "needed": needed}
    tell(lambda: data, lambda: render_plan(guarantee, screen()), is_json=params["is_json"])
    return 0


def _calibrate(params: Mapping[str, Any]) -> int:
    from datetime import UTC, datetime

    from fieldassay.commands.cli.output import complain, screen, tell
    from fieldassay.decisions.calibration.policy import CalibrationOptions, write_policy
    from fieldassay.decisions.calibration.policy import calibrate as calibrate_run
    from fieldassay.reports.content.calibration import render_calibration

    _check_policy(params)
    options = CalibrationOptions(
        params["system"], params["fields"], _guarantee(params), params["scale"] or "probability"
    )
    calibrated = calibrate_run(find_stored(params["run"], params["store"]), options)
    page = calibrated.page
    tell(page.to_dict, lambda: render_calibration(page, screen()), is_json=params["is_json"])
    if params["out"] is not None:
        policy = calibrated.make_policy(datetime.now(UTC))
        write_policy(params["out"], policy)
        what = "; it reviews everything" if policy.reviews_everything else ""
        complain(f"policy written to {params['out']}{what}")
    return 0


def _queue(params: Mapping[str, Any]) -> int:
    from fieldassay.commands.cli.inputs import keep_interruptible, read_spec_option
    from fieldassay.commands.cli.output import complain, screen, tell
    from fieldassay.decisions.calibration.policy import check_ending, queue_reviews, read_policy
    from fieldassay.reports.content.calibration import render_queue

    _refuse("--policy", ("fields", "risk", "confidence", "scale", "is_plan", "system", "run"))
    if len(params["preds"]) != 1:
        raise click.UsageError("--policy takes the predictions of one system: give --pred once.")
    if params["out"] is not None:
        check_ending(params["out"])
    policy = read_policy(params["policy"])
    path = _new_predictions(params["preds"][0], policy.system)
    spec = read_spec_option(params) if params["spec"] or params["protocol"] else None
    keep_interruptible()
    queue = queue_reviews(policy, path, spec)
    has_rows = params["out"] is None
    tell(queue.to_dict, lambda: render_queue(queue, screen(), has_rows=has_rows), is_json=params["is_json"])
    if params["out"] is not None:
        queue.write(params["out"])
        complain(f"queue written to {params['out']}")
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


def _guarantee(params: Mapping[str, Any]) -> Guarantee:
    from fieldassay.decisions.calibration.certificate import Guarantee

    return Guarantee(**{name: params[name] for name in ("risk", "confidence") if params[name] is not None})


def _refuse(option: str, names: Sequence[str], why: str = "takes what the policy says") -> None:
    """Refuse options that mean nothing beside another."""
    context = click.get_current_context()
    conflicting = [
        name for name in names if context.get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE
    ]
    if conflicting:
        flags = [parameter.opts[-1] for parameter in context.command.params if parameter.name in conflicting]
        raise click.UsageError(f"{option} {why}: leave out {', '.join(flags)}.")


def _check_policy(params: Mapping[str, Any]) -> None:
    """Refuse to write into the run that is read."""
    out, run = params["out"], find_stored(params["run"], params["store"])
    if out is not None and (out.is_dir() or run.resolve() in (out.resolve(), *out.resolve().parents)):
        raise click.UsageError(f"--out {out}: is a folder, or inside the run; name another file.")
