"""Changes of a spec under which predictions agree with gold: other names of fields, other ways of reading."""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from itertools import chain, count
from typing import Any, TypeAlias

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from fieldassay.options import option_names, with_options
from fieldassay.paths import ITEM, join_path
from fieldassay.records.matching import Matching, batches
from fieldassay.spec.drafts import Guess, Place, guess_type
from fieldassay.spec.language.model import Field, Spec, freeze_options
from fieldassay.spec.language.names import fold_key
from fieldassay.spec.language.write import emit_flow, field_data
from fieldassay.spec.plan.compile import compile_plan
from fieldassay.spec.plan.nodes import Leaf, ListNode, Node, ObjectNode, Plan
from fieldassay.values.catalogue import READERS
from fieldassay.values.types.column import Reader, Reading
from fieldassay.values.types.numbers.amounts import Money

MOST_DOCUMENTS = 200
"""So many documents, evenly spread, are compared: that bounds the time."""
LEAST_EQUAL = 3
"""In fewer documents equal values may be chance."""
_MOST_ITEMS, _FIRST_READ, _MOST_BITS = 50, 20, 10_000
_WORDS = re.compile(r"[A-Z]+(?![a-z])|[^\W\d_](?:(?![A-Z])[^\W\d_])+")
_VARIANTS: tuple[tuple[str, Any], ...] = (
    ("order", "dmy"), ("order", "mdy"), ("decimal", ","), ("decimal", "."), ("percent", "fraction"),
)  # fmt: skip
"""Options that decide what a text means."""

Pairs: TypeAlias = Sequence[tuple[list[Any], list[Any]]]
"""The objects at one place in gold and in the prediction, by document."""
Forms: TypeAlias = list[tuple[Hashable, ...]]
"""The values at one place by document, in a form that is equal for values that mean the same."""


class Proposal(Struct, frozen=True):
    """A change of one field of a spec, and the reason: in how many documents the values are then equal."""

    place: Place
    changes: Mapping[str, Any]
    why: str

    @property
    def path(self) -> str:
        """Return the path of the field.

        >>> Proposal(("fields", "lines", "items", "fields", "sku"), {}, "").path
        'lines[].sku'
        """
        steps = iter(self.place)
        return join_path([ITEM if step == "items" else next(steps) for step in steps])

    def line(self, spec: Spec) -> str:
        """Return the line of the spec that makes the change, without fields inside.

        >>> spec = Spec("invoices", (Field("PO #", "id"),))
        >>> Proposal(("fields", "PO #"), {"names": ("po_number",)}, "equal in 28 of 30").line(spec)
        '`"PO #": {type: id, names: [po_number]}` (equal in 28 of 30)'
        """
        fields, field = with_proposals(spec, [self]).fields, Field("")
        for step, name in zip(self.place, (*self.place[1:], ""), strict=True):
            if step == "fields":
                field = next(field for field in fields if field.name == name)
            elif step == "items" and field.items is not None and name:
                field = field.items
            fields = field.fields
        data = field_data(field)
        definition = (
            {key: value for key, value in data.items() if key != "fields"} if isinstance(data, dict) else data
        )
        return f"`{emit_flow({field.name: definition})[1:-1]}` ({self.why})"


def sample_pairs(matching: Matching) -> dict[str, Pairs]:
    """Return the records of gold and of each system's predictions, of documents evenly spread."""
    spread = np.linspace(0, len(matching) - 1, min(len(matching), MOST_DOCUMENTS)).astype(int)
    chosen = sorted(set(spread.tolist()))
    pairs_of: dict[str, list[tuple[list[Any], list[Any]]]] = {name: [] for name in matching.predictions}
    for batch in batches(matching, positions=chosen):
        for name, records in batch.predictions.items():
            pairs_of[name] += [
                ([gold.data], [record.data])
                for gold, record in zip(batch.gold, records, strict=True)
                if gold.data is not None and record is not None and record.data is not None
            ]
    return dict(pairs_of)


def propose(spec: Spec, systems: Mapping[str, Pairs]) -> tuple[Proposal, ...]:
    """Return the changes under which the predictions of some systems agree with gold, one for each field."""
    changed, proposals = spec, dict[Place, Proposal]()
    for pairs in systems.values():
        for proposal in list(propose_names(compile_plan(changed).root, pairs)):
            proposals[proposal.place] = proposal
            changed = with_proposals(changed, [proposal])
    for proposal in propose_reading(compile_plan(changed), [*chain(*systems.values())]):
        named = proposals.get(proposal.place)
        changes = {**(named.changes if named else {}), **proposal.changes}
        proposals[proposal.place] = Proposal(
            proposal.place, changes, proposal.why if proposal.changes or not named else named.why
        )
    return tuple(proposals.values())


def propose_names(node: ObjectNode, pairs: Pairs, place: Place = ()) -> Iterator[Proposal]:
    """Yield a name for each field that no prediction has under its own names.

    That is the key with equal values in most documents, more often than by chance and than any other key;
    else the key that differs by case and separators only. Each is unique in both directions. The last key
    is that of the last field if their names share a word, and the field can read its values.
    """
    names = {child.name: keys for child, keys in node.keyed()}
    declared = {key for keys in names.values() for key in keys}
    keys = _keys(objects for _, objects in pairs)
    free = [key for key in keys if key not in declared]
    lacking = [child for child in node.children if keys.keys().isdisjoint(names[child.name])]
    equal = _agreements(lacking, free, pairs)
    alike = {(child.name, key) for child in lacking for key in free if fold_key(child.name) == fold_key(key)}
    paired: set[str] = set()
    for scores in (
        {pair: (times, pair in alike) for pair, (times, _) in equal.items()},
        dict.fromkeys(alike, (0, True)),
    ):
        for name, key in _best(scores, paired):
            times, of = equal.get((name, key), (0, 0))
            why = f"equal in {times} of {of}" if times else "the same name in another spelling"
            yield Proposal((*place, "fields", name), {"names": (*names[name][1:], key)}, why)
            names[name] = (*names[name], key)
            paired |= {name, key}
    last, spare = (
        [name for name in side if name not in paired] for side in ([name.name for name in lacking], free)
    )
    if len(last) == len(spare) == 1 and (word := _shared_word(last[0], spare[0])):
        leaf = next(filter(None, (_leaf_of(child) for child in lacking if child.name == last[0])), None)
        if leaf is not None and any(_read_forms(leaf, leaf.reader)(_values(pairs, 1, (spare[0],)))):
            changes = {"names": (*names[last[0]][1:], spare[0])}
            yield Proposal(
                (*place, "fields", last[0]), changes, f"the last key, and both names have {word!r}"
            )
    for child in node.children:
        if (inner := _object_of(child)) is not None:
            at = (*place, "fields", child.name, *(("items",) if isinstance(child, ListNode) else ()))
            yield from propose_names(inner, _inside(pairs, (child.name,), names[child.name]), at)


def _shared_word(name: str, key: str) -> str:
    """Return the longest word that two names share; empty for none.

    >>> _shared_word("VAT %", "vatRate"), _shared_word("net", "network")
    ('vat', '')
    """
    ours, theirs = ({word.casefold() for word in _WORDS.findall(text)} for text in (name, key))
    return max(ours & theirs, key=len, default="")


def _best(scores: Mapping[tuple[str, str], tuple[int, bool]], paired: set[str]) -> list[tuple[str, str]]:
    """Return the pairs of a field and a key, neither of them taken, that are each other's only best."""
    ranked = {pair: score for pair, score in scores.items() if paired.isdisjoint(pair)}
    own, other = (_tops((pair[side], score) for pair, score in ranked.items()) for side in (0, 1))
    return [(name, key) for (name, key), score in ranked.items() if own[name] == other[key] == {score: 1}]


def _tops(scores: Iterable[tuple[str, tuple[int, bool]]]) -> dict[str, dict[tuple[int, bool], int]]:
    """Return the best score of each name, with the number of times that it has it."""
    scores_of: dict[str, list[tuple[int, bool]]] = defaultdict(list)
    for name, score in scores:
        scores_of[name].append(score)
    return {name: {max(all_): all_.count(max(all_))} for name, all_ in scores_of.items()}


def _agreements(
    children: Sequence[Node], keys: Sequence[str], pairs: Pairs
) -> dict[tuple[str, str], tuple[int, int]]:
    """Return, of fields and keys that agree, the documents with equal values, and those that gold fills."""
    agreements: dict[tuple[str, str], tuple[int, int]] = {}
    by_reader: dict[tuple[str, Reader], list[Leaf]] = defaultdict(list)
    for child in children:
        if (leaf := _leaf_of(child)) is not None:
            by_reader[leaf.type, leaf.reader].append(leaf)
        elif (inner := _object_of(child)) is not None:
            for key in keys:
                below = _inside(pairs, (child.name,), (key,))
                members = _agreements(inner.children, [*_keys(objects for _, objects in below)], below)
                if members:
                    agreements[child.name, key] = max(members.values())
    for leaves in by_reader.values():
        for reader, _ in _readings(leaves[0]):
            read = _read_forms(leaves[0], reader)
            theirs = {key: read(_values(pairs, 1, (key,))) for key in keys}
            ours = {leaf.name: read(_values(pairs, 0, (leaf.name,))) for leaf in leaves}
            for name, key, times, of in _count_equal(ours, theirs):
                agreements[name, key] = max((times, of), agreements.get((name, key), (0, 0)))
    return agreements


def _count_equal(
    ours: Mapping[str, Forms], theirs: Mapping[str, Forms]
) -> Iterator[tuple[str, str, int, int]]:
    """Yield the names that agree in most documents and beyond chance, with the counts."""
    numbers: dict[Hashable, int] = defaultdict(count().__next__)
    gold, pred = (
        np.array([[numbers[form] if form else none for form in forms] for forms in side.values()])
        for side, none in ((ours, -1), (theirs, -2))
    )
    names, filled = list(ours), (gold >= 0).sum(axis=1) if len(gold) else ()
    for key, row in zip(theirs, pred, strict=True):
        equal = (gold == row).sum(axis=1)
        for at in np.flatnonzero((2 * equal > filled) & (equal >= LEAST_EQUAL)).tolist():
            if _exceeds_chance(gold[at].tolist(), row.tolist(), int(equal[at])):
                yield names[at], key, int(equal[at]), int(filled[at])


def _exceeds_chance(gold: Sequence[int], pred: Sequence[int], equal: int) -> bool:
    """Return whether Cohen's kappa of the documents with a value is above one half."""
    ours, theirs = Counter(code for code in gold if code >= 0), Counter(pred)
    of = ours.total()
    chance = sum(times * theirs[value] for value, times in ours.items()) / of / len(pred)
    return chance < 1 and (equal / of - chance) / (1 - chance) > 0.5


def propose_reading(plan: Plan, pairs: Pairs) -> Iterator[Proposal]:
    """Yield another type or option for each value of which predictions agree with gold only under that.

    Fields without a value in gold get the type of the predictions. Predictions that are mostly unreadable are
    told, without a change.
    """
    for place, leaf, gold, pred in _columns(plan.root, pairs):
        gold, pred = (
            [[value for value in values if not _is_empty(leaf, value)] for values in side]
            for side in (gold, pred)
        )
        theirs = [value for values in pred for value in values]
        if not theirs or leaf.is_list:
            continue
        agreed, of = _count_agreed(leaf, leaf.reader, gold, pred)
        if 2 * agreed > of:
            yield from _settle(place, leaf, gold, pred)
            continue
        guesses = [guess_type(leaf.name, theirs, plan.spec.locale)]
        if not any(gold):
            why = "never filled in gold; the type is that of the predictions"
            yield Proposal(place, _as_changes(guesses[0]), why)
            continue
        guesses.append(guess_type(leaf.name, [*chain(*gold), *theirs], plan.spec.locale))
        readings = _readings(leaf, guesses)
        counts = [_count_agreed(leaf, reader, gold, pred) for reader, _ in readings]
        best, of = max(counts)
        if best >= LEAST_EQUAL and 2 * best > of:
            yield Proposal(
                place, readings[counts.index((best, of))][1], f"read this way, {best} of {of} are equal"
            )
        elif 2 * sum(leaf.reader.read(value).value is not None for value in theirs) < len(theirs):
            yield Proposal(
                place,
                {},
                f"? most predictions are not of the type {leaf.type}, such as {str(theirs[0])[:40]!r}",
            )


def _settle(place: Place, leaf: Leaf, gold: list[list[Any]], pred: list[list[Any]]) -> Iterator[Proposal]:
    """Yield the option under which values that have two readings agree in more documents than otherwise."""
    if not any("ambiguous" in leaf.reader.read(value).flags for values in (*gold, *pred) for value in values):
        return
    counts = sorted(
        (_count_agreed(leaf, reader, gold, pred), changes["options"])
        for reader, changes in _readings(leaf)[1:]
        if "options" in changes
    )
    if len(counts) > 1 and counts[-1][0] > counts[-2][0]:
        (agreed, of), options = counts[-1]
        yield Proposal(place, {"options": options}, f"read this way, {agreed} of {of} are equal")


def _count_agreed(
    leaf: Leaf, reader: Reader, gold: list[list[Any]], pred: list[list[Any]]
) -> tuple[int, int]:
    """Return the documents whose values mean the same as a reader reads them, and all documents."""
    read = _read_forms(leaf, reader)
    pairs = zip(read(gold), read(pred), strict=True)
    return sum(bool(ours) and ours == theirs for ours, theirs in pairs), len(gold)


def _readings(leaf: Leaf, guesses: Sequence[Guess] = ()) -> list[tuple[Reader, dict[str, Any]]]:
    """Return the reader of a value, and others that may read it, with what each changes in the spec."""
    readings: list[tuple[Reader, dict[str, Any]]] = [(leaf.reader, {})]
    for name, value in _VARIANTS:
        if getattr(leaf.reader, name, "") in (None, "as_is"):
            options = {"options": ((name, value),)}
            readings.append((with_options(leaf.reader, **{name: value}), options))
    guesses = [*guesses, Guess("money")] if leaf.type in ("number", "integer") else guesses
    for guess in guesses:
        if guess.type not in ("text", "any", "enum", "id"):
            entry = READERS.load(guess.type)
            locale = getattr(leaf.reader, "locale", None)
            own = {"locale": locale} if locale is not None and "locale" in option_names(entry) else {}
            readings.append((entry(**own, **guess.options), _as_changes(guess)))
    return readings


def _as_changes(guess: Guess) -> dict[str, Any]:
    return {"type": guess.type, "options": freeze_options(guess.options)}


def _columns(
    node: ObjectNode, pairs: Pairs, place: Place = ()
) -> Iterator[tuple[Place, Leaf, list[list[Any]], list[list[Any]]]]:
    """Yield each value of an object, at any depth, with the values of gold and prediction by document."""
    for child, keys in node.keyed():
        at = (*place, "fields", child.name, *(("items",) if isinstance(child, ListNode) else ()))
        if (leaf := _leaf_of(child)) is not None:
            yield at, leaf, _values(pairs, 0, (child.name,)), _values(pairs, 1, keys)
        elif (inner := _object_of(child)) is not None:
            yield from _columns(inner, _inside(pairs, (child.name,), keys), at)


def _leaf_of(node: Node) -> Leaf | None:
    inner = node.items if isinstance(node, ListNode) else node
    return replace(inner, name=node.name) if isinstance(inner, Leaf) else None


def _object_of(node: Node) -> ObjectNode | None:
    inner = node.items if isinstance(node, ListNode) and not node.is_map else node
    return inner if isinstance(inner, ObjectNode) else None


def _keys(sides: Iterable[list[Any]]) -> dict[str, None]:
    """Return the keys that have a value in any object."""
    members = (record.items() for objects in sides for record in objects if isinstance(record, dict))
    return {key: None for items in members for key, value in items if value is not None}


def _under(objects: list[Any], keys: Sequence[str]) -> list[Any]:
    """Return the values under the first of the keys that an object has, those of lists one by one."""
    values: list[Any] = []
    for item in objects if len(keys) else ():
        value = (
            next((item[key] for key in keys if item.get(key) is not None), None)
            if isinstance(item, dict)
            else None
        )
        values += value[:_MOST_ITEMS] if isinstance(value, list) else [value]
    return [value for value in values if value is not None]


def _inside(pairs: Pairs, ours: Sequence[str], theirs: Sequence[str]) -> Pairs:
    return [(_under(gold, ours), _under(pred, theirs)) for gold, pred in pairs]


def _values(pairs: Pairs, side: int, keys: Sequence[str]) -> list[list[Any]]:
    """Return the single values under some keys by document."""
    columns = [_under(pair[side], keys) for pair in pairs]
    return [
        [
            value
            for value in values
            if not (
                isinstance(value, dict | list) or (isinstance(value, int) and value.bit_length() > _MOST_BITS)
            )
        ]
        for values in columns
    ]


def _read_forms(leaf: Leaf, reader: Reader) -> Callable[[list[list[Any]]], Forms]:
    """Return what makes forms of the values by document, of which each different value is read once."""
    memo: dict[tuple[type, Any], Hashable] = {}

    def form(value: Any) -> Hashable:
        key = (type(value), value)
        if key not in memo:
            reading = reader.read(value)
            memo[key] = None if reading.value is None else _meaning(leaf, reading)
        return memo[key]

    def read(column: list[list[Any]]) -> Forms:
        first = [value for values in column for value in values if not _is_empty(leaf, value)][:_FIRST_READ]
        if 4 * sum(form(value) is not None for value in first) < len(first):
            return [()] * len(column)
        forms_of = ([form(value) for value in values if not _is_empty(leaf, value)] for values in column)
        return [tuple(sorted(map(str, forms))) if None not in forms else () for forms in forms_of]

    return read


def _is_empty(leaf: Leaf, value: Any) -> bool:
    return isinstance(value, str) and leaf.is_empty(value)


def _meaning(leaf: Leaf, reading: Reading) -> str:
    """Return a text that is equal for values that mean the same: an amount without its currency."""
    if isinstance(reading.value, Money):
        return str(reading.value.amount.normalize())
    return fold_key(reading.canonical) if leaf.type in ("text", "enum", "id") else reading.canonical


def with_proposals(spec: Spec, proposals: Iterable[Proposal]) -> Spec:
    """Return the spec with the changes of its fields."""
    for proposal in proposals:
        if proposal.changes:
            spec = replace(spec, fields=_changed(spec.fields, proposal.place, proposal.changes))
    return spec


def _changed(fields: tuple[Field, ...], place: Place, changes: Mapping[str, Any]) -> tuple[Field, ...]:
    _, name, *below = place
    return tuple(_with(field, tuple(below), changes) if field.name == name else field for field in fields)


def _with(field: Field, below: Place, changes: Mapping[str, Any]) -> Field:
    if not below:
        options = changes.get("options", ())
        options_left = (
            () if "type" in changes else tuple(pair for pair in field.options if pair[0] not in dict(options))
        )
        return replace(field, **{**changes, "options": tuple(sorted((*options_left, *options)))})
    if below[0] == "items" and field.items is not None:
        return replace(field, items=_with(field.items, below[1:], changes))
    return replace(field, fields=_changed(field.fields, below, changes))
