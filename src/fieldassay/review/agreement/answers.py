"""The answers of reviewers: a record each, and for every place whether it was asked and seen before."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, TypeAlias

from msgspec import Struct

from fieldassay.paths import ITEM, Step, join_path, plain_path, split_path
from fieldassay.records.labels_file import Label, Sheet, record_of

State: TypeAlias = Literal["given", "absent", "illegible"]

ILLEGIBLE_ITEM, SKIPPED_ITEM = "\uf8ff" * 4, "\uf8fe" * 4
"""Stand in a list for a value that cannot be read, and for one without an answer: like no other text."""


class Answers(Struct, frozen=True, eq=False):
    """One document as one reviewer labeled it: the values as a record, and the sheet they come from.

    Without a sheet (a plain record) every place was asked but those in `unreviewed`, and none was seen
    before; `illegible` are then the places that the record names as such.
    """

    document: str
    reviewer: str
    data: Mapping[str, Any]
    sheet: Sheet | None = None
    illegible: frozenset[str] = frozenset()
    unreviewed: frozenset[str] = frozenset()

    @classmethod
    def of_record(
        cls,
        document: str,
        reviewer: str,
        data: Mapping[str, Any],
        illegible: Iterable[str],
        unreviewed: Iterable[str] = (),
    ) -> Answers:
        """Return the answers that a plain record gives.

        >>> Answers.of_record("a", "ada", {"l": [{"n": "1"}]}, ["l[0].m", "total"]).state("total")
        'illegible'
        """
        held: Any = dict(data)
        places = [frozenset(map(plain_path, paths)) for paths in (illegible, unreviewed)]
        for paths, text in zip(places, (ILLEGIBLE_ITEM, SKIPPED_ITEM), strict=True):
            for path in sorted(path for path in paths if "[" in path):
                held = _with_stand_in(held, split_path(path), text)
        return cls(document, reviewer, held, None, *places)

    @classmethod
    def of_sheet(cls, sheet: Sheet) -> Answers:
        """Return the answers of a sheet.

        >>> sheet = Sheet("a", "ada", labels={"total": Label("illegible"), "lines[0]": Label("illegible")})
        >>> Answers.of_sheet(sheet).data == {"lines": [ILLEGIBLE_ITEM]}
        True
        """
        stand_in = {"illegible": Label("value", ILLEGIBLE_ITEM), "skipped": Label("value", SKIPPED_ITEM)}
        held = {
            path: stand_in.get(label.state, label) if "[" in path else label
            for path, label in sheet.labels.items()
        }
        return cls(sheet.document, sheet.reviewer, record_of(held), sheet)

    @property
    def has_answers(self) -> bool:
        """Return whether anything was answered: sheets may have no labels, or skipped ones alone."""
        return self.sheet is None or any(label.state != "skipped" for label in self.sheet.labels.values())

    def _label(self, path: str) -> tuple[str, Label] | None:
        """Return the label at a path, or the nearest one above it, with its path."""
        assert self.sheet is not None
        if path in self.sheet.labels:
            return path, self.sheet.labels[path]
        steps = split_path(path)
        for end in range(len(steps) - 1, 0, -1):
            above = join_path(steps[:end])
            if above in self.sheet.labels:
                return above, self.sheet.labels[above]
        return None

    def state(self, path: str) -> State | None:
        """Return the state of the answer at a path; None: not asked, or skipped.

        `given` is what the record has there, which may be nothing.
        """
        if self.sheet is None:
            steps = split_path(path)
            above = {join_path(steps[:end]) for end in range(1, len(steps) + 1)}
            if not self.unreviewed.isdisjoint(above):
                return None
            return "given" if self.illegible.isdisjoint(above) else "illegible"
        found = self._label(path)
        if found is None or found[1].state == "skipped":
            return None
        state = found[1].state
        return "given" if state == "value" else state

    def is_independent(self, path: str) -> bool:
        """Return whether the answer at a path was made without seeing a value."""
        if self.sheet is None:
            return True
        found = self._label(path)
        return found is None or self.sheet.is_independent(found[0])

    def has_whole(self, path: str) -> bool:
        """Return whether the list at a path was labeled as a whole.

        >>> part = Sheet("a", "ada", labels={"lines[0]": Label("value", "A")})
        >>> Answers.of_sheet(part).has_whole("lines")
        False
        """
        return self.state(path) is not None

    def has_seen(self, path: str) -> bool:
        """Return whether a value was shown at a path or below it."""
        return self.sheet is not None and any(
            not self.sheet.is_independent(place)
            for place in self.sheet.labels
            if place == path or place.startswith((f"{path}[", f"{path}."))
        )

    def partial_lists(self) -> set[str]:
        """Return the lists of which only single values were asked."""
        labels = {} if self.sheet is None else self.sheet.labels
        tops = {path.partition("[")[0] for path in labels if "[" in path and not path.startswith("[")}
        return {top for top in tops if not self.has_whole(top)}


def _with_stand_in(value: Any, steps: tuple[Step, ...], text: str) -> Any:
    """Return a record with a text at a place in a list, if its list is there."""
    if not steps:
        return text
    first, rest = steps[0], steps[1:]
    if isinstance(value, list) and isinstance(first, int) and first < len(value):
        numbers = range(len(value)) if first == ITEM else (first,)
        return [_with_stand_in(one, rest, text) if at in numbers else one for at, one in enumerate(value)]
    if (
        isinstance(value, Mapping)
        and isinstance(first, str)
        and (first in value or not any(isinstance(step, int) for step in rest))
    ):
        return {**value, first: _with_stand_in(value.get(first), rest, text)}
    return value


class Labeled(Struct, frozen=True, eq=False):
    """The answers to each of d documents, in the order of ids; each document has at least one.

    A document with answers of one sheet only is in no pair, and in the shares of answers of AC1.
    """

    documents: tuple[str, ...]
    answers: tuple[tuple[Answers, ...], ...]

    @classmethod
    def of(cls, found: Sequence[Answers]) -> Labeled:
        """Return the documents with answers; of sheets those on which something was answered.

        >>> skipped = Answers("b", "bob", {}, Sheet("b", "bob", labels={"total": Label("skipped")}))
        >>> ada = [Answers("a", "ada", {}), Answers("b", "ada", {})]
        >>> labeled = Labeled.of([*ada, Answers("a", "bob", {}), skipped])
        >>> labeled.documents, [both[0].document for both in labeled.twice]
        (('a', 'b'), ['a'])
        """
        by: dict[str, list[Answers]] = {}
        for one in found:
            if one.has_answers:
                by.setdefault(one.document, []).append(one)
        ordered = sorted(by.items())
        return cls(tuple(name for name, _ in ordered), tuple(tuple(answers) for _, answers in ordered))

    @property
    def twice(self) -> list[tuple[Answers, ...]]:
        """Return the answers to each document that was labeled twice or more."""
        return [answers for answers in self.answers if len(answers) > 1]
