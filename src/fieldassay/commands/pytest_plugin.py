"""The pytest plugin: gates as tests, and the fixture `assert_extraction`.

`pytest --fieldassay-spec spec.yaml --fieldassay-gold gold.jsonl --fieldassay-pred new.jsonl` adds one test
per system and gate.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from fieldassay.errors import FieldassayError, problem

if TYPE_CHECKING:
    from fieldassay.metrics.result.decision import Decision, GateOutcome
    from fieldassay.metrics.result.result import Result
    from fieldassay.reports.content.run.summary import Summary

EVERYTHING_RIGHT = "accuracy_strict >= 1"
"""The gate where neither the spec nor the caller names one."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options."""
    group = parser.getgroup("fieldassay", "score structured extraction, one test per system and gate")
    group.addoption(
        "--fieldassay-spec", metavar="FILE", help="how each field is judged, and the gates that must hold"
    )
    group.addoption(
        "--fieldassay-protocol", metavar="NAME", help="a published protocol instead of a spec of your own"
    )
    group.addoption("--fieldassay-gold", metavar="PATH", help="the right values")
    group.addoption(
        "--fieldassay-pred",
        metavar="[NAME=]PATH",
        action="append",
        default=[],
        help="a system's predictions; repeat for more",
    )
    group.addoption(
        "--fieldassay-gate",
        metavar="RULE",
        action="append",
        default=[],
        help="one more gate, such as 'accuracy >= 0.9'; repeat for more",
    )
    group.addoption(
        "--fieldassay-baseline",
        metavar="FILE",
        help="what regression gates compare with; else fieldassay-baseline.json, if it is there",
    )
    group.addoption(
        "--fieldassay-xfail-inconclusive",
        dest="fieldassay_xfail",
        action="store_true",
        help="a gate that cannot be decided is an expected failure; otherwise it fails its test",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Refuse options that say too little, before anything is collected."""
    given = {
        name: config.getoption(f"fieldassay_{name}")
        for name in ("spec", "protocol", "gold", "pred", "gate", "baseline")
    }
    if not any(given.values()):
        return
    if bool(given["spec"]) == bool(given["protocol"]):
        raise pytest.UsageError(
            "fieldassay: give either --fieldassay-spec FILE or --fieldassay-protocol NAME"
        )
    lacking = [f"--fieldassay-{name}" for name in ("gold", "pred") if not given[name]]
    if lacking:
        raise pytest.UsageError(
            f"fieldassay: {' and '.join(lacking)} missing; give the spec, gold and predictions together"
        )


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(
    session: pytest.Session, config: pytest.Config, items: list[pytest.Item]
) -> None:
    """Add one test per system and gate, if the options ask for it."""
    if config.getoption("fieldassay_gold"):
        items.extend(ScoredExtraction.from_parent(session, name="fieldassay").collect())


class ScoredExtraction(pytest.Collector):
    """The run that the options ask for, scored once."""

    def collect(self) -> list[pytest.Item]:
        """Return a test for each system and gate."""
        made = [
            GateItem.from_parent(self, name=f"{decision.system}: {outcome.gate}", at=(system, gate))
            for system, decision in enumerate(self.decisions)
            for gate, outcome in enumerate(decision.outcomes)
        ]
        return list(made)

    @cached_property
    def result(self) -> Result:
        """Return the scored run; an error of the user's ends the session with its message."""
        option, place = self.config.getoption, self.config.invocation_params.dir
        spec = option("fieldassay_spec")
        from fieldassay.commands.score import score
        from fieldassay.scoring.inputs import ScoreOptions

        source: Any = {"protocol": option("fieldassay_protocol")} if spec is None else _found(spec, place)
        baseline = option("fieldassay_baseline")
        try:
            options = ScoreOptions(gates=tuple(option("fieldassay_gate")) or (EVERYTHING_RIGHT,))
            return score(
                _found(option("fieldassay_gold"), place),
                _named(option("fieldassay_pred"), place),
                source,
                options,
                baseline=None if baseline is None else place / baseline,
            )
        except FieldassayError as error:
            raise pytest.UsageError(f"fieldassay: {error}") from None

    @cached_property
    def decisions(self) -> tuple[Decision, ...]:
        """Return the decisions by the gates, by system."""
        from fieldassay.decisions.baseline.baseline import BASELINE, read_baseline

        try:
            given = self.config.getoption("fieldassay_baseline")
            path = self.config.invocation_params.dir / (given or BASELINE)
            if given is not None:  # it must exist and be valid: a typo is never undecided
                read_baseline(path)
            baseline = path if path.exists() else None
            return decide(self.result, self.config.getoption("fieldassay_gate"), baseline)
        except FieldassayError as error:
            raise pytest.UsageError(f"fieldassay: {error}") from None

    @cached_property
    def summary(self) -> Summary:
        """Return the report's content."""
        from fieldassay.reports.content.run.summary import summarize

        return summarize(self.result)


class GateItem(pytest.Item):
    """One gate of one system."""

    def __init__(self, *, at: tuple[int, int], **given: Any) -> None:
        super().__init__(**given)
        self.at = at

    @property
    def extraction(self) -> ScoredExtraction:
        """Return the run of the gate."""
        assert isinstance(self.parent, ScoredExtraction)
        return self.parent

    @property
    def outcome(self) -> GateOutcome:
        """Return the outcome of the gate."""
        return self.extraction.decisions[self.at[0]].outcomes[self.at[1]]

    def runtest(self) -> None:
        """Fail unless the gate passes or shows no loss; skip if it does not apply. Open may be an xfail."""
        from fieldassay.metrics.result.decision import Verdict
        from fieldassay.reports.ci.outputs import render_failure, render_outcome

        verdict = self.outcome.verdict
        if verdict in (Verdict.PASS, Verdict.NO_LOSS):
            return
        if verdict is Verdict.SKIPPED:
            pytest.skip(render_outcome(self.outcome))
        if verdict is Verdict.INCONCLUSIVE and self.config.getoption("fieldassay_xfail"):
            pytest.xfail(render_outcome(self.outcome))
        raise ExtractionError(render_failure(self.extraction.summary, self.extraction.decisions[self.at[0]]))

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """Return the message alone where a gate failed."""
        return (
            str(excinfo.value)
            if isinstance(excinfo.value, ExtractionError)
            else super().repr_failure(excinfo, style)
        )

    def reportinfo(self) -> tuple[Path, int | None, str]:
        """Return the origin of the test: the gold data."""
        return Path(str(self.config.getoption("fieldassay_gold"))), None, f"fieldassay {self.name}"


class ExtractionError(AssertionError):
    """An extraction of insufficient quality; the message has the worst part."""


@pytest.fixture
def assert_extraction() -> Callable[..., Result]:
    """Return a function that scores an extraction and fails with the worst fields unless its gates hold."""
    return _assert_extraction


def _assert_extraction(gold: Any, pred: Any, spec: Any, gates: str | Sequence[str] = ()) -> Result:
    """Return the result if every gate holds, given or the spec's; without any, every value must be right.

    `gold` and `pred` are one record each, or any input of `fieldassay.score`: lists of records, paths,
    mappings. An inconclusive gate fails.
    """
    __tracebackhide__ = True
    from fieldassay.metrics.result.decision import GateAnswer
    from fieldassay.reports.ci.outputs import render_failure
    from fieldassay.reports.content.run.summary import summarize
    from fieldassay.scoring.inputs import ScoreOptions
    from fieldassay.scoring.score import score

    rules = (gates,) if isinstance(gates, str) else tuple(gates)
    options = ScoreOptions(gates=rules or (EVERYTHING_RIGHT,))
    if isinstance(gold, dict) and isinstance(pred, dict):
        gold, pred = {1: gold}, {"prediction": {1: pred}}
    result = score(gold, pred, spec, options)
    for decision in decide(result, rules):
        if decision.answer is not GateAnswer.GO:
            raise ExtractionError(render_failure(summarize(result), decision))
    return result


def decide(result: Result, gates: Sequence[str], baseline: Path | None = None) -> tuple[Decision, ...]:
    """Return the decision for each system by the spec's gates and these; without any, all must be right."""
    from fieldassay.decisions.gate import decide_result
    from fieldassay.metrics.catalogue.grammar import parse_gate

    try:
        more = [parse_gate(text) for text in gates]
    except ValueError as error:
        raise problem("gate", str(error), kind="invalid_expression") from None
    return decide_result(result, more, baseline) or decide_result(result, [parse_gate(EVERYTHING_RIGHT)])


def _found(path: str, place: Path) -> str | Path:
    """Return the path from the directory where pytest started; `module:Model` stays unchanged."""
    return path if ":" in path and not (place / path).exists() else place / path


def _named(texts: Sequence[str], place: Path) -> dict[str, Any]:
    return dict(_name(text, place) for text in texts)


def _name(text: str, place: Path) -> tuple[str, Path]:
    from fieldassay.scoring.inputs import system_name

    name, equals, path = text.partition("=")
    if equals and name.strip() and not (place / text).exists():
        return name.strip(), place / path
    return system_name(text), place / text
