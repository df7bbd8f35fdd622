"""Attribution of a run: its labels, its shares, and the result."""

from __future__ import annotations

import hashlib
import json
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from functools import cached_property, partial
from itertools import groupby
from typing import TYPE_CHECKING, Any

import numpy as np
from msgspec import Struct, field
from msgspec.structs import asdict, replace

from fieldassay.attribution.labels import (
    MOST_CHANCE,
    MOST_MISSED,
    UNCOPIED,
    AttributedValue,
    Extractions,
    Finding,
    Sent,
    SentText,
    Twins,
    find_shared,
    find_twins,
    label_value,
    open_extractions,
)
from fieldassay.attribution.share import AT, COUNTS, FieldShares, estimate_shares
from fieldassay.errors import Problem, ProblemsError, nearest
from fieldassay.extraction.endpoints.exchange import Failure
from fieldassay.extraction.evidence import field_labels, field_steps, label_words
from fieldassay.extraction.strategy import AnswerShape, read_data, read_evidence
from fieldassay.io.json_value import Json, read_given
from fieldassay.io.text.shown import Brief
from fieldassay.metrics.evidence import read_families
from fieldassay.metrics.uncertainty.bootstrap import BootstrapSettings
from fieldassay.options import OptionRecord
from fieldassay.paths import join_path, split_path
from fieldassay.records.answers.answer import parse_answer
from fieldassay.runs.run import Run
from fieldassay.scoring.explain import find_leaf

if TYPE_CHECKING:
    from fieldassay.extraction.strategy import Steps
    from fieldassay.spec.plan.nodes import Leaf, Plan


# The attribution of a run: labels of its wrong values, and the share of each stage, by system and field.


class Labelled(Struct, frozen=True):
    """A wrong value with its label."""

    system: str
    document: str
    field: str
    path: str
    """Of the gold value; of the prediction where gold has none."""
    gold: str | None
    """As JSON text, like `pred`."""
    pred: str | None
    finding: Finding
    repeat: int | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the value as plain data."""
        row = {
            "system": self.system, "document": self.document, "field": self.field, "path": self.path,
            "gold": self.gold, "pred": self.pred, **self.finding.to_dict(),
        }  # fmt: skip
        return row if self.repeat is None else row | {"repeat": self.repeat}


class OptionMend(Struct, frozen=True):
    """Wrong values due to the model that systems which differ in one option alone have right.

    `only` are those that no other option mends, `of` all wrong values of that stage.
    """

    option: str
    values: int
    only: int
    of: int


class SystemShares(Struct, frozen=True):
    """The shares of one system."""

    system: str
    whole: FieldShares
    fields: tuple[FieldShares, ...]
    spurious: int = 0
    """Wrong values where gold has none: outside of the shares."""
    mended: int = 0
    """Right values that are not in the text: lost by reading and mended by the model, or missed here."""
    no_text: Mapping[str, int] = field(default_factory=dict)
    """Documents without the text that was sent, by the reason."""
    perfect_from: str = ""
    """What the missed shares are measured on: `twins` or `text files`; the empty text: they are unknown."""
    undeclared: int = 0
    """Wrong values of keys that the spec does not declare: without a label, and outside of the shares."""
    shared: int = 0
    """Values that gold has more than once in a document: outside of the shares of reading and model."""
    shared_wrong: int = 0
    """Of these, the wrong ones."""
    missed_wrong: int = 0
    """Wrong values of which the perfect text of their document has no form that is found, either: outside."""
    strategy: str = ""
    """The strategy of its extraction; the empty text where it is not known."""
    mends: tuple[OptionMend, ...] = ()
    """What another value of each option mends of the errors of the model, where the run has such systems."""

    def to_dict(self) -> dict[str, Any]:
        """Return the shares as plain data."""
        return {
            "system": self.system, "shares": shares_data(self.whole),
            "fields": [shares_data(shares) for shares in self.fields], "spurious": self.spurious,
            "mended": self.mended, "undeclared": self.undeclared,
            "shared": self.shared, "shared_wrong": self.shared_wrong, "missed_wrong": self.missed_wrong,
            "no_text": dict(self.no_text), "missed_measured_on": self.perfect_from or None,
            "mends": [asdict(mend) for mend in self.mends],
        }  # fmt: skip


def shares_data(shares: FieldShares) -> dict[str, Any]:
    """Return the shares of a field, or of all, as plain data."""
    row: dict[str, Any] = {
        "field": shares.field, "wrong": shares.wrong, "covered": shares.covered,
        "documents": shares.documents, "wrong_documents": shares.wrong_documents,
        "stages": {share.stage: _share_data(share) for share in shares.shares},
    }  # fmt: skip
    return row if shares.rates is None else row | {"rates": asdict(shares.rates)}


def _share_data(share: Any) -> dict[str, Any]:
    data: dict[str, Any] = {
        "value": share.value,
        "interval": None if share.interval is None else [*share.interval],
    }
    data |= {"why": share.why} if share.why else {}
    return data | ({"marks": [*share.marks]} if share.marks else {})


class Attribution(Brief, Struct, frozen=True):
    """Which stage is to blame in a run: shares by system and field, and a label for every wrong value."""

    run: str
    documents: int
    systems: tuple[SystemShares, ...]
    labelled: tuple[Labelled, ...]
    draw: BootstrapSettings = field(default_factory=BootstrapSettings)
    families: int | None = None
    """The families that the documents are drawn in; None: each document is drawn by itself."""

    def system(self, name: str) -> SystemShares:
        """Return the shares of a system."""
        return next(shares for shares in self.systems if shares.system == name)

    def counts(self, system: str) -> Mapping[str, int]:
        """Return how many wrong values of a system have each label, the most frequent first."""
        counts = Counter(value.finding.label for value in self.labelled if value.system == system)
        return dict(counts.most_common())

    def to_dict(self) -> dict[str, Any]:
        """Return the attribution as plain data."""
        return {
            "schema_version": 1, "run": self.run, "documents": self.documents,
            "bootstrap": asdict(self.draw),
            **({} if self.families is None else {"families": self.families}),
            "systems": [
                shares.to_dict() | {"labels": dict(self.counts(shares.system))} for shares in self.systems
            ],
            "values": [value.to_dict() for value in self.labelled],
        }  # fmt: skip


# The attribution of a finished run: every wrong value labelled, every value counted for the shares.

FOREIGN = 12
"""Foreign gold values of a field that are looked for in each document, to measure chance."""
_COLUMNS = (
    "system", "doc", "field", "gold_path", "pred_path", "gold", "pred", "gold_value", "outcome",
    "pred_value", "diagnoses", "other_field", "repeat",
)  # fmt: skip
_COUNTED_ONCE = ("decoding", "post", "gold", "runtime")


class AttributeOptions(OptionRecord, frozen=True):
    """How a run is attributed."""

    systems: tuple[str, ...] = ()
    """The systems; none: all."""


Rows = Sequence[Mapping[str, Any]]


def attribute_run(run: Run, options: AttributeOptions | None = None) -> Attribution:
    """Return the attribution of a run. Raises `ProblemsError` if it did not keep its judged values."""
    options = options or AttributeOptions()
    where, bootstrap = str(run.folder), run.file.bootstrap
    problems = [
        Problem(where, f"no system {name!r}", nearest(name, run.systems), "unknown_name")
        for name in options.systems
        if name not in run.systems
    ]
    if run.kept != "all":
        what = "did not keep all judged values; shares also need the right ones"
        problems.append(Problem(where, what, "score again with --evidence all", "missing_part"))
    if problems:
        raise ProblemsError(problems)
    work = AttributionWork.open(run)
    draw = (
        BootstrapSettings()
        if bootstrap is None
        else BootstrapSettings(bootstrap.replicates, bootstrap.seed, bootstrap.level)
    )
    names = [name for name in run.systems if not options.systems or name in options.systems]
    pairs = [_attribute_system(work, name, draw) for name in names]
    pairs = [(replace(own, mends=_find_mends(work, own.system, values)), values) for own, values in pairs]
    labelled = tuple(value for _, values in pairs for value in values)
    shares, families = tuple(own for own, _ in pairs), len(set(work.units))
    return Attribution(
        str(run.folder),
        len(work.documents),
        shares,
        labelled,
        draw,
        families if families < len(work.documents) else None,
    )


class AttributionWork(Struct, frozen=True, eq=False, dict=True):
    """A run with what all its systems share."""

    run: Run
    extractions: Extractions
    twins: Twins
    rows: Mapping[str, Rows]
    """The rows of evidence about values, by system, in the order of documents."""
    documents: tuple[str, ...]
    facts: Mapping[tuple[str, str], Mapping[str, Any]]
    """The rows of the table of documents by system and document."""
    leaves: dict[str, Leaf | None] = field(default_factory=dict)

    @cached_property
    def units(self) -> tuple[str, ...]:
        """Return what each document is drawn with: its family, or itself."""
        families = read_families(self.run.documents, self.run.statistics.cluster)
        return tuple(families.get(name, name) for name in self.documents)

    @cached_property
    def labels(self) -> Mapping[Steps, tuple[tuple[str, ...], ...]]:
        """Return the labels of the fields in documents, as words."""
        return field_labels(self.run.plan.spec)

    @classmethod
    def open(cls, run: Run) -> AttributionWork:
        """Return the data of a run."""
        import polars as pl

        evidence = run.evidence
        assert evidence is not None
        columns = [name for name in _COLUMNS if name in evidence.collect_schema()]
        frame = evidence.filter(pl.col("kind") == "value").select(columns).collect()
        rows: dict[str, list[Mapping[str, Any]]] = defaultdict(list)
        for row in frame.sort("doc", maintain_order=True).iter_rows(named=True):
            rows[row["system"]].append(row)
        facts = {(row["system"], row["doc"]): row for row in run.documents.to_dicts()}
        documents = tuple(sorted({doc for _, doc in facts}))
        return cls(run, open_extractions(run), find_twins(run), rows, documents, facts)

    @cached_property
    def options(self) -> Mapping[str, Mapping[str, Any]]:
        """Return the options of each system's extraction; {} where they are not known."""
        return {name: self.extractions.options(name) for name in self.run.systems}

    def leaf(self, name: str) -> Leaf | None:
        """Return the leaf of a field; None for what the spec does not declare."""
        if name not in self.leaves:
            self.leaves[name] = find_leaf(self.run.plan, name)[0]
        return self.leaves[name]


def _attribute_system(
    work: AttributionWork, system: str, draw: BootstrapSettings
) -> tuple[SystemShares, list[Labelled]]:
    rows = [row for row in work.rows.get(system, ()) if row["outcome"] not in ("failed", "absent")]
    fields = [name for name in dict.fromkeys(row["field"] for row in rows) if work.leaf(name) is not None]
    counting = _Counting(
        work, system, {name: at for at, name in enumerate(fields)}, _foreign(work, system, rows)
    )
    for document, group in groupby(rows, key=lambda row: (row["doc"], row.get("repeat"))):
        counting.add(*document, list(group))
    types = [(name, leaf.type) for name in fields if (leaf := work.leaf(name)) is not None]
    whole, each = estimate_shares(counting.counts, work.units, types, draw)
    labelled = counting.label()
    shares = SystemShares(
        system,
        whole,
        each,
        counting.spurious,
        counting.mended,
        counting.no_text,
        work.twins.named or ("text files" if counting.counts[:, :, AT["perfect"]].any() else ""),
        counting.undeclared,
        int(counting.counts[:, :, AT["shared"]].sum()),
        counting.shared_wrong,
        counting.missed_wrong,
        str(work.options[system].get("strategy", "")),
    )
    return shares, labelled


def _find_mends(work: AttributionWork, system: str, values: Sequence[Labelled]) -> tuple[OptionMend, ...]:
    """Return for each option what the systems that differ from a system in it alone have right."""
    options_of = work.options
    siblings: dict[str, list[str]] = defaultdict(list)
    for name, options in options_of.items():
        differing = [
            key for key in {*options, *options_of[system]} if options.get(key) != options_of[system].get(key)
        ]
        if len(differing) == 1 and options:
            siblings[differing[0]].append(name)
    right = {
        name: {(row["doc"], row["gold_path"]) for row in work.rows.get(name, ()) if row["outcome"] == "match"}
        for names in siblings.values()
        for name in names
    }
    wrong = [
        (value.document, value.path)
        for value in values
        if value.finding.stage == "model" and value.gold is not None
    ]
    mended = {
        option: {value for value in wrong if any(value in right[name] for name in names)}
        for option, names in siblings.items()
    }
    mends = []
    for option, own in mended.items():
        others = set().union(*(values_mended for name, values_mended in mended.items() if name != option))
        mends.append(OptionMend(option, len(own), len(own - others), len(wrong)))
    return tuple(sorted(mends, key=lambda mend: -mend.values)) if wrong else ()


def _foreign(
    work: AttributionWork, system: str, rows: Rows
) -> Mapping[tuple[str, str], Sequence[tuple[str, str]]]:
    """Return the documents with their gold values by type of document and field, in a shuffled order."""
    gold_of: dict[tuple[str, str], dict[tuple[str, str], None]] = defaultdict(dict)
    for row in rows:
        if row["gold"] is not None:
            kind = str((work.facts.get((system, row["doc"])) or {}).get("type") or "")
            gold_of[kind, row["field"]][row["doc"], row["gold"]] = None
    return {
        key: sorted(
            values, key=lambda pair: hashlib.blake2b("\n".join(pair).encode("utf-8", "replace")).digest()
        )
        for key, values in gold_of.items()
    }


class _Counting(Struct, eq=False, dict=True):
    """The counts of one system, document by document, and its wrong values, which are labelled at the end."""

    work: AttributionWork
    system: str
    places: Mapping[str, int]
    foreign: Mapping[tuple[str, str], Sequence[tuple[str, str]]]
    spurious: int = 0
    mended: int = 0
    undeclared: int = 0
    shared_wrong: int = 0
    missed_wrong: int = 0
    no_text: dict[str, int] = field(default_factory=dict)
    counts: Any = None
    kept: list[tuple[Mapping[str, Any], Finding, Finding]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.counts = np.zeros((len(self.work.documents), len(self.places), len(COUNTS)))
        self.index = {name: at for at, name in enumerate(self.work.documents)}

    def add(self, document: str, repeat: int | None, rows: Rows) -> None:
        """Count the values of one prediction, and label those that are wrong."""
        work = self.work
        work.extractions.forget()
        sent = work.extractions.of(self.system, document, repeat)
        facts = work.facts.get((self.system, document)) or {}
        if sent.text is None:
            self.no_text[sent.no_text] = self.no_text.get(sent.no_text, 0) + 1
        answered = answer_values(work.run.plan, sent.row, rows)
        case = _Document(self, document, repeat, sent, facts, answered, rows)
        for row in rows:
            leaf = work.leaf(row["field"])
            if leaf is not None:
                case.count(row, leaf)
            elif row["outcome"] != "match":
                self.undeclared += 1

    def tally(self, document: str, name: str, what: str, by: float = 1.0) -> None:
        """Add to a count."""
        self.counts[self.index[document], self.places[name], AT[what]] += by

    def label(self) -> list[Labelled]:
        """Return the wrong values with their labels."""
        sums = self.counts.sum(axis=0)
        return [
            Labelled(
                self.system, row["doc"], row["field"], row["gold_path"] or row["pred_path"] or row["field"],
                row["gold"], row["pred"],
                doubtful if self._is_doubtful(sums, row["field"], finding) else finding, row.get("repeat"),
            )
            for row, finding, doubtful in self.kept
        ]  # fmt: skip

    def _is_doubtful(self, sums: Any, name: str, finding: Finding) -> bool:
        """Return whether presence says too little in a field for a label that rests on it."""
        at = {count: sums[self.places[name], position] for count, position in AT.items()}
        if finding.stage != "reading":
            return bool(at["chance"] > MOST_CHANCE * at["foreign"])
        if at["perfect"]:
            return bool(at["missed"] > MOST_MISSED * at["perfect"])
        return bool(at["unsure"] > MOST_MISSED * (at["values"] - at["wrong"]))


class _Document(Struct, eq=False, dict=True):
    """One prediction: its rows, and what they are judged by."""

    counting: _Counting
    document: str
    repeat: int | None
    sent: Sent
    facts: Mapping[str, Any]
    answered: AnswerValues
    rows: Rows

    def __post_init__(self) -> None:
        self.evidence = read_evidence(self.sent.row)
        self.failure = _failure(self.sent.row, self.facts)
        self.items = _items(self.rows)
        self.looked: set[str] = set()

    def count(self, row: Mapping[str, Any], leaf: Leaf) -> None:
        """Count one value, and label it if it is wrong."""
        tally, name = self.counting.tally, row["field"]
        is_wrong, gold = row["outcome"] != "match", read_given(row["gold"])
        finding = self._label(row, leaf) if is_wrong else None
        if gold is None:
            self.counting.spurious += is_wrong
            return
        if is_wrong:
            tally(self.document, name, "all_wrong")
        text = None if leaf.type in UNCOPIED else self.sent.text
        stage = finding.stage if finding is not None else ""
        if stage in _COUNTED_ONCE:
            tally(self.document, name, stage)
        elif text is None:
            tally(self.document, name, "unknown", is_wrong)
        else:
            self._count_presence(row, leaf, text, is_wrong)
        if text is not None:
            self._count_chance(name, leaf, text)

    def _label(self, row: Mapping[str, Any], leaf: Leaf) -> Finding:
        """Return the label of a wrong value by itself, and keep it with the one where presence says little.

        The chance and the missed share of its field are known only when all documents are counted.
        """
        value = self.wrong_value(row, leaf)
        finding = label_value(value)
        self.counting.kept.append((row, finding, label_value(replace(value, chance=1.0, missed=1.0))))
        return finding

    def _count_presence(self, row: Mapping[str, Any], leaf: Leaf, text: SentText, is_wrong: bool) -> None:
        """Count a value where presence tells whether it was lost; the others are left out, and counted."""
        tally, gold = partial(self.counting.tally, self.document, row["field"]), read_given(row["gold"])
        is_absent = text.find(leaf, gold) is None
        is_missed = self._is_missed(leaf, gold)
        tally("perfect", float(self.perfect is not None))
        tally("missed", float(is_missed))
        if self.perfect is text:
            tally("kept")
            tally("kept_wrong", is_wrong)
            return
        self.counting.mended += is_absent and not is_wrong
        if row["gold_path"] in self.shared:
            tally("shared")
            self.counting.shared_wrong += is_wrong
            tally("unknown", is_wrong)
        elif is_missed:
            self.counting.missed_wrong += is_wrong
            tally("unknown", is_wrong)
        else:
            tally("values")
            tally("absent", is_absent)
            tally("wrong", is_wrong)
            tally("wrong_absent", is_absent and is_wrong)
            tally("unsure_wrong" if is_wrong else "unsure", is_absent and self.perfect is None)

    @cached_property
    def perfect(self) -> SentText | None:
        """Return the text with all that the document has: what was sent, or that of its twin."""
        work = self.counting.work
        if self.sent.text is None or self.sent.text.is_lossless or self.document in work.twins.clean:
            return self.sent.text
        twin = work.twins.of.get(self.document)
        return None if twin is None else work.extractions.of(self.counting.system, twin, self.repeat).text

    @cached_property
    def shared(self) -> Mapping[str, str]:
        """Return the paths of gold values that the document has more than once."""
        leaves = [
            (row, self.counting.work.leaf(row["field"])) for row in self.rows if row["gold"] is not None
        ]
        return find_shared(
            [(row["gold_path"], leaf, read_given(row["gold"])) for row, leaf in leaves if leaf is not None]
        )

    def _is_missed(self, leaf: Leaf, gold: Any) -> bool:
        """Return whether no form of a value is found in the perfect text of its document."""
        return self.perfect is not None and self.perfect.find(leaf, gold) is None

    def _count_chance(self, name: str, leaf: Leaf, text: SentText) -> None:
        """Look for the values of other documents of the type, once for each field."""
        if name in self.looked:
            return
        self.looked.add(name)
        own = {row["gold"] for row in self.rows if row["field"] == name}
        own_values = {row["gold_value"] for row in self.rows if row["field"] == name}
        others = self.counting.foreign.get((str(self.facts.get("type") or ""), name), ())
        start = int.from_bytes(hashlib.blake2b(self.document.encode("utf-8", "replace")).digest()[:6]) % max(
            1, len(others)
        )
        tried = 0
        for at in range(len(others)):
            document, gold = others[(start + at) % len(others)]
            if document == self.document or gold in own:
                continue
            value = read_given(gold)
            if isinstance(value, str | int | float) and leaf.reader.read(value).canonical in own_values:
                continue
            self.counting.tally(self.document, name, "foreign")
            if text.find(leaf, value) is not None:
                self.counting.tally(self.document, name, "chance")
            tried += 1
            if tried == FOREIGN:
                return

    def wrong_value(self, row: Mapping[str, Any], leaf: Leaf) -> AttributedValue:
        """Return a wrong value with everything that labels it."""
        name, path = row["field"], row["pred_path"]
        diagnoses = row["diagnoses"] or ()
        raw, parsed = self.answered.of(name)
        gold = read_given(row["gold"])
        is_missed = gold is not None and leaf.type not in UNCOPIED and self._is_missed(leaf, gold)
        return AttributedValue(
            leaf, gold, read_given(row["pred"]), self.sent.text, self.sent.no_text,
            self.failure, raw, parsed, None if path is None else self.evidence.get(path),
            row["other_field"] if "value_of_another_field" in diagnoses else None,
            "value_of_another_item" in diagnoses, missed=1.0 if is_missed else None,
            anchors=self._anchors(row), shared=self.shared.get(row["gold_path"], ""),
        )  # fmt: skip

    def _anchors(self, row: Mapping[str, Any]) -> list[str]:
        """Return texts that make a line the right one for a value."""
        path = row["gold_path"]
        if path is None:
            return []
        item = path.rpartition("]")[0]
        if item and "[" in item:
            return [text for own, text in self.items.get(item, ()) if own != path]
        label_texts = self.counting.work.labels.get(split_path(row["field"]))
        return [" ".join(words) for words in label_texts or (label_words(row["field"]),)]


def _items(rows: Rows) -> Mapping[str, list[tuple[str, str]]]:
    """Return the gold values of each item of a list, with their paths."""
    values_of: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for row in rows:
        item = (row["gold_path"] or "").rpartition("]")[0]
        if item and row["gold"] is not None:
            values_of[item].append((row["gold_path"], str(read_given(row["gold"]))))
    return values_of


def _failure(row: Mapping[str, Any], facts: Mapping[str, Any]) -> Failure | None:
    """Return why a document has no prediction, as its row says it, else as it was scored."""
    error = row.get("error")
    if isinstance(error, dict) and isinstance(error.get("kind"), str):
        return Failure(error["kind"], str(error.get("message") or ""), error.get("stage") or "send")
    why = str(facts.get("answer_problem") or "")
    if facts.get("is_timeout") or facts.get("has_error"):
        return Failure("timeout" if facts.get("is_timeout") else "error", why)
    if facts.get("is_invalid"):
        return Failure("unreadable_answer", why, "answer")
    return (
        Failure("no_prediction", "the document has no prediction")
        if facts.get("has_prediction") is False
        else None
    )


Values = Mapping[str, Sequence[Json]]


class AnswerValues(Struct, frozen=True):
    """Values by field: of the raw answer (None where there is none), and of the prediction."""

    raw: Values | None
    parsed: Values

    def of(self, field: str) -> tuple[Sequence[Json] | None, Sequence[Json]]:
        """Return the values of a field in the raw answer, and in the prediction."""
        return None if self.raw is None else self.raw.get(field, ()), self.parsed.get(field, ())


def answer_values(plan: Plan, row: Mapping[str, Any], rows: Sequence[Mapping[str, Any]]) -> AnswerValues:
    """Return the values of a row of predictions; `rows` are the evidence about the same prediction."""
    parsed: dict[str, list[Any]] = defaultdict(list)
    for judged in rows:
        if judged["pred"] is not None:
            parsed[judged["field"]].append(read_given(judged["pred"]))
    raw = row.get("raw")
    return AnswerValues(_read(plan, raw) if isinstance(raw, str) and raw.strip() else None, parsed)


def _read(plan: Plan, raw: str) -> Values | None:
    """Return the values of a raw answer by field; None if it cannot be read.

    An answer to several requests is a JSON list of their texts.
    """
    texts = [raw]
    if raw.lstrip().startswith("["):
        try:
            listed = json.loads(raw)
        except ValueError:
            listed = None
        if isinstance(listed, list) and listed and all(isinstance(text, str) for text in listed):
            texts = listed
    values: dict[str, list[Json]] = defaultdict(list)
    fields = plan.spec.fields
    for text in texts:
        answer = parse_answer(text, declared=frozenset(field.name for field in fields), fields=plan.root)
        if answer.data is None:
            return None
        reading = read_data(answer.data, fields, AnswerShape(has_quotes=True), {})
        for steps, answered in reading.values.items():
            values[join_path(field_steps(steps))].append(answered.value)
    return values
