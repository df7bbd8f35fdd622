"""Rules proposed from gold: the words that stand beside its values in most documents, counted."""

import itertools
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from fieldassay.extraction.evidence import field_steps
from fieldassay.extraction.places import NUMBERS, TEXTS, Search, has_digit
from fieldassay.extraction.strategies.rules.labels import (
    MOST_BELOW,
    Candidate,
    FieldRule,
    Hit,
    SearchedWords,
    WordRow,
    best_hit,
    runs,
)
from fieldassay.extraction.strategies.rules.strategy import rules_of
from fieldassay.extraction.strategy import Example, Steps
from fieldassay.io.json_value import is_blank
from fieldassay.paths import ITEM, leaves_of
from fieldassay.spec.language.model import Field, Find, Spec
from fieldassay.values.checks.texts import Matches

_MOST_LABELS, _MOST_BEFORE = 10, 8
"""Labels of a field, and words between the first word of a label and the value."""
_LEAST, _LEAST_SHARE = 2, 0.03
"""Documents in which a label stands beside gold, at least: so many, and this share."""
_WRONG, _INVENTED = 0.25, 0.5
"""The cost of a wrong value where gold has another, and where it has none; a right value gains 1."""
_GAIN = 1.5
"""What a label must gain, and a choice that is not the usual one."""
_MOST_LINES = 5
"""Lines of a text that are tried, at most."""
_MOST_SHAPES, _NEARLY = 4, 0.9
"""Forms of words in a column of texts, at most, and the share of its values that they hold, at least."""


class RuleProposal(Struct, frozen=True):
    """The rule that finds most gold values of a field, and how many of them."""

    labels: tuple[str, ...]
    find: Find
    right: int
    documents: int


def propose_rules(spec: Spec, examples: Sequence[Example]) -> dict[Steps, RuleProposal]:
    """Return, for each field that stands once, the rule that finds most gold values of some documents.

    The same examples in the same order give the same rules. A field has none where no words help.
    """
    documents = [SearchedWords(Search.of(example.document.pages)) for example in examples]
    records = [dict(leaves_of(dict(example.record))) for example in examples]
    proposals = {}
    for steps, rule in rules_of(spec).scalars.items():
        values = [record.get(steps) for record in records]
        read = [rule.leaf.reader.read("" if value is None else value).canonical for value in values]
        golds = [
            text if text and not is_blank(value) else None for text, value in zip(read, values, strict=True)
        ]
        proposal = _Trial(rule, documents, golds).propose()
        for lines in range(2, _MOST_LINES + 1) if rule.leaf.type in TEXTS else ():
            longer = replace(rule, find=replace(rule.find, lines=lines))
            other = _Trial(longer, documents, golds).propose()
            proposal = other if other.right > proposal.right else proposal
        if proposal.labels or proposal.find != rule.find:
            proposals[steps] = proposal
    for at, listed in rules_of(spec).lists.items():
        for column in listed.columns:
            field = (*at, ITEM, *column.steps)
            pairs = (pair for record in records for pair in record.items())
            texts = [str(value) for at, value in pairs if field_steps(at) == field and not is_blank(value)]
            if column.is_text and (pattern := shape_of(texts)):
                find = Find(pattern)
                proposals[field] = RuleProposal(
                    (), find, sum(not Matches(pattern).faults(text) for text in texts), len(texts)
                )
    return proposals


def shape_of(values: Sequence[str]) -> str:
    """Return a pattern of texts that are one word with digits, empty where few forms do not hold nearly all.

    >>> shape_of(["2", "12x", "x3", "1"])
    '(?i)[0-9]+|[0-9]+x|x[0-9]+'
    """
    shapes = Counter(re.sub("[0-9]+", "[0-9]+", re.escape(value.strip().lower())) for value in values)
    usual = sorted(
        shape for shape, _ in shapes.most_common(_MOST_SHAPES) if "[0-9]+" in shape and " " not in shape
    )
    return f"(?i){'|'.join(usual)}" if sum(shapes[shape] for shape in usual) > _NEARLY * len(values) else ""


def with_rules(spec: Spec, proposals: Mapping[Steps, RuleProposal]) -> Spec:
    """Return a spec whose fields have the labels and the rest of their proposed rules."""
    return replace(spec, fields=tuple(_with_rules(field, (field.name,), proposals) for field in spec.fields))


def _with_rules(field: Field, steps: Steps, proposals: Mapping[Steps, RuleProposal]) -> Field:
    inner = tuple(
        _with_rules(inner_field, (*steps, inner_field.name), proposals) for inner_field in field.fields
    )
    items = field.items and _with_rules(field.items, (*steps, field.item_step), proposals)
    field, proposal = replace(field, fields=inner, items=items), proposals.get(steps)
    return (
        field
        if proposal is None
        else replace(field, labels=(*field.labels, *proposal.labels), find=proposal.find)
    )


class _Trial:
    """The rules for one field, tried on documents with gold."""

    def __init__(
        self, rule: FieldRule, documents: Sequence[SearchedWords], golds: Sequence[str | None]
    ) -> None:
        self.rule, self.golds, self.documents = rule, golds, documents
        self.takes = ("first", "last", "largest") if rule.leaf.type in NUMBERS else ("first", "last")
        self.written: dict[str, Counter[str]] = defaultdict(Counter)
        """How each run of words that stands near gold is written, in how many documents."""
        for words, gold in zip(documents, golds, strict=True):
            if gold is not None:
                places = [
                    candidate
                    for candidate in words.values(rule.leaf, rule.find).all
                    if candidate.canonical == gold
                ]
                near = {run: text for candidate in places for run, text in _near(words.rows, candidate)}
                for run, text in near.items():
                    self.written[run][text] += 1
        least = max(_LEAST, _LEAST_SHARE * len(documents))
        self.labels = sorted(run for run, texts in self.written.items() if texts.total() >= least)
        self.hits: list[dict[str, list[Hit]]] = [
            {label: list(words.hits(rule, label, {})) for label in (*rule.labels, *self.labels)}
            for words in documents
        ]

    def propose(self) -> RuleProposal:
        """Return the rule that gains most.

        It has labels alone; where more gold is found so, it says what counts where no label has a value.
        """
        usual = self.rule.unlabelled
        rules = []
        for unlabelled in (usual, self._choose(self.rule.labels)[1]):
            for take in self.takes:
                labels = self._add(self.rule.labels, take, unlabelled)
                rules.append((labels, *self._choose(labels)))
        labels, take, unlabelled = max(rules, key=lambda rule: (self.right(*rule), rule[2] == usual))
        own = [self.written[label].most_common(1)[0][0] for label in labels[len(self.rule.labels) :]]
        find = replace(self.rule.find, take=take, unlabelled="" if unlabelled == usual else unlabelled)
        return RuleProposal(
            tuple(own),
            find,
            self.right(labels, take, unlabelled),
            sum(gold is not None for gold in self.golds),
        )

    def _choose(self, labels: Sequence[str]) -> tuple[str, str]:
        """Return which value counts beside labels and which without: the usual ones unless others gain."""
        usual = "first", self.rule.unlabelled
        gains = {usual: self.gain(labels, *usual) + _GAIN}
        for pair in itertools.product(self.takes, ("none", "only", *self.takes)):
            gains.setdefault(pair, self.gain(labels, *pair))
        return max(gains, key=lambda pair: gains[pair])

    def _add(self, labels: tuple[str, ...], take: str, unlabelled: str) -> tuple[str, ...]:
        """Return labels with those that gain most beside them, one by one."""
        gain = self.gain(labels, take, unlabelled)
        while len(labels) < _MOST_LABELS:
            gains = {
                label: (
                    self.gain((*labels, label), take, unlabelled),
                    self.written[label].total(),
                    len(label),
                )
                for label in self.labels
                if label not in labels
            }
            best = max(gains, key=lambda label: gains[label], default=None)
            if best is None or gains[best][0] < gain + _GAIN:
                break
            labels, gain = (*labels, best), gains[best][0]
        return labels

    def values(self, labels: Sequence[str], take: str, unlabelled: str) -> Iterator[str | None]:
        """Yield the value that a rule finds in each document."""
        for words, own in zip(self.documents, self.hits, strict=True):
            best = best_hit(take, [(at, hit) for at, label in enumerate(labels) for hit in own[label]])
            candidate: Candidate | None = best.candidate if best else words.unlabelled(self.rule, unlabelled)
            yield candidate.canonical if candidate is not None else None

    def right(self, labels: Sequence[str], take: str, unlabelled: str) -> int:
        """Return the number of gold values that a rule finds."""
        pairs = zip(self.golds, self.values(labels, take, unlabelled), strict=True)
        return sum(gold is not None and value == gold for gold, value in pairs)

    def gain(self, labels: Sequence[str], take: str, unlabelled: str) -> float:
        """Return the number of right values less the cost of wrong ones."""
        pairs = zip(self.golds, self.values(labels, take, unlabelled), strict=True)
        return sum(
            1.0 if value == gold else -_INVENTED if gold is None else -_WRONG
            for gold, value in pairs
            if value is not None
        )


def _near(rows: Sequence[WordRow], candidate: Candidate) -> Iterator[tuple[str, str]]:
    """Yield the runs of words without digits before a value in its row, and in the nearest row above it."""
    row = rows[candidate.row]
    stretches = [(row, max(0, candidate.first - _MOST_BEFORE), candidate.first)]
    left, right = row.tokens[candidate.first].left, row.tokens[candidate.end - 1].right
    for upper in reversed(rows[max(0, candidate.row - MOST_BELOW) : candidate.row]):
        over = [at for at, token in enumerate(upper.tokens) if token.left < right and token.right > left]
        if over and upper.page == row.page:
            stretches.append((upper, upper.segment_of(over[0])[0], upper.segment_of(over[-1])[1]))
            break
    for line, first, stop in stretches:
        for begin in range(first, stop):
            for end, run in runs(line.keys[:stop], begin):
                if has_digit(run):
                    break
                if len(run) > 1:
                    yield run, " ".join(token.text.strip(".,;:*()[]#") for token in line.tokens[begin:end])
