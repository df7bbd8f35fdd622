"""Numbers of documents are held narrow, and come back to the bit."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from fieldassay.metrics.statistics.packing import PackedFloats, PackedInts, PackedSum
from fieldassay.metrics.statistics.sums import LIMIT, Sum

SHARES = st.fractions(0, 1, max_denominator=12).map(float) | st.just(math.nan) | st.sampled_from([0.0, -0.0])
ANY = st.floats(width=64, allow_nan=False) | st.just(math.nan)
UNITS = st.integers(-(2**20), 2**20).map(lambda value: value << 32)
WHOLE = st.integers(-LIMIT, LIMIT)


@given(st.lists(SHARES) | st.lists(ANY))
def test_floats_come_back_to_the_bit(values: list[float]) -> None:
    wide = np.array(values, np.float64)
    found = PackedFloats.pack(wide).unpack()
    assert found.dtype == np.float64
    assert found.tobytes() == wide.tobytes()


@given(st.lists(UNITS) | st.lists(WHOLE) | st.lists(st.integers(-130, 130)))
def test_whole_numbers_come_back(values: list[int]) -> None:
    found = PackedInts.pack(np.array(values, np.int64)).unpack()
    assert found.dtype == np.int64
    assert found.tolist() == values


@given(arrays.arrays(np.int64, st.tuples(st.integers(0, 4), st.integers(0, 9)), elements=WHOLE))
def test_sums_come_back_field_by_field(values: np.ndarray) -> None:
    fields = tuple(f"f{at}" for at in range(len(values)))
    packed = PackedSum.pack(Sum(fields, values))
    found = packed.unpack()
    assert found.fields == fields
    assert found.values.shape == values.shape
    assert (found.values == values).all()
    assert all((packed.row(name) == row).all() for name, row in zip(fields, values, strict=True))
    assert not packed.row("another").any()


HELD = {
    "nothing known": (np.full(9, np.nan), 2),
    "yes and no": (np.array([0.0, 1.0]), 2),
    "thirds": (np.array([1 / 3, 1.0]), 8),
    "milliseconds": (np.array([1234.5, 65_000.25]), 4),
}


@pytest.mark.parametrize(("values", "size"), HELD.values(), ids=HELD)
def test_a_column_takes_the_bytes_that_its_values_need(values: np.ndarray, size: int) -> None:
    assert PackedFloats.pack(values).held.itemsize == size


UNITS_HELD = {
    "counts": ([0, 3], 1),
    "units of a fixed point": ([0, 201 << 32], 2),
    "large": ([0, 2**40 + 1], 8),
}


@pytest.mark.parametrize(("values", "size"), UNITS_HELD.values(), ids=UNITS_HELD)
def test_whole_numbers_take_the_bytes_that_they_need(values: list[int], size: int) -> None:
    assert PackedInts.pack(np.array(values)).held.itemsize == size
