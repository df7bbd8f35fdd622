"""Comparators of equal meaning: what a comparator is, exact values, kinds, cascades and synonyms."""

import re
from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, Literal, TypeAlias

import numpy as np
import numpy.typing as npt
from msgspec import Struct, field
from msgspec.structs import force_setattr, replace

from fieldassay.values.types.column import Column, Indices, Objects, Reading, objects

# The interface of comparators.


class Scores(Struct, frozen=True, eq=False):
    """The similarities of n pairs.

    `score` is float64 in [0, 1], but cosines can be negative; NaN means not judged. `reason` is int16,
    positions in the comparator's `reasons`. `extras` are further float64 columns by name (coverage,
    specificity …) for statistics.
    """

    score: npt.NDArray[np.float64]
    reason: npt.NDArray[np.int16]
    extras: Mapping[str, npt.NDArray[np.float64]] = field(default_factory=dict)


class Comparator:
    """Compares two present, readable, typed values, gold first.

    A comparator is a frozen `Struct` or dataclass whose fields are its options in a spec. It is
    pure, works on whole columns, and gives two values with equal canonical texts 1.0 with reason 0, which is
    always `equal`.
    """

    reasons: ClassVar[tuple[str, ...]] = ("equal", "different")
    accept: ClassVar[float] = 1.0
    """The default acceptance threshold: the least score of a match."""
    by_canonical: ClassVar[bool] = False
    """True if unequal canonical texts always score 0 with reason 1, without a call."""
    skips_equal: ClassVar[bool] = True
    """False if equal values must be compared too, because of `extras`."""
    is_expensive: ClassVar[bool] = False
    """True if a comparison costs more than the search for repeated pairs (about 100 ns)."""

    can_fail: ClassVar[bool] = False
    """The meaning of a NaN score.

    True: a judge could not be reached; the row fails and leaves every denominator. False: the two values are
    too long to be compared; that counts as wrong, since no prediction may remove gold from a denominator.
    """

    extra_names: ClassVar[tuple[str, ...]] = ()
    """The names of the `extras`; a pair settled without the comparator has its score in each."""

    def read_words(self, read: Callable[[str], str]) -> "Comparator":  # noqa: ARG002
        """Return the comparator with the words among its options as the field reads them."""
        return self

    @abstractmethod
    def compare(self, gold: Column, pred: Column) -> Scores:
        """Return the similarities of `gold[i]` and `pred[i]` for every i: one pair or more.

        The canonical texts of each pair are unequal, unless `skips_equal` is False.
        """

    def compare_all(self, gold: Column, pred: Column) -> Scores:
        """Return the similarities of pairs that may be equal, or none."""
        if not self.skips_equal:
            return self.compare(gold, pred)
        scores = Scores(np.ones(len(gold)), np.zeros(len(gold), dtype=np.int16))
        at = np.flatnonzero(gold.canonical != pred.canonical)
        if len(at):
            sides = (gold, pred) if len(at) == len(gold) else (gold.take(at), pred.take(at))
            judged = self.compare(*sides)
            scores.score[at], scores.reason[at] = judged.score, judged.reason
        return scores

    def is_exact_on(self, column: Column) -> bool:  # noqa: ARG002 - subclasses use it
        """Return whether unequal canonical texts here always score 0 with reason 1, without a comparison."""
        return self.by_canonical

    def compare_at(self, column: Column, gold: Indices, pred: Indices) -> Scores:
        """Return the similarities of `column[gold[i]]` and `column[pred[i]]`, the same as by `compare`."""
        return self.compare(column.take(gold), column.take(pred))

    def compare_one(self, gold: Reading, pred: Reading) -> tuple[float, str]:
        """Return the score of one pair and the reason's name."""
        scores = self.compare_all(Column.of([gold]), Column.of([pred]))
        return float(scores.score[0]), self.reasons[int(scores.reason[0])]


class ColumnComparator(Comparator):
    """Compares values by their positions in one column, so that each is prepared once."""

    def compare(self, gold: Column, pred: Column) -> Scores:
        positions = np.arange(len(gold))
        return self.compare_at(gold.join(pred), positions, positions + len(gold))

    @abstractmethod
    def compare_at(self, column: Column, gold: Indices, pred: Indices) -> Scores:
        """Return the similarities of `column[gold[i]]` and `column[pred[i]]`."""


# Scores from reason codes.

Mask = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.float64]
Codes = npt.NDArray[np.int16]


def judge_each(judge: Callable[[Any, Any], int], gold: Objects, pred: Objects) -> Codes:
    """Return the reason code of each pair."""
    return np.fromiter(map(judge, gold, pred), dtype=np.int16, count=len(gold))


def scores_by_code(codes: npt.NDArray[np.integer[Any]], table: Sequence[float]) -> Scores:
    """Return the scores `table[code]`, for reasons with one score each.

    >>> scores_by_code(np.array([0, 2]), (1.0, 0.0, 0.8)).score.tolist()
    [1.0, 0.8]
    """
    reason = codes.astype(np.int16)
    return Scores(np.asarray(table, dtype=np.float64)[reason], reason)


def graded(score: Floats) -> Scores:
    """Return scores of unequal values with the reasons `different` (1: score 0 or less) and `similar` (2)."""
    return Scores(score, np.where(score > 0, 2, 1).astype(np.int16))


# Equality: of canonical texts, of digits, of containment.

_NO_DIGIT = re.compile(r"\D+")


class Exact(Comparator, Struct, frozen=True):
    """1 if the canonical texts are equal, else 0.

    The characters of `ignore` are deleted from both sides first. Two different texts of which nothing is left
    are different, or equal with `nothing_left: equal`.

    >>> from fieldassay.values.types.column import Reading
    >>> Exact(ignore=",$ ").compare_one(*(Reading(text, text, text) for text in ("$1,234.56", "$ 1234.56")))
    (1.0, 'equal_ignoring')
    """

    ignore: str = ""
    nothing_left: Literal["different", "equal"] = "different"
    reasons: ClassVar[tuple[str, ...]] = ("equal", "different", "equal_ignoring")
    by_canonical: ClassVar[bool] = True  # for an instance with `ignore` it is False, see below

    def __post_init__(self) -> None:
        if self.ignore:
            force_setattr(self, "by_canonical", False)

    def compare(self, gold: Column, pred: Column) -> Scores:
        codes = np.ones(len(gold), dtype=np.int16)
        if self.ignore:
            gold_texts, pred_texts = (
                self._without_ignored(gold.canonical),
                self._without_ignored(pred.canonical),
            )
            codes[(gold_texts == pred_texts) & ((gold_texts != "") | (self.nothing_left == "equal"))] = 2
        return scores_by_code(codes, (1.0, 0.0, 1.0))

    def _without_ignored(self, texts: Objects) -> Objects:
        table = str.maketrans("", "", self.ignore)
        return objects([text.translate(table) for text in texts])


class Digits(Comparator, Struct, frozen=True):
    """1 if the texts as given have the same sequence of digits, else 0, also without any digit.

    >>> from fieldassay.values.types.column import Reading
    >>> Digits().compare_one(*(Reading(text, text, text) for text in ("06 082 698 025", "06-082-698-025")))
    (1.0, 'same_digits')
    """

    reasons: ClassVar[tuple[str, ...]] = ("equal", "different", "same_digits", "no_digits")

    def compare(self, gold: Column, pred: Column) -> Scores:
        gold_digits, pred_digits = digits_of(gold.texts), digits_of(pred.texts)
        codes = np.where(
            (gold_digits == "") | (pred_digits == ""), 3, np.where(gold_digits == pred_digits, 2, 1)
        )
        return scores_by_code(codes, (1.0, 0.0, 1.0, 0.0))


def digits_of(texts: Objects) -> Objects:
    """Return the digits of each text, in order.

    >>> digits_of(objects(["+61 (2) 93", "none"])).tolist()
    ['61293', '']
    """
    return objects([_NO_DIGIT.sub("", text) for text in texts])


class Contains(Comparator, Struct, frozen=True):
    """`score` if one text contains the other, else 0.

    `inner` restricts which side may be the contained one. An empty text is contained in nothing.

    >>> from fieldassay.values.types.column import Reading
    >>> Contains().compare_one(*(Reading(text, text, text) for text in ("Acme Corp Ltd", "Acme Corp")))
    (1.0, 'contained')
    """

    inner: Literal["either", "gold", "pred"] = "either"
    score: float = 1.0
    reasons: ClassVar[tuple[str, ...]] = ("equal", "different", "contained")

    def __post_init__(self) -> None:
        if not 0 <= self.score <= 1:
            raise ValueError(f"contains: score is {self.score}; give a score from 0 to 1")

    def compare(self, gold: Column, pred: Column) -> Scores:
        codes = judge_each(self._judge, gold.canonical, pred.canonical)
        return scores_by_code(codes, (1.0, 0.0, self.score))

    def _judge(self, gold: str, pred: str) -> int:
        is_contained = bool(gold and pred) and (
            (self.inner != "pred" and gold in pred) or (self.inner != "gold" and pred in gold)
        )
        return 2 if is_contained else 1


# Values of any kind, each judged by the comparator for its kind of JSON.


class ByKind(Comparator, Struct, frozen=True):
    """The score of the comparator for gold's kind of JSON, `number` or `text`; otherwise equality.

    Values of different kinds must be equal too. A boolean is not a number. Intended for trees without a
    schema. Source: the engineering extractor's strategy.

    >>> from fieldassay.values.comparators.numbers import NumberComparator
    >>> from fieldassay.values.types.column import Reading
    >>> judge = ByKind(number=NumberComparator(tolerance=0.01))
    >>> judge.compare_one(Reading("100", 100, "100"), Reading("100.5", 100.5, "100.5"))
    (1.0, 'within_tolerance')
    >>> judge.compare_one(Reading("100", 100, "100"), Reading("100", "100", '"100"'))
    (0.0, 'other_kind')
    """

    number: Comparator = Exact()
    text: Comparator = Exact()
    # An instance has those of its comparators (see `__post_init__`).
    reasons: ClassVar[tuple[str, ...]] = ("equal", "different", "other_kind")

    def __post_init__(self) -> None:
        inner = (*self.number.reasons, *self.text.reasons)
        force_setattr(self, "reasons", tuple(dict.fromkeys(("equal", "different", "other_kind", *inner))))
        force_setattr(self, "is_expensive", self.number.is_expensive or self.text.is_expensive)

    def read_words(self, read: Callable[[str], str]) -> "Comparator":
        return replace(self, number=self.number.read_words(read), text=self.text.read_words(read))

    def compare(self, gold: Column, pred: Column) -> Scores:
        score, reason = np.zeros(len(gold)), np.ones(len(gold), dtype=np.int16)
        kinds = tuple((_are_numbers(column.values), _are(column.values, (str,))) for column in (gold, pred))
        reason[(kinds[0][0] != kinds[1][0]) | (kinds[0][1] != kinds[1][1])] = 2
        for judge, position in ((self.number, 0), (self.text, 1)):
            at = np.flatnonzero(kinds[0][position] & kinds[1][position])
            if len(at):
                scores = judge.compare_all(gold.take(at), pred.take(at))
                names = np.array([self.reasons.index(name) for name in judge.reasons], dtype=np.int16)
                score[at], reason[at] = scores.score, names[scores.reason]
        return Scores(score, reason)


def _are_numbers(values: Objects) -> Mask:
    return _are(values, (int, float))


def _are(values: Objects, kinds: tuple[type[Any], ...]) -> Mask:
    return np.fromiter((value.__class__ in kinds for value in values), dtype=np.bool_, count=len(values))


# Comparators in sequence.


class Cascade(Comparator, Struct, frozen=True):
    """The score of the first step that reaches its threshold, else the score of the last step.

    `steps` are comparators, applied in order to the pairs still undecided. `thresholds` (one per step) are
    the scores that decide a pair; the default is each step's own acceptance threshold. `scores` (one per
    step) replace the score of an unequal pair decided by the step; null keeps the step's score. The reason is
    that of the deciding step. A pair that a step cannot judge stays not judged; later steps do not see it.

    >>> from fieldassay.values.comparators.base import Contains, Exact
    >>> from fieldassay.values.types.column import Reading
    >>> judge = Cascade(steps=(Exact(ignore=",$ "), Contains()), scores=(None, 0.9))
    >>> judge.compare_one(*(Reading(text, text, text) for text in ("Acme Corp Ltd", "Acme Corp")))
    (0.9, 'contained')
    """

    steps: tuple[Comparator, ...]
    thresholds: tuple[float, ...] = ()
    scores: tuple[float | None, ...] = ()
    # An instance has those of all its steps (see `__post_init__`).
    reasons: ClassVar[tuple[str, ...]] = ("equal", "different")
    accept: ClassVar[float] = 1.0  # an instance has its last step's

    def __post_init__(self) -> None:
        if not self.steps:
            raise ValueError("cascade: there are no steps; name at least one comparator under `steps`")
        for name in ("thresholds", "scores"):
            numbers = getattr(self, name)
            if numbers and len(numbers) != len(self.steps):
                raise ValueError(
                    f"cascade: {len(numbers)} {name} for {len(self.steps)} steps; give one per step, or none"
                )
            if any(number is not None and not 0 <= number <= 1 for number in numbers):
                raise ValueError(f"cascade: {name} are {list(numbers)}; give numbers from 0 to 1")
        reasons = dict.fromkeys(
            ("equal", "different", *(reason for step in self.steps for reason in step.reasons))
        )
        force_setattr(self, "reasons", tuple(reasons))
        force_setattr(self, "accept", self.steps[-1].accept)
        force_setattr(self, "is_expensive", any(step.is_expensive for step in self.steps))

    def read_words(self, read: Callable[[str], str]) -> "Comparator":
        return replace(self, steps=tuple(step.read_words(read) for step in self.steps))

    def compare(self, gold: Column, pred: Column) -> Scores:
        score, reason = np.ones(len(gold)), np.zeros(len(gold), dtype=np.int16)
        pending = np.arange(len(gold))
        for position, step in enumerate(self.steps):
            judged = step.compare_all(gold.take(pending), pred.take(pending))
            reached = judged.score >= (self.thresholds[position] if self.thresholds else step.accept)
            worth = self.scores[position] if self.scores else None
            names = np.array([self.reasons.index(name) for name in step.reasons], dtype=np.int16)
            score[pending] = (
                judged.score
                if worth is None
                else np.where(reached & (judged.reason > 0), worth, judged.score)
            )
            reason[pending] = names[judged.reason]
            pending = pending[~(reached | np.isnan(judged.score))]
        return Scores(score, reason)


# Words with the same meaning.

Words: TypeAlias = tuple[tuple[str, tuple[str, ...]], ...] | dict[str, tuple[str, ...]]


class Synonyms(Comparator, Struct, frozen=True):
    """1 if the two texts have the same meaning, else 0.

    `words` map a name to its synonyms; a field reads them as its values. A text outside the words has no
    meaning, so that it scores 0 unless both texts are equal.

    >>> from fieldassay.values.types.column import Reading
    >>> judge = Synonyms(words={"invoice": ("tax invoice", "bill"), "receipt": ()})
    >>> judge.compare_one(*(Reading(text, text, text) for text in ("invoice", "bill")))
    (1.0, 'same_meaning')
    >>> Synonyms(words={"Yes": ("Y",), "YES": ("ja",)}).read_words(str.lower).words
    (('yes', ('y', 'ja')),)
    """

    words: Words
    reasons: ClassVar[tuple[str, ...]] = ("equal", "different", "same_meaning", "unknown_word")

    def __post_init__(self) -> None:
        force_setattr(self, "words", tuple(dict(self.words).items()))
        names: dict[str, str] = {}
        for name, others in dict(self.words).items():
            for word in (name, *others):
                owner = names.setdefault(word, name)
                if owner != name:
                    raise ValueError(
                        f"synonyms: {word!r} cannot stand for both {owner!r} and {name!r}; list it once"
                    )
        if not names:
            raise ValueError("synonyms: there are no words; name at least one under `words`")

    def read_words(self, read: Callable[[str], str]) -> "Comparator":
        words: dict[str, tuple[str, ...]] = {}
        for name, others in dict(self.words).items():
            own = read(name)
            words[own] = (*words.get(own, ()), *map(read, others))
        return Synonyms(words)

    def compare(self, gold: Column, pred: Column) -> Scores:
        names = {word: name for name, others in dict(self.words).items() for word in (name, *others)}
        gold_names, pred_names = (objects(list(map(names.get, side.canonical))) for side in (gold, pred))
        is_unknown = (gold_names == None) | (pred_names == None)  # noqa: E711 - of each item
        codes = np.where(is_unknown, 3, np.where(gold_names == pred_names, 2, 1))
        return scores_by_code(codes, (1.0, 0.0, 1.0, 0.0))
