"""Options of gates and of regressions."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import click

from fieldassay.commands.cli.grouping import option

if TYPE_CHECKING:
    from fieldassay.metrics.catalogue.definitions import Vocabulary
    from fieldassay.metrics.catalogue.grammar import Gate
    from fieldassay.metrics.result.verdicts import Decision, GateOutcome
    from fieldassay.spec.plan.nodes import Plan


# Gates of a scoring run: `--gate` (`--gate`) and the spec's; their messages and exit code.

EXAMPLE = "write a gate, such as accuracy >= 0.9 or field_accuracy[total] >= .97"
_PERCENTAGE = re.compile(r"(\d{1,3}(?:\.\d{1,9})?)\s*%\s*$", re.ASCII)
FAILED, INCONCLUSIVE = 1, 4
"""The exit codes of a failed gate, and, on request, of an undecided one."""


def read_thresholds(texts: Sequence[str], plan: Plan) -> tuple[Gate, ...]:
    """Return the gates for texts such as `accuracy >= 0.9` or `accuracy=0.9` under a plan.

    Raises UsageError for invalid ones.

    >>> from fieldassay.spec.plan.compile import read_plan
    >>> texts = ["f1(granularity=slot)[total]=0.9", "lower(accuracy) > .8"]
    >>> [str(gate) for gate in read_thresholds(texts, read_plan("fields: {total: number}"))]
    ['f1(granularity=slot)[total] >= 0.9', 'lower(accuracy) > 0.8']
    """
    return read_gates(texts, plan, _read_threshold)


def read_gates(texts: Sequence[str], plan: Plan, read: Callable[[str, Vocabulary], Gate]) -> tuple[Gate, ...]:
    """Return the gates that a function reads from texts with the metrics of a spec."""
    if not texts:
        return ()
    from fieldassay.spec.plan.compile import vocabulary_of

    vocabulary = vocabulary_of(plan.spec)
    return tuple(read(text, vocabulary) for text in texts)


def _read_threshold(text: str, vocabulary: Vocabulary) -> Gate:
    from fieldassay.metrics.catalogue.definitions import bind_metric
    from fieldassay.metrics.catalogue.grammar import parse_threshold
    from fieldassay.spec.plan.compile import gate_metrics, on_each_field

    percentage = _PERCENTAGE.search(text)
    fraction = (
        text if percentage is None else f"{text[: percentage.start(1)]}{Decimal(percentage[1]) / 100:f}"
    )
    try:
        gate = parse_threshold(fraction)
        gate_metrics(gate, vocabulary)
        gate = on_each_field(gate, vocabulary)
        better = bind_metric(gate.metric, vocabulary).metric.better if gate.function == "value" else "higher"
    except ValueError as error:
        raise click.UsageError(f"--gate {text[:200]}: {error}; {EXAMPLE}") from None
    if percentage is not None:
        raise click.UsageError(
            f"--gate {text[:200]}: a threshold is a fraction, not a percentage; write {fraction[:200]}"
        )
    if better == "lower" and gate.operator in (">=", ">"):
        remedy = f"write {gate.metric} <= {gate.threshold:g}"
        raise click.UsageError(
            f"--gate {text[:200]}: {gate.metric.name} is better when lower, so a lower limit says "
            f"nothing; {remedy}"
        )
    return gate


def describe_outcomes(decisions: Sequence[Decision], thresholds: Iterable[Gate]) -> list[str]:
    """Return one line for each failed, silent or undecided gate and system, gate by gate.

    Thresholds that cannot be decided have failed.
    """
    from fieldassay.metrics.result.verdicts import UNGATED, Verdict

    required = set(thresholds)
    lines = []
    for place in range(max((len(decision.outcomes) for decision in decisions), default=0)):
        for decision in decisions:
            outcome = decision.outcomes[place]
            if outcome.warning and outcome.verdict in (Verdict.PASS, Verdict.NO_LOSS):
                said = f"{outcome.gate.metric} shows no loss, {outcome.warning}"
                lines.append(f"warning: {decision.system}: {said}")
            if outcome.verdict is Verdict.FAIL:
                failed = [part for part in outcome.parts if part.verdict is Verdict.FAIL] or [outcome]
                lines += [f"failed: {decision.system}: {_describe_failure(part)}" for part in failed]
            elif outcome.verdict is Verdict.NO_LOSS:
                lines.append(f"no loss shown: {decision.system}: {outcome.gate.metric}: {outcome.rule}")
            elif outcome.verdict is Verdict.INCONCLUSIVE and outcome.gate in required:
                lines.append(f"failed: {decision.system}: {outcome.gate}: {outcome.rule}")
            elif outcome.verdict is Verdict.INCONCLUSIVE and outcome.title == UNGATED:
                lines.append(f"inconclusive: {decision.system}: {outcome.rule}")
            elif outcome.verdict is Verdict.INCONCLUSIVE:
                lines.append(f"inconclusive: {decision.system}: {outcome.gate}: {outcome.rule}")
    return lines


def report_outcomes(
    decisions: Sequence[Decision],
    thresholds: Iterable[Gate] = (),
    regressions: Collection[Gate] = (),
    *,
    is_strict: bool,
    is_quiet: bool,
) -> int:
    """Print each failed, silent or undecided gate, with `--quiet` those behind the exit code; return that."""
    from fieldassay.commands.cli.output import complain

    code = find_exit_code(decisions, thresholds, regressions, is_strict=is_strict)
    shown = ("failed:", "inconclusive:")[: 1 + (code > 1)] if is_quiet else ""
    for line in describe_outcomes(decisions, thresholds):
        if line.startswith(shown):
            complain(line)
    return code


def find_exit_code(
    decisions: Sequence[Decision],
    thresholds: Iterable[Gate],
    regressions: Collection[Gate] = (),
    *,
    is_strict: bool,
) -> int:
    """Return the exit code of a run: 1 for a failed gate or an undecided threshold.

    It is 4 where one of the `regressions` of options cannot be decided, and where no gate is about any
    document. An undecided gate of the spec is 4 if strict.
    """
    from fieldassay.metrics.result.verdicts import GateAnswer, Verdict

    required = set(thresholds)
    outcomes = [outcome for decision in decisions for outcome in decision.outcomes]
    if any(
        outcome.verdict is Verdict.FAIL
        or (outcome.verdict is Verdict.INCONCLUSIVE and outcome.gate in required)
        for outcome in outcomes
    ):
        return FAILED
    is_open = any(decision.answer is GateAnswer.INCONCLUSIVE for decision in decisions)
    is_unresolved = any(decision.is_about_nothing for decision in decisions) or any(
        outcome.gate in regressions and outcome.verdict is Verdict.INCONCLUSIVE for outcome in outcomes
    )
    return INCONCLUSIVE if is_unresolved or (is_strict and is_open) else 0


def _describe_failure(outcome: GateOutcome) -> str:
    from fieldassay.metrics.thresholds import WORDS, format_threshold

    gate = outcome.gate
    looked_at = str(gate.metric) if gate.function == "value" else f"{gate.function}({gate.metric})"
    wanted = f"{WORDS[gate.operator]} {format_threshold(outcome.threshold, outcome.unit_shown)}"
    return f"{looked_at} is {outcome.value_text}, needed {wanted} (n = {outcome.n:,})"


# The options for comparing a scoring run with a baseline: `--baseline` and `--fail-on-regression`.

Command = TypeVar("Command", bound=Callable[..., Any])
DEFAULT = "fieldassay-baseline.json"
BASELINE_HELP = f"The baseline.  [default: {DEFAULT}]"
REGRESSION_HELP = "Exit with 1 if a system is worse than the baseline: METRIC, or METRIC=MARGIN."


def baseline_options(command: Command) -> Command:
    """Add `--baseline` and `--fail-on-regression` to a command that scores."""
    regressions = option(
        "--fail-on-regression",
        "regressions",
        group="Gates and baselines",
        metavar="METRIC",
        multiple=True,
        help=REGRESSION_HELP,
    )
    file = option(
        "--baseline",
        group="Gates and baselines",
        metavar="FILE",
        type=click.Path(path_type=Path),
        help=BASELINE_HELP,
    )
    return file(regressions(command))


class BaselineChoice(NamedTuple):
    """The baseline for comparing a run, if any, and the gates of `--fail-on-regression`."""

    path: Path | None = None
    gates: tuple[Gate, ...] = ()


def read_baseline_options(
    params: Mapping[str, Any], plan: Plan, others: Sequence[Gate] = ()
) -> BaselineChoice:
    """Return the choice by the options, with the gates on regressions of other options.

    Raises UsageError for invalid options, `ProblemsError` if a baseline is needed and missing.
    """
    gates = (*others, *read_regressions(params["regressions"], plan))
    path = params["baseline"]
    if path is None and not gates:
        default = default_baseline()
        return BaselineChoice(default if default is not None and _has_regression(plan) else None)
    from fieldassay.decisions.baseline import read_baseline

    path = path or Path(DEFAULT)
    baseline = read_baseline(path)  # a baseline that is missing or broken is told before anything is scored
    if not gates and not baseline.is_frozen and not _has_regression(plan):
        raise click.UsageError(
            "--baseline: no gate compares with it; add --fail-on-regression METRIC, or a gate "
            "`regression(METRIC) > -0.01`."
        )
    return BaselineChoice(path, gates)


def default_baseline() -> Path | None:
    """Return the baseline in the current folder, None if there is none."""
    return Path(DEFAULT) if Path(DEFAULT).exists() else None


def read_regressions(texts: Sequence[str], plan: Plan) -> tuple[Gate, ...]:
    """Return the gates for `METRIC[=MARGIN]`, or gates on `regression(…)`, under a plan.

    Raises UsageError for invalid ones.

    >>> from fieldassay.spec.plan.compile import read_plan
    >>> plan = read_plan("fields: {total: number}")
    >>> [str(gate) for gate in read_regressions(["accuracy", "f1=0.01"], plan)]
    ['regression(accuracy) >= 0', 'regression(f1) > -0.01']
    """
    return read_gates(texts, plan, _read_regressions)


def _read_regressions(text: str, vocabulary: Vocabulary) -> Gate:
    from msgspec.structs import replace

    from fieldassay.metrics.catalogue.definitions import bind_metric
    from fieldassay.metrics.catalogue.grammar import parse_regression
    from fieldassay.metrics.result.documents import is_comparable
    from fieldassay.spec.plan.compile import gate_metrics, on_each_field

    try:
        gate = parse_regression(text)
        gate_metrics(gate, vocabulary)
        gate = on_each_field(gate, vocabulary)
        call = replace(gate.metric, field="") if gate.is_each else gate.metric
        if not is_comparable(bind_metric(call, vocabulary)):
            raise ValueError(
                f"{gate.metric} is not made of sums over documents, and a baseline compares only such metrics"
            )
    except ValueError as error:
        raise click.UsageError(
            f"--fail-on-regression {text[:200]}: {error}; write METRIC, METRIC=MARGIN such as "
            "accuracy=0.01, or regression(accuracy) > -0.01"
        ) from None
    return gate


def _has_regression(plan: Plan) -> bool:
    from fieldassay.metrics.catalogue.grammar import parse_gate

    return any(parse_gate(text).function == "regression" for text in plan.spec.gates)
