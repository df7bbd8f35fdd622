"""Options of a field reach the comparators inside its comparator."""

from __future__ import annotations

import pytest

from fieldassay.errors import ProblemsError
from fieldassay.scoring.explain import explain_values
from fieldassay.spec.plan.compile import read_plan
from fieldassay.spec.plan.describe import describe

STEPS = {"cascade": {"steps": ["exact", "bare_number"]}}


@pytest.mark.parametrize(
    ("definition", "compared"),
    [
        ({"compare": STEPS, "tolerance": 0.5}, "cascade(steps=[exact, bare_number(tolerance=relative 0.5)])"),
        (
            {"compare": {"cascade": ["exact", "bare_number"]}, "tolerance": 0.5},
            "cascade(steps=[exact, bare_number(tolerance=relative 0.5)])",
        ),
        (
            {
                "compare": {"cascade": {"steps": ["exact", {"bare_number": {"tolerance": 0.1}}]}},
                "tolerance": 0.5,
            },
            None,
        ),
        (
            {"type": "list", "compare": {"by_position": {"items": STEPS}}, "tolerance": 0},
            "by_position(items=cascade(steps=[exact, bare_number(tolerance=relative 0)]))",
        ),
        ({"type": "list", "compare": {"by_position": {"items": "exact"}}, "tolerance": 0}, None),
        ({"compare": STEPS, "tolerence": 0.5}, None),
    ],
)
def test_an_option_goes_to_whoever_has_it_and_to_nobody_else(
    definition: dict[str, object], compared: str | None
) -> None:
    if compared is None:
        with pytest.raises(ProblemsError, match="no option"):
            read_plan({"fields": {"x": definition}})
    else:
        assert describe(read_plan({"fields": {"x": definition}}))[0]["compared"] == compared


def test_an_option_with_a_wrong_value_is_a_problem_of_the_comparator() -> None:
    with pytest.raises(ProblemsError, match="tolerance"):
        read_plan({"fields": {"x": {"compare": STEPS, "tolerance": "much"}}})


def test_the_option_counts() -> None:
    values = [
        explain_values("100", "105", {"compare": STEPS, "tolerance": tolerance})[0].score
        for tolerance in (0.04, 0.05)
    ]
    assert values == [0.0, 1.0]
