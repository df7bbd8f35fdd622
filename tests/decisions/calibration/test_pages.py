"""Pages of calibration: whole at every width, plain in ASCII, safe with hostile names."""

import json
import unicodedata

import numpy as np
import pytest
from msgspec.structs import replace
from tests.decisions.calibration.confidence_runs import bills, score_rows

from fieldassay.decisions.calibration.certificate import Guarantee, describe_guarantee
from fieldassay.decisions.calibration.observations import select, thin
from fieldassay.decisions.calibration.policy import (
    CalibrationOptions,
    CalibrationPage,
    calibrate,
)
from fieldassay.metrics.result.result import Result
from fieldassay.reports.content.calibration import render_calibration, render_plan
from fieldassay.reports.writers.page import Screen

pytestmark = pytest.mark.usefixtures("few_draws")


HOSTILE = "a\x1b[31m\u202e|<script>\n" + "x" * 5000


def page_of(wrong: int = 40, **options: object) -> CalibrationPage:
    return calibrate(bills(400, wrong), CalibrationOptions(guarantee=Guarantee(0.05), **options)).page  # type: ignore[arg-type]


@pytest.mark.parametrize("width", [40, 80, 200])
def test_pages_fit_the_screen(width: int) -> None:
    guarantee = Guarantee(0.05)
    found = calibrate(bills(400, 40), CalibrationOptions(guarantee=guarantee))
    texts = [
        render_calibration(found.page, Screen(width)),
        render_plan(guarantee, Screen(width)),
    ]
    assert all(len(line) <= width for text in texts for line in text.split("\n"))
    assert all("\x1b" not in text for text in texts)


def test_names_cannot_move_the_cursor() -> None:
    page = page_of()
    fields = tuple(replace(group, name=HOSTILE) for group in (page.pooled, page.pooled))
    named = replace(page, system=HOSTILE, run=HOSTILE, fields=fields, remarks=(HOSTILE,))
    named = replace(
        named,
        certificate=replace(page.certificate, fields=(HOSTILE,), threshold=None, reason=HOSTILE),
    )
    text = render_calibration(named, Screen(100))
    assert len(text) < 12_000
    assert {unicodedata.category(char) for char in text if char != "\n"}.isdisjoint({"Cc", "Cf", "Cs"})


@pytest.mark.parametrize("wrong", [0, 400])
def test_what_is_undefined_is_said_to_be(wrong: int) -> None:
    page = page_of(wrong)
    text = " ".join(render_calibration(page, Screen(100)).split())
    assert "undefined: all values are right, or all are wrong" in text
    assert json.loads(json.dumps(page.to_dict(), allow_nan=False))["pooled"]["calibration"]["auroc"] is None


def test_a_field_without_confidences_has_a_line_without_numbers() -> None:
    gold = [{"id": f"d{number}", "a": "x", "b": "y"} for number in range(30)]
    pred = [{**row, "confidence": {"a": 0.9}} for row in gold]
    page = calibrate(
        score_rows(gold, pred, "{fieldassay: 1, data: {id_key: id}, fields: {a: text, b: text}}")
    ).page
    assert [group.census.without_confidence for group in page.fields] == [0, 30]
    assert page.fields[1].calibration is None
    assert "30 predicted values have no confidence" in render_calibration(page, Screen(200))


def test_curves_are_thinned_evenly_with_both_ends() -> None:
    points = select(np.linspace(0, 1, 5000), np.ones(5000, bool)).points
    assert (len(points), points[0].threshold, points[-1].coverage) == (1000, 1.0, 1.0)
    few = thin(points, 200)
    assert (len(few), few[0], few[-1]) == (200, points[0], points[-1])


def test_a_guarantee_says_its_numbers_and_how_it_counts() -> None:
    words = describe_guarantee(Guarantee(0.005, 0.9))
    assert (
        "errs in at most 10% of cases" in words
        and "at most 0.5%" in words
        and "in a document, take the share" in words
    )


def four_values(n: int, seed: int, *, is_useless: bool = False, is_upside_down: bool = False) -> Result:
    """Return a run of four fields, 7% wrong, whose confidences are calibrated, random or reversed."""
    generator, names = np.random.default_rng(seed), "abcd"
    confidence = generator.beta(8, 0.6, (n, 4))
    is_wrong = generator.random((n, 4)) >= (np.full((n, 4), 0.93) if is_useless else confidence)
    if is_upside_down:
        confidence = 1.0 - confidence
    gold = [{"id": f"d{at}", **dict.fromkeys(names, 1)} for at in range(n)]
    pred = [
        {
            "id": f"d{at}",
            **{name: 1 + int(is_wrong[at, place]) for place, name in enumerate(names)},
            "confidence": {name: float(confidence[at, place]) for place, name in enumerate(names)},
        }
        for at in range(n)
    ]
    fields = ", ".join(f"{name}: number" for name in names)
    return score_rows(gold, pred, f"{{fieldassay: 1, data: {{id_key: id}}, fields: {{{fields}}}}}")


def shown(page: CalibrationPage) -> str:
    return " ".join(render_calibration(page, Screen(100)).split())


def test_300_documents_have_a_certificate() -> None:
    page = calibrate(four_values(300, 1)).page
    assert page.certificate.threshold is not None and page.certificate.interval is not None
    assert "at most 2% are wrong, averaged over documents" in shown(page)


def test_useless_and_upside_down_confidences_are_called_so() -> None:
    useless = shown(calibrate(four_values(300, 2, is_useless=True)).page)
    assert "these confidences do not tell right from wrong (AUROC" in useless
    assert "get other confidences, or review all; more labels will not help" in useless
    reversed_ = shown(calibrate(four_values(300, 2, is_upside_down=True)).page)
    assert "these confidences are upside down: wrong values have HIGHER confidence" in reversed_
    assert "fields whose wrong values have HIGHER confidence than right ones: a (AUROC 0." in reversed_


def test_useless_confidences_do_no_harm_where_everything_keeps_the_guarantee() -> None:
    page = calibrate(four_values(300, 2, is_useless=True), CalibrationOptions(guarantee=Guarantee(0.08))).page
    value = page.certificate
    assert value.threshold is not None or "will not help" not in value.reason
