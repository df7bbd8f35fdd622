"""Wrong values that are shown on purpose: like those that systems really give, and surely wrong."""

from __future__ import annotations

from collections.abc import Iterator

from fieldassay.regex import lazy_regex
from fieldassay.review.sheets.forms import Form
from fieldassay.spec.plan.nodes import Leaf

_DATE = lazy_regex(r"(?P<first>\d{1,4})(?P<a>[./-])(?P<second>\d{1,2})(?P<b>[./-])(?P<third>\d{1,4})")


def spoil(form: Form, field: str, text: str) -> str | None:
    """Return a text that is easily taken for `text` and means something else; None if there is none.

    It is the opposite of a diagnosis: day and month exchanged, digits transposed, a digit misread, another
    choice, letters transposed, a word lost.

    >>> from fieldassay.spec.plan.compile import read_plan
    >>> fields = "{total: money, due: date, name: text, paid: boolean}"
    >>> form = Form(read_plan(f"{{locale: en_AU, fields: {fields}}}"))
    >>> pairs = {"total": "147.43", "due": "03/04/2025", "name": "Harbour Cafe", "paid": "yes"}
    >>> [spoil(form, field, text) for field, text in pairs.items()]
    ['147.34', '04/03/2025', 'Harbour', 'no']
    """
    leaf = form.leaf(field)
    truth = form.read(field, text)
    if leaf is None or leaf.is_list or truth is None or truth.problem is not None:
        return None
    for candidate in _candidates(form, leaf, field, text):
        found = form.read(field, candidate)
        if found is None or found.problem is not None:
            continue
        if not (leaf.is_match(truth, found) or leaf.is_match(found, truth)):
            return candidate
    return None


def _candidates(form: Form, leaf: Leaf, field: str, text: str) -> Iterator[str]:
    described = next((one for one in form.describe() if one["field"] == field), {})
    yield from described.get("choices", ())
    date = _DATE.search(text)
    if leaf.type in ("date", "datetime") and date is not None:
        first, second, third = date["first"], date["second"], date["third"]
        turned = (first, third, second) if len(first) == 4 else (second, first, third)
        yield _put(text, date.start(), date.end(), date["a"].join(turned))
    for at in reversed(range(len(text) - 1)):
        if text[at].isdigit() and text[at + 1].isdigit() and text[at] != text[at + 1]:
            yield _put(text, at, at + 2, text[at + 1] + text[at])
    for at in reversed(range(len(text))):
        if text[at].isascii() and text[at].isdigit():
            yield _put(text, at, at + 1, str((int(text[at]) + 1) % 10))
    words = text.split()
    if len(words) > 1:
        yield " ".join(words[:-1])
    for at in range(len(text) - 1):
        if text[at].isalpha() and text[at + 1].isalpha() and text[at].casefold() != text[at + 1].casefold():
            yield _put(text, at, at + 2, text[at + 1] + text[at])


def _put(text: str, start: int, end: int, part: str) -> str:
    return text[:start] + part + text[end:]
