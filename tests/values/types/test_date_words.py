"""The table of the words of dates and durations, which is written from Babel."""

from __future__ import annotations

from tests.values.types.record_date_words import PAGE, render_words


def test_the_table_is_written_from_the_installed_babel() -> None:
    assert render_words() == PAGE.read_text(encoding="utf-8"), (
        "run python tests/values/types/record_date_words.py"
    )
