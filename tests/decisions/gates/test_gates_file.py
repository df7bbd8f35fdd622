"""Gates files, and the decision that ships with the package."""

from __future__ import annotations

from pathlib import Path

import pytest

from fieldassay.decisions.gates.gates_file import GateList, read_gates_file, read_preset
from fieldassay.errors import ProblemsError


def read(folder: Path, text: str) -> GateList:
    path = folder / "release.yaml"
    path.write_text(text, encoding="utf-8")
    return read_gates_file(path)


def test_the_clinical_decision_has_the_six_gates_of_its_protocol() -> None:
    decision = read_preset("clinical-decision")
    assert [str(rule.gate) for rule in decision.rules] == [
        "prescription_accuracy >= 85",
        "lab_accuracy >= 75",
        "pipeline_success_rate >= 90",
        "reliability_runs >= 5",
        "offline_runs >= 1",
        "proofs >= 2",
    ]
    assert decision.pooled == {"pipeline_success_rate"}
    assert all(rule.title for rule in decision.rules)


def test_gates_may_have_titles_and_a_file_a_name(tmp_path: Path) -> None:
    found = read(
        tmp_path,
        "gates: [accuracy >= 0.9, {gate: 'f1{type=a} > 0.5 if present', title: Invoices}]\npool: rate",
    )
    assert (found.name, [(str(rule.gate), rule.title) for rule in found.rules], found.pooled) == (
        "release",
        [("accuracy >= 0.9", ""), ("f1{type=a} > 0.5 if present", "Invoices")],
        {"rate"},
    )


def test_of_a_spec_its_gates_are_taken(tmp_path: Path) -> None:
    found = read(tmp_path, "fields: {a: text}\ngates: accuracy >= 0.9")
    assert [str(rule.gate) for rule in found.rules] == ["accuracy >= 0.9"]


WRONG = {
    "no gates": ("name: a", "no_gates"),
    "empty": ("gates: []", "no_gates"),
    "a mapping": ("gates: {a: b}", "wrong_kind"),
    "a list": ("- accuracy >= 0.9", "wrong_kind"),
    "unknown key": ("gate: accuracy >= 0.9", "unknown_key"),
    "unknown key of a gate": ("gates: [{gate: accuracy >= 0.9, titel: x}]", "unknown_key"),
    "no gate in it": ("gates: [{title: x}]", "missing_key"),
    "a number": ("gates: [3]", "wrong_kind"),
    "no threshold": ("gates: [accuracy]", "invalid_expression"),
    "never true": ("gates: [accuracy >= nan]", "invalid_expression"),
    "always true": ("gates: [accuracy >= -1e999]", "invalid_expression"),
    "two in one": ("gates: [accuracy >= 0.9 or f1 >= 0]", "invalid_expression"),
}


@pytest.mark.parametrize("case", WRONG)
def test_a_gates_file_that_is_wrong_is_refused(tmp_path: Path, case: str) -> None:
    text, kind = WRONG[case]
    with pytest.raises(ProblemsError) as caught:
        read(tmp_path, text)
    assert kind in [problem.kind for problem in caught.value.problems]
    assert all("release.yaml" in problem.where for problem in caught.value.problems)


def test_every_wrong_gate_is_reported_with_its_line(tmp_path: Path) -> None:
    with pytest.raises(ProblemsError) as caught:
        read(tmp_path, "gates:\n  - accuracy >= 0.9\n  - accuracy >=\n  - lowr(f1) > 1\n")
    assert [problem.where.split(":")[1] for problem in caught.value.problems] == ["3", "4"]
