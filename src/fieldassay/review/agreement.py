"""How far reviewers agree: their answers, coefficients by field, and intervals over documents.

Krippendorff (2019), Content Analysis, 4th ed., ch. 12; Gwet (2008), Br. J. Math. Stat. Psychol. 61, 29-48,
with the weights of Gwet (2014), Handbook of Inter-Rater Reliability, 4th ed., ch. 5.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import combinations
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
from msgspec import Struct, field

from fieldassay.errors import NothingEvaluatedError
from fieldassay.io.text.shown import clip, format_count, join_names
from fieldassay.metrics.evidence import Kind
from fieldassay.metrics.result.tables import Agreement, Confusion, FieldAgreement, Measure
from fieldassay.metrics.uncertainty.bootstrap import (
    STEPS,
    BootstrapSettings,
    add_families,
    are_few_families,
    are_too_few,
    contraharmonic_mean,
    document_keys,
    percentile_intervals,
    say_too_few_families,
    unseen_weights,
    weight_table,
    weights,
)
from fieldassay.paths import ITEM, Step, join_path, plain_path, split_path
from fieldassay.records.labels_file import Label, Sheet, State, record_of
from fieldassay.records.record import Meta, Record
from fieldassay.scoring.engine.coding import Block, Coded, compare_codes, json_text
from fieldassay.scoring.engine.judge import Judged, judge
from fieldassay.scoring.engine.scopes import Masks, applicability
from fieldassay.scoring.fit import fold_keys
from fieldassay.scoring.inputs import document_types, name_units
from fieldassay.spec.plan.nodes import Plan

Floats: TypeAlias = npt.NDArray[np.float64]
Ints: TypeAlias = npt.NDArray[np.intp]
Distance: TypeAlias = Callable[[Ints, Ints], Floats]
"""From two arrays of answers to their distances, 0 to 1, NaN where they cannot be compared; symmetric."""

ABSENT, ILLEGIBLE = "(absent)", "(illegible)"
STAND_INS: Mapping[str, str] = {"illegible": "\uf8ff" * 4, "skipped": "\uf8fe" * 4}
"""Stand in a list for a value that cannot be read, and for one without an answer: like no other text."""

NO_PAIRS = "no two answers to one value"
NO_VARIATION = "all answers are the same"
FAILED = "some answers could not be compared"
IN_LIST = "items of a list are paired by their content, so there is no agreement by chance"

MOST_CONFUSIONS = 20
MOST_COMPARED = 1500
"""Of more distinct answers only a sample of pairs is compared for chance agreement."""
SAMPLED_PAIRS = 100_000
_WEIGHTS_AT_ONCE = 1 << 21
_COUPLES_AT_ONCE = 500


# The answers of a reviewer: a record, and for every place whether it was asked and seen before


class Answers(Struct, frozen=True, eq=False):
    """One document as one reviewer labeled it: the values as a record, and the state of places.

    A place has the state of the nearest one at or above it in `states`. Where there is none, a plain record
    has the answer, and a sheet did not ask. `shown` are places where a value was shown before the answer.
    """

    document: str
    reviewer: str
    data: Mapping[str, Any]
    states: Mapping[str, State] = field(default_factory=dict)
    shown: frozenset[str] = frozenset()
    is_sheet: bool = False
    slot: int = 0

    @classmethod
    def of_record(
        cls,
        document: str,
        reviewer: str,
        data: Mapping[str, Any],
        illegible: Iterable[str] = (),
        unreviewed: Iterable[str] = (),
    ) -> "Answers":
        """Return the answers that a plain record gives.

        >>> Answers.of_record("a", "ada", {"l": [{"n": "1"}]}, ["l[0].m", "total"]).state("total")
        'illegible'
        """
        states: dict[str, State] = dict.fromkeys(map(plain_path, illegible), "illegible")
        states |= dict.fromkeys(map(plain_path, unreviewed), "skipped")
        record: Any = dict(data)
        for path, state in sorted(states.items()):
            if "[" in path:
                record = _with_stand_in(record, split_path(path), STAND_INS[state])
        return cls(document, reviewer, record, states)

    @classmethod
    def of_sheet(cls, sheet: Sheet) -> "Answers":
        """Return the answers of a sheet.

        >>> sheet = Sheet("a", "ada", labels={"total": Label("illegible"), "lines[0]": Label("illegible")})
        >>> Answers.of_sheet(sheet).data == {"lines": [STAND_INS["illegible"]]}
        True
        """
        labels = {
            path: Label("value", STAND_INS[label.state])
            if "[" in path and label.state in STAND_INS
            else label
            for path, label in sheet.labels.items()
        }
        states = {path: label.state for path, label in sheet.labels.items()}
        shown = frozenset(path for path in sheet.labels if not sheet.is_independent(path))
        return cls(sheet.document, sheet.reviewer, record_of(labels), states, shown, True, sheet.slot)

    @property
    def has_answers(self) -> bool:
        """Return whether anything was answered: sheets may have no labels, or skipped ones alone."""
        return not self.is_sheet or any(state != "skipped" for state in self.states.values())

    def _nearest(self, path: str) -> str | None:
        steps = split_path(path)
        places = (join_path(steps[:end]) for end in range(len(steps), 0, -1))
        return next((place for place in places if place in self.states), None)

    def state(self, path: str) -> State | None:
        """Return the state of the answer at a path; None: not asked, or skipped.

        With `value` it is what the record has there, which may be nothing.
        """
        place = self._nearest(path)
        state: State | None = self.states[place] if place is not None else None if self.is_sheet else "value"
        return None if state == "skipped" else state

    def is_independent(self, path: str) -> bool:
        """Return whether the answer at a path was made without seeing a value."""
        return self._nearest(path) not in self.shown

    def has_list(self, path: str) -> bool:
        """Return whether the list at a path was labeled as a whole, without seeing a value in it.

        >>> part = Sheet("a", "ada", labels={"lines[0]": Label("value", "A")})
        >>> Answers.of_sheet(part).has_list("lines")
        False
        """
        below = (f"{path}[", f"{path}.")
        is_shown = any(place == path or place.startswith(below) for place in self.shown)
        return self.state(path) is not None and not is_shown

    def partial_lists(self) -> set[str]:
        """Return the lists of which only single values were asked."""
        tops = {path.partition("[")[0] for path in self.states if "[" in path and not path.startswith("[")}
        return {top for top in tops if self.is_sheet and self.state(top) is None}


def _with_stand_in(value: Any, steps: tuple[Step, ...], text: str) -> Any:
    """Return a record with a text at a place in a list, if its list is there."""
    if not steps:
        return text
    first, rest = steps[0], steps[1:]
    if isinstance(value, list) and isinstance(first, int) and first < len(value):
        numbers = range(len(value)) if first == ITEM else (first,)
        return [_with_stand_in(item, rest, text) if at in numbers else item for at, item in enumerate(value)]
    if (
        isinstance(value, Mapping)
        and isinstance(first, str)
        and (first in value or not any(isinstance(step, int) for step in rest))
    ):
        return {**value, first: _with_stand_in(value.get(first), rest, text)}
    return value


# Coefficients of the ratings of a field, in the value itself and in all replicates


class WeightBlock(NamedTuple):
    """The weights of documents in some replicates.

    `sixteenths` is documents x replicates, a byte each: 100,000 documents take 200 MB. `unseen` is the signed
    weight of the unseen document, positive where all answers to it agree.
    """

    sixteenths: npt.NDArray[np.uint8]
    unseen: Floats


class ReplicateWeights(NamedTuple):
    """The weights of all replicates, of documents by their `names`: those of one family weigh the same."""

    names: Sequence[str]
    settings: BootstrapSettings
    blocks: Sequence[WeightBlock]

    def size(self, values: Floats) -> float:
        """Return the size of the unseen document, or family, by the values of each document."""
        return contraharmonic_mean(add_families(values, self.names))


def draw_weights(documents: Sequence[str], settings: BootstrapSettings) -> ReplicateWeights:
    """Return the weights of all replicates, before which there is one in which each document weighs 1.

    `documents` are their names, or those of their families.
    """
    keys, table = document_keys(documents, settings.seed), weight_table()
    unseen = unseen_weights(settings.seed, settings.replicates)
    width = max(4, _WEIGHTS_AT_ONCE // max(1, len(documents)) // 4 * 4)
    blocks = []
    for first in range(0, max(1, settings.replicates), width):
        count = min(width, settings.replicates - first)
        document_weights = weights(keys, first, count, table).astype(np.uint8, copy=False)
        blocks.append(WeightBlock(document_weights, unseen[first : first + count]))
    document_weights, signed = blocks[0]
    blocks[0] = WeightBlock(np.insert(document_weights, 0, STEPS, axis=1), np.insert(signed, 0, 0.0))
    return ReplicateWeights(documents, settings, blocks)


def ratio(part: Floats, whole: Floats, draws: ReplicateWeights) -> Floats:
    """Return a ratio of sums over documents in all replicates, NaN where it is undefined.

    Each part is at most its whole.

    >>> ratio(np.array([1.0, 0.0]), np.array([1.0, 1.0]), draw_weights(["a", "b"], BootstrapSettings(0)))
    array([0.5])
    """
    size, values = draws.size(whole), []
    for sixteenths, unseen in draws.blocks:
        weight = sixteenths / STEPS
        above, below = part @ weight + size * unseen.clip(0.0), whole @ weight + size * np.abs(unseen)
        values.append(np.divide(above, below, out=np.full(len(unseen), np.nan), where=below > 0))
    shares: Floats = np.minimum(np.concatenate(values), 1.0)
    return shares


class RatedPairs(NamedTuple):
    """The pairs of answers to one unit, once each: unit, first and second answer, and their distance."""

    units: Ints
    first: Ints
    second: Ints
    distance: Floats


class Ratings(Struct, frozen=True, eq=False):
    """The answers to n units of d documents by r reviewers: `codes` is n x r, -1 for no answer.

    `doc` is the document of each unit, ascending. `texts` are the answers as text, in an order that depends
    on nothing but the texts, and each row of codes is in ascending order. `meaning` is the first answer that
    means the same as each; such answers are at distance 0.
    """

    doc: Ints
    codes: Ints
    meaning: Ints
    texts: tuple[str, ...]
    documents: int
    distance: Distance

    @classmethod
    def of(
        cls, doc: Ints, codes: Ints, distance: Distance, texts: tuple[str, ...], documents: int
    ) -> "Ratings":
        """Return ratings in which every answer has a meaning of its own.

        >>> ratings = Ratings.of(np.array([0]), np.array([[1, 0]]), differ, ("a", "b"), 1)
        >>> ratings.codes.tolist()
        [[0, 1]]
        """
        return cls(doc, np.sort(codes, axis=1), np.arange(len(texts)), texts, documents, distance)

    def pairs(self) -> RatedPairs:
        """Return all pairs of answers to one unit."""
        columns = []
        for left, right in combinations(range(self.codes.shape[1]), 2):
            at = np.flatnonzero((self.codes[:, left] >= 0) & (self.codes[:, right] >= 0))
            columns.append(np.stack([at, self.codes[at, left], self.codes[at, right]]))
        units, first, second = np.concatenate([np.zeros((3, 0), np.intp), *columns], axis=1)
        order = np.lexsort((second, first, units))
        units, first, second = units[order], first[order], second[order]
        return RatedPairs(units, first, second, self.distance(first, second))

    def sums(self, units: Ints, values: Floats) -> Floats:
        """Return the sums over the documents of values of units."""
        sums: Floats = np.bincount(self.doc[units], weights=values, minlength=self.documents).astype(float)
        return sums

    def agreed(self, pairs: RatedPairs) -> tuple[Floats, Floats]:
        """Return the shares of pairs that agree, summed over the units of each document, and these units."""
        answers = (self.codes >= 0).sum(axis=1)
        units, rated = np.flatnonzero(answers >= 2), answers[pairs.units]
        shares = (1.0 - pairs.distance) * 2.0 / (rated * (rated - 1.0))
        return self.sums(pairs.units, shares), self.sums(units, np.ones(len(units)))


def differ(first: Ints, second: Ints) -> Floats:
    """Return nominal distances: 0 for the same answer, else 1."""
    distance: Floats = (first != second).astype(np.float64)
    return distance


class Chance(NamedTuple):
    """The distances between all q answers: a q x q matrix, or those of a fixed sample of pairs.

    Row k of a sample has the distance of each answer to the one k + 1 places after it, in an order by hash,
    the last followed by the first.
    """

    distance: Floats
    order: Ints | None = None
    """The order by hash of a sample; None: all pairs were compared."""

    @classmethod
    def of(cls, ratings: Ratings, seed: int = 0) -> "Chance":
        """Return the distances between all answers of ratings, or of a sample if they are too many."""
        q = len(ratings.texts)
        if q <= MOST_COMPARED:
            first, second = np.triu_indices(q, 1)
            distance = np.zeros((q, q))
            distance[first, second] = distance[second, first] = ratings.distance(first, second)
            return cls(distance)
        order = np.argsort(document_keys(ratings.texts, seed), kind="stable")
        shifts = max(1, SAMPLED_PAIRS // q)
        others = np.concatenate([np.roll(order, -shift) for shift in range(1, shifts + 1)])
        return cls(ratings.distance(np.tile(order, shifts), others).reshape(shifts, q), order)

    def expected(self, counts: Floats) -> Floats:
        """Return the sum of the distances of all ordered pairs of ratings, for q x r counts of answers.

        Of a sample it is the sum of the sampled pairs of different answers, scaled to all of them.
        """
        whole: Floats
        if self.order is None:
            whole = np.einsum("qr,qr->r", self.distance @ counts, counts)
            return whole
        ordered, sampled, apart = counts[self.order], np.zeros(counts.shape[1]), np.zeros(counts.shape[1])
        for shift, row in enumerate(self.distance, 1):
            products = ordered * np.roll(ordered, -shift, axis=0)
            sampled += products.sum(axis=0)
            apart += row @ products
        scale = np.divide(apart, sampled, out=np.full(len(apart), np.nan), where=sampled > 0)
        whole = scale * (counts.sum(axis=0) ** 2 - (counts**2).sum(axis=0))
        return whole

    def likeness(self, answers: Ints) -> float:
        """Return the sum of 1 - distance over all ordered pairs of some answers."""
        q = len(answers)
        if self.order is None:
            return float((1.0 - self.distance[np.ix_(answers, answers)]).sum())
        return q + (1.0 - float(self.distance.mean())) * q * (q - 1)


class Coefficients(NamedTuple):
    """The coefficients in all replicates, the value itself first; NaN where undefined, for `reason`."""

    observed: Floats
    alpha: Floats
    ac1: Floats
    reason: str
    is_sampled: bool = False


def agree(ratings: Ratings, pairs: RatedPairs, draws: ReplicateWeights) -> Coefficients:
    """Return observed agreement, Krippendorff's alpha and Gwet's AC1 of ratings with these pairs.

    Alpha is 1 - observed / expected distance. All answers to the unseen document are one that nobody gave, at
    distance 1 from all others; where it is wrong, only every second one is, and the others are spread as
    those of all documents. AC1 is (p_a - p_e) / (1 - p_e): p_e is the likeness of all q meanings /
    (q (q - 1)), times the sum of share (1 - share) over the meanings; the share of a meaning is its mean over
    all units with an answer.

    >>> codes = np.array([[0, 0]] * 4 + [[0, 1]] + [[1, 1]] * 3)
    >>> ratings = Ratings.of(np.arange(8), codes, differ, ("a", "b"), 8)
    >>> measures = agree(ratings, ratings.pairs(), draw_weights([*"abcdefgh"], BootstrapSettings(0)))
    >>> float(measures.observed[0]), round(float(measures.alpha[0]), 4), round(float(measures.ac1[0]), 4)
    (0.875, 0.7619, 0.7538)
    """
    from scipy.sparse import csr_array

    undefined = np.full(sum(len(block.unseen) for block in draws.blocks), np.nan)
    if not len(pairs.units) or np.isnan(pairs.distance).any():
        reason = FAILED if len(pairs.units) else NO_PAIRS
        return Coefficients(undefined, undefined, undefined, reason)
    observed, chance = ratio(*ratings.agreed(pairs), draws), Chance.of(ratings)
    if np.isnan(chance.distance).any():
        return Coefficients(observed, undefined, undefined, FAILED)
    units, columns = np.nonzero(ratings.codes >= 0)
    doc, codes = ratings.doc[units], ratings.codes[units, columns]
    answers = (ratings.codes >= 0).sum(axis=1)
    is_paired, answered = answers[units] >= 2, np.flatnonzero(answers)
    paired = (np.ones(is_paired.sum()), (codes[is_paired], doc[is_paired]))
    counts = csr_array(paired, shape=(len(ratings.texts), ratings.documents))
    meanings, rows = np.unique(ratings.meaning[codes], return_inverse=True)
    q = len(meanings)
    shares = csr_array((1.0 / answers[units], (rows, doc)), shape=(q, ratings.documents))
    factor = chance.likeness(meanings) / (q * (q - 1.0)) if q > 1 else math.nan
    size = ratings.sums(units[is_paired], np.ones(is_paired.sum()))
    apart = ratings.sums(pairs.units, pairs.distance * 2.0 / (answers[pairs.units] - 1.0))
    rated = ratings.sums(answered, np.ones(len(answered)))
    alphas, chances = [], []
    for sixteenths, unseen in draws.blocks:
        weight = sixteenths / STEPS
        number, distance, all_rated = size @ weight, apart @ weight, rated @ weight
        mass, is_wrong = draws.size(size) * np.abs(unseen), unseen < 0
        expected = chance.expected(counts @ weight)
        mean = expected / (number * (number - 1.0)).clip(1.0)
        beside = np.where(is_wrong, number * (1.0 + mean) / 2.0 + mass / 4.0, number)
        expected, number = expected + 2.0 * mass * beside, number + mass
        mean = expected / (number * (number - 1.0)).clip(1.0)
        alphas.append(1.0 - (distance + mass * is_wrong) / number / np.where(mean > 0, mean, np.nan))
        chances.append(factor * (1.0 - ((shares @ weight) ** 2).sum(axis=0) / all_rated**2))
    by_chance = np.concatenate(chances)
    ac1 = (observed - by_chance) / np.where(by_chance < 1.0, 1.0 - by_chance, np.nan)
    return Coefficients(observed, np.concatenate(alphas), ac1, NO_VARIATION, chance.order is not None)


# The answers to each field as the judge of the spec compares them


class FieldAnswers(Struct, eq=False):
    """One field: by document the agreeing values and all values, and the documents of each disagreement.

    A field outside lists has the coefficients of its ratings.
    """

    path: str
    type: str
    agreed: Floats
    values: Floats
    confusions: dict[tuple[str, str], list[int]]
    coefficients: Coefficients | None = None


def _rate_values(
    judged: Judged, documents: Sequence[Sequence[Answers]], applies: Mapping[str, Masks]
) -> Iterator[tuple[str, str, Ratings]]:
    """Yield path, type and ratings of each field that is in no list: its independent answers."""
    sheets = [sheet for answers in documents for sheet in answers]
    sizes = [len(answers) for answers in documents]
    doc, column = np.repeat(np.arange(len(sizes)), sizes), np.concatenate([np.arange(size) for size in sizes])
    fields: dict[str, list[Block]] = {}
    for block in judged.blocks:
        if block.kind == Kind.VALUE and block.coded is not None and "[" not in block.coded.leaf.path:
            fields.setdefault(block.coded.leaf.path, []).append(block)
    for path, blocks in fields.items():
        coded = blocks[0].coded
        assert coded is not None
        canonical, size = coded.column.canonical, len(coded.raws)
        keys = [(str(canonical[at]), json_text(raw), type(raw).__name__) for at, raw in enumerate(coded.raws)]
        order = np.array(sorted(range(size), key=keys.__getitem__), dtype=np.intp)
        rank = np.argsort(order)
        flat = np.full(len(sheets), size, dtype=np.intp)
        for block in blocks:
            assert block.gold_code is not None
            has_value = block.gold_code >= 0
            flat[block.pairs.doc[has_value]] = rank[block.gold_code[has_value]]
        states = [sheet.state(path) if sheet.is_independent(path) else None for sheet in sheets]
        flat[[state == "absent" for state in states]] = size
        flat[[state == "illegible" for state in states]] = size + 1
        flat[[state is None for state in states]] = -1
        if path in applies:
            flat[~applies[path]] = -1
        codes = np.full((len(sizes), max(sizes)), -1, dtype=np.intp)
        codes[doc, column] = flat
        meaning = np.append(coded.meaning[order], [size, size + 1])
        _, first, inverse = np.unique(meaning, return_index=True, return_inverse=True)
        texts = (*(str(canonical[at]) for at in order.tolist()), ABSENT, ILLEGIBLE)
        distance, doc_of_unit = partial(_distance, coded, order), np.arange(len(sizes))
        ratings = Ratings(doc_of_unit, np.sort(codes, axis=1), first[inverse], texts, len(sizes), distance)
        yield path, coded.leaf.type, ratings


def _distance(coded: Coded, order: Ints, first: Ints, second: Ints) -> Floats:
    """Return the distances of answers to a field; the last two answers are absent and illegible."""
    distance = differ(first, second)
    at = np.flatnonzero((first != second) & (first < len(order)) & (second < len(order)))
    if len(at):
        distance[at] = _compare_both_ways(coded, order[first[at]], order[second[at]])
    return distance


def _compare_both_ways(coded: Coded, first: Ints, second: Ints) -> Floats:
    """Return 0 for pairs of codes that match with either as gold, else 1; NaN where they failed."""
    scores = np.stack([compare_codes(coded, first, second).score, compare_codes(coded, second, first).score])
    is_match = coded.leaf.accept.admits(scores).all(axis=0)
    distance: Floats = np.where(np.isnan(scores).any(axis=0), np.nan, (~is_match).astype(np.float64))
    return distance


def _of_ratings(path: str, kind: str, ratings: Ratings, draws: ReplicateWeights) -> FieldAnswers:
    pairs = ratings.pairs()
    agreed, values = ratings.agreed(pairs)
    if np.isnan(pairs.distance).any():
        agreed = np.zeros_like(values)
    confusions: dict[tuple[str, str], list[int]] = {}
    for at in np.flatnonzero(pairs.distance > 0).tolist():
        texts = (ratings.texts[pairs.first[at]], ratings.texts[pairs.second[at]])
        confusions.setdefault(texts, []).append(int(ratings.doc[pairs.units[at]]))
    return FieldAnswers(path, kind, agreed, values, confusions, agree(ratings, pairs, draws))


def _compare_lists(
    plan: Plan, documents: Sequence[Sequence[Answers]], applies: Mapping[str, Masks]
) -> Iterable[FieldAnswers]:
    """Return the fields in lists, whose items the aligner pairs, each way once: half of each sum counts.

    Every pair of sheets counts of which both label the list as a whole without having seen a value in it.
    """
    sheets = [sheet for answers in documents for sheet in answers]
    starts = np.cumsum([0, *map(len, documents)]).tolist()
    couples = np.array(
        [
            (doc, *couple)
            for doc in range(len(documents))
            for couple in combinations(range(starts[doc], starts[doc + 1]), 2)
        ],
        dtype=np.intp,
    ).reshape(-1, 3)
    has_list: dict[str, Masks] = {}
    fields: dict[tuple[str, str], FieldAnswers] = {}
    for start in range(0, len(couples), _COUPLES_AT_ONCE):
        doc, *sides = couples[start : start + _COUPLES_AT_ONCE].T
        masks = {path: mask[sides[0]] & mask[sides[1]] for path, mask in applies.items()}
        records = [[sheets[at].data for at in side.tolist()] for side in sides]
        for gold, pred in ((0, 1), (1, 0)):
            judged = judge(plan, records[gold], records[pred], masks)
            for block in judged.blocks:
                if block.kind != Kind.VALUE or block.coded is None or block.pairs.prefix is None:
                    continue
                top = block.coded.leaf.path.partition("[")[0]
                if top not in has_list:
                    has_list[top] = np.array([sheet.has_list(top) for sheet in sheets], dtype=bool)
                counts = has_list[top][sides[0]] & has_list[top][sides[1]]
                _add_items(block, counts, doc, fields, len(documents))
    for sums in fields.values():
        sums.agreed, sums.values = sums.agreed / 2.0, sums.values / 2.0
        sums.confusions = {pair: sorted(docs)[::2] for pair, docs in sums.confusions.items()}
    return fields.values()


def _add_items(
    block: Block, is_counted: Masks, doc: Ints, fields: dict[tuple[str, str], FieldAnswers], documents: int
) -> None:
    """Add the values of a block in lists, of the couples that count and without skipped values."""
    coded, first, second = block.coded, block.gold_code, block.pred_code
    assert coded is not None
    assert first is not None
    assert second is not None
    is_skipped = np.array([raw == STAND_INS["skipped"] for raw in coded.raws] + [False], dtype=bool)
    at = np.flatnonzero(is_counted[block.pairs.doc] & ~is_skipped[first] & ~is_skipped[second])
    if not len(at):
        return
    first, second, doc = first[at], second[at], doc[block.pairs.doc[at]]
    both, either = (first >= 0) & (second >= 0), (first >= 0) | (second >= 0)
    is_agreed = np.zeros(len(at), dtype=bool)
    is_agreed[both] = _compare_both_ways(coded, first[both], second[both]) == 0.0
    nothing = np.zeros(documents)
    key = (coded.leaf.path, coded.leaf.type)
    sums = fields.setdefault(key, FieldAnswers(*key, nothing, nothing, {}))
    sums.agreed = sums.agreed + np.bincount(doc[is_agreed], minlength=documents)
    sums.values = sums.values + np.bincount(doc[either], minlength=documents)
    texts = [
        ILLEGIBLE if raw == STAND_INS["illegible"] else str(text)
        for raw, text in zip(coded.raws, coded.column.canonical.tolist(), strict=True)
    ]
    texts.append(ABSENT)
    for row in np.flatnonzero(either & ~is_agreed).tolist():
        left, right = sorted((texts[first[row]], texts[second[row]]))
        sums.confusions.setdefault((left, right), []).append(int(doc[row]))


# The agreement of all fields


def measure_agreement(plan: Plan, sheets: Sequence[Answers]) -> Agreement:
    """Return the agreement of the answers to each document, by field and over all values.

    A document that only one sheet answers is in no pair, and in the shares of answers of AC1. Raises
    `NothingEvaluatedError` if no document is labeled twice.
    """
    by_document: dict[str, list[Answers]] = {}
    for sheet in sheets:
        if sheet.has_answers:
            by_document.setdefault(sheet.document, []).append(sheet)
    names = sorted(by_document)
    documents = [by_document[name] for name in names]
    twice = [answers for answers in documents if len(answers) > 1]
    if not twice:
        labeled = format_count(len({sheet.document for sheet in sheets}), "document")
        raise NothingEvaluatedError(f"nothing to compare: none of {labeled} is labeled twice")
    records = [
        Record(sheet.document, dict(sheet.data), Meta(), sheet.document)
        for answers in documents
        for sheet in answers
    ]
    applies = applicability(plan, document_types(plan, records))
    plan = fold_keys(plan, lambda: ([sheet.data for sheet in answers] for answers in documents))
    statistics = plan.spec.statistics
    settings = BootstrapSettings(statistics.bootstrap, statistics.seed, statistics.level)
    first = [Record(sheet.document, dict(sheet.data), Meta(), sheet.document) for sheet, *_ in documents]
    draws = draw_weights(name_units(statistics.cluster, first, document_types(plan, first)), settings)
    data = [sheet.data for answers in documents for sheet in answers]
    judged = judge(plan, data, [{} for _ in data], dict(applies))
    fields = [_of_ratings(*rated, draws) for rated in _rate_values(judged, documents, applies)]
    if any(block.pairs.prefix is not None for block in judged.blocks):
        fields += _compare_lists(plan, documents, applies)
    order = {info.path: at for at, info in reversed(list(enumerate(plan.fields)))}
    fields.sort(key=lambda sums: (order.get(sums.path, len(order)), sums.path))
    nothing = np.zeros(len(names))
    agreed, values = (sum((getattr(sums, name) for sums in fields), nothing) for name in ("agreed", "values"))
    observed = _measure(ratio(agreed, values, draws), values, draws, NO_PAIRS)
    reviewers = Counter(sheet.reviewer for answers in twice for sheet in answers)
    return Agreement(
        plan.spec.name,
        dict(sorted(reviewers.items())),
        len(twice),
        int(np.count_nonzero(values)),
        len(documents) - len(twice),
        {"observed": observed},
        tuple(_of_field(sums, names, draws) for sums in fields),
        settings.level,
        settings.replicates,
        settings.seed,
        all(len({sheet.reviewer for sheet in answers}) == 1 for answers in twice),
        (*_notes(sheets, judged.undeclared.gold), *_say_families(draws.names, statistics.cluster)),
    )


def _say_families(names: Sequence[str], cluster: str | None) -> Iterator[str]:
    """Yield how many families documents are drawn in, and whether they are too few."""
    if cluster is not None:
        families = len(set(names))
        yield f"intervals draw {format_count(families, 'family', 'families')} by `cluster: {clip(cluster)}`"
        if are_few_families(names):
            yield say_too_few_families(families)


def _notes(sheets: Iterable[Answers], undeclared: Iterable[str]) -> Iterator[str]:
    """Yield what is left out: lists of which single items were labeled, and keys that no field reads."""
    partial_lists = Counter(path for sheet in sheets for path in sheet.partial_lists())
    for path, count in sorted(partial_lists.items()):
        lists = format_count(count, "sheet")
        yield f"{clip(path)}: {lists} with single items only, left out: a list is compared as a whole"
    if names := sorted(map(clip, undeclared)):
        yield f"not in the spec, left out: {join_names(names)}"


def _of_field(sums: FieldAnswers, names: Sequence[str], draws: ReplicateWeights) -> FieldAgreement:
    values, coefficients = sums.values, sums.coefficients
    if coefficients is None:
        chance = _measure(np.full(1, np.nan), values, draws, IN_LIST)
        observed = _measure(ratio(sums.agreed, values, draws), values, draws, NO_PAIRS)
        measures = {"observed": observed, "alpha": chance, "ac1": chance}
    else:
        marks = ("sampled",) if coefficients.is_sampled else ()
        measures = {
            name: _measure(replicates, values, draws, coefficients.reason, marks * (name != "observed"))
            for name, replicates in zip(("observed", "alpha", "ac1"), coefficients[:3], strict=True)
        }
    ordered = sorted(sums.confusions.items(), key=lambda item: (-len(item[1]), item[0]))[:MOST_CONFUSIONS]
    confusions = tuple(
        Confusion(*pair, len(docs), tuple(names[at] for at in sorted(set(docs)))) for pair, docs in ordered
    )
    return FieldAgreement(sums.path, sums.type, measures, confusions, sum(map(len, sums.confusions.values())))


def _measure(
    replicates: Floats, values: Floats, draws: ReplicateWeights, reason: str, marks: tuple[str, ...] = ()
) -> Measure:
    """Return a number with its percentile interval; `values` are the values behind it by document."""
    value, n, documents = float(replicates[0]), round(float(values.sum())), int(np.count_nonzero(values))
    if math.isnan(value):
        return Measure(None, n, documents, reason=reason)
    if are_few_families([draws.names[at] for at in np.flatnonzero(values).tolist()]):
        return Measure(value, n, documents, None, ("few_families", *marks))
    settings = draws.settings
    interval = interval_of(replicates, settings.level)
    if interval is not None and are_too_few(settings.replicates, settings.level):
        marks = ("few_replicates", *marks)
    if dropped := int(np.isnan(replicates).sum()):
        marks = (*marks, f"undefined_replicates={dropped}")
    return Measure(value, n, documents, interval, marks)


def interval_of(replicates: Floats, level: float) -> tuple[float, float] | None:
    """Return the percentile interval of replicates, the value itself first; None without any other."""
    value = float(replicates[0])
    bounds = percentile_intervals(replicates[None, 1:], level)
    low, high = float(bounds.low[0]), float(bounds.high[0])
    return None if math.isnan(low) else (min(low, value), max(high, value))
