"""What is an observation, what is only counted, and what is refused."""

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from tests.decisions.calibration.confidence_runs import SPEC, bills, score_rows

from fieldassay import score
from fieldassay.decisions.calibration.certificate import Guarantee
from fieldassay.decisions.calibration.observations import read_observations
from fieldassay.decisions.calibration.policy import CalibrationOptions, calibrate
from fieldassay.errors import ProblemsError
from fieldassay.metrics.result.result import Result
from fieldassay.scoring.inputs import ScoreOptions

GOLD = [
    {"id": "a", "total": 5, "name": "Ada", "tags": ["x", "y"]},
    {"id": "b", "total": 6, "name": None, "tags": []},
    {"id": "c", "total": 7, "name": "Cy", "tags": ["z"]},
]
PRED = [
    {
        "id": "a",
        "total": 5,
        "name": "Eve",
        "tags": ["x"],
        "confidence": {"total": 0.9, "name": 0.8, "tags": [0.7]},
    },
    {"id": "b", "total": 6, "name": "Bo", "confidence": {"name": 0.4}},
    {"id": "c", "confidence": {"total": 0.6}},
]


def test_predicted_values_with_a_confidence_are_observations_and_the_rest_is_counted() -> None:
    found = calibrate(score_rows(GOLD, PRED))
    census = found.page.pooled.census
    # observed: a.total, a.name (wrong), a.tags[0], b.name (spurious: wrong); b.total has no confidence;
    # omitted: a.tags[1], c.total, c.name, c.tags[0]
    assert (census.observed, census.wrong, census.without_confidence, census.omitted, census.documents) == (
        4,
        2,
        1,
        4,
        2,
    )
    assert sorted(found.observations.confidence.tolist()) == [0.4, 0.7, 0.8, 0.9]


def refused(run: Result, guarantee: tuple[float, ...] = (), **options: Any) -> str:
    with pytest.raises(ProblemsError) as caught:
        calibrate(run, CalibrationOptions(guarantee=Guarantee(*guarantee), **options))
    [problem] = caught.value.problems
    assert problem.remedy
    return problem.kind


def confident(value: Any) -> Result:
    return score_rows(GOLD[:1], [{**PRED[0], "confidence": {"total": value, "name": 0.5}}])


@pytest.mark.parametrize("value", [1.2, -0.1, 95, 101, 1e300, -1e-9], ids=str)
def test_what_is_no_probability_is_refused(value: float) -> None:
    assert refused(confident(value)) == "bad_confidence"


@pytest.mark.parametrize("value", [float("nan"), float("inf"), "high", None, True, ""], ids=str)
def test_what_is_no_finite_number_never_becomes_one(value: Any) -> None:
    try:
        found = calibrate(confident(value))
    except ProblemsError as error:
        assert [problem.kind for problem in error.problems] == ["bad_confidence"]
    else:
        assert found.observations.confidence.tolist() == [0.5]
        assert found.page.pooled.census.without_confidence == 2


SCALES = [
    ("percent", [90, 40], [0.9, 0.4]),
    ("logprob", [-0.5, 0.0], [np.exp(-0.5), 1.0]),
    ("probability", [0.9, 0.4], [0.9, 0.4]),
]


@pytest.mark.parametrize(("scale", "given_values", "read"), SCALES, ids=[scale for scale, _, _ in SCALES])
def test_scales_are_taken_as_they_are_said(scale: str, given_values: list[float], read: list[float]) -> None:
    pred = [{**PRED[0], "confidence": {"total": given_values[0], "name": given_values[1]}}]
    found = calibrate(score_rows(GOLD[:1], pred), CalibrationOptions(scale=scale))
    assert sorted(found.observations.confidence.tolist()) == pytest.approx(sorted(read))


@pytest.mark.parametrize(
    ("value", "scale", "hint"),
    [(95.0, "probability", "percent"), (-0.5, "probability", "logprob"), (0.5, "logprob", "--scale")],
)
def test_a_refusal_says_which_scale_would_fit(value: float, scale: str, hint: str) -> None:
    run = score_rows(GOLD[:1], [{**PRED[0], "confidence": {"total": value}}])
    with pytest.raises(ProblemsError, match=hint):
        calibrate(run, CalibrationOptions(scale=scale))


REFUSED = {
    "errors only": (lambda: score_rows(GOLD, PRED, evidence="errors"), {}, "missing_part"),
    "no evidence": (lambda: score_rows(GOLD, PRED, evidence="none"), {}, "missing_part"),
    "no confidence": (lambda: score_rows(GOLD, [{"id": "a", "total": 5}]), {}, "no_confidence"),
    "another system": (lambda: score_rows(GOLD, PRED), {"system": "lama"}, "unknown_name"),
    "another field": (lambda: score_rows(GOLD, PRED), {"fields": ("totl",)}, "unknown_name"),
    "no risk": (lambda: score_rows(GOLD, PRED), {"guarantee": (0.0,)}, "out_of_range"),
    "nan risk": (lambda: score_rows(GOLD, PRED), {"guarantee": (float("nan"),)}, "out_of_range"),
    "percent for confidence": (
        lambda: score_rows(GOLD, PRED),
        {"guarantee": (0.01, 95)},
        "out_of_range",
    ),
    "another scale": (lambda: score_rows(GOLD, PRED), {"scale": "odds"}, "unknown_name"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_calibrated_is_refused_with_a_remedy(case: str) -> None:
    make, options, kind = REFUSED[case]
    assert refused(make(), **options) == kind


@pytest.mark.parametrize("is_saved", [False, True], ids=["result", "saved run"])
def test_repeated_runs_are_never_taken_for_more_documents(is_saved: bool, tmp_path: Path) -> None:
    gold = [{"id": f"d{n}", "total": 5} for n in range(30)]
    once = [{"id": f"d{n}", "total": 5 + (n > 27), "confidence": 0.99 - n / 100} for n in range(30)]
    system = {"llama": [once, once, once], "qwen": once}
    run: Any = score(gold, system, SPEC, ScoreOptions(evidence="all"), bootstrap=0)
    if is_saved:
        run.save(tmp_path / "run")
        run = tmp_path / "run"
    with pytest.raises(ProblemsError, match="'llama' has 3 repeated runs") as caught:
        calibrate(run, CalibrationOptions("llama"))
    assert [one.kind for one in caught.value.problems] == ["repeated_runs"]
    assert calibrate(run, CalibrationOptions("qwen")).observations.count_documents() == 30


def test_several_systems_must_be_told_apart() -> None:
    run = bills(30, 3)
    evidence = pl.concat([run.evidence, run.evidence.with_columns(system=pl.lit("qwen"))])
    documents = pl.concat([run.documents, run.documents.with_columns(system=pl.lit("qwen"))])
    both = replace(run, evidence_table=lambda: evidence, documents_table=lambda: documents)
    assert refused(both) == "missing_option"
    assert calibrate(both, CalibrationOptions("qwen")).page.system == "qwen"


@given(st.permutations(range(12)))
def test_the_digest_does_not_depend_on_the_order_of_rows(order: list[int]) -> None:
    rows = pl.DataFrame(
        {
            "doc": [f"d{number // 4}" for number in range(12)],
            "field": ["f"] * 12,
            "pred_path": [f"f[{number}]" for number in range(12)],
            "outcome": ["match", "mismatch"] * 6,
            "confidence": [number / 12 for number in range(12)],
        }
    )
    first, second = (read_observations(table, "probability", "run") for table in (rows, rows[order]))
    assert first.digest() == second.digest()


@pytest.mark.parametrize("confidence", [0.75, 0.95], ids=["calibrated", "too sure"])
def test_the_calibration_error_tells_a_calibrated_system_from_one_that_is_too_sure(confidence: float) -> None:
    gold = [{"id": f"d{number}", "total": 5} for number in range(200)]
    pred = [
        {"id": f"d{number}", "total": 5 + (number % 4 == 0), "confidence": confidence}
        for number in range(200)
    ]
    found = calibrate(
        score_rows(gold, pred, "{fieldassay: 1, data: {id_key: id}, fields: {total: money}}")
    ).page.pooled.calibration
    assert (found.accuracy, found.ece) == (0.75, pytest.approx(abs(confidence - 0.75)))
