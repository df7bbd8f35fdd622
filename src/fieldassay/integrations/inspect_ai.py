"""A scorer of Inspect: the target of a sample is gold as JSON, the completion is the answer."""

from typing import Any

from inspect_ai.scorer import Score, Scorer, Target, mean, scorer, stderr
from inspect_ai.solver import TaskState
from msgspec.structs import asdict

from fieldassay.commands.judge import Judge


@scorer(metrics=[mean(), stderr()])
def extraction(record_spec: Any = None, gold: str | None = None) -> Scorer:
    """Return a scorer of answers against the target of their sample.

    `record_spec` is all that `fieldassay.Judge` takes as a spec. `gold` names the key of the sample's
    metadata that has gold as an object; without it the target is gold, as JSON text. The value is the score;
    `passed`, the scores of the fields and the wrong values are in the metadata. A sample in which nothing is
    to be judged is not scored. On the command line:
    `inspect score LOG --scorer fieldassay/extraction -S record_spec=spec.yaml`.
    """
    judge = Judge(record_spec)

    async def score(state: TaskState, target: Target) -> Score:
        judgement = judge(target.text if gold is None else state.metadata[gold], state.output.completion)
        return Score(
            value=float("nan") if judgement.score is None else judgement.score,
            answer=state.output.completion,
            explanation=judgement.explanation,
            metadata={
                "passed": judgement.passed,
                "fields": judgement.by_field(),
                "wrong": list(map(asdict, judgement.wrong)),
            },
        )

    return score
