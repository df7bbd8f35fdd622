"""Relations across the fields of a record: their language, and whether they hold."""

import datetime as dt
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Context, Decimal, InvalidOperation
from typing import Any, Final, Literal, Protocol, TypeAlias, Union

from msgspec import Struct

from fieldassay.errors import list_names, nearest
from fieldassay.io.json_value import Json, is_blank
from fieldassay.paths import ITEM, Step, join_path, split_path
from fieldassay.values.types.dates.parts import Date
from fieldassay.values.types.numbers.amounts import Money, Quantity

# The interface of checks.

Null: TypeAlias = Literal["refused", "allowed"]
"""The result of a check for null: a violation, or none."""

KINDS = {
    "text": "a text", "number": "a number", "boolean": "a boolean", "list": "a list", "object": "an object",
    "null": "null",
}  # fmt: skip
"""The kinds of JSON, and the words for them."""

_MOST_NAMED = 12


class Fault(Struct, frozen=True):
    """One fault of a value; `message` continues the value's path, `key` names a missing member, if any."""

    message: str
    key: str | None = None


class Look(Struct, frozen=True):
    """The result of a check at one place.

    `steps` lead there from the checked value; `faults` is None where the check does not apply. `value` is the
    one shown for a violation, for steps that lead elsewhere.
    """

    steps: tuple[Step, ...]
    faults: Sequence[Fault] | None
    value: Json = None


class Check(ABC):
    """Checks one value of a prediction, without gold.

    A check is a frozen dataclass whose fields are its options in a spec. It is pure, never raises for any
    JSON, and takes time linear in the size of the value. It is called only for values that are present.
    """

    @abstractmethod
    def faults(self, value: Json) -> Sequence[Fault]:
        """Return the faults of the value; empty if it is valid."""

    def looks(self, value: Json) -> Iterable[Look]:
        """Yield the result at every place the check examines; for most checks the value itself."""
        return (Look((), self.faults(value), value),)


@dataclass(frozen=True, kw_only=True)
class NullableCheck(Check):
    """A check whose option `null` says whether null is valid."""

    null: Null = "refused"

    def faults(self, value: Json) -> Sequence[Fault]:
        return () if value is None and self.null == "allowed" else self.find_faults(value)

    @abstractmethod
    def find_faults(self, value: Json) -> Sequence[Fault]:
        """Return the faults of a value that null is not valid in place of."""


def kind_of(value: Json) -> str:
    """Return the JSON kind of a value.

    >>> kind_of(True), kind_of(1.5), kind_of(None)
    ('boolean', 'number', 'null')
    """
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int | float):
        return "number"
    return "text" if isinstance(value, str) else "list" if isinstance(value, list) else "object"


def not_of_kind(value: Json, *wanted: str) -> tuple[Fault, ...]:
    """Return a fault for a value of none of the wanted kinds.

    >>> not_of_kind("5", "number")[0].message
    'is a text, not a number'
    """
    return (Fault(f"is {KINDS[kind_of(value)]}, not {' or '.join(KINDS[kind] for kind in wanted)}"),)


def named(choices: Sequence[object]) -> str:
    """Return the choices as listed in a message.

    >>> named(["HIGH", "LOW"])
    'HIGH, LOW'
    """
    return list_names([str(choice)[:60] for choice in choices], _MOST_NAMED)


# Relations over the values of one record, such as `sum(lines[].amount) == total`, parsed into a tree.

FUNCTIONS: Final = ("sum", "count", "min", "max")
COMPARISONS: Final = ("==", "!=", "<=", ">=", "<", ">")
LONGEST: Final = 1_000
"""The maximum of characters in a relation."""
_DEEPEST = 50

_TOKEN = re.compile(
    r"\s*(?:(?P<number>[0-9]+(?:\.[0-9]+)?)"
    r'|(?P<path>(?:[^\W\d]\w*|\["(?:[^"\\]|\\.)*"\])(?:\.\w+|\[\]|\["(?:[^"\\]|\\.)*"\])*)'
    r"|(?P<mark>==|!=|<=|>=|[<>+\-*/()]))"
)


@dataclass(frozen=True, slots=True)
class RelationNumber:
    """A number literal in the relation."""

    value: Decimal


@dataclass(frozen=True, slots=True)
class Path:
    """The value of a field; `[]` is the current item."""

    steps: tuple[Step, ...]

    def lists(self) -> tuple[tuple[Step, ...], ...]:
        """Return the paths of the items around the value, outermost first."""
        return tuple(self.steps[: at + 1] for at, step in enumerate(self.steps) if step == ITEM)


@dataclass(frozen=True, slots=True)
class Aggregate:
    """A function over the items of the innermost list of its term."""

    name: str
    term: "Term"

    def over(self) -> tuple[Step, ...]:
        """Return the path of the items that the function runs over."""
        return max((items for path in paths_of(self.term) for items in path.lists()), key=len)


@dataclass(frozen=True, slots=True)
class Arithmetic:
    """Two terms under `+`, `-`, `*` or `/`."""

    sign: str
    left: "Term"
    right: "Term"


Term: TypeAlias = Union[RelationNumber, Path, Aggregate, Arithmetic]


@dataclass(frozen=True, slots=True)
class Relation:
    """A comparison of two terms.

    `within` is their accepted distance (None: half of the last printed digit).
    """

    text: str
    left: Term
    comparison: str
    right: Term
    within: Decimal | None = None

    def items(self) -> tuple[Step, ...]:
        """Return the path of the items that the relation is evaluated for; (): once for the record."""
        return max(
            (items for term in (self.left, self.right) for path in _free(term) for items in path.lists()),
            key=len,
            default=(),
        )


def paths_of(term: Term) -> Iterator[Path]:
    """Yield the paths in a term, including those inside functions."""
    if isinstance(term, Path):
        yield term
    elif isinstance(term, Aggregate):
        yield from paths_of(term.term)
    elif isinstance(term, Arithmetic):
        yield from paths_of(term.left)
        yield from paths_of(term.right)


def _free(term: Term) -> Iterator[Path]:
    """Yield the paths with one value per evaluation, those outside functions."""
    if isinstance(term, Arithmetic):
        yield from _free(term.left)
        yield from _free(term.right)
    elif isinstance(term, Path):
        yield term


def written(term: Term) -> str:
    """Return the text of a term.

    >>> written(parse_relation("sum( lines[].qty*lines[].price ) == total").left)
    'sum(lines[].qty * lines[].price)'
    """
    if isinstance(term, RelationNumber):
        return f"{term.value:f}"
    if isinstance(term, Path):
        return join_path(term.steps)
    if isinstance(term, Aggregate):
        return f"{term.name}({written(term.term)})"
    sides = [
        f"({written(side)})" if isinstance(side, Arithmetic) and term.sign in "*/" else written(side)
        for side in (term.left, term.right)
    ]
    if term.sign == "-" and isinstance(term.right, Arithmetic) and term.right.sign in "+-":
        sides[1] = f"({sides[1]})"
    return f" {term.sign} ".join(sides)


def parse_relation(text: str) -> Relation:
    """Return the relation of a text.

    Raises ValueError with the problem and, after a semicolon, the remedy.

    >>> parse_relation("net + tax == gross within 0.01").within
    Decimal('0.01')
    >>> parse_relation("net + tax = gross")
    Traceback (most recent call last):
    ...
    ValueError: cannot be read at character 10: '= gross'; compare two sides with one of: == != <= >= < >
    """
    if len(text) > LONGEST:
        raise ValueError(f"has {len(text):,} characters; write at most {LONGEST:,}")
    parser = _Parser(text, _tokens(text))
    relation = parser.relation()
    _refuse_branches([path.lists() for term in (relation.left, relation.right) for path in _free(term)], text)
    return relation


def _refuse_branches(lists: list[tuple[tuple[Step, ...], ...]], text: str) -> None:
    longest = max(lists, key=len, default=())
    if any(items != longest[: len(items)] for items in lists):
        raise ValueError(
            f"looks at the items of two lists at once: {text[:100]}; "
            "put one of them into sum(), count(), min() or max()"
        )


def _tokens(text: str) -> list[tuple[str, str, int]]:
    tokens, at = [], 0
    while text[at:].strip():
        token = _TOKEN.match(text, at)
        if token is None:
            at += len(text[at:]) - len(text[at:].lstrip())
            raise ValueError(
                f"cannot be read at character {at}: {text[at : at + 40]!r}; "
                f"compare two sides with one of: {' '.join(COMPARISONS)}"
            )
        kind = token.lastgroup or ""
        tokens.append((kind, token[kind], token.start(kind)))
        at = token.end()
    return tokens


class _Parser(Struct):
    text: str
    tokens: list[tuple[str, str, int]]
    at: int = 0
    depth: int = 0

    def relation(self) -> Relation:
        left = self.sum()
        if not self.next_is(*COMPARISONS):
            raise self.refusal(f"compare two sides with one of: {' '.join(COMPARISONS)}")
        comparison = self.take()
        right = self.sum()
        within = None
        if self.peek() == "within":
            self.take()
            if self.at >= len(self.tokens) or self.tokens[self.at][0] != "number":
                raise self.refusal("write a number after `within`")
            within = Decimal(self.take())
        if self.at < len(self.tokens):
            raise self.refusal("end the relation here, or join the parts with + - * /")
        return Relation(self.text.strip(), left, comparison, right, within)

    def sum(self) -> Term:
        term = self.product()
        while self.next_is("+", "-"):
            term = Arithmetic(self.take(), term, self.product())
        return term

    def product(self) -> Term:
        term = self.factor()
        while self.next_is("*", "/"):
            term = Arithmetic(self.take(), term, self.factor())
        return term

    def factor(self) -> Term:
        self.depth += 1
        if self.depth > _DEEPEST:
            raise ValueError(f"is nested more than {_DEEPEST} levels deep; write it simpler")
        try:
            return self.nested()
        finally:
            self.depth -= 1

    def nested(self) -> Term:
        if self.next_is("-"):
            self.take()
            return Arithmetic("-", RelationNumber(Decimal(0)), self.factor())
        if self.next_is("("):
            self.take()
            inner = self.sum()
            self.close()
            return inner
        kind = self.tokens[self.at][0] if self.at < len(self.tokens) else ""
        if kind == "number":
            return RelationNumber(Decimal(self.take()))
        if kind != "path":
            raise self.refusal("write a field, a number, or sum(), count(), min() or max() of a field")
        name = self.take()
        return self.function(name) if self.next_is("(") else Path(split_path(name))

    def function(self, name: str) -> Term:
        if name not in FUNCTIONS:
            raise ValueError(f"unknown function {name[:100]!r}; {nearest(name[:100], FUNCTIONS)}")
        self.take()
        inner = self.sum()
        self.close()
        lists = [path.lists() for path in paths_of(inner)]
        if not any(lists):
            raise ValueError(
                f"{name}() has no list to run over: {written(inner)[:100]}; "
                "write the items with `[]`, such as lines[].amount"
            )
        if any(isinstance(term, Aggregate) for term in _terms(inner)):
            raise ValueError(
                f"{name}() holds another function: {written(inner)[:100]}; write one of them only"
            )
        _refuse_branches(lists, self.text)
        return Aggregate(name, inner)

    def close(self) -> None:
        if not self.next_is(")"):
            raise self.refusal("close the bracket")
        self.take()

    def peek(self) -> str:
        return self.tokens[self.at][1] if self.at < len(self.tokens) else ""

    def next_is(self, *marks: str) -> bool:
        return self.at < len(self.tokens) and self.tokens[self.at][0] == "mark" and self.peek() in marks

    def take(self) -> str:
        self.at += 1
        return self.tokens[self.at - 1][1]

    def refusal(self, remedy: str) -> ValueError:
        if self.at >= len(self.tokens):
            return ValueError(f"ends too early: {self.text[-60:]!r}; {remedy}")
        place = self.tokens[self.at][2]
        return ValueError(f"cannot be read at character {place}: {self.text[place : place + 40]!r}; {remedy}")


def _terms(term: Term) -> Iterator[Term]:
    yield term
    if isinstance(term, Arithmetic):
        yield from _terms(term.left)
        yield from _terms(term.right)


# Relations across fields, in exact decimal arithmetic, over values as read by the spec's types.

_EXACT = Context(prec=1000)
_CENT = Decimal("0.01")
_LONGEST = 60
"""The maximum of digits, and of powers of ten, in arithmetic."""
Chosen: TypeAlias = Mapping[tuple[Step, ...], int]
"""The index of the current item, by the path of the items."""


class Operand(Struct, frozen=True):
    """A value in a relation: a number with any unit, a date or a text.

    `digit` is the unit of the number's last printed digit.
    """

    value: Decimal | dt.date | str
    unit: str | None = None
    digit: Decimal | None = None


class RelationRecord(Protocol):
    """The interface of a record for relations."""

    def value(self, steps: tuple[Step, ...], chosen: Chosen) -> tuple[tuple[Step, ...], Any]:
        """Return the place of a value and the value as read; None if it is missing or unreadable."""

    def items(self, steps: tuple[Step, ...], chosen: Chosen) -> Sequence[int]:
        """Return the indices of the items of a list with any content; `steps` ends with `ITEM`."""


class Plain(Struct, frozen=True):
    """A record with its values as in JSON."""

    data: Json

    def value(self, steps: tuple[Step, ...], chosen: Chosen) -> tuple[tuple[Step, ...], Any]:
        value: Any = self.data
        place: list[Step] = []
        for at, step in enumerate(steps):
            key = chosen[steps[: at + 1]] if step == ITEM else step
            place.append(key)
            value = member(value, key)
        return tuple(place), value

    def items(self, steps: tuple[Step, ...], chosen: Chosen) -> Sequence[int]:
        return filled_items(self.value(steps[:-1], chosen)[1])


def member(value: Any, key: Step | int) -> Any:
    """Return a member of an object or an item of a list; None if there is none."""
    is_member = isinstance(value, dict) and key in value
    is_item = isinstance(value, list) and isinstance(key, int) and key < len(value)
    return value[key] if is_member or is_item else None


def filled_items(value: Any) -> list[int]:
    """Return the indices of the items of a list with any content; none for other values."""
    return [at for at, item in enumerate(value) if not is_blank(item)] if isinstance(value, list) else []


@dataclass(frozen=True)
class Holds(Check):
    """The relation holds for the record, or for each item.

    It does not apply where a value is missing or unreadable. `within` is the accepted distance of the two
    sides, like `within` in the relation. By default an equality allows half of the last printed digit of the
    finer side; amounts of money have at least two decimals.

    >>> [fault.message for fault in Holds("net + tax == gross").faults({"net": 10, "tax": 1.5, "gross": 12})]
    ['does not hold: net + tax is 11.5, and gross is 12']
    """

    relation: str
    within: int | float | None = None
    read: Callable[[Json], RelationRecord] = field(default=Plain, init=False, repr=False, compare=False)
    parsed: Relation = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        try:
            parsed = parse_relation(self.relation)
        except ValueError as error:
            raise ValueError(f"relation: {error}") from None
        object.__setattr__(self, "parsed", parsed)
        if self.within is not None and (parsed.within is not None or not 0 <= self.within < float("inf")):
            raise ValueError("holds: within must be one finite number from 0 on; write it once")

    def named(self) -> str:
        """Return the relation with its `within`, the name of the check."""
        return self.relation if self.within is None else f"{self.relation} within {self.within}"

    def bound(self, read: Callable[[Json], RelationRecord]) -> "Holds":
        """Return the check with values read by the types of a spec."""
        check = Holds(self.relation, self.within)
        object.__setattr__(check, "read", read)
        return check

    def faults(self, value: Json) -> Sequence[Fault]:
        return [fault for look in self.looks(value) for fault in look.faults or ()]

    def looks(self, value: Json) -> Iterator[Look]:
        record = self.read(value)
        for chosen in _choices(record, self.parsed.items()):
            yield self._look(record, chosen)

    def _look(self, record: RelationRecord, chosen: Chosen) -> Look:
        left, right = (_evaluate(side, record, chosen) for side in (self.parsed.left, self.parsed.right))
        if left is None or right is None or not _are_comparable(left, right, self.parsed.comparison):
            return Look((), None)
        steps, value = _anchor(self.parsed, record, chosen)
        if self._is_true(left, right):
            return Look(steps, ())
        operand = operand_of(value)
        value = None if operand is None else _shown(operand)
        sides = (
            f"{written(self.parsed.left)} is {_shown(left)}, "
            f"and {written(self.parsed.right)} is {_shown(right)}"
        )
        return Look(steps, (Fault(f"does not hold: {sides}"),), value)

    def _is_true(self, left: Operand, right: Operand) -> bool:
        distance = _distance(left, right)
        comparison = self.parsed.comparison
        within = self.parsed.within if self.within is None else Decimal(repr(self.within))
        if comparison in ("==", "!="):
            allowed = _half_digit(left, right) if within is None else within
            return (abs(distance) <= allowed) == (comparison == "==")
        allowed = within or Decimal(0)
        if comparison[0] == "<":
            distance = -distance
        return distance >= -allowed if comparison[-1] == "=" else distance > -allowed


def _choices(
    record: RelationRecord, items: tuple[Step, ...], chosen: Chosen | None = None
) -> Iterator[Chosen]:
    """Yield every choice of one item from each list on a path of items; those already chosen stay."""
    chosen = chosen or {}
    lists = (items[: at + 1] for at, step in enumerate(items) if step == ITEM)
    first = next((path for path in lists if path not in chosen), None)
    if first is None:
        yield chosen
        return
    for index in record.items(first, chosen):
        yield from _choices(record, items, {**chosen, first: index})


def _evaluate(term: Term, record: RelationRecord, chosen: Chosen) -> Operand | None:
    """Return the value of a term; None if it has none."""
    if isinstance(term, RelationNumber):
        return Operand(term.value)
    if isinstance(term, Path):
        return operand_of(record.value(term.steps, chosen)[1])
    if isinstance(term, Aggregate):
        return _aggregate(term, record, chosen)
    left, right = _evaluate(term.left, record, chosen), _evaluate(term.right, record, chosen)
    return None if left is None or right is None else _operate(term.sign, left, right)


def _operate(sign: str, left: Operand, right: Operand) -> Operand | None:
    left_value, right_value = left.value, right.value
    if (
        not isinstance(left_value, Decimal)
        or not isinstance(right_value, Decimal)
        or (left.unit and right.unit and left.unit != right.unit)
    ):
        return None
    try:
        if sign in "+-":
            digits = [digit for digit in (left.digit, right.digit) if digit is not None]
            value = (
                _EXACT.add(left_value, right_value)
                if sign == "+"
                else _EXACT.subtract(left_value, right_value)
            )
            return Operand(value, left.unit or right.unit, min(digits, default=None))
        value = (
            _EXACT.multiply(left_value, right_value)
            if sign == "*"
            else _EXACT.divide(left_value, right_value)
        )
    except (InvalidOperation, ZeroDivisionError):
        return None
    return Operand(value, None if left.unit and right.unit else left.unit or right.unit)


def _aggregate(term: Aggregate, record: RelationRecord, chosen: Chosen) -> Operand | None:
    """Return a function of all items; None without items, or if one of them lacks the value."""
    over = term.over()
    outer = {path: index for path, index in chosen.items() if path != over and over[: len(path)] == path}
    aggregate: Operand | None = None
    count = 0
    for inner in _choices(record, over, outer):
        count += 1
        if term.name == "count":
            continue
        operand = _evaluate(term.term, record, inner)
        if operand is None or not isinstance(operand.value, Decimal | dt.date):
            return None
        joined = (
            operand
            if aggregate is None
            else _operate("+", aggregate, operand)
            if term.name == "sum"
            else _chosen(term.name, aggregate, operand)
        )
        if joined is None:
            return None
        aggregate = joined
    return Operand(Decimal(count)) if term.name == "count" else aggregate


def _chosen(name: str, first: Operand, second: Operand) -> Operand | None:
    if not _are_comparable(first, second, "<"):
        return None
    is_less = _distance(first, second) < 0
    return first if is_less == (name == "min") else second


def operand_of(value: Any) -> Operand | None:
    """Return a value as an operand; None if it cannot be one.

    >>> operand_of(Decimal("5.10"))
    Operand(value=Decimal('5.10'), unit=None, digit=Decimal('0.01'))
    >>> operand_of(True), operand_of(None)
    (Operand(value='true', unit=None, digit=None), None)
    """
    if isinstance(value, Money):
        number = operand_of(value.amount)
        return (
            None
            if number is None
            else Operand(number.value, value.currency, min(number.digit or _CENT, _CENT))
        )
    if isinstance(value, Quantity):
        number = operand_of(value.amount)
        return None if number is None else Operand(number.value, value.unit, number.digit)
    if isinstance(value, bool):
        return Operand(str(value).lower())
    if isinstance(value, int | float):
        try:
            value = Decimal(value) if isinstance(value, int) else Decimal(repr(value))
        except (InvalidOperation, ValueError):
            return None
    if isinstance(value, Decimal):
        _, digits, exponent = value.as_tuple()
        if not isinstance(exponent, int) or len(digits) > _LONGEST or abs(exponent) > _LONGEST:
            return None
        return Operand(value, None, Decimal(1).scaleb(min(exponent, 0)))
    if isinstance(value, Date):
        day = (value.year, value.month, value.day)
        return None if None in day else Operand(dt.date(*day))  # type: ignore[arg-type]
    if isinstance(value, dt.datetime):
        return Operand(value.isoformat())
    return (
        Operand(value)
        if isinstance(value, dt.date)
        else Operand(value.strip())
        if isinstance(value, str) and value.strip()
        else None
    )


def _are_comparable(left: Operand, right: Operand, comparison: str) -> bool:
    if isinstance(left.value, str) and isinstance(right.value, str):
        return comparison in ("==", "!=")
    is_same_unit = not (left.unit and right.unit) or left.unit == right.unit
    return type(left.value) is type(right.value) and not isinstance(left.value, str) and is_same_unit


def _distance(left: Operand, right: Operand) -> Decimal:
    """Return left - right: of numbers, of dates in days, of texts 0 or 1."""
    left_value, right_value = left.value, right.value
    if isinstance(left_value, Decimal) and isinstance(right_value, Decimal):
        return _EXACT.subtract(left_value, right_value)
    if isinstance(left_value, dt.date) and isinstance(right_value, dt.date):
        return Decimal((left_value - right_value).days)
    return Decimal(left_value != right_value)


def _half_digit(left: Operand, right: Operand) -> Decimal:
    digits = [digit for digit in (left.digit, right.digit) if digit is not None]
    return min(digits) / 2 if digits else Decimal(0)


def _anchor(relation: Relation, record: RelationRecord, chosen: Chosen) -> tuple[tuple[Step, ...], Any]:
    """Return the place and value shown for a violation: a field alone on its side, else the item."""
    for side in (relation.right, relation.left):
        if isinstance(side, Path):
            return record.value(side.steps, chosen)
    return record.value(relation.items(), chosen)[0], None


def _shown(operand: Operand) -> str:
    text = f"{operand.value:f}" if isinstance(operand.value, Decimal) else str(operand.value)
    return (text if len(text) <= 40 else f"{text[:39]}…") + (f" {operand.unit}" if operand.unit else "")
