"""The tokens of an amount, each with the rule that reads it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from fieldassay.io.json_value import Scalar
from fieldassay.regex import lazy_regex
from fieldassay.values.types.base import NO_RULE, Token
from fieldassay.values.types.numbers.amounts import canonical_number
from fieldassay.values.types.numbers.locales import Convention
from fieldassay.values.types.numbers.readings import Signs, stripped
from fieldassay.values.types.numbers.text import fold, numeral_at
from fieldassay.values.types.numbers.units import canonical_unit, unit_flags
from fieldassay.values.types.unreadable import UnreadableError

_JOINT = lazy_regex(
    r"(?:(?P<mark>-|/|±|\+/?-|\.{2,3}|…|~|〜|(?<![^ ])(?:to|bis|à|a|hasta|until))|(?<! ))"
    r"[ ]*+(?P<sign>[-+]?)[ ]*+\Z"
)
_JOINTS = {"/": "several values", **dict.fromkeys(("±", "+/-", "+-"), "a tolerance")}
_MARK = lazy_regex(r"/[-=]|[-+()%]|[^-+()% ]+")
_SIGNS = {"-": "a minus", "(": "a minus", ")": "a minus", "+": "a plus", "%": "percent"}


def read_tokens(text: str, convention: Convention, name: Callable[[str], str | None]) -> tuple[Token, ...]:
    """Return the tokens of a folded text; `name` returns the rule for what stands beside a number.

    >>> read_tokens("5 mg/325 mg", Convention(), unit_rule)[1:4]
    (('mg', 'a unit'), ('/', 'several values'), ('325', 'a number'))
    >>> read_tokens("-1,234 O", Convention(), unit_rule)
    (('-', 'a minus'), ('1,234', 'the number 1234, by its convention'), ('O', 'no rule'))
    """
    tokens: list[Token] = []
    gap = place = 0
    while place < len(text) and not (tokens and name(text[gap:].strip())):
        is_inside = bool(tokens) and text[place - 1].isalpha()
        try:
            numeral = None if is_inside else numeral_at(text, place, convention)
        except UnreadableError:
            numeral = None
        if numeral is None:
            place += 1
            continue
        beside, joint = text[gap:place], _JOINT.search(text[gap:place]) if tokens else None
        tokens += _mark_tokens(beside[: joint.start()] if joint else beside, name)
        if joint:
            rules = (_JOINTS.get(joint["mark"], "a range"), _SIGNS.get(joint["sign"], ""))
            tokens += [(mark, rule) for mark, rule in zip(joint.groups(), rules, strict=True) if mark]
        written, value = text[place : numeral.end].strip(), canonical_number(numeral.value)
        doubt = ", by its convention" if numeral.is_ambiguous else ""
        tokens.append((written, f"{'a number' if written == value else f'the number {value}'}{doubt}"))
        gap = place = numeral.end
    return tuple(tokens + _mark_tokens(text[gap:], name))


def text_tokens(
    raw: Scalar,
    marks: tuple[Sequence[str], Signs],
    convention: Convention,
    name: Callable[[str], str | None] = _SIGNS.get,
) -> tuple[Token, ...]:
    """Return the tokens of a raw value without the marks to drop; none for anything but a readable text."""
    try:
        return read_tokens(stripped(fold(raw), *marks), convention, name) if isinstance(raw, str) else ()
    except UnreadableError:
        return ()


def _mark_tokens(text: str, name: Callable[[str], str | None]) -> list[Token]:
    marks = [text.strip()] if name(text.strip()) else _MARK.findall(text)
    return [(mark, _SIGNS.get(mark) or name(mark) or NO_RULE) for mark in marks]


def unit_rule(text: str) -> str | None:
    """Return the rule for a unit; None for anything else.

    >>> unit_rule("G/L"), unit_rule("ML"), unit_rule("boxes")
    ('the unit 10*9/L', 'the unit mL, in small letters', None)
    """
    unit = canonical_unit(text)
    doubt = ", in small letters" if unit_flags(text) else ""
    return None if unit is None else "a unit" if unit == text else f"the unit {unit}{doubt}"
