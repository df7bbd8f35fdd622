"""Statistics: addable quantities of a document, declared as values.

The engine sums them; metrics are functions of the sums.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias, Union

from msgspec import Struct

from fieldassay.metrics.evidence import Outcome

if TYPE_CHECKING:
    from fieldassay.metrics.statistics.recipes import Recipe

FRACTION_BITS = 32
"""Scores, weights and shares are integers in units of 2^-32."""

NUMBER_BITS = {"duration_ms": 20, "cost_usd": 36}
"""Binary digits after the point of document numbers; columns without an entry are whole numbers."""

VALUE_BITS = 36
"""Values of a formula in a document are integers in units of 2^-36: a mean times 100 is right to 1e-9."""

Conditions: TypeAlias = tuple[tuple[str, str], ...]
"""Further conditions on a row.

`critical` (`yes`), `type` (`money|number`), `fields` (paths, last names or patterns: `lines[].sku|total`),
`flag` and `without` (names of `FLAGS`), `reason` (names of reasons), `has` (an extra column that is not NaN),
`reaches` (a column and the least value: `similarity 0.5`).
"""

BOTH = (Outcome.MATCH, Outcome.PARTIAL, Outcome.MISMATCH)


class RowSum(Struct, frozen=True):
    """The sum of a column over the rows of a document, per field.

    `rows`: `leaf` (VALUE rows), `slot` (one row per declared top-level field), `item` (ITEM rows, and the
    values of lists of scalars), `node` (all rows). `value`: `one`, `score`, `weight`, `weighted_score`, or
    the name of an extra column. Scores count 0 wherever one side is empty.
    """

    rows: str
    outcomes: tuple[Outcome, ...]
    value: str = "one"
    where: Conditions = ()

    @property
    def bits(self) -> int:
        """Return the binary digits after the point."""
        return 0 if self.value == "one" else FRACTION_BITS


class Share(Struct, frozen=True):
    """A document's own ratio of two forms, such as the document accuracy; 0 where it is undefined."""

    numerator: Form
    denominator: Form
    bits = FRACTION_BITS


class Defined(Struct, frozen=True):
    """1 for each document with a positive form."""

    form: Form
    bits = 0


class FieldDefined(Struct, frozen=True):
    """1 for each document and field with a positive form."""

    form: Form
    bits = 0


class Squares(Struct, frozen=True):
    """The square of a form's value in a document."""

    form: Form
    bits = 0


class FieldSquares(Struct, frozen=True):
    """The square of a form's value in each field of a document."""

    form: Form
    bits = 0


class Reaches(Struct, frozen=True):
    """1 for each document with a share of at least `threshold`; undefined shares count 0."""

    share: Share
    threshold: float
    bits = 0


class OfDocument(Struct, frozen=True):
    """The value of a formula in each document, 0 where it is undefined.

    Only documents in which `over` is defined count.
    """

    recipe: Recipe
    over: Recipe | None = None
    bits = VALUE_BITS


class IsDefined(Struct, frozen=True):
    """1 for each document in which a formula is defined, and `over` too."""

    recipe: Recipe
    over: Recipe | None = None
    bits = 0


class Number(Struct, frozen=True):
    """A number of the document table, 0 if unknown."""

    column: str

    @property
    def bits(self) -> int:
        """Return the binary digits after the point."""
        return NUMBER_BITS.get(self.column, 0)


class Known(Struct, frozen=True):
    """1 for each document with a known number."""

    column: str
    bits = 0


class Claim(Struct, frozen=True):
    """1 for each document with a claim of the document table that is true (`is_wanted`) or false."""

    column: str
    is_wanted: bool = True
    bits = 0


class Documents(Struct, frozen=True):
    """1 for each document."""

    bits = 0


class InAnyRun(Struct, frozen=True):
    """1 for each document (and field) in which a statistic is positive in any of the repeated runs."""

    statistic: Statistic
    bits = 0


class OverRuns(Struct, frozen=True):
    """A quantity of a document, or of its gold values field by field, over the repeated runs of a system.

    `of`: `documents` (all values right: perfect) or `values`. `what`: `judged` (1 if there are at least
    `draws` runs), `all` and `any` (the chance that `draws` of the runs, drawn without replacement, are all
    right, or not all wrong), `majority` (1 if the most frequent answer is right; tied answers share it),
    `tied` and `flaky` (1 if the vote is tied, if the answers differ).
    """

    of: str
    what: str
    draws: int = 0
    """0: all runs."""

    @property
    def bits(self) -> int:
        """Return the binary digits after the point."""
        return FRACTION_BITS if self.what in ("all", "any", "majority") else 0


Statistic: TypeAlias = Union[
    RowSum,
    InAnyRun,
    OverRuns,
    Share,
    Defined,
    FieldDefined,
    Squares,
    FieldSquares,
    Reaches,
    OfDocument,
    IsDefined,
    Number,
    Known,
    Claim,
    Documents,
]


class Form(Struct, frozen=True):
    """A linear form over statistics with integer coefficients.

    >>> correct = form(RowSum("leaf", (Outcome.MATCH,)))
    >>> (2 * correct + correct).terms[0][0], len((2 * correct + correct).terms)
    (3, 1)
    """

    terms: tuple[tuple[int, Statistic], ...]

    def __add__(self, other: Form) -> Form:
        merged: dict[Statistic, int] = {}
        for factor, statistic in self.terms + other.terms:
            merged[statistic] = merged.get(statistic, 0) + factor
        return Form(tuple((factor, statistic) for statistic, factor in merged.items()))

    def __rmul__(self, factor: int) -> Form:
        return Form(tuple((factor * old, statistic) for old, statistic in self.terms))

    def __sub__(self, other: Form) -> Form:
        return self + (-1) * other

    @property
    def statistics(self) -> tuple[Statistic, ...]:
        """Return the statistics of the form."""
        return tuple(statistic for _, statistic in self.terms)


def form(statistic: Statistic) -> Form:
    """Return the form of one statistic with the coefficient 1."""
    return Form(((1, statistic),))


class Rows(Struct, frozen=True):
    """The row statistics of one granularity under one condition.

    Their names in the formulas are C, W, M, S, A and the sum of scores.
    """

    rows: str = "leaf"
    where: Conditions = ()

    def count(self, *outcomes: Outcome) -> Form:
        """Return the number of rows with one of these outcomes."""
        return form(RowSum(self.rows, outcomes, "one", self.where))

    def total(self, value: str) -> Form:
        """Return the sum of a column over the rows with both sides."""
        return form(RowSum(self.rows, BOTH, value, self.where))

    @property
    def correct(self) -> Form:
        """Return C: both sides, a match."""
        return self.count(Outcome.MATCH)

    @property
    def wrong(self) -> Form:
        """Return W: both sides, no match."""
        return self.count(Outcome.PARTIAL, Outcome.MISMATCH)

    @property
    def missing(self) -> Form:
        """Return M: gold only."""
        return self.count(Outcome.MISSING)

    @property
    def spurious(self) -> Form:
        """Return S: prediction only."""
        return self.count(Outcome.SPURIOUS)

    @property
    def absent(self) -> Form:
        """Return A: neither side."""
        return self.count(Outcome.ABSENT)

    @property
    def failed(self) -> Form:
        """Return the number of rows not judged."""
        return self.count(Outcome.FAILED)
