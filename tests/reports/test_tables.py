"""Tables of the terminal: whatever is in them, all of it is shown, and names are whole."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from fieldassay.reports.writers.page import Column, Extent, Page, Screen, fit

WIDTHS = (40, 60, 80, 100, 140)
PATH = "supplier.address.street_and_number_line"
ROWS = {
    "long path": ["path", [PATH, "Elm St. 5", "Elm St 5", "only white space or punctuation differs"]],
    "long id": ["id", ["test_receipt_00029", "x" * 90, "y z " * 30, "the value belongs to another item"]],
    "wide characters": ["id", ["漢字" * 12, "東京都千代田区" * 9, "é" * 50, "months and days are exchanged"]],
    "lines": ["id", ["a_b", "first\nsecond line of it", "", "the value is cut short"]],
    "longer than the page": ["path", ["lines[3]." + "nested." * 40, "1", "2", "different"]],
}


def _page(rows: list[list[str]], columns: list[Column], width: int, *, is_ascii: bool = False) -> str:
    page = Page(Screen(width, is_ascii=is_ascii))
    page.table(columns, rows)
    return page.text()


def _columns(first: str, count: int = 4) -> list[Column]:
    return [Column(first, is_name=True), *(Column(f"c{at}") for at in range(1, count))]


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("case", ROWS.values(), ids=list(ROWS))
def test_every_character_of_every_cell_is_shown(case: list, width: int) -> None:
    first, row = case
    said = _page([row], _columns(first), width)
    wanted = Counter("".join("".join(cell.split()) for cell in row))
    assert not wanted - Counter(said), said
    assert max(map(cell_len, said.splitlines())) <= width


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", [PATH, "test_receipt_00029", "x" * 38, "漢字" * 9], ids=len)
def test_a_name_that_fits_alone_is_never_broken(name: str, width: int) -> None:
    row = [name, "one value " * 9, "w" * 70, "only white space or punctuation differs"]
    assert name in _page([row], _columns("path"), width)


_CHARACTERS = st.characters(codec="utf-8", exclude_categories=["C", "Z", "M"]) | st.just(" ")
_ROW = st.lists(st.text(_CHARACTERS, max_size=120), min_size=5, max_size=5)


@given(rows=st.lists(_ROW, min_size=1, max_size=4), width=st.integers(40, 150))
def test_no_text_is_lost_at_any_width(rows: list[list[str]], width: int) -> None:
    said = _page(rows, _columns("id", 5), width)
    wanted = Counter("".join("".join(cell.split()) for row in rows for cell in row))
    assert not wanted - Counter(said)
    assert max(map(cell_len, said.splitlines())) <= width


@given(
    st.lists(
        st.builds(Extent, st.integers(0, 200), st.integers(0, 60), st.booleans()), min_size=1, max_size=9
    ),
    st.integers(1, 200),
)
def test_widths_fill_the_room_and_no_more(extents: list[Extent], room: int) -> None:
    widths = fit(extents, room)
    if widths is None:
        assert sum(one.least for one in extents) > room
        return
    assert sum(widths) <= room
    assert all(width >= one.least for width, one in zip(widths, extents, strict=True))
