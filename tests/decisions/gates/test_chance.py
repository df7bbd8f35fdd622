"""How often chance alone fails one of several gates, against what can be computed exactly."""

from __future__ import annotations

from math import comb, prod
from pathlib import Path

import pytest

from fieldassay import report, score
from fieldassay.decisions.gate import GateRequest, decide
from fieldassay.reports.content.run.gates import render_page_markdown

DOCUMENTS = 100
ERRORS = {"a": 6, "b": 7, "c": 9, "d": 3}
"""The documents in which each field is wrong; errors of fields fall in documents of their own."""


def save_run(folder: Path, documents: int = DOCUMENTS) -> Path:
    gold = [{"id": f"d{n}", "kind": "xy"[n % 2], **dict.fromkeys(ERRORS, n)} for n in range(documents)]
    pred = []
    for n in range(documents):
        wrong = {name: (n * 37 + 11 * at) % documents < ERRORS[name] for at, name in enumerate(ERRORS)}
        pred.append({"id": f"d{n}", **{name: n + wrong[name] for name in ERRORS}})
    spec = f"{{fields: {{{', '.join(f'{name}: number' for name in ERRORS)}}}, slices: [kind]}}"
    score(gold, {"llama": pred}, spec).save(folder / "run")
    return folder / "run"


def remarks(run: Path, *gates: str) -> list[str]:
    return [one.chance for one in decide(GateRequest((run,), gates)).decisions if one.chance]


def share_in(said: str) -> float:
    return float(said.split("fails in ")[1].split("%")[0]) / 100


def fails(errors: int, most: int) -> float:
    """Return the chance of more than `most` errors in another sample."""
    share = errors / DOCUMENTS
    return 1 - sum(comb(DOCUMENTS, k) * share**k * (1 - share) ** (DOCUMENTS - k) for k in range(most + 1))


def test_share_of_failing_samples_is_that_of_the_binomial(tmp_path: Path) -> None:
    [said] = remarks(save_run(tmp_path), *(f"field_accuracy[{name}] >= 0.895" for name in ERRORS))
    assert said.startswith("4 gates on values passed; by chance alone at least one of them fails in ")
    shown = share_in(said)
    assert shown == pytest.approx(1 - prod(1 - fails(one, 10) for one in ERRORS.values()), abs=0.06)


def test_gates_that_fail_in_the_same_samples_count_once(tmp_path: Path) -> None:
    run = save_run(tmp_path)
    [said] = remarks(run, "field_accuracy[c] >= 0.895", "field_accuracy[c] >= 0.89")
    shown = share_in(said)
    assert shown == pytest.approx(fails(9, 10), abs=0.05)


@pytest.mark.parametrize(
    ("documents", "gates"),
    [
        pytest.param(100, ["accuracy >= 0.9"], id="one gate"),
        pytest.param(100, ["lower(accuracy) >= 0.5", "accuracy >= 0.9"], id="a bound"),
        pytest.param(100, ["n(accuracy) >= 5", "accuracy >= 0.9"], id="a count"),
        pytest.param(100, ["accuracy >= 0.999", "accuracy >= 0.9"], id="one failed"),
        pytest.param(12, ["accuracy >= 0.1", "f1 >= 0.1"], id="few documents"),
    ],
)
def test_nothing_is_said_of_chance(documents: int, gates: list[str], tmp_path: Path) -> None:
    assert not remarks(save_run(tmp_path, documents), *gates)


def test_gates_in_slices_are_drawn_from_their_documents(tmp_path: Path) -> None:
    run = save_run(tmp_path)
    [said] = remarks(run, "accuracy{kind=x} >= 0.9", "accuracy{kind=y} >= 0.9")
    assert "2 gates on values passed" in said


def test_the_share_stands_beside_the_verdict_of_a_run_and_in_its_reports(tmp_path: Path) -> None:
    run = save_run(tmp_path)
    gates = [f"field_accuracy[{name}] >= 0.895" for name in ERRORS]
    page = decide(GateRequest((run,), tuple(gates)))
    [said] = [one.chance for one in page.decisions]
    assert f"chance: {said}" in render_page_markdown(page).replace("\\", "")
    assert page.to_dict()["decisions"][0]["chance"] == said


@pytest.mark.parametrize("shape", ["table", "markdown", "html"])
def test_the_share_stands_in_the_report_of_a_run_with_gates(tmp_path: Path, shape: str) -> None:
    gold = [{"id": f"d{n}", "a": n, "b": n} for n in range(50)]
    pred = [{**row, "a": row["a"] if n % 10 else "?"} for n, row in enumerate(gold)]
    gates = '["field_accuracy[a] >= 0.85", "field_accuracy[b] >= 0.85"]'
    score(gold, {"llama": pred}, f"{{fields: {{a: number, b: number}}, gates: {gates}}}").save(
        tmp_path / "run"
    )
    text = report(tmp_path / "run", shape)
    assert "2 gates on values passed; by chance alone at least one of them fails in" in " ".join(text.split())
