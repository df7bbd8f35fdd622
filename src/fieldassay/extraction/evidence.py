"""Evidence: where a document says what a field was extracted as."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cached_property, lru_cache
from operator import attrgetter
from typing import TYPE_CHECKING, TypeAlias, TypeVar

from msgspec import Struct

from fieldassay.extraction.places import TEXTS, Place, Search, order, surface_forms
from fieldassay.extraction.strategy import AnswerValue, Evidence, EvidenceClass, Steps
from fieldassay.io.effort import check_time
from fieldassay.io.json_value import Json
from fieldassay.paths import ITEM, KEY, split_path

if TYPE_CHECKING:
    from fieldassay.documents.transcript import Transcript
    from fieldassay.spec.language.model import Field, Spec
    from fieldassay.spec.plan.nodes import Leaf, Plan


# The places of a model's values in what it was sent: each value beside its quote, each item in its row.

_Places: TypeAlias = "Sequence[Place]"
_MOST_COMPARED, _FEWEST = 1_000_000, 20
"""The places that all values of an answer are compared with, and the least of one value."""
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|[^\w]+|_+")


class PlacedValue(Struct, frozen=True):
    """An extracted value, its confidence, and where it stands; `anchor` is the place of its item's row."""

    value: Json
    confidence: float | None = None
    place: Place | None = None
    kind: EvidenceClass = "absent"
    quote: str = ""
    anchor: Place | None = None


def label_words(name: str) -> tuple[str, ...]:
    """Return the words of a field's name or of a label, in lower case.

    >>> label_words("TotalPrice"), label_words("INVOICE_DATE"), label_words("Amount due:")
    (('total', 'price'), ('invoice', 'date'), ('amount', 'due'))
    """
    return tuple(word.lower() for word in _CAMEL.split(name) if word)


class Locator(Struct, frozen=True, dict=True):
    """Finds values on some pages of a document, by quotes, by rows and by the labels of fields."""

    search: Search
    pages: Collection[int]
    leaves: Mapping[Steps, Leaf]
    """The planned fields by their steps (items as `ITEM`); values of others are texts."""
    labels: Mapping[Steps, Sequence[tuple[str, ...]]]
    """The words of each field's labels, by its steps (items as `ITEM`)."""

    def locate(
        self, values: Mapping[Steps, AnswerValue], rows: Mapping[Steps, str]
    ) -> dict[Steps, PlacedValue]:
        """Return each value with its place; those of an item of a list as near to its row as they stand.

        Of a value that stands in very many places, those nearest to its row, or to the row before, count.
        Raises `OvertimeError` where the time of the document is used up.
        """
        most = max(_FEWEST, _MOST_COMPARED // max(len(values), 1))
        stands = self._stands(values, most)
        anchors = self._anchors(values, stands, rows, most)
        placed_values: dict[Steps, PlacedValue] = {}
        used_places: dict[Steps | None, set[Place]] = defaultdict(set)
        for steps, answer_value in values.items():
            item = item_steps(steps)
            anchor = anchors.get(item) if item is not None else None
            quote = answer_value.quote or (rows.get(item) if item is not None else None)
            check_time()
            near = nearest(stands[steps], anchor, most)
            free = [place for place in near if place not in used_places[item]] if item is not None else []
            placed_values[steps] = self._locate(
                steps, AnswerValue(answer_value.value, quote), free or near, anchor, most
            )
            place = placed_values[steps].place
            if place is not None:
                used_places[item].add(place)
        return placed_values

    def _stands(self, values: Mapping[Steps, AnswerValue], most: int) -> dict[Steps, _Places]:
        """Return the places of each value, equal ones of a field found once; those of many in order."""
        places_by_value: dict[tuple[Steps, str], _Places] = {}
        stands: dict[Steps, _Places] = {}
        for steps, answer_value in values.items():
            field = field_steps(steps, self.leaves)
            check_time()
            key = field, repr(answer_value.value)
            if key not in places_by_value:
                places = self.search.places(self.leaves.get(field), answer_value.value)
                places = [place for place in places if place.page in self.pages]
                places_by_value[key] = sorted(places, key=order) if len(places) > most else places
            stands[steps] = places_by_value[key]
        return stands

    def _locate(
        self,
        steps: Steps,
        answer_value: AnswerValue,
        places: Sequence[Place],
        anchor: Place | None,
        most: int,
    ) -> PlacedValue:
        """Return a value with the best of its places: in its quote, near its row, or behind its label."""
        window = None
        if answer_value.quote is not None:
            window = anchor if anchor is not None else self._window(answer_value.quote, places, most)
            inside = next((place for place in places if window is not None and place.overlaps(window)), None)
            if inside is not None:
                return PlacedValue(
                    answer_value.value, None, inside, "found", self.search.text_at(inside), anchor
                )
        if places:
            kind: EvidenceClass = "found" if answer_value.quote is None else "elsewhere"
            best = self._best(places, anchor, self.labels.get(field_steps(steps, self.labels), ()))
            return PlacedValue(answer_value.value, None, best, kind, self.search.text_at(best), anchor)
        if self._is_assembled(steps, answer_value.value, window):
            quote = self.search.text_at(window) if window is not None else ""
            return PlacedValue(answer_value.value, None, window, "assembled", quote, anchor)
        return PlacedValue(answer_value.value, anchor=anchor)

    def _is_assembled(self, steps: Steps, value: Json, window: Place | None) -> bool:
        """Return whether a value is decided from its quote, or a text whose words stand there or anywhere."""
        leaf = self.leaves.get(field_steps(steps, self.leaves))
        if isinstance(value, bool) or (leaf is not None and leaf.type == "boolean"):
            return window is not None
        is_text = isinstance(value, str) and (leaf is None or leaf.is_list or leaf.type in TEXTS)
        return is_text and self.search.holds_words(str(value), self.pages, window)

    def _window(self, quote: str, near: Sequence[Place], most: int) -> Place | None:
        """Return where a quote stands: of several places the first one with the value."""
        places = self._quoted(quote, None, most)
        if not places:
            return self.search.find_closely(quote, self.pages)
        first = [
            bisect_right(places, (place.page, place.start), key=attrgetter("page", "end")) for place in near
        ]
        inside = [
            at
            for at, place in zip(first, near, strict=True)
            if at < len(places) and places[at].overlaps(place)
        ]
        return places[min(inside, default=0)]

    @cached_property
    def _quotes(self) -> dict[str, list[Place]]:
        return {}

    def _quoted(self, quote: str, beside: Place | None, most: int) -> Sequence[Place]:
        """Return where a quote stands on the pages; of very many places those nearest to another place."""
        if quote not in self._quotes:
            self._quotes[quote] = [place for place in self.search.find(quote) if place.page in self.pages]
        return nearest(self._quotes[quote], beside, most)

    def _best(
        self, places: Sequence[Place], anchor: Place | None, labels: Sequence[tuple[str, ...]]
    ) -> Place:
        """Return the place nearest to the row of its item, or the one with the best label; then the first."""
        if anchor is not None:
            return min(places, key=lambda place: self._distance(place, anchor))
        if len(places) == 1 or not labels:
            return places[0]
        return max(places, key=lambda place: self._labelled(place, labels))

    def _distance(self, place: Place, anchor: Place) -> tuple[int, int, int, int]:
        page, line = self.search.line_of(place)
        anchor_page, anchor_line = self.search.line_of(anchor)
        return (abs(page - anchor_page), abs(line - anchor_line), int(line < anchor_line), place.start)

    def _labelled(self, place: Place, labels: Sequence[tuple[str, ...]]) -> float:
        page = self.search.pages[place.page]
        start, _ = page.line_span(page.line_at(place.start))
        before = set(label_words(page.text[start : place.start]))
        return max(sum(word in before for word in label) / len(label) for label in labels if label)

    def _anchors(
        self,
        values: Mapping[Steps, AnswerValue],
        stands: Mapping[Steps, Sequence[Place]],
        rows: Mapping[Steps, str],
        most: int,
    ) -> dict[Steps, Place]:
        """Return the row of each item of a list, no row twice, in the order of the items if possible."""
        items: dict[Steps, list[tuple[str, _Places]]] = defaultdict(list)
        for steps, answer_value in values.items():
            item = item_steps(steps)
            if item is not None:
                items[item].append((surface_forms(answer_value.value)[0], stands[steps]))
        anchors: dict[Steps, Place] = {}
        used_lines: dict[Steps, set[tuple[int, int]]] = defaultdict(set)
        last: dict[Steps, Place] = {}
        for item in sorted(items, key=steps_order):
            before = last.get(item[:-1])
            near = [(text, nearest(places, before, most)) for text, places in items[item]]
            quote = rows.get(item)
            quoted = self._quoted(quote, before, most) if quote is not None else ()
            place = self._row(quote, quoted, near, used_lines[item[:-1]], before)
            if place is not None:
                anchors[item] = last[item[:-1]] = place
                used_lines[item[:-1]].add(self.search.line_of(place))
        return anchors

    def _row(
        self,
        quote: str | None,
        quoted: Sequence[Place],
        values: Sequence[tuple[str, _Places]],
        used_lines: set[tuple[int, int]],
        before: Place | None,
    ) -> Place | None:
        last = self.search.line_of(before) if before is not None else (-1, -1)
        if quote is not None:
            places = [place for place in quoted if self.search.line_of(place) not in used_lines]
            later = [place for place in places if self.search.line_of(place) > last]
            if later or places:
                return (later or places)[0]
            close = self.search.find_closely(quote, self.pages)
            if close is not None and self.search.line_of(close) not in used_lines:
                return close
        return self._voted_row(values, used_lines, last)

    def _voted_row(
        self,
        values: Sequence[tuple[str, _Places]],
        used_lines: set[tuple[int, int]],
        last: tuple[int, int],
    ) -> Place | None:
        """Return the line with most of an item's values on it and on the next one.

        Where none is left below the item before, it may be on the same line as that one.
        """
        votes: dict[tuple[int, int], float] = defaultdict(float)
        for text, places in values:
            lines = {self.search.line_of(place) for place in places}
            weight = float(len(text))
            for page, line in lines:
                votes[page, line] += weight
            for page, line in lines:
                if (page, line - 1) in votes and (page, line - 1) not in lines:
                    votes[page, line - 1] += weight / 2
        free = {line: vote for line, vote in votes.items() if line not in used_lines}
        if last in votes and last >= max(free, default=last):
            free[last] = votes[last]
        if not free:
            return None
        best = max(free, key=lambda line: (free[line], line >= last, -line[0], -line[1]))
        start, end = self.search.pages[best[0]].line_span(best[1])
        return Place(best[0], start, end)


def nearest(places: Sequence[Place], beside: Place | None, most: int) -> Sequence[Place]:
    """Return the places, of more than `most` in order those around another place; the first ones without it.

    >>> lines = [Place(0, start, start + 2) for start in range(0, 90, 10)]
    >>> [place.start for place in nearest(lines, lines[5], 3)], len(nearest(lines, lines[5], 20))
    ([40, 50, 60], 9)
    """
    if len(places) <= most:
        return places
    at = bisect_left(places, order(beside), key=order) if beside is not None else 0
    first = min(max(at - most // 3, 0), len(places) - most)
    return places[first : first + most]


def field_steps(steps: Steps, fields: Iterable[Steps] = ()) -> Steps:
    """Return the steps of a value's field: indices as `ITEM`, keys of maps among the `fields` as `KEY`."""
    own = tuple(ITEM if isinstance(step, int) else step for step in steps)
    for field in fields:
        is_map = KEY in field and len(field) == len(own)
        if is_map and all(of in (step, KEY) for step, of in zip(own, field, strict=True)):
            return field
    return own


def as_evidence(placed_value: PlacedValue, search: Search) -> Evidence:
    """Return the evidence of a value, with its page and its box."""
    if placed_value.place is None:
        return Evidence(quote=placed_value.quote, kind=placed_value.kind)
    page = search.pages[placed_value.place.page]
    start, end = placed_value.place.start, placed_value.place.end
    box = page.content.box(start, end)
    return Evidence(
        quote=placed_value.quote, page=page.number, start=start, end=end, box=box, kind=placed_value.kind
    )


def mark_leaks(
    values: Mapping[Steps, PlacedValue],
    leaves: Mapping[Steps, Leaf],
    search: Search,
    hidden: Search,
    examples: Iterable[Transcript],
) -> dict[Steps, PlacedValue]:
    """Return the values with the class of those that stand in hidden text or in an example alone."""
    from msgspec.structs import replace

    shown = [Search.of(example.pages) for example in examples]
    marked = dict(values)
    for steps, placed_value in values.items():
        if placed_value.kind not in ("absent", "assembled") or placed_value.place is not None:
            continue
        leaf = leaves.get(field_steps(steps, leaves))
        if search.places(leaf, placed_value.value):
            continue
        if hidden.places(leaf, placed_value.value):
            marked[steps] = replace(placed_value, kind="hidden")
        elif any(example_search.places(leaf, placed_value.value) for example_search in shown):
            marked[steps] = replace(placed_value, kind="example")
    return marked


def item_steps(steps: Steps) -> Steps | None:
    """Return the steps of the outermost item of a list that holds a value; None outside of lists."""
    at = next((at for at, step in enumerate(steps) if isinstance(step, int)), None)
    return steps[: at + 1] if at is not None else None


def steps_order(steps: Steps) -> tuple[tuple[bool, int, str], ...]:
    """Return a key that sorts steps: indices by number, names by text."""
    return tuple(
        (isinstance(step, str), step if isinstance(step, int) else 0, step if isinstance(step, str) else "")
        for step in steps
    )


# The leaves of a spec's record as strategies need them: by steps, with labels and readers.

_Value = TypeVar("_Value")


@lru_cache(maxsize=16)
def plan_of_spec(spec: Spec) -> Plan:
    """Return the plan of a spec: its readers."""
    from fieldassay.spec.plan.compile import compile_plan

    return compile_plan(spec)


@lru_cache(maxsize=16)
def leaf_fields(spec: Spec) -> Mapping[Steps, Field]:
    """Return the fields that hold one value, by their steps (items as `ITEM`, values of maps as `KEY`)."""
    leaves: dict[Steps, Field] = {}
    open_fields: list[tuple[Steps, Field]] = [((field.name,), field) for field in reversed(spec.fields)]
    while open_fields:
        steps, field = open_fields.pop()
        if field.items is not None:
            open_fields.append(((*steps, field.item_step), field.items))
        elif field.fields:
            open_fields.extend(((*steps, inner.name), inner) for inner in reversed(field.fields))
        else:
            leaves[steps] = field
    return leaves


@lru_cache(maxsize=16)
def field_labels(spec: Spec) -> Mapping[Steps, tuple[tuple[str, ...], ...]]:
    """Return the labels of each leaf in words: of its name, of the spec, and of the list it fills."""
    lists = dict(_lists(spec))
    labels = {}
    for steps, field in leaf_fields(spec).items():
        name = next((step for step in reversed(steps) if isinstance(step, str) and step != KEY), "")
        outer = lists.get(steps)
        spec_labels = (*field.labels, *(outer.labels if outer is not None else ()))
        labels[steps] = tuple(
            dict.fromkeys(words for text in (name, *spec_labels) if (words := label_words(text)))
        )
    return labels


def _lists(spec: Spec) -> list[tuple[Steps, Field]]:
    lists: list[tuple[Steps, Field]] = []
    open_fields: list[tuple[Steps, Field]] = [((field.name,), field) for field in spec.fields]
    while open_fields:
        steps, field = open_fields.pop()
        if field.items is not None:
            lists.append(((*steps, field.item_step), field))
            open_fields.append(((*steps, field.item_step), field.items))
        open_fields.extend(((*steps, inner.name), inner) for inner in field.fields)
    return lists


@lru_cache(maxsize=16)
def plan_leaves(plan: Plan) -> Mapping[Steps, Leaf]:
    """Return the leaves of a plan by steps; a list judged as a whole is one leaf."""
    from fieldassay.spec.plan.nodes import list_leaves

    return {tuple(split_path(leaf.path)): leaf for leaf in list_leaves(plan.root)}


def locator(search: Search, spec: Spec, pages: Collection[int] | None = None) -> Locator:
    """Return what finds the values of a spec's records on some pages of a document, by default on all."""
    chosen = range(len(search.pages)) if pages is None else pages
    return Locator(search, chosen, plan_leaves(plan_of_spec(spec)), field_labels(spec))


def canonical_text(plan: Plan, steps: Steps, value: Json) -> str:
    """Return the text by which two values of a field are equal: the canonical one of its reader."""
    leaf = plan_leaves(plan).get(steps)
    if leaf is None or leaf.is_list or isinstance(value, dict | list) or value is None:
        return str(value)
    return leaf.reader.read(value).canonical


def without_value(values: Mapping[Steps, _Value], dropped: Collection[Steps]) -> dict[Steps, _Value]:
    """Return the values without those at some places."""
    return {steps: value for steps, value in values.items() if steps not in dropped}
