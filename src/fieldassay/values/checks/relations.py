"""Relations over the values of one record, such as `sum(lines[].amount) == total`, parsed into a tree."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Final, TypeAlias, Union

from msgspec import Struct

from fieldassay.errors import nearest
from fieldassay.paths import ITEM, Step, join_path, split_path
from fieldassay.regex import lazy_regex

FUNCTIONS: Final = ("sum", "count", "min", "max")
COMPARISONS: Final = ("==", "!=", "<=", ">=", "<", ">")
LONGEST: Final = 1_000
"""The maximum of characters in a relation."""
_DEEPEST = 50

_TOKEN = lazy_regex(
    r"\s*(?:(?P<number>[0-9]+(?:\.[0-9]+)?)"
    r'|(?P<path>(?:[^\W\d]\w*|\["(?:[^"\\]|\\.)*"\])(?:\.\w+|\[\]|\["(?:[^"\\]|\\.)*"\])*)'
    r"|(?P<mark>==|!=|<=|>=|[<>+\-*/()]))"
)


@dataclass(frozen=True, slots=True)
class Constant:
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
    term: Term

    def over(self) -> tuple[Step, ...]:
        """Return the path of the items that the function runs over."""
        return max((one for path in paths_of(self.term) for one in path.lists()), key=len)


@dataclass(frozen=True, slots=True)
class Operation:
    """Two terms under `+`, `-`, `*` or `/`."""

    sign: str
    left: Term
    right: Term


Term: TypeAlias = Union[Constant, Path, Aggregate, Operation]


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
            (one for term in (self.left, self.right) for path in _free(term) for one in path.lists()),
            key=len,
            default=(),
        )


def paths_of(term: Term) -> Iterator[Path]:
    """Yield the paths in a term, including those inside functions."""
    if isinstance(term, Path):
        yield term
    elif isinstance(term, Aggregate):
        yield from paths_of(term.term)
    elif isinstance(term, Operation):
        yield from paths_of(term.left)
        yield from paths_of(term.right)


def _free(term: Term) -> Iterator[Path]:
    """Yield the paths with one value per evaluation, those outside functions."""
    if isinstance(term, Operation):
        yield from _free(term.left)
        yield from _free(term.right)
    elif isinstance(term, Path):
        yield term


def written(term: Term) -> str:
    """Return the text of a term.

    >>> written(parse_relation("sum( lines[].qty*lines[].price ) == total").left)
    'sum(lines[].qty * lines[].price)'
    """
    if isinstance(term, Constant):
        return f"{term.value:f}"
    if isinstance(term, Path):
        return join_path(term.steps)
    if isinstance(term, Aggregate):
        return f"{term.name}({written(term.term)})"
    sides = [
        f"({written(one)})" if isinstance(one, Operation) and term.sign in "*/" else written(one)
        for one in (term.left, term.right)
    ]
    if term.sign == "-" and isinstance(term.right, Operation) and term.right.sign in "+-":
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
    if any(one != longest[: len(one)] for one in lists):
        raise ValueError(
            f"looks at the items of two lists at once: {text[:100]}; "
            "put one of them into sum(), count(), min() or max()"
        )


def _tokens(text: str) -> list[tuple[str, str, int]]:
    found, at = [], 0
    while text[at:].strip():
        token = _TOKEN.match(text, at)
        if token is None:
            at += len(text[at:]) - len(text[at:].lstrip())
            raise ValueError(
                f"cannot be read at character {at}: {text[at : at + 40]!r}; "
                f"compare two sides with one of: {' '.join(COMPARISONS)}"
            )
        kind = token.lastgroup or ""
        found.append((kind, token[kind], token.start(kind)))
        at = token.end()
    return found


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
            term = Operation(self.take(), term, self.product())
        return term

    def product(self) -> Term:
        term = self.factor()
        while self.next_is("*", "/"):
            term = Operation(self.take(), term, self.factor())
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
            return Operation("-", Constant(Decimal(0)), self.factor())
        if self.next_is("("):
            self.take()
            inner = self.sum()
            self.close()
            return inner
        kind = self.tokens[self.at][0] if self.at < len(self.tokens) else ""
        if kind == "number":
            return Constant(Decimal(self.take()))
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
    if isinstance(term, Operation):
        yield from _terms(term.left)
        yield from _terms(term.right)
