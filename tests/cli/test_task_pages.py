"""The task pages of the command line show what really comes out."""

from __future__ import annotations

from pathlib import Path

import pytest
from docs.consoles import run_page

DOCS = Path(__file__).parents[2] / "docs"


@pytest.mark.parametrize("name", ["task-score", "task-spec", "task-explain"])
def test_page_shows_the_real_output_of_its_commands(name: str) -> None:
    text = (DOCS / f"{name}.md").read_text(encoding="utf-8")
    assert "```console" in text
    assert run_page(text) == text
