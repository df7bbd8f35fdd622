"""A Python assertion of promptfoo: a variable of the test is gold."""

from functools import lru_cache
from typing import Any

from fieldassay.commands.judge import Judge
from fieldassay.errors import problem

_judge_of = lru_cache(maxsize=32)(Judge)


def get_assert(output: Any, context: dict[str, Any]) -> dict[str, Any]:
    """Return the grade of an output: `pass`, `score`, `reason`, and `namedScores` by field.

    The `config` of the assertion has `spec`, a path or a text, `gold`, the name of the variable with the gold
    record (default `gold`; an object, or JSON text), and `threshold`: the output passes with that score.
    Without a threshold it passes if all critical values are right.

    >>> config = {"spec": "fields: {total: money, paid: boolean}"}
    >>> context = {"vars": {"gold": {"total": "5.50", "paid": True}}, "config": config}
    >>> grade = get_assert('{"total": 5.5}', context)
    >>> grade["pass"], grade["score"], grade["namedScores"]
    (False, 0.5, {'total': 1.0, 'paid': 0.0})
    """
    config = context.get("config") or {}
    name = config.get("gold", "gold")
    gold = context.get("vars", {}).get(name)
    if gold is None:
        variables = ", ".join(context.get("vars", {})) or "none"
        raise problem(
            "the assertion of promptfoo",
            f"no variable {name!r} has gold (variables: {variables})",
            f"write {name} among the vars of the test, or the name of another as gold in its config",
        )
    judgement = _judge_of(config.get("spec"))(gold, output)
    score = 1.0 if judgement.score is None else judgement.score
    threshold = config.get("threshold")
    has_passed = judgement.score is None or judgement.passed
    return {
        "pass": has_passed if threshold is None else score >= threshold,
        "score": score,
        "reason": judgement.explanation,
        "namedScores": judgement.by_field(),
    }
