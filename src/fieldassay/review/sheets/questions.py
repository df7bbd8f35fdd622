"""The questions of one document: which of its values are asked, and what is shown of each."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from msgspec import Struct, field

from fieldassay.decisions.calibration.policy import Task
from fieldassay.io.json_value import read_given
from fieldassay.paths import field_of
from fieldassay.review.log.nodes import is_in_list, items_above
from fieldassay.review.sheets.draw import Reason, Shares, Showing, looked_at, uniform
from fieldassay.review.sheets.forms import ReviewForm, show


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


class AskedDocument(Struct, frozen=True):
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

    form: ReviewForm
    shares: Shares
    has_predictions: bool = True

    def ask(self, document: AskedDocument) -> Questions | None:
        """Return the questions of a document; None where nothing is asked."""
        is_double = self.shares.is_double(document.name)
        if is_double or not self.has_predictions:
            return Questions(tuple(self._blind(document, is_double)), 2 if is_double else 1, True, 0.0, False)
        asked = [*self._asked(document), *self._empty(document)]
        if not asked:
            return None
        shown = (*asked, *self._context(document, asked))
        tasks = [task for task in document.tasks.values() if task.reason is not Reason.AUDIT]
        margin = math.fsum(task.item.doubt for task in tasks)
        in_order = tuple(sorted(shown, key=lambda one: self.form.place(one.node)))
        return Questions(in_order, 1, False, margin, bool(tasks))

    def _is_drawn(self, share: str, document: AskedDocument, path: str) -> bool:
        return bool(uniform(self.shares.seed, share, document.name, path) < getattr(self.shares, share))

    def _blind(self, document: AskedDocument, is_double: bool) -> Iterator[Asked]:
        """Yield every field, with nothing shown."""
        values = {value.path: value for value in document.values}
        for path in self.form.asked:
            value = values.get(path)
            task = document.tasks.get(path)
            is_flagged = task is not None and task.reason is not Reason.AUDIT
            reason = Reason.DOUBLE_FLAGGED if is_flagged else Reason.DOUBLE
            reason = reason if is_double else Reason.NO_PREDICTIONS
            chance = (
                looked_at(self.shares, is_flagged=is_flagged, is_in_list=False) if value is not None else 1.0
            )
            predicted = None if value is None else value.value
            truth = document.truth.get(path)
            yield Asked(path, path, Showing.NOTHING, None, predicted, truth, reason, 0.0, chance)

    def _asked(self, document: AskedDocument) -> Iterator[Asked]:
        """Yield the predicted values that the policy sends to review, or that are audited."""
        for path, name, value in document.values:
            task = document.tasks.get(path)
            if task is None:
                continue
            is_audit = task.reason is Reason.AUDIT
            is_hidden = is_audit or self._is_drawn("withheld", document, path)
            chance = looked_at(self.shares, is_flagged=not is_audit, is_in_list=is_in_list(path))
            given = None if is_hidden else show(self.form.leaf(name), read_given(value))
            shown = Showing.NOTHING if is_hidden else Showing.PREDICTION
            truth = document.truth.get(path)
            yield Asked(path, name, shown, given, value, truth, task.reason, task.item.doubt, chance)

    def _empty(self, document: AskedDocument) -> Iterator[Asked]:
        """Yield the drawn fields without a prediction, and the drawn empty cells of predicted rows."""
        filled = {value.path for value in document.values}
        above = [pair for value in document.values for pair in items_above(value.path)]
        filled |= {listed for listed, _ in above}
        filled |= {tree for value in document.values if (tree := self.form.tree_at(value.path))}
        places = [(path, path) for path in self.form.asked]
        rows = dict.fromkeys(item for _, item in above)
        places += [cell for item in rows for cell in self.form.cells(item)]
        for path, name in places:
            types = self.form.types_of.get(name)
            is_possible = self.shares.empty == 1.0 or document.kind in (None, *(types or [document.kind]))
            if path not in filled and is_possible and self._is_drawn("empty", document, path):
                truth = None if is_in_list(path) else document.truth.get(path)
                reason = Reason.NOT_PREDICTED
                yield Asked(path, name, Showing.NOTHING, None, None, truth, reason, 0.0, self.shares.empty)

    def _context(self, document: AskedDocument, asked: Sequence[Asked]) -> Iterator[Asked]:
        """Yield the other values of lists with an asked value: they help to find it on the page."""
        taken = {one.node for one in asked}
        near = {listed for one in asked for listed, _ in items_above(one.node)}
        for path, name, value in document.values:
            above = list(items_above(path))
            if path not in taken and above and above[0][0] in near:
                given = show(self.form.leaf(name), read_given(value))
                yield Asked(path, name, Showing.CONTEXT, given, value, None, Reason.CONTEXT, 0.0, 0.0)


def ask_blind(asked: Sequence[tuple[str, str, str]]) -> Questions:
    """Return questions about given places (path, value of the systems, gold), with nothing shown."""
    questions = tuple(
        Asked(path, field_of(path), Showing.NOTHING, None, predicted, truth, Reason.SUSPICIOUS, 1.0, 1.0)
        for path, predicted, truth in asked
    )
    return Questions(questions, 1, False, float(len(asked)), True)
