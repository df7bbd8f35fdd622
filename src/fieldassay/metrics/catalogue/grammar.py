"""The language of metrics: names, parts and formulas."""

import json
import math
import re
from functools import lru_cache
from typing import TypeAlias, Union

from msgspec import Struct
from msgspec.structs import force_setattr

from fieldassay.errors import nearest

# The grammar of metric and gate expressions: values that print, parse back, compare equal and hash.

Value: TypeAlias = str | int | float | bool

GATE_FUNCTIONS = ("value", "lower", "upper", "regression", "errors", "n")
"""Functions of a gate: the estimate, a bound, the loss against a baseline, the errors, the denominator."""

OPERATORS = (">=", "<=", "==", ">", "<")

LONGEST = 10_000
"""The maximum of characters in an expression."""

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_.|/-]*")
_NUMBER = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?(?![A-Za-z0-9_.|/-])")
_LITERAL = re.compile(r"(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?(?![A-Za-z0-9_.])")
_SPACE = re.compile(r"[ \t\r\n]*")
_BARE = re.compile(r"[^\s\[\]{}()\",=<>]+")
_PLAIN_FIELD = re.compile(r"(?:[^\s\[\]{}()\",=<>]|\[[0-9]*\])+")


class MetricCall(Struct, frozen=True):
    """A metric by name, with parameters (sorted by name), and optionally one field and one slice.

    >>> MetricCall("f1", (("granularity", "slot"),), "TOTAL", ("type", "invoice"))
    MetricCall(name='f1', parameters=(('granularity', 'slot'),), field='TOTAL', slice=('type', 'invoice'))
    >>> print(MetricCall("f1", (("granularity", "slot"),), "TOTAL", ("type", "invoice")))
    f1(granularity=slot)[TOTAL]{type=invoice}
    """

    name: str
    parameters: tuple[tuple[str, Value], ...] = ()
    field: str | None = None
    slice: tuple[str, str] | None = None

    def __post_init__(self) -> None:
        force_setattr(self, "parameters", tuple(sorted(self.parameters)))

    def __str__(self) -> str:
        parameters = ", ".join(f"{name}={_print_value(value)}" for name, value in self.parameters)
        field = (
            ""
            if self.field is None
            else f"[{self.field if _PLAIN_FIELD.fullmatch(self.field) else json.dumps(self.field)}]"
        )
        chosen = (
            "" if self.slice is None else f"{{{_print_text(self.slice[0])}={_print_text(self.slice[1])}}}"
        )
        return self.name + (f"({parameters})" if parameters else "") + field + chosen


class Gate(Struct, frozen=True):
    """A rule over one estimate.

    `is_optional` means that it does not apply if its slice has no document; `is_each` that it is about each
    field on its own, by a metric per field. `is_for_best`: it holds for the best of all systems, too, and
    `is_for_looks` at every look at documents that come one after another.

    >>> print(Gate(MetricCall("accuracy", slice=("type", "invoice")), "lower", ">=", 0.85, is_optional=True))
    lower(accuracy{type=invoice}) >= 0.85 if present
    """

    metric: MetricCall
    function: str = "value"
    operator: str = ">="
    threshold: float = 0.0
    is_optional: bool = False
    is_each: bool = False
    is_for_best: bool = False
    is_for_looks: bool = False

    @property
    def has_chance(self) -> bool:
        """Return whether chance has a part in it: none in errors and n, nor in what must be equal."""
        return self.function not in ("errors", "n") and self.operator != "=="

    def __str__(self) -> str:
        looked_at = str(self.metric) if self.function == "value" else f"{self.function}({self.metric})"
        is_whole = float(self.threshold).is_integer() and abs(self.threshold) < 1e15
        threshold = f"{self.threshold:.0f}" if is_whole else repr(self.threshold)
        each, optional = " in each field" if self.is_each else "", " if present" if self.is_optional else ""
        best = " for the best system" if self.is_for_best else ""
        looks = " at any look" if self.is_for_looks else ""
        return f"{looked_at} {self.operator} {threshold}{each}{optional}{best}{looks}"


def is_metric_name(text: str) -> bool:
    """Return whether a text is a valid name of a metric."""
    return _NAME.fullmatch(text) is not None


@lru_cache(maxsize=4096)
def parse_metric(text: str) -> MetricCall:
    """Return the metric of an expression, not yet looked up in the catalogue (see `select_metrics`).

    Raises ValueError.

    >>> parse_metric("accuracy(regime=baseline)").parameters
    (('regime', 'baseline'),)
    """
    scanner = Scanner(text)
    call = scanner.read_call()
    scanner.expect_end()
    return call


_CLAUSES = ("if present", "for the best system", "at any look")
"""What may follow a gate, in any order."""


@lru_cache(maxsize=4096)
def parse_gate(text: str) -> Gate:
    """Return the gate of an expression such as `lower(accuracy) >= 0.85`. Raises ValueError.

    >>> gate = parse_gate("field_accuracy[TOTAL]{type=invoice} >= .97 if present")
    >>> gate.metric.field, gate.operator, gate.threshold, gate.is_optional
    ('TOTAL', '>=', 0.97, True)
    >>> print(parse_gate("regression(field_accuracy) > -.02 in each field"))
    regression(field_accuracy) > -0.02 in each field
    >>> print(parse_gate("lower(f1) >= 0.9 for the best system at any look"))
    lower(f1) >= 0.9 for the best system at any look
    """
    scanner = Scanner(text)
    function = scanner.read_function()
    call = scanner.read_call()
    if function is not None:
        scanner.expect(")")
    operator = next((sign for sign in OPERATORS if scanner.accept(sign)), None)
    if operator is None:
        raise scanner.complaint(f"expected a comparison, {nearest('', OPERATORS)}")
    threshold = scanner.read_number()
    is_each = scanner.accept_each(call)
    said: set[str] = set()
    while clause := next(
        (words for words in _CLAUSES if words not in said and scanner.accept_words(*words.split())), ""
    ):
        said.add(clause)
    is_optional, is_for_best, is_for_looks = (clause in said for clause in _CLAUSES)
    if is_optional and call.slice is None:
        raise scanner.complaint("'if present' needs a slice, such as {type=invoice},")
    scanner.expect_end()
    if is_for_best and function == "regression":
        raise scanner.complaint("'for the best system' goes with a value or a bound, not with a regression,")
    return Gate(
        call, function or "value", operator, threshold, is_optional, is_each, is_for_best, is_for_looks
    )


def parse_threshold(text: str) -> Gate:
    """Return the gate of a command line text: a gate as in a spec, or `METRIC=VALUE` for `>=`.

    `in each field` may end both. Raises ValueError.

    >>> print(parse_threshold("f1(granularity=slot)=0.9"), parse_threshold("latency_p95 <= 2000"), sep="; ")
    f1(granularity=slot) >= 0.9; latency_p95 <= 2000
    """
    short_form = _parse_short(text)
    if short_form is None:
        return parse_gate(text)
    call, least, is_each = short_form
    return Gate(call, "value", ">=", least, is_each=is_each)


def parse_regression(text: str) -> Gate:
    """Return the gate of a text about a regression.

    The text is a gate on `regression(…)`, or `METRIC[=MARGIN]` with the allowed loss, and may end with
    `in each field`. Raises ValueError.

    >>> for text in ("field_accuracy in each field", "f1=0.01", "regression(f1) > -0.01"):
    ...     print(parse_regression(text))
    regression(field_accuracy) >= 0 in each field
    regression(f1) > -0.01
    regression(f1) > -0.01
    """
    short_form = _parse_short(text, 0.0)
    if short_form is None:
        gate = parse_gate(text)
        if gate.function != "regression":
            raise ValueError(
                f"{gate} ignores the baseline; write regression({gate.metric}) {gate.operator} -0.01"
            )
        return gate
    call, margin, is_each = short_form
    if margin < 0:
        raise ValueError("the margin is how much may be lost, at least 0")
    sign, least = (">", -margin) if margin else (">=", 0.0)
    return Gate(call, "regression", sign, least, is_each=is_each)


def _parse_short(text: str, default: float | None = None) -> tuple[MetricCall, float, bool] | None:
    """Return metric and number of `METRIC=NUMBER`, or of `METRIC` with a default, and if it is on each field.

    None if the text continues as a gate.
    """
    scanner = Scanner(text)
    if scanner.read_function() is not None:
        return None
    call = scanner.read_call()
    if any(scanner.sees(sign) for sign in OPERATORS):
        return None
    number = scanner.read_number() if scanner.accept("=") else default
    if number is None:
        raise scanner.complaint(f"expected a comparison, {nearest('', OPERATORS)}")
    is_each = scanner.accept_each(call)
    scanner.expect_end()
    return call, number, is_each


def _print_value(value: Value) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return _print_text(value) if isinstance(value, str) else repr(value)


def _print_text(text: str) -> str:
    return text if _WORD.fullmatch(text) and text not in ("true", "false") else json.dumps(text)


class Scanner:
    """Reads an expression from left to right."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.place = 0
        if len(text) > LONGEST:
            raise ValueError(f"the expression has {len(text)} characters; at most {LONGEST} are read")

    def complaint(self, what: str) -> ValueError:
        shown = json.dumps(self.text[:200], ensure_ascii=True)
        return ValueError(f"{shown}: {what} at column {self.place + 1}")

    def accept(self, sign: str) -> bool:
        self._skip()
        if self.text.startswith(sign, self.place):
            self.place += len(sign)
            return True
        return False

    def sees(self, sign: str) -> bool:
        """Return whether the sign is next."""
        self._skip()
        return self.text.startswith(sign, self.place)

    def expect(self, sign: str) -> None:
        if not self.accept(sign):
            raise self.complaint(f"expected {sign!r}")

    def expect_end(self) -> None:
        self._skip()
        if self.place < len(self.text):
            raise self.complaint("something follows the end of the expression")

    def accept_words(self, first: str, *others: str) -> bool:
        """Return True after consuming words, False without the first; all of the others must follow it."""
        start = self.place
        if self._match(_NAME) != first:
            self.place = start
            return False
        for word in others:
            if self._match(_NAME) != word:
                raise self.complaint(f"expected {word!r}")
        return True

    def accept_each(self, call: MetricCall) -> bool:
        """Return whether the words `in each field` follow a metric, which may not have a field then."""
        is_each = self.accept_words("in", "each", "field")
        if is_each and call.field is not None:
            raise self.complaint("'in each field' goes with a metric of no field in particular,")
        return is_each

    def read_function(self) -> str | None:
        """Return the gate function at this point; None if a metric starts here."""
        start = self.place
        name = self._match(_NAME)
        if name is None or not self.accept("(") or self._is_parameter():
            self.place = start
            return None
        if name not in GATE_FUNCTIONS:
            raise self.complaint(f"unknown gate function {name!r}; {nearest(name, GATE_FUNCTIONS)}")
        return name

    def _is_parameter(self) -> bool:
        start = self.place
        is_parameter = self.accept(")") or (self._match(_NAME) is not None and self.accept("="))
        self.place = start
        return is_parameter

    def accept_literal(self) -> float | None:
        """Return the unsigned number at this point of a formula, else None."""
        literal = self._match(_LITERAL)
        return None if literal is None else self._finite(literal)

    def accept_function(self, names: tuple[str, ...]) -> str | None:
        """Return the name of the function applied here, past its parenthesis; None for anything else."""
        start = self.place
        name = self._match(_NAME)
        if name in names and self.accept("("):
            return name
        self.place = start
        return None

    def read_call(self) -> MetricCall:
        name = self._match(_NAME)
        if name is None:
            raise self.complaint("expected the name of a metric")
        parameters = self._read_parameters() if self.accept("(") else ()
        field = self._read_field() if self.accept("[") else None
        chosen = self._read_slice() if self.accept("{") else None
        return MetricCall(name, parameters, field, chosen)

    def read_number(self) -> float:
        number = self._match(_NUMBER)
        if number is None or not math.isfinite(float(number)):
            raise self.complaint("expected a number")
        return float(number)

    def _read_parameters(self) -> tuple[tuple[str, Value], ...]:
        parameters: dict[str, Value] = {}
        while not self.accept(")"):
            if parameters:
                self.expect(",")
            name = self._match(_NAME)
            if name is None or name in parameters:
                raise self.complaint("expected another parameter, as name=value")
            self.expect("=")
            parameters[name] = self._read_value()
        return tuple(parameters.items())

    def _read_value(self) -> Value:
        number = self._match(_NUMBER)
        if number is not None:
            is_whole = number.lstrip("+-").isdigit() and len(number) < 19
            return int(number) if is_whole else self._finite(number)
        word = self._match(_WORD)
        if word is not None:
            return {"true": True, "false": False}.get(word, word)
        return self._read_quoted("a value")

    def _finite(self, number: str) -> float:
        value = float(number)
        if not math.isfinite(value):
            raise self.complaint("expected a finite number")
        return value

    def _read_field(self) -> str:
        self._skip()
        if self.text.startswith('"', self.place):
            field = self._read_quoted("a field")
            self.expect("]")
            return field
        start, depth = self.place, 1
        while self.place < len(self.text):
            depth += {"[": 1, "]": -1}.get(self.text[self.place], 0)
            self.place += 1
            if depth == 0:
                break
        field = self.text[start : self.place - 1].strip()
        if depth or not field:
            raise self.complaint("expected a field and ']'")
        return field

    def _read_slice(self) -> tuple[str, str]:
        key = self._match(_BARE) or self._read_quoted("the name of a slice")
        self.expect("=")
        value = self._match(_BARE) or self._read_quoted("the value of a slice")
        self.expect("}")
        return key, value

    def _read_quoted(self, what: str) -> str:
        self._skip()
        if not self.text.startswith('"', self.place):
            raise self.complaint(f"expected {what}")
        try:
            text, end = json.JSONDecoder(strict=False).raw_decode(self.text, self.place)
        except ValueError:
            raise self.complaint(f"expected {what} in quotes") from None
        self.place = end
        return str(text)

    def _match(self, pattern: re.Pattern[str]) -> str | None:
        self._skip()
        match = pattern.match(self.text, self.place)
        if match is None:
            return None
        self.place = match.end()
        return match.group()

    def _skip(self) -> None:
        match = _SPACE.match(self.text, self.place)
        self.place = match.end() if match else self.place


# Formulas: metrics made of metrics, as expressions that print and parse back.

FORMULA_FUNCTIONS = ("document_mean", "document_sum", "otherwise", "at_least")
"""The functions of a formula.

The mean or the sum over documents of a formula's value in each document alone; a value for an undefined one;
1 where a formula is at least a number.
"""

DEEPEST = 50
"""The maximum nesting of a formula."""

MOST_STEPS = 300
"""So many operations may stand on one another, those of definitions in a formula included."""


class Literal(Struct, frozen=True):
    """A number."""

    value: float

    def __str__(self) -> str:
        return repr(int(self.value)) if self.value.is_integer() else repr(self.value)


class Operation(Struct, frozen=True):
    """Two formulas joined by `+`, `-`, `*` or `/`."""

    operator: str
    left: "Formula"
    right: "Formula"

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
    inner: "Formula"
    argument: float | None = None
    over: "Formula | None" = None

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
        if length > MOST_STEPS:
            raise ValueError(f"more than {MOST_STEPS} operations in a row; shorten the formula")
        if isinstance(part, Operation):
            waiting += [(part.left, length + 1), (part.right, length + 1)]
        elif isinstance(part, Applied):
            waiting += [(inner, length + 1) for inner in (part.inner, part.over) if inner is not None]


def _read_sum(scanner: Scanner, depth: int) -> Formula:
    if depth > DEEPEST:
        raise scanner.complaint(f"more than {DEEPEST} levels of parentheses")
    formula = _read_product(scanner, depth)
    while (sign := next((sign for sign in "+-" if scanner.accept(sign)), None)) is not None:
        formula = Operation(sign, formula, _read_product(scanner, depth))
    return formula


def _read_product(scanner: Scanner, depth: int) -> Formula:
    formula = _read_factor(scanner, depth)
    while (sign := next((sign for sign in "*/" if scanner.accept(sign)), None)) is not None:
        formula = Operation(sign, formula, _read_factor(scanner, depth))
    return formula


def _read_factor(scanner: Scanner, depth: int) -> Formula:
    if scanner.accept("("):
        formula = _read_sum(scanner, depth + 1)
        scanner.expect(")")
        return formula
    literal = scanner.accept_literal()
    if literal is not None:
        return Literal(literal)
    function = scanner.accept_function(FORMULA_FUNCTIONS)
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
