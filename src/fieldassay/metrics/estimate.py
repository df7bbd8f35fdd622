"""Estimates: how they are recorded, and how numbers are written."""

import math
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Annotated, Any, Literal, TypeAlias

import msgspec
from msgspec import Meta, Struct
from msgspec import field as default

from fieldassay.io.text.shown import Brief

# The records of a run in `run.json` and `metrics.json`: the origin of its numbers, and its counts.

Count = Annotated[int, Meta(ge=0, le=2**53)]
PARTS = ("spec", "formulas", "models", "gold")
"""The basis of a run's numbers: runs with an equal basis can be compared."""

Level = Annotated[float, Meta(gt=0, lt=1, examples=[0.95])]
Replicates = Annotated[int, Meta(ge=0, le=10_000_000, examples=[2000])]
Seed = Annotated[int, Meta(ge=0, examples=[0])]
Correction: TypeAlias = Literal["min_p", "holm"]


class RecordedText(msgspec.Struct, frozen=True):
    """The spec of a run: its name, its digest and its whole text."""

    text: str = ""
    name: str | None = None
    digest: str | None = None


class RecordedMetrics(msgspec.Struct, frozen=True):
    """The metrics used to compare systems, and those with statistics kept in addition."""

    compared: list[str]
    also: list[str]


class RecordedDraw(msgspec.Struct, frozen=True):
    """The settings of the bootstrap draws."""

    replicates: Replicates
    seed: Seed
    level: Level


class RecordedGiven(msgspec.Struct, frozen=True):
    """The paths of the inputs as given."""

    gold: str
    predictions: dict[str, str]


class RecordedInputs(msgspec.Struct, frozen=True):
    """The inputs of a run: labels, digests by label (None: a stream), paths as given."""

    gold: str
    predictions: dict[str, str]
    sha256: dict[str, str | None] | None = None
    given: RecordedGiven | None = None
    repeats: dict[str, list[str]] = {}
    """The names of the predictions that are repeated runs of a system, by system."""

    @property
    def systems(self) -> tuple[str, ...]:
        """Return the names of the systems."""
        return tuple(self.by_system(self.predictions))

    @property
    def opened(self) -> dict[str, str]:
        """Return the path to open for each of the predictions: of those of an extraction, its folder."""
        paths = {} if self.given is None else self.given.predictions
        return {name: paths.get(name, label) for name, label in self.predictions.items()}

    def by_system(self, paths: Mapping[str, str]) -> dict[str, str | tuple[str, ...]]:
        """Return paths of predictions by system, several for one with repeated runs in files of their own."""
        system_of = {name: system for system, names in self.repeats.items() for name in names}
        paths_of: dict[str, tuple[str, ...]] = {}
        for name, path in paths.items():
            system = system_of.get(name, name)
            paths_of[system] = tuple(dict.fromkeys((*paths_of.get(system, ()), path)))
        return {system: files[0] if len(files) == 1 else files for system, files in paths_of.items()}


class Provenance(msgspec.Struct, frozen=True):
    """The origin of a run's numbers. Runs from Python lack parts of it."""

    spec: RecordedText | None = None
    metrics: list[str] = []
    score: str | None = None
    """The metric of a document's score, by which systems are ranked; None: the accuracy."""
    definitions: list[str] = []
    labels: dict[str, str] = {}
    """The names of definitions in tables and reports."""
    kept: RecordedMetrics | None = None
    slices: list[str] = []
    gates: list[str] = []
    bootstrap: RecordedDraw | None = None
    inputs: RecordedInputs | None = None
    models: list[dict[str, Any]] = []
    versions: dict[str, str] = {}
    digests: dict[str, str | None] | None = None


class SystemCounts(msgspec.Struct, frozen=True):
    """The counts of one system's documents; with repeated runs (`repeats`) those of all runs together."""

    documents: Count = 0
    repeats: Count = 1
    missing: Count = 0
    unmatched: Count = 0
    invalid: Count = 0
    error: Count = 0
    timeout: Count = 0
    repaired: Count = 0
    undeclared: dict[str, Count] = {}
    classes: dict[str, Count] = {}
    checks: list[dict[str, Any]] = []


class Counts(msgspec.Struct, frozen=True):
    """The counts of evaluated and excluded documents."""

    documents: Count = 0
    systems: dict[str, SystemCounts] = {}


class RunPart(Struct, frozen=True):
    """A part of the documents of a run: a description, and the option that excluded the others."""

    words: str
    option: str

    def __str__(self) -> str:
        return f"{self.words} only ({self.option})"


HOLDOUT = "--holdout"


def parts_of(facts: Mapping[str, Any]) -> tuple[RunPart, ...]:
    """Return the options that restrict a run to part of the documents; () for a whole run.

    >>> [str(part) for part in parts_of({"limit": 5, "where": ["type=invoice"]})]
    ['documents with type=invoice only (--where)', 'the first 5 documents only (--limit)']
    >>> print(*parts_of({"holdout": "0.5 --seed 0 --verdict"}))
    the part for the verdict only (--holdout 0.5 --seed 0 --verdict)
    """
    where, only, limit = (facts.get(name) for name in ("where", "only", "limit"))
    parts = [RunPart(f"documents with {', '.join(map(str, where))[:200]}", "--where")] if where else []
    parts += [RunPart("chosen documents", "--only")] if only is not None else []
    if holdout := facts.get("holdout"):
        words = "for the verdict" if holdout.endswith("--verdict") else "for choosing"
        parts.append(RunPart(f"the part {words}", f"{HOLDOUT} {holdout}"))
    return (*parts, *([RunPart(f"the first {limit} documents", "--limit")] if limit is not None else []))


# One number with everything that qualifies it.

Scalar: TypeAlias = str | int | float | bool


class Estimate(Brief, Struct, frozen=True):
    """A metric's value with its denominator, interval and marks, in the order of `metrics.json`.

    `value` is None for an undefined metric (`n` is 0). `n` is the denominator, `documents` the number of
    documents behind it, `failed` the number of failed judgements, which are outside the denominator.
    `interval` is None for counts and where it is undefined; `level` is then None too. `marks`:
    `order_statistics`, `few_families` (fewer than 8: no interval), `few_documents` (fewer than 20, and a
    metric without bounds, such as a duration) and `few_large_documents` (fewer than 30 effective ones): the
    interval may be too narrow. `few_replicates` (too few for a decision),
    `undefined_replicates=K` (K bootstrap replicates were dropped). `interval_resampled` is the interval from
    the documents alone, without the unseen document.
    """

    metric: str
    system: str
    field: str | None
    slice: Mapping[str, str]
    regime: str | None
    value: float | None
    n: Count
    documents: Count
    failed: Count
    granularity: str | None
    parameters: Mapping[str, Scalar] = default(default_factory=dict)
    interval: tuple[float, float] | None = None
    level: Level | None = None
    marks: tuple[str, ...] = ()
    unit: str = "ratio"
    better: str = "higher"
    interval_resampled: tuple[float, float] | None = None
    families: Count | None = None
    """The families that the documents are drawn in; None: each document is drawn by itself."""

    def __hash__(self) -> int:
        return hash((self.metric, self.system, self.field, frozenset(self.slice.items()), self.value))

    def to_dict(self) -> dict[str, Any]:
        """Return the estimate in the form of `metrics.json`."""
        return {
            "metric": self.metric,
            "system": self.system,
            "field": self.field,
            "slice": dict(self.slice),
            "regime": self.regime,
            "value": self.value,
            "n": self.n,
            "documents": self.documents,
            "failed": self.failed,
            "granularity": self.granularity,
            "parameters": dict(self.parameters),
            "interval": None if self.interval is None else list(self.interval),
            "level": self.level,
            "marks": list(self.marks),
            "unit": self.unit,
            "better": self.better,
            "interval_resampled": None if self.interval_resampled is None else list(self.interval_resampled),
            **({} if self.families is None else {"families": self.families}),
        }


# Numbers as text: counts, values in their unit, shares, differences, intervals and p values.

NOTHING = "—"
_MOST_DECIMALS = 9
"""The most decimals of a time or an amount of money."""
SLACK = 1e-9
"""The accepted error of a value from the rounding of its parts, in units of its scale."""

LONGEST = 1e15
"""The bound from which numbers are in the notation of Python."""

_DECIMALS = {"ratio": 3, "percent": 1, "count": 0, "ms": 0, "tokens": 0, "usd": 5, "documents/min": 1}
"""The decimals of raw numbers, in tables for programs and papers."""


class UnitDisplay(Struct, frozen=True):
    """How values of a unit are shown: times `factor`, between `prefix` and `suffix`.

    `decimals` of None stands for two digits that count. `highest` is the bound of shown values.
    """

    factor: Decimal = Decimal(1)
    prefix: str = ""
    suffix: str = ""
    decimals: int | None = 3
    highest: float | None = None


_SHOWN = {
    "ratio": UnitDisplay(Decimal(100), suffix="%", decimals=1, highest=100.0),
    "percent": UnitDisplay(suffix="%", decimals=1, highest=100.0),
    "ratio difference": UnitDisplay(Decimal(100), suffix=" points", decimals=1),
    "percent difference": UnitDisplay(suffix=" points", decimals=1),
    "count": UnitDisplay(decimals=0),
    "ms": UnitDisplay(Decimal("0.001"), suffix=" s", decimals=None),
    "usd": UnitDisplay(prefix="$", decimals=None),
    "tokens": UnitDisplay(suffix=" tokens", decimals=0),
    "documents/min": UnitDisplay(suffix="/min", decimals=1),
}
"""The one way of showing each unit; differences of shares have a unit of their own."""


def difference_unit(unit: str) -> str:
    """Return the unit of a difference between two values of a unit.

    >>> difference_unit("ratio"), difference_unit("ms")
    ('ratio difference', 'ms')
    """
    named = f"{unit} difference"
    return named if named in _SHOWN else unit


def shown_as(unit: str) -> UnitDisplay:
    """Return how values of a unit are shown; those of an unknown one have three decimals."""
    return _SHOWN.get(unit, UnitDisplay())


def decimals_shown(value: float, unit: str) -> int:
    """Return the decimals of a shown value: two digits count in a time and in an amount of money.

    A count that is not whole has three, an amount at least cents, a time below 100 seconds at least tenths.

    >>> [decimals_shown(value, "ms") for value in (3998.0, 538.0, 42.0, 30_000.0, 120_000.0)]
    [1, 2, 3, 1, 0]
    >>> decimals_shown(0.5, "count")
    3
    """
    shown = shown_as(unit)
    if unit == "count" and value != round(value):
        return 3
    if shown.decimals is not None:
        return shown.decimals
    size = abs(value) * float(shown.factor)
    least = 2 if shown.prefix and value else int(unit == "ms" and 0 < size < 99.95)
    counting = 1 - math.floor(math.log10(size)) if size else 0
    return max(least, min(counting, _MOST_DECIMALS))


def format_rounded(value: float, decimals: int, highest: float | None = 1.0) -> str:
    """Return a rounded number that shows a bound, 0 or `highest`, only if it is there.

    `highest` of None means a number without bounds.

    >>> scores = (0.99952, 0.99949, 1.0, 0.00004)
    >>> [format_rounded(score, 3) for score in scores], format_rounded(99.97, 1, 100.0)
    (['0.999…', '0.999', '1.000', '0.000…'], '99.9…')
    """
    text = f"{value:,.{decimals}f}"
    if highest is None or not SLACK * highest < value < highest * (1 - SLACK):
        return text
    if text == f"{highest:,.{decimals}f}":
        return f"{highest - 10.0**-decimals:,.{decimals}f}…"
    return f"{text}…" if not text.strip("0.") else text


def format_number(value: float, unit: str = "ratio") -> str:
    """Return a number with the decimals of its unit, without the unit.

    >>> format_number(1234.4, "ms"), format_number(0.5), format_number(12, "count"), format_number(0.99952)
    ('1,234', '0.500', '12', '0.999…')
    """
    if abs(value) >= LONGEST:
        return repr(value)
    decimals = 3 if unit == "count" and value != round(value) else _DECIMALS.get(unit, 3)
    return format_rounded(value, decimals, HIGHEST.get(unit))


def format_in_unit(value: float | None, unit: str = "ratio") -> str:
    """Return a value as people read it: shares in percent, times in seconds, money in dollars.

    >>> format_in_unit(0.94879), format_in_unit(0.99952), format_in_unit(1234.5, "ms"), format_in_unit(-0.012)
    ('94.9%', '99.9…%', '1.2 s', '−1.2%')
    >>> format_in_unit(0.00781, "usd"), format_in_unit(0.0, "usd"), format_in_unit(4, "count")
    ('$0.0078', '$0', '4')
    """
    if value is None:
        return NOTHING
    shown = shown_as(unit)
    scaled = float(shown.factor) * value
    if abs(scaled) >= LONGEST:
        text = repr(abs(scaled))
    else:
        text = format_rounded(abs(scaled), decimals_shown(value, unit), shown.highest)
    sign = "−" if value < 0 and text.strip("0.,") else ""
    return f"{sign}{shown.prefix}{text}{shown.suffix}"


def format_value(estimate: Estimate | None) -> str:
    """Return an estimate's value in its unit; `—` for an undefined one and for None."""
    return NOTHING if estimate is None else format_in_unit(estimate.value, estimate.unit)


FEW = "few: fewer than 20 documents, so the interval of a time or cost may be too narrow"
"""The legend of the mark `few`."""


def is_narrow(estimate: Estimate | None) -> bool:
    """Return whether an estimate has an interval that is too narrow, shown with the mark `few`."""
    return estimate is not None and estimate.interval is not None and "few_documents" in estimate.marks


def format_interval(estimate: Estimate | None) -> str:
    """Return an estimate's interval, or the empty text where there is none or it has no width.

    >>> from fieldassay.metrics.estimate import Estimate
    >>> interval = {"interval": (0.85, 0.95), "level": 0.95}
    >>> format_interval(Estimate("f1", "a", None, {}, None, 0.9, 2, 2, 0, None, **interval))
    '85.0 to 95.0'
    """
    if estimate is None or estimate.interval is None or estimate.interval[0] == estimate.interval[1]:
        return ""
    return format_bounds(estimate.interval, estimate.unit) + (" few" if is_narrow(estimate) else "")


def format_both(estimate: Estimate | None) -> str:
    """Return value and interval on one line.

    >>> from fieldassay.metrics.estimate import Estimate
    >>> interval = {"interval": (0.85, 0.95), "level": 0.95}
    >>> format_both(Estimate("f1", "a", None, {}, None, 0.9, 2, 2, 0, None, **interval))
    '90.0% (85.0 to 95.0)'
    """
    interval = format_interval(estimate)
    return f"{format_value(estimate)} ({interval})" if interval else format_value(estimate)


def format_slice(slice_: Mapping[str, str]) -> str:
    """Return a slice as it stands in a cell, empty for all documents.

    >>> format_slice({"type": "invoice"}), format_slice({})
    ('type=invoice', '')
    """
    return ", ".join(f"{key}={value}" for key, value in slice_.items())


def format_share(share: float, decimals: int | None = None) -> str:
    """Return a share of one in percent, exactly or with so many decimals.

    >>> format_share(0.95), format_share(0.005), format_share(0.2, 2)
    ('95%', '0.5%', '20.00%')
    """
    return f"{100 * share:.10g}%" if decimals is None else f"{100 * share:.{decimals}f}%"


def format_seconds(milliseconds: float) -> str:
    """Return a duration in seconds, with two digits that count, or tenths below 100 seconds.

    >>> [format_seconds(value) for value in (3998.0, 538.0, 42.0, 10_240.0, 99_960.0, 0.0)]
    ['4.0 s', '0.54 s', '0.042 s', '10.2 s', '100 s', '0 s']
    """
    return format_in_unit(milliseconds, "ms")


def format_cost(usd: float) -> str:
    """Return the cost of a thousand documents, from that of one.

    >>> [format_cost(value) for value in (0.00781, 0.0, 1.5, 0.0000012)]
    ['$7.81', '$0', '$1,500.00', 'less than $0.01']
    """
    price = 1000 * usd
    return "$0" if price == 0 else "less than $0.01" if price < 0.01 else f"${price:,.2f}"


def format_bounds(interval: Sequence[float], unit: str = "ratio") -> str:
    """Return an interval, its unit only where it stands before a number.

    >>> format_bounds((0.938, 0.958)), format_bounds((3715, 4773), "ms"), format_bounds((0.5, 1), "usd")
    ('93.8 to 95.8', '3.7 to 4.8', '$0.50 to $1.00')
    """
    suffix = shown_as(unit).suffix
    low, high = (format_in_unit(bound, unit).removesuffix(suffix) for bound in interval)
    return f"{low} to {high}"


def format_points(value: float, unit: str = "ratio") -> str:
    """Return the size of a difference without sign and unit, in points for shares.

    >>> format_points(0.061), format_points(-0.2), format_points(3.0, "count"), format_points(-120, "ms")
    ('6.1', '20.0', '3', '0.12')
    """
    return format_in_unit(abs(value), difference_unit(unit)).removesuffix(points_of(unit))


def format_signed_points(value: float, unit: str = "ratio") -> str:
    """Return a difference with its sign, without its unit; 0 has no sign.

    >>> format_signed_points(0.061), format_signed_points(-0.2), format_signed_points(-1e-9)
    ('+6.1', '−20.0', '0.0')
    >>> format_signed_points(3.0, "count")
    '+3'
    """
    text = format_points(value, unit)
    is_zero = not any(digit in "123456789" for digit in text)
    return text if is_zero else f"{'−' if value < 0 else '+'}{text}"


def points_of(unit: str) -> str:
    """Return the text behind a difference of the unit."""
    return shown_as(difference_unit(unit)).suffix


def format_difference(value: float, unit: str = "ratio") -> str:
    """Return a difference with its sign and its unit.

    >>> format_difference(0.0614), format_difference(-30.0, "ms"), format_difference(0.0, "percent")
    ('+6.1 points', '−0.030 s', '0.0 points')
    """
    return f"{format_signed_points(value, unit)}{points_of(unit)}"


def format_size(value: float, unit: str = "ratio") -> str:
    """Return the size of a difference with its unit; one that would read like nothing is told as a bound.

    >>> format_size(-0.0614), format_size(3.0, "ms"), format_size(0.0002), format_size(0.0)
    ('6.1 points', '0.0030 s', 'less than 0.1 points', '0.0 points')
    """
    text = format_points(value, unit)
    if abs(value) > SLACK and not text.strip("0.,$"):
        return f"less than {text[:-1]}1{points_of(unit)}"
    return f"{text}{points_of(unit)}"


def format_effect(value: float | None) -> str:
    """Return an effect size with two decimals.

    >>> format_effect(-0.456), format_effect(None)
    ('−0.46', '—')
    """
    return NOTHING if value is None else f"{value:.2f}".replace("-", "−") if round(value, 2) else "0.00"


def format_p(p: float) -> str:
    """Return a p value: three decimals, two from .1 on, never 0, and never across .05.

    >>> format_p(0.0041), format_p(0.00002), format_p(0.414), format_p(1.0), format_p(0.0499)
    ('p = .004', 'p < .001', 'p = .41', 'p = 1', 'p = .0499')
    """
    if p >= 0.995:
        return "p = 1"
    if p < 0.001:
        return "p < .001"
    digits = 2 if p >= 0.0995 else 4 if f"{p:.3f}" == "0.050" and p != 0.05 else 3
    return f"p = {p:.{digits}f}".replace("0.", ".", 1)


def format_p_cell(p: float | None) -> str:
    """Return a p value for a cell of a table.

    >>> format_p_cell(0.0041), format_p_cell(0.00002), format_p_cell(None)
    ('.004', '<.001', '—')
    """
    return NOTHING if p is None else format_p(p).removeprefix("p ").removeprefix("= ").replace(" ", "")


HIGHEST: Mapping[str, float] = {"ratio": 1.0, "percent": 100.0}
"""The largest value of a share by its unit, 0 being the smallest; other units have no bounds."""
