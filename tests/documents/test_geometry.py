"""Boxes: rounding of many numbers at once, and turns."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fieldassay.documents.layout.geometry import round_all, turn
from fieldassay.documents.transcript import Box

HALVES = [at / 200 for at in range(-2001, 200_001, 2)]
NUMBERS = {
    "halves": HALVES,
    "next above halves": np.nextafter(HALVES, np.inf).tolist(),
    "next below halves": np.nextafter(HALVES, -np.inf).tolist(),
    "eighths": [at / 8 for at in range(-20, 10_000)],
    "as pdfium gives them": np.linspace(-5, 900, 20_000, dtype=np.float32).astype(float).tolist(),
    "large": [1e6 + 0.125, 1e15 + 0.5, -1e300, 123456789.005],
}


@pytest.mark.parametrize("values", NUMBERS.values(), ids=NUMBERS)
def test_numbers_are_rounded_as_round_does(values: list[float]) -> None:
    assert list(map(repr, round_all(np.array(values)))) == [repr(round(value, 2)) for value in values]


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False, width=32)))
def test_any_numbers_are_rounded_as_round_does(values: list[float]) -> None:
    assert list(map(repr, round_all(np.array(values, float)))) == [repr(round(value, 2)) for value in values]


def test_four_quarter_turns_give_the_box_again() -> None:
    box, size = Box(10, 20, 40, 25), (100.0, 200.0)
    turned = box
    for _ in range(4):
        turned, size = turn(turned, 1, *size), size[::-1]
    assert turned == box
