"""The table of the words of dates and durations, which is written from Babel."""

from __future__ import annotations

import subprocess
import sys

from tests.values.types.record_date_words import PAGE, render_words

from fieldassay.values.types.dates.names import locale_data, names_of


def test_the_table_is_written_from_the_installed_babel() -> None:
    assert render_words() == PAGE.read_text(encoding="utf-8"), (
        "run python tests/values/types/record_date_words.py"
    )


def test_a_locale_reads_as_it_does_whichever_was_read_before() -> None:
    code = (
        "import sys\nfrom fieldassay.values.types.dates.dates import DateReader\n"
        "for one in sys.argv[1:]: print(DateReader(locale=one).read('3 août 2025').canonical)"
    )
    told = subprocess.run(
        [sys.executable, "-c", code, "root", "fr_CA", "fr"], capture_output=True, text=True, check=True
    )
    assert told.stdout.split() == ["2025-08-03"] * 3
    locale_data("root").months["stand-alone"]["abbreviated"]
    assert names_of(locale_data("fr")).phrases.keys().isdisjoint({"m"})
