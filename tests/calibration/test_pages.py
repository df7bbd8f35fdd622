"""Pages of calibration: whole at every width, plain in ASCII, safe with hostile names."""

from __future__ import annotations

import json
import unicodedata
from datetime import UTC, datetime

import pytest
from calibration.confidence_runs import bills, score_rows
from msgspec.structs import replace

from fieldassay.calibration.calibrate import CalibrationOptions, apply_policy, calibrate
from fieldassay.calibration.measure import select
from fieldassay.calibration.planning import plan_labels
from fieldassay.calibration.policy import describe_promise
from fieldassay.calibration.result import CalibrationPage, Promise, Unit, thin
from fieldassay.reports.calibration import render_calibration, render_check, render_plan
from fieldassay.reports.page import Screen

HOSTILE = "a\x1b[31m\u202e|<script>\n" + "x" * 5000


def page_of(wrong: int = 40, **options: object) -> CalibrationPage:
    return calibrate(bills(400, wrong), CalibrationOptions(promise=Promise(0.05), **options)).page  # type: ignore[arg-type]


@pytest.mark.parametrize("width", [40, 80, 200])
def test_pages_fit_the_screen(width: int) -> None:
    promise = Promise(0.05, by_field=True)
    found = calibrate(bills(400, 40), CalibrationOptions(promise=promise, slices=("kind",)))
    policy = found.make_policy(datetime(2026, 1, 1, tzinfo=UTC))
    checked = apply_policy(bills(400, 40, first=500), policy, "policy.json")
    texts = [
        render_calibration(found.page, describe_promise(promise), Screen(width)),
        render_check(checked, describe_promise(promise), Screen(width)),
        render_plan(plan_labels(promise, 3), describe_promise(promise, 3), Screen(width)),
    ]
    assert all(len(line) <= width for text in texts for line in text.split("\n"))
    assert all("\x1b" not in text for text in texts)


def test_ascii_screens_get_ascii() -> None:
    assert render_calibration(page_of(), "words", Screen(80, is_ascii=True)).isascii()


def test_names_cannot_move_the_cursor() -> None:
    page = page_of()
    fields = tuple(replace(group, name=HOSTILE) for group in (page.pooled, page.pooled))
    named = replace(
        page, system=HOSTILE, run=HOSTILE, fields=fields, slices={HOSTILE: fields}, remarks=(HOSTILE,)
    )
    named = replace(
        named,
        certificates=(replace(page.certificates[0], fields=(HOSTILE,), threshold=None, reason=HOSTILE),),
    )
    text = render_calibration(named, "words", Screen(100))
    assert len(text) < 12_000
    assert {unicodedata.category(char) for char in text if char != "\n"}.isdisjoint({"Cc", "Cf", "Cs"})


@pytest.mark.parametrize("wrong", [0, 400])
def test_what_is_undefined_is_said_to_be(wrong: int) -> None:
    page = page_of(wrong)
    text = " ".join(render_calibration(page, "words", Screen(100)).split())
    assert "undefined: all values are right, or all are wrong" in text
    assert json.loads(json.dumps(page.to_dict(), allow_nan=False))["pooled"]["calibration"]["auroc"] is None


def test_a_field_without_confidences_has_a_line_without_numbers() -> None:
    gold = [{"id": f"d{number}", "a": "x", "b": "y"} for number in range(30)]
    pred = [{**row, "confidence": {"a": 0.9}} for row in gold]
    page = calibrate(score_rows(gold, pred, "{fieldassay: 1, id: id, fields: {a: text, b: text}}")).page
    assert [group.census.without_confidence for group in page.fields] == [0, 30]
    assert page.fields[1].calibration is None
    assert "30 predicted values have no confidence" in render_calibration(page, "words", Screen(200))


def test_curves_are_thinned_evenly_with_both_ends() -> None:
    import numpy as np

    confidence = np.linspace(0, 1, 5000)
    points = select(confidence, np.ones(5000, bool)).points
    assert (len(points), points[0].threshold, points[-1].coverage) == (1000, 1.0, 1.0)
    few = thin(points, 200)
    assert (len(few), few[0], few[-1]) == (200, points[0], points[-1])


@pytest.mark.parametrize("unit", list(Unit))
@pytest.mark.parametrize("by_field", [True, False])
def test_a_promise_says_its_numbers_and_its_unit(unit: Unit, by_field: bool) -> None:
    words = describe_promise(Promise(0.005, 0.9, unit, by_field), 3)
    assert "90% confidence" in words and "at most 0.5%" in words
    assert ("every document counted once" in words) == (unit is Unit.DOCUMENT)
    assert ("for all fields at once" in words) == by_field
