"""The page of confidences: the numbers and the promise of `calibrate`, and only where there are confidences."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.reports.html.opened_report import Pages
from tests.reports.html.unpacked_rows import read_blocks

import fieldassay as fa
from fieldassay import score
from fieldassay.decisions.calibration.calibrate import CalibrationOptions, calibrate
from fieldassay.decisions.calibration.policy import describe_promise
from fieldassay.decisions.calibration.sentences import describe_promises
from fieldassay.metrics.result.result import Result
from fieldassay.scoring.inputs.options import ScoreOptions

DOCUMENTS = 400
GOLD = [{"id": str(at), "total": at} for at in range(DOCUMENTS)]

pytestmark = pytest.mark.usefixtures("few_draws")


def _predict(wrong_from: int) -> list[dict[str, Any]]:
    return [
        {"id": str(at), "total": at + (at >= wrong_from), "confidence": 1 - at / 1000}
        for at in range(DOCUMENTS)
    ]


@pytest.fixture(scope="module")
def result() -> Result:
    predictions = {"sure": _predict(380), "wild": _predict(0)}
    return score(GOLD, predictions, "fields: {total: number}", ScoreOptions(replicates=0))


def test_the_page_has_the_numbers_and_the_promise_of_calibrate(result: Result) -> None:
    shown = {one["system"]: one for one in read_blocks(fa.report(result))["confidences"]}
    for system, one in shown.items():
        page = calibrate(result, CalibrationOptions(system=system)).page
        assert one["threshold"] == page.certificates[0].threshold
        assert page.pooled.calibration is not None
        assert [row[2] for row in one["bins"]] == [bin_.n for bin_ in page.pooled.calibration.bins]
        assert one["promise"] == describe_promise(page.promise)
        assert one["sentences"] == describe_promises(page.promises, page.promise)
    assert shown["sure"]["threshold"] is not None
    assert shown["sure"]["sentences"][0].startswith(
        "after review: of 100 values in the output at most 2 are wrong"
    )
    assert any("accepted documents: not certified" in sentence for sentence in shown["wild"]["sentences"])


def test_the_page_never_says_that_labels_do_not_help_where_they_do() -> None:
    # 180 documents certify nothing of accepted values here, 900 of the same kind do
    generator = np.random.default_rng(3)
    confidence = generator.beta(8, 0.6, (900, 4))
    right = generator.random((900, 4)) < confidence
    said = []
    for n in (180, 900):
        gold = [{"id": str(at), **dict.fromkeys("abcd", 1)} for at in range(n)]
        pred = [
            {
                "id": str(at),
                **{name: 2 - int(right[at, place]) for place, name in enumerate("abcd")},
                "confidence": {name: confidence[at, place] for place, name in enumerate("abcd")},
            }
            for at in range(n)
        ]
        run = score(gold, pred, "fields: {a: number, b: number, c: number, d: number}")
        [one] = read_blocks(fa.report(run))["confidences"]
        assert "labels do not help" not in " ".join(one["sentences"])
        assert "labels will not help" not in " ".join(one["sentences"])
        said.append(one["threshold"] is not None)
    assert said == [False, True]


@pytest.fixture(scope="module")
def page(result: Result, tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("confidences") / "report.html"
    file.write_text(fa.report(result), encoding="utf-8")
    return file


FULL = [
    pytest.param(*case, marks=pytest.mark.full) for case in ((1280, "dark"), (390, "light"), (390, "dark"))
]


@pytest.mark.parametrize(("width", "theme"), [(1280, "light"), *FULL])
def test_both_charts_are_drawn_and_axe_finds_nothing(
    pages: Pages, page: Path, width: int, theme: str
) -> None:
    report = pages(page, width, theme)
    report.show("confidence")
    for chart in ("risk", "reliability"):
        report.page.locator(f'[data-chart="{chart}"] .plot svg path').first.wait_for(state="attached")
    assert "`" not in report.text("#confidence")
    assert report.page.locator("#confidence .lead code", has_text="--proven").count() == 1
    assert report.check_access() == []
    assert report.overflow() <= 0
    assert report.complaints == []


def test_a_run_without_confidences_has_no_such_page() -> None:
    page = fa.report(score(GOLD, GOLD, "fields: {total: number}", ScoreOptions(replicates=0)))
    assert 'data-tab="confidence"' not in page
