"""How records fit a spec: their keys, a profile of the data, and what is said of it."""

import difflib
import json
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from operator import itemgetter
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from msgspec import Struct, field
from msgspec import field as default
from msgspec.structs import replace

from fieldassay.errors import Problem, list_names
from fieldassay.io.json_value import Json, record_data
from fieldassay.io.text.shown import clip, format_count
from fieldassay.metrics.evidence import FLAG, BatchEvidence, Kind, Outcome
from fieldassay.metrics.result.result import Result, find_headline
from fieldassay.options import with_options
from fieldassay.paths import ITEM, KEY, Step, field_of, join_path, leaves_of, split_path
from fieldassay.records.answers.answer import find_misplaced, find_wrapped
from fieldassay.records.envelope import MEASURES, META_SHAPES
from fieldassay.records.matching import Matching, batches
from fieldassay.records.record import NOTHING_BESIDE, Record
from fieldassay.records.rows import PROBED
from fieldassay.records.source import Source
from fieldassay.scoring.checking import Findings
from fieldassay.scoring.engine.coding import json_text
from fieldassay.scoring.engine.flatten import Undeclared
from fieldassay.scoring.engine.judge import Judged, judge
from fieldassay.scoring.engine.scopes import Masks, applicability, is_folded
from fieldassay.scoring.inputs import document_types
from fieldassay.spec.language.names import ID_NAMES, apply_aliases, fold_key
from fieldassay.spec.plan.nodes import AnyNode, Leaf, ListNode, Node, ObjectNode, Plan, list_leaves
from fieldassay.spec.presets.catalogue import preset_names
from fieldassay.values.types.closed_sets import ListReader
from fieldassay.values.types.column import Reader, Reading
from fieldassay.values.types.dates.dates import DateReader
from fieldassay.values.types.numbers.amounts import Money, drops_words
from fieldassay.values.types.numbers.money import MoneyReader

# The keys of trees: which of them are fields of their own, and which fold into one field of their object.

MOST_KEYS = 1000
"""So many different keys of an object of a tree are all fields of their own."""

FEW_DOCUMENTS = 10
"""Of more keys, those in fewer documents than this fold."""

_CENSUS_BATCH = 2000
Steps: TypeAlias = tuple[Step, ...]


def fold_keys(plan: Plan, read_documents: Callable[[], Iterable[Sequence[Any]]]) -> Plan:
    """Return the plan with the objects of its trees that have too many keys for a field each.

    `read_documents` yields the contents of each document, of all sides together: keys are counted over all of
    them, so that neither the order nor the partition of documents shows. It is called once for each pass:
    objects below folded keys are counted in a further one, all together.
    """
    if not _has_trees(plan.root):
        return plan
    folds: dict[Steps, frozenset[str]] = {}
    while True:
        census = _Census(folds)
        for contents in read_documents():
            census.add(plan.root, contents)
        crowded = census.find_crowded()
        if not crowded:
            break
        folds |= crowded
    return replace(plan, folds={join_path(steps): keys for steps, keys in folds.items()}) if folds else plan


def fold_keys_of_matching(plan: Plan, matching: Matching) -> Plan:
    """Return the plan with folded keys, counted over gold and all predictions."""

    def read_documents() -> Iterator[list[Any]]:
        for batch in batches(matching, _CENSUS_BATCH):
            for records in zip(batch.gold, *batch.predictions.values(), strict=True):
                yield [record.data for record in records if record is not None]

    return fold_keys(plan, read_documents)


def fold_keys_of_sources(plan: Plan, sources: Collection[Source]) -> Plan:
    """Return the plan with folded keys, counted over the records of all sources."""

    def read_documents() -> Iterator[list[Any]]:
        for source in sources:
            yield from ([record.data] for record in source)

    return fold_keys(plan, read_documents)


def _has_trees(node: Node) -> bool:
    below = (
        node.children if isinstance(node, ObjectNode) else (node.items,) if isinstance(node, ListNode) else ()
    )
    return isinstance(node, AnyNode) or any(map(_has_trees, below))


def walk_values(node: Node, value: Any) -> Iterator[tuple[Leaf | AnyNode, Any]]:
    """Yield the leaves and trees below a node, each with its value; lists of single values whole."""
    if isinstance(node, Leaf | AnyNode):
        yield node, value
    elif isinstance(node, ObjectNode) and isinstance(value, dict):
        value = apply_aliases(value, node.other_names) if node.other_names else value
        for child in node.children:
            yield from walk_values(child, value.get(child.name) if child.path else value)
    elif isinstance(node, ListNode) and not isinstance(node.items, Leaf):
        own = dict if node.is_map else list
        members: Any = value if isinstance(value, own) else own()
        for item in members.values() if node.is_map else members:
            yield from walk_values(node.items, item)


class _Census(Struct):
    """Counts the documents with each key, by the steps to its object."""

    folds: Mapping[Steps, frozenset[str]]
    counts: defaultdict[Steps, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))

    def add(self, root: Node, records: Sequence[Any]) -> None:
        """Count one document: its record in gold and in all predictions."""
        seen: defaultdict[Steps, set[str]] = defaultdict(set)
        for data in records:
            for node, value in walk_values(root, data):
                if isinstance(node, AnyNode):
                    self._tree(node, split_path(node.path), value, seen)
        for steps, keys in seen.items():
            self.counts[steps].update(keys)

    def find_crowded(self) -> dict[Steps, frozenset[str]]:
        """Return the objects with too many keys, and those that remain fields.

        Objects below others of them are not among them: they are not counted whole.
        """
        crowded = {steps: counts for steps, counts in self.counts.items() if len(counts) > MOST_KEYS}
        return {
            steps: frozenset(key for key, documents in counts.items() if documents >= FEW_DOCUMENTS)
            for steps, counts in crowded.items()
            if not any(steps[:end] in crowded for end in range(len(steps)))
        }

    def _tree(self, node: AnyNode, steps: Steps, value: Any, seen: defaultdict[Steps, set[str]]) -> None:
        if value.__class__ is list:
            for item in value:
                self._tree(node, (*steps, ITEM), item, seen)
        elif value.__class__ is dict:
            kept_keys = self.folds.get(steps)
            if kept_keys is None:
                seen[steps].update(value)
                if len(seen[steps]) > MOST_KEYS or len(self.counts[steps]) > MOST_KEYS:
                    return
            for key, inner in value.items():
                if inner.__class__ is dict or inner.__class__ is list:
                    folds = kept_keys is not None and is_folded(node, steps, key, kept_keys)
                    self._tree(node, (*steps, KEY if folds else key), inner, seen)


# The content of gold and predictions as scoring reads them: counts and examples, field by field.

MOST_EXAMPLES = 3
LEAST_WRITTEN, USUAL = 5, 0.8
"""So many values of a field, and so large a share of them in one form, say how values are written."""
_PROFILE_BATCH = 1000


class ExampleValue(Struct, frozen=True):
    """One value, as JSON text, with its document and a remark."""

    document: str
    value: str
    why: str


class SideContent(Struct):
    """The content of one side in one field: numbers of values, unreadable ones and ambiguous ones."""

    field: str
    present: int = 0
    unreadable: int = 0
    ambiguous: int = 0
    examples: list[ExampleValue] = default(default_factory=list)
    """Some of the unreadable values."""
    ambiguous_examples: list[ExampleValue] = default(default_factory=list)
    """Some of the ambiguous values."""
    forms: Counter[str] = default(default_factory=Counter)
    """How dates, and lists in one text, are written."""
    form_examples: dict[str, ExampleValue] = default(default_factory=dict)


class DataProfile(Struct):
    """The content of one side: findings by field, unusable records, and undeclared keys with their counts."""

    findings: dict[str, SideContent] = default(default_factory=dict)
    records: int = 0
    invalid: int = 0
    examples: list[ExampleValue] = default(default_factory=list)
    undeclared: Counter[str] = default(default_factory=Counter)
    misplaced: "Misplaced" = default(default_factory=dict)


Misplaced: TypeAlias = dict[tuple[str, str], tuple[int, str]]
"""What gold has in a place of no use: how often and the first document, by field and what it is.

That is a list or an object where a single value is declared, or the path of one of `_BESIDE`.
"""

_BESIDE = {
    "acceptable_variations": "accepted_values",
    "critical_fields": "critical_paths",
    "illegible_fields": "illegible_paths",
    "unreviewed_fields": "unreviewed_paths",
}
"""The paths that stand beside gold, and their names in `Meta`."""


def count_misplaced(plan: Plan, records: Sequence[Record], misplaced: Misplaced) -> Misplaced:
    """Add what records of gold have in a place of no use."""

    def add(path: str, kind: str, document: str) -> None:
        count, first = misplaced.get((path, kind), (0, document))
        if count or len(misplaced) < _MOST_KEPT:
            misplaced[path, kind] = count + 1, first

    wanted = [child for child in plan.root.children if any(leaf.is_list for leaf in list_leaves(child))]
    root = replace(plan.root, children=tuple(wanted))
    for record in records:
        for node, value in walk_values(root, record.data) if wanted else ():
            is_whole = isinstance(node, Leaf) and node.is_list and isinstance(value, list)
            for item in value if is_whole else ():
                if isinstance(item, list | dict):
                    add(node.path, "a list" if isinstance(item, list) else "an object", record.id)
        for key, name in _BESIDE.items() if record.meta is not NOTHING_BESIDE else ():
            for path in getattr(record.meta, name):
                if not _has_place(plan.root, record.data, path):
                    add(path, key, record.id)
    return misplaced


def _has_place(root: Node, data: Any, path: str) -> bool:
    """Return whether a path leads to a declared place or into a tree, by lists and maps that data has."""
    try:
        steps = split_path(path)
    except ValueError:
        return False
    places: list[tuple[Node, Any]] = [(root, data)]
    for at, step in enumerate(steps, 1):
        is_last = at == len(steps)
        places = [below for node, value in places for below in _step_down(node, value, step, is_last)]
    return bool(places)


def _step_down(node: Node, value: Any, step: Step, is_last: bool) -> Iterator[tuple[Node, Any]]:
    if isinstance(node, ObjectNode):
        renamed = apply_aliases(value, node.other_names) if isinstance(value, dict) else {}
        for child in node.children:
            if not child.path:
                yield from _step_down(child, value, step, is_last)
            elif step in (child.name, *getattr(child, "unit_fields", ())):
                yield child, renamed.get(str(step))
    elif isinstance(node, Leaf):
        items = node.reader.numbered(value) if isinstance(node.reader, ListReader) else {}
        yield from ((node, item) for at, item in items.items() if step in (at, ITEM))
    else:
        listed = value if isinstance(value, list) else ()
        members = value.items() if isinstance(value, dict) else enumerate(listed)
        fits = [member for key, member in members if step in (key, ITEM, KEY)]
        inner = node.items if isinstance(node, ListNode) else node
        is_open = step in (ITEM, KEY) or (inner is node and is_last and isinstance(value, dict))
        yield from ((inner, member) for member in (fits or [None] * is_open))


def describe_misplaced(gold: str, misplaced: Misplaced) -> Iterator[Problem]:
    """Yield what is wrong with each place of no use in gold."""
    for (path, kind), (count, first) in sorted(misplaced.items()):
        inside = path.replace("[]", "[0]") + "[0]"
        if kind in _BESIDE:
            yield Problem(
                gold,
                f"{path!r} of `{kind}` is no place in gold or in the spec (first in {first!r})",
                "correct the path: fields as the spec names them, items from 0",
            )
            continue
        yield Problem(
            gold,
            f"{format_count(count, 'item')} of {path!r} {'is' if count == 1 else 'are each'} {kind}, "
            f"compared as JSON text (first in {first!r})",
            f'keep one text, and accept the others by `acceptable_variations: {{"{inside}": […]}}`'
            if kind == "a list"
            else f"keep one text, or declare the objects: `{path}: {{type: list, items: {{fields: …}}}}`",
        )


def survey(plan: Plan, matching: Matching, findings: Findings) -> dict[str, DataProfile]:
    """Return the content of gold (under the empty name) and of each system, as scoring reads them.

    All of them go into `findings`.
    """
    surveys = {name: DataProfile() for name in ("", *matching.predictions)}
    for batch in batches(matching, _PROFILE_BATCH):
        applies = applicability(plan, document_types(plan, batch.gold))
        _add_records(plan, batch.gold, applies, surveys[""])
        findings.look_at_gold(batch.gold)
        count_misplaced(plan, batch.gold, surveys[""].misplaced)
        for name, records in batch.predictions.items():
            _add_records(plan, records, applies, surveys[name], batch.ids)
            findings.look(name, records)
    return surveys


def survey_predictions(
    plan: Plan, sources: Mapping[str, Source], findings: Findings
) -> dict[str, DataProfile]:
    """Return the content of each system without gold; `findings` gets all records.

    Every field counts, whatever the document's type.
    """
    surveys = {name: DataProfile() for name in sources}
    for name, source in sources.items():
        for records in source.batches():
            _add_records(plan, records, applicability(plan, [None] * len(records)), surveys[name])
            findings.look(name, records)
    return surveys


def _add_records(
    plan: Plan,
    records: Sequence[Record | None],
    applies: dict[str, Masks],
    profile: DataProfile,
    ids: tuple[str, ...] | None = None,
) -> None:
    """Add more records of one side; `ids` are those of the documents, of which some may have no record."""
    for record in records:
        profile.records += record is not None
        if record is not None and record.data is None:
            profile.invalid += 1
            _add(
                profile.examples,
                ExampleValue(record.id, "", f"{record.place}: {record.invalid or 'no answer'}"),
            )
    data = [(record.data or {}) if record is not None else {} for record in records]
    judged = judge(plan, [{} for _ in records], data, applies)
    profile.undeclared.update(judged.undeclared.pred)
    _count(
        judged, ids or tuple(record.id if record is not None else "" for record in records), profile.findings
    )


def _count(judged: Judged, ids: tuple[str, ...], findings: dict[str, SideContent]) -> None:
    for block in judged.blocks:
        if block.kind != Kind.VALUE:
            continue
        finding = findings.setdefault(
            judged.fields[block.field].path, SideContent(judged.fields[block.field].path)
        )
        if block.coded is None or block.pred_code is None:
            _count_wrong(block.pred_raws, block.pairs.doc, ids, finding)
            continue
        at = np.flatnonzero(block.pred_code >= 0)
        finding.present += len(at)
        if block.coded.leaf.is_list or block.coded.leaf.type in ("text", "date", "datetime"):
            codes, first, counts = np.unique(block.pred_code[at], return_index=True, return_counts=True)
            for code, row, count in sorted(zip(codes, at[first], counts, strict=True), key=itemgetter(1)):
                if isinstance(raw := block.coded.raws[code], str):
                    form = name_form(raw, is_list=block.coded.leaf.is_list)
                    finding.forms[form] += int(count)
                    example = ExampleValue(ids[block.pairs.doc[row]], json_text(raw), "")
                    finding.form_examples.setdefault(form, example)
        column = block.coded.column
        if not column.problems and not column.flags:
            continue
        for row in at.tolist():
            code = int(block.pred_code[row])
            _look(
                finding,
                ids[block.pairs.doc[row]],
                block.coded.raws[code],
                column.reading(code),
                block.coded.leaf.reader,
            )


_SIGNS = re.compile(r"\d+(?:[.,]\d+)*|[^\W\d_]+|[^\w\s]")


def name_form(text: str, *, is_list: bool) -> str:
    """Return how a text is written: the sign that divides a list, or its words as `a` and numbers as `1`.

    Numbers with a decimal comma are `1_`. It is empty for a text without a number, and for a list of one.

    >>> name_form("15-Mar-2025", is_list=False), name_form("Rue 1, Ost", is_list=False)
    ('1-a-1', 'a1,a')
    >>> [name_form(text, is_list=False) for text in ("1.525,00 EUR", "1,525.00 EUR", "1,525 EUR")]
    ['1_a', '1a', '1a']
    >>> name_form("a | b, c", is_list=True), name_form("Main St", is_list=False)
    ('|', '')
    """
    if is_list:
        return next((sign for sign in "|;," if sign in text), "")
    signs = _SIGNS.findall(text[:_LONGEST_NAME])
    form = "".join(
        "a" if sign[0].isalpha() else sign if not sign[-1].isdigit() else "1_" if _has_comma(sign) else "1"
        for sign in signs
    )
    return form if "1" in form else ""


def _has_comma(text: str) -> bool | None:
    """Return whether the decimals of a text's first number stand behind a comma; None without decimals."""
    number = next((sign for sign in _SIGNS.findall(text[:_LONGEST_NAME]) if sign[0].isdigit()), "")
    whole, comma, decimals = number.rpartition("," if number.rfind(",") > number.rfind(".") else ".")
    return comma == "," if whole and comma not in whole and len(decimals) <= 2 else None


def describe_mixed(gold: DataProfile) -> list[str]:
    """Return a remark for each field of gold with a few dates, amounts or lists unlike nearly all others."""
    said = []
    for path, finding in gold.findings.items():
        ranked = [(form, count) for form, count in finding.forms.most_common() if form]
        total = sum(count for _, count in ranked)
        if total < LEAST_WRITTEN or ranked[0][1] < USUAL * total or ranked[0][1] == total:
            continue
        odd, first = finding.form_examples[ranked[1][0]], finding.form_examples[ranked[0][0]]
        if "1" in ranked[0][0] and not _are_of_one_type(
            *(json.loads(example.value) for example in (odd, first))
        ):
            continue
        said.append(
            f"gold: {path} is written in several ways: {clip(odd.value, 40)} in "
            f"{clip(odd.document, _LONGEST_NAME)}, {ranked[0][1]} of {total} as {clip(first.value, 40)}; "
            "write them alike, if they mean the same"
        )
    return said


def _are_of_one_type(text: str, other: str) -> bool:
    """Return whether both are dates, or amounts of which one has a currency, or one a decimal comma.

    >>> [_are_of_one_type(text, "$5.00") for text in ("1,250", "60.00 AUD", "5 kg", "$5 | $6")]
    [True, True, False, False]
    >>> [_are_of_one_type(text, "5.00") for text in ("1.250,00", "1250", "12,5", "1,250")]
    [True, False, True, False]
    >>> _are_of_one_type("15-Mar-2025", "16/03/2025"), _are_of_one_type("2201 12", "220112")
    (True, False)
    """
    dates, amounts = ([reader.read(raw) for raw in (text, other)] for reader in (DateReader(), MoneyReader()))
    if any(amount.problem is not None for amount in amounts):
        return all(date.problem is None for date in dates)
    if {_has_comma(text), _has_comma(other)} == {True, False}:
        return True
    forms = {name_form(raw, is_list=False).replace("1_", "1") for raw in (text, other)}
    return len(forms) > 1 and any(amount.value.currency is not None for amount in amounts)


def _look(finding: SideContent, document: str, raw: Any, reading: Reading, reader: Reader) -> None:
    if reading.problem is not None and raw is not None:
        finding.unreadable += 1
        _add(finding.examples, ExampleValue(document, json_text(raw), reading.problem))
    is_strange = "calendar" in reading.flags and not getattr(reader, "calendar", None)
    if is_strange or ("ambiguous" in reading.flags and not is_decided(reader, raw, reading)):
        finding.ambiguous += 1
        hint = "; is the year of another `calendar`?" if is_strange else ""
        hint = "; with `signs` the dropped words would count" if drops_words(reader) else hint
        _add(
            finding.ambiguous_examples,
            ExampleValue(document, json_text(raw), f"read as {reading.canonical}{hint}"),
        )


DECIDING: Mapping[str, tuple[str | None, ...]] = {
    "order": ("dmy", "mdy"),
    "decimal": (".", ","),
    "currency": (None,),
}
"""Options of a field that decide between two readings, and their alternatives."""


def is_decided(reader: Any, raw: Any, reading: Reading) -> bool:
    """Return whether an option given with the field decides the reading of an ambiguous value.

    Without the option, the value would be another.

    >>> from fieldassay.values.types.dates.dates import DateReader
    >>> reader = DateReader(order="dmy")
    >>> [is_decided(reader, text, reader.read(text)) for text in ("03/04/2025", "03/15/2025")]
    [True, False]
    """
    options = {option: value for option in DECIDING if (value := getattr(reader, option, None)) is not None}
    others = (
        with_options(reader, **{option: other})
        for option, value in options.items()
        for other in DECIDING[option]
        if other != value
    )
    values = (other.read(raw).value for other in others)
    return any(value is not None and _unmarked(value) != _unmarked(reading.value) for value in values)


def _unmarked(value: Any) -> Any:
    """Return the amount of money without its currency, any other value as it is."""
    return value.amount if isinstance(value, Money) else value


def _count_wrong(raws: Mapping[int, Any], documents: Any, ids: tuple[str, ...], finding: SideContent) -> None:
    for row, raw in raws.items():
        finding.present += 1
        finding.unreadable += 1
        _add(
            finding.examples,
            ExampleValue(ids[documents[row]], json_text(raw), "has another JSON type than the spec declares"),
        )


def _add(examples: list[ExampleValue], example: ExampleValue) -> None:
    """Keep a few examples; of a value that was seen already only the first."""
    if len(examples) < MOST_EXAMPLES and all(
        (shown.value, shown.why) != (example.value, example.why) for shown in examples
    ):
        examples.append(example)


def survey_data(profile: DataProfile) -> dict[str, Any]:
    """Return a survey as plain data."""
    return {
        "fields": [
            {
                name: data
                for name, data in record_data(finding).items()
                if name not in ("forms", "form_examples")
            }
            for finding in profile.findings.values()
        ],
        "invalid": profile.invalid,
        "invalid_examples": [record_data(example) for example in profile.examples],
        "undeclared": dict(profile.undeclared.most_common()),
    }


# The fit of a spec to the data: declared fields filled by each side, undeclared keys, and remarks.

GOLD = ""
"""The name of gold among the names of systems."""

MOST_NAMED = 5
_MOST_FIELDS = 8
_MOST_KEPT = 1000
"""Undeclared keys that the counts of a result have."""
_MOST_PROBED = 2000
_LONGEST_NAME = 60

_LACKS = {
    GOLD: np.isin(np.arange(len(Outcome)), [Outcome.SPURIOUS, Outcome.ABSENT]),
    "pred": np.isin(np.arange(len(Outcome)), [Outcome.MISSING, Outcome.ABSENT]),
}
"""By outcome, whether a side has no value there; a failed row counts as filled, since that is unknown."""

_LONE = [Outcome.MISSING, Outcome.SPURIOUS]


class Fill(Struct, frozen=True, eq=False):
    """One side's rows and values by position in `Plan.fields`, and its keys that the spec lacks, by path."""

    rows: npt.NDArray[np.int64]
    values: npt.NDArray[np.int64]
    undeclared: Counter[str]
    ambiguous: npt.NDArray[np.int64]
    """Rows by position in `Plan.fields` of which a value could be read in two ways; for gold zero."""
    outcomes: npt.NDArray[np.int64] | None = None
    """Leaves by `Outcome`, without lone nulls; places of another kind are mismatches. None for gold."""

    def is_apart(self, plan: Plan) -> bool:
        """Return whether the side may be of something else: in a tree every leaf is extra or missing."""
        if self.outcomes is None or "" not in plan.slots:
            return not self.values.any()
        both = [Outcome.MATCH, Outcome.PARTIAL, Outcome.MISMATCH, Outcome.FAILED]
        return bool(self.outcomes[_LONE].all()) and not self.outcomes[both].any()


def fills_of(plan: Plan, evidence: BatchEvidence, undeclared: Undeclared) -> tuple[Fill, Fill]:
    """Return the fill of gold and of the predictions of one batch.

    Values below a tree count for the declared field of the tree.
    """
    size = len(plan.fields)
    top = {info.slot: at for at, info in reversed(list(enumerate(plan.fields)))}
    declared = np.array(
        [at if at < size else top.get(info.slot, size) for at, info in enumerate(evidence.fields)],
        dtype=np.int64,
    )
    at = declared[evidence.field]
    outcomes = len(Outcome)
    rows = np.bincount(at * outcomes + evidence.outcome, minlength=(size + 1) * outcomes)
    rows = rows.reshape(size + 1, outcomes)[:size]
    is_ambiguous = evidence.flags & FLAG["ambiguous"] != 0
    unclear = np.bincount(at[is_ambiguous], minlength=size + 1)[:size]

    has_kind = evidence.flags & FLAG["wrong_kind"] == 0
    nulls = np.array([info.type == "null" for info in evidence.fields], dtype=bool)[evidence.field]
    is_leaf = (evidence.kind == Kind.VALUE) & ~(nulls & np.isin(evidence.outcome, _LONE))
    leaves = np.where(has_kind, evidence.outcome, Outcome.MISMATCH)[is_leaf | ~has_kind]

    def count(side: str, keys: Mapping[str, int], *more: npt.NDArray[np.int64]) -> Fill:
        return Fill(rows.sum(axis=1), rows[:, ~_LACKS[side]].sum(axis=1), Counter(keys), *more)

    of_pred = count("pred", undeclared.pred, unclear, np.bincount(leaves, minlength=outcomes))
    return count(GOLD, undeclared.gold, np.zeros_like(unclear)), of_pred


def merge_fills(parts: Iterable[Mapping[str, Fill]]) -> dict[str, Fill]:
    """Return the sums of the fills of parts of the documents, by system and for gold."""
    fills_of: dict[str, list[Fill]] = {}
    for part in parts:
        for name, fill in part.items():
            fills_of.setdefault(name, []).append(fill)
    return {name: _sum(fills) for name, fills in fills_of.items()}


def _sum(fills: Sequence[Fill]) -> Fill:
    undeclared: Counter[str] = Counter()
    for fill in fills:
        undeclared.update(fill.undeclared)
    leaves = [fill.outcomes for fill in fills if fill.outcomes is not None]
    return Fill(
        np.sum([fill.rows for fill in fills], axis=0),
        np.sum([fill.values for fill in fills], axis=0),
        undeclared,
        np.sum([fill.ambiguous for fill in fills], axis=0),
        np.sum(leaves, axis=0) if leaves else None,
    )


def count_fill(fill: Fill) -> dict[str, Any]:
    """Return a side's entries for the counts of a result; of undeclared keys the thousand most frequent."""
    return {"is_empty": not fill.values.any(), "undeclared": dict(_ranked(fill.undeclared)[:_MOST_KEPT])}


def find_misfits(
    plan: Plan,
    sources: Mapping[str, Source],
    undeclared: Mapping[str, Counter[str]],
    apart: Collection[str],
) -> list[str]:
    """Return a sentence for each system whose predictions have nothing in common with spec or gold.

    Where no side has a field of the spec there is one for all. All are by system, and for gold if there is
    any; `apart` names the sides without a value in any declared field, or at any place of gold's trees.
    """
    if "" in plan.slots and GOLD in sources:
        sentences = [_describe_apart(sources[GOLD], sources[name], name) for name in apart if name]
        return [each for each in sentences if each is not None]
    sides = [sources] if len(apart) == len(sources) else [{name: sources[name]} for name in apart if name]
    return [said for side in sides if (said := describe_misfit(plan, side, undeclared)) is not None]


def _describe_apart(gold: Source, source: Source, system: str) -> str | None:
    """Return the sentence for trees none of whose values stands at a place of gold's trees.

    None if any place is common: nulls have places, too.
    """
    ours_at, theirs_at = (
        {field_of(join_path(steps)) for record in _probe(side) for steps, _ in leaves_of(record)}
        for side in (gold, source)
    )
    if not ours_at.isdisjoint(theirs_at):
        return None
    ours, theirs = ({key: None for record in _probe(side) for key in record} for side in (gold, source))
    near = (
        f"{clip(key, _LONGEST_NAME)!r} may be {name!r}"
        for name in ours
        if name not in theirs and (key := near_key(name, theirs))
    )
    return "; ".join(
        (
            f"nothing was evaluated: {system} has no value where gold has one",
            f"gold has the keys {_listed([*ours])}",
            f"{clip(source.label, _LONGEST_NAME)} has {_listed([*theirs])}",
            _hint(source, frozenset(ours))
            or next(near, "name the key that holds the record: `data: {pred_key: KEY}`"),
        )
    )


def describe_misfit(
    plan: Plan, sources: Mapping[str, Source], undeclared: Mapping[str, Counter[str]]
) -> str | None:
    """Return the sentence for data without values in any declared field, if the spec cannot be for it.

    None otherwise: if a record has any key of the spec, or no record has a key of another name. `sources` and
    `undeclared` are by system, and for gold if there is any.
    """
    keys = {
        source.label: [path for path, _ in _without_ids(plan, undeclared[name])]
        for name, source in sources.items()
    }
    names = [top.name for top in plan.spec.fields if top.name]
    declared = {*names, *(key for _, others in plan.root.other_names for key in others)}
    if not any(keys.values()) or any(
        not declared.isdisjoint(record) for source in sources.values() for record in _probe(source)
    ):
        return None
    said = [
        f"nothing was evaluated: no record has a field of {_spec_name(plan)} ({_listed(names)})",
        *_name_keys(keys),
    ]
    seen = [path for paths in keys.values() for path in paths]
    near = [
        f"{clip(key, _LONGEST_NAME)!r} may be {name!r}"
        for name in names
        if (key := near_key(name, seen)) is not None
    ]
    said += [", ".join(near[:MOST_NAMED])] if near else []
    alike = _name_alike(plan, {path for name in sources for path in undeclared[name]})
    hints = [*filter(None, (alike, *map(_hint, sources.values())))]
    return "; ".join((*said, *(hints or [_remedy(plan, names, seen)])))


def is_silent(result: Result) -> bool:
    """Return whether nothing was judged, all declared fields being empty on all sides.

    Only where the main metric does not show it.
    """
    sides = (result.counts.get("gold", {}), *result.counts.get("systems", {}).values())
    headline = find_headline(result)
    return (
        all(side.get("is_empty", False) for side in sides)
        and bool(headline)
        and all(estimate.value is None for estimate in headline)
    )


def _name_keys(sides: Mapping[str, Sequence[str]]) -> list[str]:
    """Return the keys of each side; sides with the same keys in one clause, three clauses at most."""
    groups: dict[str, list[str]] = {}
    for label, keys in sides.items():
        groups.setdefault(f"keys {_listed(keys)}" if keys else "keys none", []).append(
            clip(label, _LONGEST_NAME)
        )
    return [
        f"{what} in {' and '.join(labels) if len(labels) < 4 else f'{labels[0]} and {len(labels) - 1} more'}"
        for what, labels in [*groups.items()][:3]
    ]


def describe_fit(
    plan: Plan, matching: Matching, fills: Mapping[str, Fill], slices: Collection[str] = ()
) -> tuple[str, ...]:
    """Return the remarks on the fit of the spec: fields that a side never fills, and keys that nothing reads.

    `slices` are the keys beside records by which the result is sliced.
    """
    gold = fills[GOLD]
    is_preset = plan.spec.name in preset_names()
    known_keys = {} if is_preset else gold.undeclared
    said = list(_describe_gold(plan, matching, gold))
    ignored = [(path, count) for path, count in _without_ids(plan, gold.undeclared) if path not in slices]
    if known_keys and gold.values.any() and ignored:
        ignoring = f"gold: keys that the spec lacks are ignored: {_counted(ignored)}"
        said.append("; ".join(filter(None, (ignoring, _name_alike(plan, known_keys)))))
    for system in matching.predictions:
        fill = fills[system]
        undeclared = _without_ids(plan, fill.undeclared)
        if undeclared and not fill.values.any():
            said.append(describe_empty(plan, matching.predictions[system], system, fill.undeclared))
        elif more := [(path, count) for path, count in undeclared if path not in known_keys]:
            ignoring = f"{system}: keys that the spec lacks are ignored: {_counted(more)}"
            hints = (_name_alike(plan, fill.undeclared), _hint(matching.predictions[system]))
            said.append("; ".join(filter(None, (ignoring, *hints))))
    sources = {**({} if is_preset else {"gold": matching.gold}), **matching.predictions}
    said += (_describe_beside(label, source, slices) for label, source in sources.items())
    return tuple(filter(None, said))


def _describe_beside(label: str, source: Source, slices: Collection[str]) -> str:
    """Return the remark on the keys beside the first records of a side that nothing reads; empty for none."""
    used = {*slices, *META_SHAPES, *MEASURES, *_OF_EXTRACTIONS}
    metas = [record.meta for record in source.fetch(range(min(PROBED, len(source))))]
    keys = [key for meta in metas for key in (*meta.attributes, *meta.labels) if key not in used]
    if not keys:
        return ""
    names = list_names([clip(key, _LONGEST_NAME) for key in dict.fromkeys(keys)], MOST_NAMED)
    time = next(
        (f"; name a time with its unit, as in `{key}_ms`" for key in keys if fold_key(key) in _TIMES), ""
    )
    return (
        f"{label}: ignored beside the records: {names}{time}; "
        f"`--slice {clip(keys[0], _LONGEST_NAME)}` splits the metrics by it"
    )


_OF_EXTRACTIONS = ("system", "gold_id")
"""What extractions write beside their records, besides what reports show."""
_TIMES = frozenset({"duration", "latency", "elapsed", "time"})


def describe_ambiguity(plan: Plan, fills: Mapping[str, Fill]) -> tuple[str, ...]:
    """Return the remark on values that could be read in two ways and that no option of their field decided.

    A field counts the rows of the system that has most of them: gold is the same for all systems.
    """
    counts = np.max([fill.ambiguous for name, fill in fills.items() if name != GOLD], axis=0)
    leaves = {leaf.path: leaf for leaf in list_leaves(plan.root)}
    ambiguous = Counter({info.path: count for info, count in zip(plan.fields, counts.tolist(), strict=True)})
    open_options = {
        path: ["signs"] * drops_words(leaves[path].reader)
        or [name for name in DECIDING if hasattr(leaves[path].reader, name)]
        for path, count in ambiguous.items()
        if count and path in leaves and not any(getattr(leaves[path].reader, name, None) for name in DECIDING)
    }
    if not open_options:
        return ()
    ranked = [(path, count) for path, count in _ranked(ambiguous) if path in open_options]
    options = list(dict.fromkeys(name for path, _ in ranked for name in open_options[path]))
    named = f"set {_either(options)}; " if options else ""
    count = format_count(sum(count for _, count in ranked), "value")
    return (f"{count} could be read in two ways ({_counted(ranked)}); {named}`score --check` shows them",)


def _either(names: Sequence[str]) -> str:
    quoted = [f"`{name}`" for name in names]
    return quoted[0] if len(quoted) == 1 else f"{', '.join(quoted[:-1])} or {quoted[-1]}"


def describe_empty(plan: Plan, source: Source, side: str, undeclared: Counter[str]) -> str:
    """Return the sentence for a side without a value in any declared field: a system by its name, or gold."""
    whose, effect = (
        ("prediction", "all count as empty") if side else ("gold record", "every predicted value is wrong")
    )
    sentence = f"no {whose} has a value in a field of {_spec_name(plan)}, so {effect}"
    keys = _counted(_without_ids(plan, undeclared)) or "none"
    parts = (
        f"{side}: {sentence}" if side else sentence,
        f"keys in {'them' if side else 'gold'}: {keys}",
        _name_alike(plan, undeclared),
        _hint(source),
    )
    return "; ".join(filter(None, parts))


def _describe_gold(plan: Plan, matching: Matching, gold: Fill) -> Iterator[str]:
    """Yield the fields that gold never fills, with the keys possibly meant."""
    if not gold.values.any():
        yield describe_empty(plan, matching.gold, GOLD, gold.undeclared)
        return
    unfilled: list[str] = []  # of nested ones the outermost: parents come right before what is in them
    for info, rows, values in zip(plan.fields, gold.rows.tolist(), gold.values.tolist(), strict=True):
        is_inside = bool(unfilled) and info.path.startswith((f"{unfilled[-1]}.", f"{unfilled[-1]}["))
        if rows and not values and not is_inside:
            unfilled.append(info.path)
    if unfilled:
        near = [
            f"gold's {clip(key, _LONGEST_NAME)!r} may be {path!r}"
            for path in unfilled
            if (key := near_key(path, gold.undeclared))
        ]
        hints = "; ".join(["an empty prediction is right there with regime=baseline", *near[:MOST_NAMED]])
        yield f"gold never has a value in {_listed(unfilled)}: {hints}"


def near_key(name: str, keys: Iterable[str]) -> str | None:
    """Return the key that is nearly the name; None if none is.

    >>> near_key("invoice_no", ["date", "InvoiceNo"])
    'InvoiceNo'
    """
    folded = {_folded(key): key for key in list(keys)[:_MOST_KEPT] if len(key) <= _LONGEST_NAME}
    close = difflib.get_close_matches(_folded(name), folded, n=1, cutoff=0.75)
    return folded[close[0]] if close else None


def _folded(name: str) -> str:
    return "".join(char for char in name.casefold() if char.isalnum())


def _name_alike(plan: Plan, undeclared: Iterable[str]) -> str:
    """Return which undeclared keys differ from declared ones by case or separators, and what takes them."""
    steps = [split_path(info.path) for info in plan.fields if info.path]
    names = {(at[:-1], fold_key(at[-1])): at for at in steps if isinstance(at[-1], str)}
    pairs: dict[str, str] = {}
    owners = set()
    for path in sorted(undeclared):
        *above, key = split_path(path)
        own = names.get((tuple(above), fold_key(str(key))))
        if own is not None:
            line = f"`{own[-1]}: {{names: [{key}]}}`"
            pairs[path] = f"{clip(path, _LONGEST_NAME)!r} is {join_path(own)!r}: {line}"
            owners.add(own)
    advice = "nearly the names of fields: name them in the spec"
    loose = ", or set `data: {names: loose}`"
    if len(owners) < len(pairs):
        loose = "; several fit one field, so `names: loose` cannot choose"
    return f"{advice} ({list_names([*pairs.values()], MOST_NAMED)}){loose}" if pairs else ""


def _hint(source: Source, declared: frozenset[str] = frozenset()) -> str:
    options = source.options
    for record in source.fetch(range(min(PROBED, len(source)))) if not options.is_gold else ():
        wrapped = find_wrapped(record.data, options.expected_keys)
        if len(wrapped) > 1:
            return f"declared keys are under {list_names([*map(repr, wrapped)], MOST_NAMED)}"
    key = find_record_key(source, declared)
    name = "gold_key" if options.is_gold else "pred_key"
    return "" if key is None else f"did you mean `data: {{{name}: {clip(key, _LONGEST_NAME)}}}`?"


def find_record_key(source: Source, declared: frozenset[str] = frozenset()) -> str | None:
    """Return the key under which rows hold their records, where nobody has named it; None without one."""
    options = source.options
    if options.data_key is not None:
        return None
    rows = (row.value for row in source.head() if options.key_of(row.value) is None)
    return find_misplaced(rows, declared or options.declared, ("raw",))


def _spec_name(plan: Plan) -> str:
    return f"the protocol {plan.spec.name!r}" if plan.spec.name in preset_names() else "the spec"


def _remedy(plan: Plan, names: Sequence[str], keys: Sequence[str]) -> str:
    name = plan.spec.name
    if name in preset_names():
        return f"`fieldassay protocols show {name}` shows which records it needs"
    line = f"`{clip(names[0], _LONGEST_NAME)}: {{names: [{clip(keys[0], _LONGEST_NAME)}]}}`" if names else ""
    return f"name the keys of the data in the spec ({line}), or draft a spec from gold: `fieldassay init`"


def _without_ids(plan: Plan, undeclared: Counter[str]) -> list[tuple[str, int]]:
    """Return the undeclared keys with their counts, the most frequent first, without those of the id."""
    return [
        (path, count)
        for path, count in _ranked(undeclared)
        if path not in (plan.spec.data.id_key or ID_NAMES)
    ]


def _ranked(undeclared: Counter[str]) -> list[tuple[str, int]]:
    """Return the keys by falling count, then by name: the order must not depend on the partition."""
    return sorted(undeclared.items(), key=lambda item: (-item[1], item[0]))


def _counted(ranked: Sequence[tuple[str, int]]) -> str:
    return list_names([f"{clip(path, _LONGEST_NAME)} ({count})" for path, count in ranked], MOST_NAMED)


def _listed(names: Sequence[str]) -> str:
    return list_names([clip(name, _LONGEST_NAME) for name in names], _MOST_FIELDS)


def _probe(source: Source) -> Iterator[Mapping[str, Json]]:
    for record in source.fetch(range(min(_MOST_PROBED, len(source)))):
        if record.data is not None:
            yield record.data
