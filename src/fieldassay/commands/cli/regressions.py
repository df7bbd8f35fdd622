"""The options for comparing a scoring run with a baseline: `--baseline` and `--fail-on-regression`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import click

from fieldassay.commands.cli.grouping import option
from fieldassay.commands.cli.thresholds import read_gates

if TYPE_CHECKING:
    from fieldassay.metrics.catalogue.definitions import Vocabulary
    from fieldassay.metrics.catalogue.grammar import Gate
    from fieldassay.metrics.result.decision import Decision
    from fieldassay.spec.plan.nodes import Plan

Command = TypeVar("Command", bound=Callable[..., Any])
DEFAULT = "fieldassay-baseline.json"
BASELINE_HELP = f"The baseline.  [default: {DEFAULT}]"
REGRESSION_HELP = "Exit with 1 if a system is worse than the baseline: METRIC, or METRIC=MARGIN."


def baseline_options(command: Command) -> Command:
    """Add `--baseline` and `--fail-on-regression` to a command that scores."""
    asked = option(
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
    return file(asked(command))


class BaselineChoice(NamedTuple):
    """The baseline for comparing a run, if any, and the gates of `--fail-on-regression`."""

    path: Path | None = None
    gates: tuple[Gate, ...] = ()

    def find_exit_code(self, decisions: Sequence[Decision]) -> int:
        """Return 2 if a gate of `--fail-on-regression` lacked a baseline value, else 0."""
        outcomes = (outcome for decision in decisions for outcome in decision.outcomes)
        return 2 if any(outcome.gate in self.gates and outcome.value is None for outcome in outcomes) else 0


def read_baseline_options(given: Mapping[str, Any], plan: Plan, asked: Sequence[Gate] = ()) -> BaselineChoice:
    """Return the choice by the options, with the gates on regressions of other options.

    Raises UsageError for invalid options, `ProblemsError` if a baseline is needed and missing.
    """
    gates = (*asked, *read_regressions(given["regressions"], plan))
    path = given["baseline"]
    if path is None and not gates:
        found = default_baseline()
        return BaselineChoice(found if found is not None and _has_regression(plan) else None)
    from fieldassay.decisions.baseline.file import read_baseline

    path = path or Path(DEFAULT)
    held = read_baseline(path)  # a baseline that is missing or broken is told before anything is scored
    if not gates and not held.is_frozen and not _has_regression(plan):
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
    return read_gates(texts, plan, _read)


def _read(text: str, vocabulary: Vocabulary) -> Gate:
    from fieldassay.metrics.catalogue.definitions import bind_metric
    from fieldassay.metrics.catalogue.grammar import parse_regression
    from fieldassay.metrics.result.documents import is_comparable
    from fieldassay.spec.plan.compile import gate_metrics

    try:
        gate = parse_regression(text)
        gate_metrics(gate, vocabulary)
        if not is_comparable(bind_metric(gate.metric, vocabulary)):
            raise ValueError(
                f"{gate.metric} is not made of sums over documents, and only such metrics can be compared "
                "with a baseline"
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
