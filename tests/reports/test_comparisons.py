"""What is said of differences between systems, in words."""

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, get_args

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from fieldassay.commands.cli.main import commands, main
from fieldassay.metrics.estimate import Estimate, format_p
from fieldassay.metrics.result.verdicts import Comparison, Outcome
from fieldassay.reports.wording import (
    describe_comparison,
    describe_estimate,
    describe_power,
)


def made(**changed: Any) -> Comparison:
    parts: dict[str, Any] = {
        "metric": "accuracy", "field": None, "slice": {}, "systems": ("llama", "qwen"), "values": (0.8, 0.861), "difference": 0.061,
        "interval": (0.02, 0.104), "level": 0.95, "p": 0.004, "p_adjusted": 0.0041, "effect_size": 0.3, "wins": 20, "losses": 9, "ties": 71,
        "documents": 100, "method": "halves", "verdict": "better", "interval_guarded": (0.01, 0.12),
    }  # fmt: skip
    return Comparison(**{**parts, **changed})


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        pytest.param(
            {},
            "qwen is better than llama by 6.1 points of accuracy (95% CI 2.0 to 10.4, p = .004)",
            id="better",
        ),
        pytest.param(
            {
                "difference": -0.061,
                "interval": (-0.104, -0.02),
                "interval_guarded": (-0.11, -0.01),
                "verdict": "worse",
            },
            "qwen is worse than llama by 6.1 points of accuracy (95% CI 2.0 to 10.4, p = .004)",
            id="worse",
        ),
        pytest.param(
            {
                "metric": "latency_mean",
                "difference": -120.0,
                "interval": (-180.0, -60.4),
                "interval_guarded": None,
                "unit": "ms",
                "better": "lower",
            },
            "qwen is better than llama by 0.12 s of latency_mean on documents like these (95% CI 0.060 to 0.18, p = .004)",
            id="better where lower is",
        ),
        pytest.param(
            {"interval_guarded": (-0.012, 0.12)},
            "qwen is better than llama by 6.1 points of accuracy on documents like these (95% CI 2.0 to 10.4, p = .004)",
            id="better on documents like these",
        ),
        pytest.param(
            {
                "difference": -0.061,
                "interval": (-0.104, -0.02),
                "interval_guarded": (-0.12, 0.0),
                "verdict": "worse",
            },
            "qwen is worse than llama by 6.1 points of accuracy on documents like these (95% CI 2.0 to 10.4, p = .004)",
            id="worse on documents like these",
        ),
        pytest.param(
            {"interval": (-0.02, 0.14), "verdict": "no_difference_shown", "p_adjusted": 0.148},
            "no clear difference between llama and qwen in accuracy (+6.1 points, 95% CI −2.0 to 14.0, p = .15, n = 100)",
            id="nothing shown",
        ),
        pytest.param(
            {"slice": {"type": "invoice"}, "interval": None},
            "qwen is better than llama by 6.1 points of accuracy where type is invoice (p = .004, n = 100)",
            id="slice, no interval",
        ),
        pytest.param(
            {
                "verdict": "identical",
                "difference": 0.0,
                "interval": (0.0, 0.0),
                "interval_guarded": (-0.03, 0.03),
            },
            "qwen and llama are identical in accuracy in these 100 documents (95% CI −3.0 to 3.0)",
            id="identical",
        ),
        pytest.param(
            {
                "difference": -0.01,
                "interval": (-0.04, 0.0),
                "interval_guarded": (-0.06, 0.03),
                "verdict": "no_difference_shown",
                "p_adjusted": 0.148,
            },
            "no clear difference between llama and qwen in accuracy (−1.0 points, 95% CI −6.0 to 3.0, p = .15, n = 100)",
            id="nothing shown, and halves without a difference",
        ),
        pytest.param(
            {"verdict": "undefined", "values": (0.5, None), "difference": None},
            "qwen and llama cannot be compared in accuracy: it is undefined for qwen",
            id="undefined",
        ),
        pytest.param(
            {"field": "total", "marks": ("few_documents",)},
            "qwen is better than llama by 6.1 points of accuracy of total (95% CI 2.0 to 10.4, few documents, p = .004)",
            id="field, few documents",
        ),
        pytest.param(
            {"metric": "score_100", "unit": "percent", "difference": 6.1, "interval": (2.0, 10.4)},
            "qwen is better than llama by 6.1 points of score_100 (95% CI 2.0 to 10.4, p = .004)",
            id="percent",
        ),
    ],
)
def test_every_verdict_is_a_sentence(changed: dict[str, Any], said: str) -> None:
    assert describe_comparison(made(**changed)) == said


@given(st.sampled_from(get_args(Outcome)), st.floats(-1, 1), st.floats(0, 1))
def test_no_system_is_better_without_a_verdict(verdict: Any, difference: float, p: float) -> None:
    sentence = describe_comparison(made(verdict=verdict, difference=difference, p_adjusted=p))
    assert ("better" in sentence or "worse" in sentence) == (verdict in ("better", "worse"))
    assert not ("better" in sentence or "worse" in sentence) or "95% CI" in sentence


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        pytest.param(
            {}, "100 documents are likely to show only differences above about 5.0 points", id="large enough"
        ),
        pytest.param(
            {"difference": 0.025, "documents_needed": 391},
            "100 documents are likely to show only differences above about 5.0 points. To show 2.5 points you need about "
            "400 documents",
            id="small",
        ),
        pytest.param(
            {"detectable": None, "wins": 3, "losses": 0, "documents": 3},
            "3 documents are too few to show a difference: at least 5 must change the same way",
            id="fewer documents than must change",
        ),
        pytest.param(
            {"detectable": None, "wins": 2, "losses": 1, "documents": 40},
            "a difference shows if about 17% of the documents or more change the same way",
            id="few differ",
        ),
        pytest.param({"interval": None, "detectable": None}, "", id="no interval"),
        pytest.param({"verdict": "better"}, "", id="a difference was shown"),
    ],
)
def test_the_detectable_difference_is_said_where_none_was_shown(changed: dict[str, Any], said: str) -> None:
    assert describe_power(made(**{"verdict": "no_difference_shown", "detectable": 0.05, **changed})) == said


ONE = Estimate(
    "accuracy", "a", None, {}, "filled", 0.9, 120, 40, 0, "leaf", interval=(0.85, 0.94), level=0.95
)


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({}, "90.0% (95% CI 85.0 to 94.0)"),
        ({"interval": None}, "90.0% (n = 120)"),
        ({"value": None, "n": 0}, "undefined (n = 0)"),
        (
            {"documents": 7, "marks": ("few_documents",)},
            "90.0% (95% CI 85.0 to 94.0; only 7 documents, so the interval may be too narrow)",
        ),
        ({"value": 1234.0, "unit": "ms", "interval": (1000.0, 1500.0)}, "1.2 s (95% CI 1.0 to 1.5)"),
        ({"value": 90.0, "unit": "percent", "interval": (85.0, 94.0)}, "90.0% (95% CI 85.0 to 94.0)"),
    ],
)
def test_a_value_comes_with_what_it_stands_on(changes: dict[str, Any], text: str) -> None:
    assert describe_estimate(replace(ONE, **changes)) == text


@pytest.mark.parametrize("p", [0.05, 0.0501, 0.04999, 0.0005, 0.001, 0.0995, 0.9949, 1.0, 1e-300])
def test_a_printed_p_value_is_on_the_side_of_the_level_that_the_decision_is(p: float) -> None:
    shown = format_p(p)
    assert (float(shown.split()[-1]) <= 0.05) == (p <= 0.05)
    assert shown != "p = .000"


def write(folder: Path, systems: Sequence[str]) -> list[str]:
    gold = [{"id": f"d{at}", "total": at} for at in range(40)]
    (folder / "gold.jsonl").write_text("\n".join(map(json.dumps, gold)))
    (folder / "spec.yaml").write_text("fields: {total: number}")
    given = ["score", "--spec", str(folder / "spec.yaml"), "--gold", str(folder / "gold.jsonl")]
    for number, name in enumerate(systems):
        rows = [{**row, "total": int(row["total"]) + (at % (2 + number) == 0)} for at, row in enumerate(gold)]
        (folder / f"{name}.jsonl").write_text("\n".join(map(json.dumps, rows)))
        given += ["--pred", f"{name}={folder / f'{name}.jsonl'}"]
    return given


def test_the_report_says_what_is_better(tmp_path: Path) -> None:
    given = write(tmp_path, ["a", "b", "c"])
    found = CliRunner().invoke(
        commands, [*given, "--out", str(tmp_path / "run"), "--reference", "c", "--verbose"]
    )
    assert found.exit_code == 0, found.output
    text = " ".join(found.output.replace("\\", "").split())
    assert "Differences between systems" in text
    assert re.search(
        r"c is better than a by 25.0 points of accuracy \(95% CI [0-9.]+ to [0-9.]+, p = \.0\d+\)", text
    )
    assert "no clear difference between c and b in accuracy" in text
    written = json.loads((tmp_path / "run" / "comparisons.json").read_text())
    assert [one["systems"] for one in written["comparisons"]] == [
        ["c", "a"],
        ["c", "b"],
        ["c", "a"],
        ["c", "b"],
    ]


def test_without_replicates_there_is_still_a_p_value(tmp_path: Path) -> None:
    found = CliRunner().invoke(commands, [*write(tmp_path, ["a", "b"]), "--bootstrap", "0", "--verbose"])
    assert re.search(r"\(\+?[0-9.]+ points, p = \.\d+, n = 40\)", " ".join(found.output.split()))


def test_an_unknown_reference_ends_with_2(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*write(tmp_path, ["a", "b"]), "--reference", "B"]) == 2
    assert "did you mean 'b'?" in capsys.readouterr().err
