"""Gates in the report of a run: each that applies has a row, and those that do not are told by reason."""

from __future__ import annotations

from html import unescape

import pytest

from fieldassay.metrics.catalogue.grammar import parse_gate
from fieldassay.metrics.result.decision import Decision, GateOutcome, Verdict
from fieldassay.reports.content.run.gates import add_gates, gates_markdown
from fieldassay.reports.writers.page import Page, Screen

LEVELS = {"easy": Verdict.PASS, "medium": Verdict.SKIPPED, "hard": Verdict.SKIPPED}
GATES = [
    (f"{metric}{{difficulty={level}}} >= 0.9 if present", level)
    for level in LEVELS
    for metric in ("accuracy", "f1")
][:5]


def decision(system: str, *texts: tuple[str, str]) -> Decision:
    outcomes = [
        GateOutcome(
            parse_gate(text),
            LEVELS[level],
            "1 >= 0.9" if level == "easy" else f"does not apply: no document has difficulty={level}",
        )
        for text, level in texts
    ]
    return Decision(system, tuple(outcomes))


@pytest.mark.parametrize(
    "systems",
    [("a",), ("a", "b"), tuple("abcdef")],
    ids=["one system", "two", "more than stand side by side"],
)
@pytest.mark.parametrize("shape", ["terminal", "markdown"])
def test_skipped_gates_are_told_once_per_reason_and_have_no_row(shape: str, systems: tuple[str, ...]) -> None:
    decisions = [decision(system, *GATES) for system in systems]
    page = Page(Screen(width=100))
    add_gates(page, decisions)
    text = (
        page.text()
        if shape == "terminal"
        else unescape("\n".join(gates_markdown(decisions)).replace("\\", ""))
    )
    assert text.count("difficulty=easy") == 2
    assert text.count("SKIPPED: 2 gates: no document has difficulty=medium") == 1
    assert text.count("SKIPPED: f1{difficulty=hard}") == 0
    assert (
        text.count("SKIPPED: accuracy{difficulty=hard} >= 0.9 if present: no document has difficulty=hard")
        == 1
    )
    assert text.count("SKIPPED") == 2


def test_a_run_to_which_no_gate_applies_has_no_table() -> None:
    assert gates_markdown([decision("a", *GATES[2:4])])[1].startswith("- SKIPPED: 2 gates")
