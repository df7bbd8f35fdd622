"""Formulas: metrics made of metrics, as expressions that print and parse back."""

from __future__ import annotations

from functools import lru_cache
from typing import TypeAlias, Union

from msgspec import Struct

from fieldassay.metrics.catalogue.grammar import MetricCall, Scanner

FUNCTIONS = ("document_mean", "document_sum", "otherwise", "at_least")
"""The functions of a formula.

The mean or the sum over documents of a formula's value in each document alone; a value for an undefined one;
1 where a formula is at least a number.
"""

DEEPEST = 50
"""The maximum nesting of a formula."""

LONGEST = 300
"""So many operations may stand on one another, those of definitions in a formula included."""


class Literal(Struct, frozen=True):
    """A number."""

    value: float

    def __str__(self) -> str:
        return repr(int(self.value)) if self.value.is_integer() else repr(self.value)


class Operation(Struct, frozen=True):
    """Two formulas joined by `+`, `-`, `*` or `/`."""

    operator: str
    left: Formula
    right: Formula

    def __str__(self) -> str:
        is_product = self.operator in "*/"
        left = f"({self.left})" if is_product and _is_sum(self.left) else str(self.left)
        is_bound = (
            _is_sum(self.right)
            if self.operator in "*-"
            else isinstance(self.right, Operation) and self.operator == "/"
        )
        is_bound = is_bound or (
            isinstance(self.right, Operation) and self.operator == "*" and self.right.operator in "*/"
        )
        is_bound = is_bound or (_is_sum(self.right) and self.operator == "+")
        right = f"({self.right})" if is_bound else str(self.right)
        return f"{left} {self.operator} {right}"


class Applied(Struct, frozen=True):
    """A function of a formula.

    `argument` is the number of `otherwise` and `at_least`, `over` the condition of a mean or sum over
    documents.
    """

    function: str
    inner: Formula
    argument: float | None = None
    over: Formula | None = None

    def __str__(self) -> str:
        argument = "" if self.argument is None else f", {Literal(self.argument)}"
        over = "" if self.over is None else f", over={self.over}"
        return f"{self.function}({self.inner}{argument}{over})"


Formula: TypeAlias = Union[Literal, Operation, Applied, MetricCall]


def _is_sum(formula: Formula) -> bool:
    return isinstance(formula, Operation) and formula.operator in "+-"


@lru_cache(maxsize=1024)
def parse_formula(text: str) -> Formula:
    """Return the formula of a text; raises ValueError.

    A formula consists of metrics, numbers, `+ - * /`, parentheses and the functions of `FUNCTIONS`.

    >>> print(parse_formula("100*document_mean(0.7*(item_recall + 1))"))
    100 * document_mean(0.7 * (item_recall + 1))
    """
    scanner = Scanner(text)
    formula = _read_sum(scanner, 0)
    scanner.expect_end()
    _check_length(formula)
    return formula


def _check_length(formula: Formula) -> None:
    """Raise ValueError for a formula in which too many operations stand on one another."""
    waiting = [(formula, 0)]
    while waiting:
        part, length = waiting.pop()
        if length > LONGEST:
            raise ValueError(f"more than {LONGEST} operations stand on one another; shorten the formula")
        if isinstance(part, Operation):
            waiting += [(part.left, length + 1), (part.right, length + 1)]
        elif isinstance(part, Applied):
            waiting += [(inner, length + 1) for inner in (part.inner, part.over) if inner is not None]


def _read_sum(scanner: Scanner, depth: int) -> Formula:
    if depth > DEEPEST:
        raise scanner.complaint(f"more than {DEEPEST} levels of parentheses")
    found = _read_product(scanner, depth)
    while (sign := next((sign for sign in "+-" if scanner.accept(sign)), None)) is not None:
        found = Operation(sign, found, _read_product(scanner, depth))
    return found


def _read_product(scanner: Scanner, depth: int) -> Formula:
    found = _read_factor(scanner, depth)
    while (sign := next((sign for sign in "*/" if scanner.accept(sign)), None)) is not None:
        found = Operation(sign, found, _read_factor(scanner, depth))
    return found


def _read_factor(scanner: Scanner, depth: int) -> Formula:
    if scanner.accept("("):
        found = _read_sum(scanner, depth + 1)
        scanner.expect(")")
        return found
    literal = scanner.accept_literal()
    if literal is not None:
        return Literal(literal)
    function = scanner.accept_function(FUNCTIONS)
    return scanner.read_call() if function is None else _read_applied(scanner, function, depth + 1)


def _read_applied(scanner: Scanner, function: str, depth: int) -> Applied:
    inner = _read_sum(scanner, depth)
    argument = over = None
    if function in ("otherwise", "at_least"):
        scanner.expect(",")
        argument = scanner.read_number()
    elif scanner.accept(","):
        scanner.expect("over")
        scanner.expect("=")
        over = _read_sum(scanner, depth)
    scanner.expect(")")
    return Applied(function, inner, argument, over)
