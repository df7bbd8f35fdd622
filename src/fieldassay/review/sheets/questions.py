"""The questions of one document: which of its values are asked, and what is shown of each."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from msgspec import Struct, field

from fieldassay.decisions.calibration.policy import ReviewReason, Task
from fieldassay.io.json_value import read_given
from fieldassay.paths import field_of
from fieldassay.regex import lazy_regex
from fieldassay.review.log.nodes import is_in_list, items_above
from fieldassay.review.sheets.draw import Reason, Shares, Shown, looked_at
from fieldassay.review.sheets.forms import Form, show
from fieldassay.spec.plan.nodes import Leaf


class Asked(NamedTuple):
    """A value that is asked, or shown beside asked ones; `predicted` and `truth` are JSON texts."""

    node: str
    field: str
    shown: str
    given: str | None
    predicted: str | None
    truth: str | None
    reason: str
    margin: float
    probability: float


class Predicted(NamedTuple):
    """A predicted value of a document: its path and field, and the value as JSON text."""

    path: str
    field: str
    value: str


class Document(Struct, frozen=True):
    """What is known of a document before its review: predictions, why people look at them, trusted gold."""

    name: str
    values: Sequence[Predicted] = ()
    tasks: Mapping[str, Task] = field(default_factory=dict)
    truth: Mapping[str, str] = field(default_factory=dict)
    kind: str | None = None
    """Its type as predicted."""


class Questions(Struct, frozen=True):
    """The questions of a document, whether it is labeled twice and blind."""

    asked: tuple[Asked, ...]
    slots: int
    is_blind: bool
    margin: float
    is_flagged: bool
    """Whether the policy sends any of its values to review."""


class Interview(Struct, frozen=True):
    """Makes the questions of documents."""

    form: Form
    shares: Shares
    audit_share: float = 0.0
    has_predictions: bool = True

    def ask(self, document: Document) -> Questions | None:
        """Return the questions of a document; None where nothing is asked."""
        is_double = self.shares.is_double(document.name)
        if is_double or not self.has_predictions:
            return Questions(tuple(self._blind(document, is_double)), 2 if is_double else 1, True, 0.0, False)
        asked = self._planted(document, [*self._asked(document), *self._empty(document)])
        if not asked:
            return None
        shown = (*asked, *self._context(document, asked))
        tasks = [task for task in document.tasks.values() if task.reason is not ReviewReason.AUDIT]
        margin = math.fsum(task.margin for task in tasks)
        in_order = tuple(sorted(shown, key=lambda one: self.form.place(one.node)))
        return Questions(in_order, 1, False, margin, bool(tasks))

    def _blind(self, document: Document, is_double: bool) -> Iterator[Asked]:
        """Yield every field, with nothing shown."""
        values = {value.path: value for value in document.values}
        for path in self.form.asked:
            value = values.get(path)
            task = document.tasks.get(path)
            is_flagged = task is not None and task.reason is not ReviewReason.AUDIT
            audit = None if is_flagged else self.audit_share
            reason = Reason.DOUBLE_FLAGGED if is_flagged else Reason.DOUBLE
            reason = reason if is_double else Reason.NO_PREDICTIONS
            chance = looked_at(self.shares, audit, is_in_list=False) if value is not None else 1.0
            predicted = None if value is None else value.value
            truth = document.truth.get(path)
            yield Asked(path, path, Shown.NOTHING, None, predicted, truth, reason, 0.0, chance)

    def _asked(self, document: Document) -> Iterator[Asked]:
        """Yield the predicted values that the policy sends to review, or that are audited."""
        for path, name, value in document.values:
            task = document.tasks.get(path)
            if task is None:
                continue
            is_audit = task.reason is ReviewReason.AUDIT
            is_hidden = is_audit or self.shares.is_withheld(document.name, path)
            chance = looked_at(
                self.shares, self.audit_share if is_audit else None, is_in_list=is_in_list(path)
            )
            given = None if is_hidden else show(self.form.leaf(name), read_given(value))
            shown = Shown.NOTHING if is_hidden else Shown.PREDICTION
            truth = document.truth.get(path)
            yield Asked(path, name, shown, given, value, truth, task.reason, task.margin, chance)

    def _empty(self, document: Document) -> Iterator[Asked]:
        """Yield the drawn fields without a prediction, and the drawn empty cells of predicted rows."""
        filled = {value.path for value in document.values}
        above = [pair for value in document.values for pair in items_above(value.path)]
        filled |= {listed for listed, _ in above}
        places = [(path, path) for path in self.form.asked]
        rows = dict.fromkeys(item for _, item in above)
        places += [cell for item in rows for cell in self.form.cells(item)]
        for path, name in places:
            types = self.form.types_of.get(name)
            is_possible = document.kind is None or not types or document.kind in types
            if path not in filled and is_possible and self.shares.is_asked_empty(document.name, path):
                truth = None if is_in_list(path) else document.truth.get(path)
                reason = Reason.NOT_PREDICTED
                yield Asked(path, name, Shown.NOTHING, None, None, truth, reason, 0.0, self.shares.empty)

    def _planted(self, document: Document, asked: list[Asked]) -> list[Asked]:
        """Return the questions with one wrong value, if the document is drawn for it and its truth is known.

        A prediction that is really wrong is preferred.
        """
        if not document.truth or not self.shares.is_planted(document.name):
            return asked
        held = {one.node: one for one in asked}
        candidates = []
        for path, name, value in document.values:
            now = held.get(path)
            is_free = now is None or now.shown == Shown.PREDICTION
            if path in document.truth and not is_in_list(path) and is_free:
                given, is_wrong = self._wrong(name, value, document.truth[path])
                if given is not None:
                    candidates.append((not is_wrong, self.shares.rank(document.name, path), path, given))
        if not candidates:
            return asked
        _, _, path, given = min(candidates)
        chosen = next(one for one in document.values if one.path == path)
        truth = document.truth[path]
        new = Asked(path, chosen.field, "", None, chosen.value, truth, Reason.PLANTED, 0.0, 0.0)
        before = held.get(path, new)
        planted = before._replace(shown=Shown.PLANTED, given=given, probability=0.0)
        return [one for one in asked if one.node != path] + [planted]

    def _wrong(self, name: str, value: str, truth: str) -> tuple[str | None, bool]:
        """Return a wrong text for a field, and whether it is the prediction itself."""
        leaf = self.form.leaf(name)
        right, predicted = read_given(truth), read_given(value)
        if leaf is None or isinstance(right, dict | list) or isinstance(predicted, dict | list):
            return None, False
        gold, pred = leaf.reader.read(right), leaf.reader.read(predicted)
        if not leaf.is_match(gold, pred) and not leaf.is_match(pred, gold):
            return show(leaf, predicted), True
        return spoil(self.form, name, show(leaf, right)), False

    def _context(self, document: Document, asked: Sequence[Asked]) -> Iterator[Asked]:
        """Yield the other values of lists with an asked value: they help to find it on the page."""
        taken = {one.node for one in asked}
        near = {listed for one in asked for listed, _ in items_above(one.node)}
        for path, name, value in document.values:
            above = list(items_above(path))
            if path not in taken and above and above[0][0] in near:
                given = show(self.form.leaf(name), read_given(value))
                yield Asked(path, name, Shown.CONTEXT, given, value, None, Reason.CONTEXT, 0.0, 0.0)


def ask_blind(asked: Sequence[tuple[str, str, str]]) -> Questions:
    """Return questions about given places (path, value of the systems, gold), with nothing shown."""
    questions = tuple(
        Asked(path, field_of(path), Shown.NOTHING, None, predicted, truth, Reason.SUSPICIOUS, 1.0, 1.0)
        for path, predicted, truth in asked
    )
    return Questions(questions, 1, False, float(len(asked)), True)


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
