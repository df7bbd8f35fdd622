"""Checks of a spec, applied to records."""

import io
import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, TextIO, TypeAlias

import numpy as np
import numpy.typing as npt
from msgspec import Struct, field

from fieldassay.errors import list_names
from fieldassay.io.json_value import Json
from fieldassay.io.text.shown import format_count
from fieldassay.metrics.result.result import CheckCount, Violation
from fieldassay.paths import Pattern, Step, join_path
from fieldassay.records.record import Record
from fieldassay.scoring.engine.coding import json_text
from fieldassay.spec.language.parse import read_spec
from fieldassay.spec.plan.nodes import Plan, PlannedCheck
from fieldassay.values.checks.relations import Check, Fault, Holds

GOLD = "gold"
"""The name of gold in the counts; relations are checked there too."""

NUMBER, CLAIM = "check_violations", "has_violations"
"""The columns of the table of documents: a document's number of violations, and whether it has any."""

CHECK_METRICS = "checks"
"""The group of metrics that count violations."""

MOST_EXAMPLES = 3
MOST_NAMED = 5
_LONGEST_VALUE = 200
_PARTS = "violations-*.jsonl"


class Findings(Struct):
    """The results of a plan's checks on predictions, by system; `violations` has all of them if a list."""

    plan: Plan
    tallies: "dict[str, Tallies]" = field(default_factory=dict)
    violations: list[dict[str, Any]] | None = None
    gold: "Tallies" = field(default_factory=dict)
    """The results of the relations on gold: a violation there means that gold is wrong."""

    def look(self, system: str, records: Sequence[Record | None]) -> None:
        """Check more records of a system."""
        checked = check_records(
            self.plan, system, records, self._keep if self.violations is not None else None
        )
        self.tallies[system] = join_tallies([self.tallies.get(system, {}), checked.tallies])

    def look_at_gold(self, records: Sequence[Record | None]) -> None:
        """Check more gold records against the relations."""
        if any(isinstance(planned.check, Holds) for planned in self.plan.checks):
            checked = check_records(
                self.plan, GOLD, records, self._keep if self.violations is not None else None, only=Holds
            )
            self.gold = join_tallies([self.gold, checked.tallies])

    def counts(self) -> tuple[CheckCount, ...]:
        """Return the counts of every check and system, those of gold first."""
        of_gold = count_checks(self.plan, {GOLD: self.gold}) if self.gold else ()
        return (
            *(count for count in of_gold if count.values or count.not_applicable),
            *count_checks(self.plan, self.tallies),
        )

    def _keep(self, system: str, violation: Violation) -> None:
        assert self.violations is not None
        self.violations.append(violation.to_dict(system))


class CheckTally(Struct):
    """The results of one check so far: values checked, violations, documents with any, first examples.

    Of each value only the first example is kept.
    """

    values: int = 0
    violations: int = 0
    documents: int = 0
    not_applicable: int = 0
    examples: list[Violation] = field(default_factory=list)

    def add(self, violation: Violation, *, is_first: bool) -> None:
        """Count a violation; `is_first`: it is the document's first of this check."""
        self.violations += 1
        self.documents += is_first
        self._show(violation)

    def join(self, later: "CheckTally") -> None:
        """Add the tally of later documents."""
        self.values += later.values
        self.violations += later.violations
        self.documents += later.documents
        self.not_applicable += later.not_applicable
        for example in later.examples:
            self._show(example)

    def _show(self, violation: Violation) -> None:
        shown = {(example.value, example.message) for example in self.examples}
        if len(self.examples) < MOST_EXAMPLES and (violation.value, violation.message) not in shown:
            self.examples.append(violation)


Tallies: TypeAlias = dict[int, CheckTally]
"""By position among the plan's checks; those that no value came to are not there."""


class CheckedRecords(Struct, frozen=True, eq=False):
    """The violations of each record (NaN: no readable prediction), and the tallies over all records."""

    counts: npt.NDArray[np.float64]
    tallies: Tallies

    @property
    def claims(self) -> npt.NDArray[np.bool_]:
        """Return whether each record has violations."""
        return np.nan_to_num(self.counts) > 0


def check_records(
    plan: Plan,
    system: str,
    records: Sequence[Record | None],
    sink: Callable[[str, Violation], None] | None = None,
    only: type[Check] = Check,
) -> CheckedRecords:
    """Return the results of the plan's checks (of a kind) on the records of a system.

    `sink` receives every violation, so that none need be kept.

    >>> from fieldassay.spec.plan.compile import read_plan
    >>> from fieldassay.records.record import Meta
    >>> plan = read_plan("{fields: {total: number}, checks: {total: number}}")
    >>> check_records(plan, "a", [Record("1", {"total": "5"}, Meta(), "p:1"), None]).counts.tolist()
    [1.0, nan]
    """
    counts = np.full(len(records), np.nan)
    tallies: Tallies = {}
    groups = _grouped(plan.checks, only)
    if not groups:
        return CheckedRecords(counts, tallies)
    for position, record in enumerate(records):
        if record is None or record.data is None:
            continue
        seen: Counter[int] = Counter()
        for number, planned, steps, value in _places(groups, record.data):
            tally = tallies.setdefault(number, CheckTally())
            if planned is None:
                continue
            for look in planned.check.looks(value):
                tally.values += look.faults is not None
                tally.not_applicable += look.faults is None
                for fault in look.faults or ():
                    seen[number] += 1
                    violation = _violation(record.id, (*steps, *look.steps), planned, fault, look.value)
                    tally.add(violation, is_first=seen[number] == 1)
                    if sink is not None:
                        sink(system, violation)
        counts[position] = seen.total()
    return CheckedRecords(counts, tallies)


class _Group(Struct, frozen=True):
    """The checks under one path pattern, by position; `shared` are those named in other patterns too."""

    pattern: Pattern
    checks: tuple[tuple[int, PlannedCheck], ...]
    shared: frozenset[int]


def _grouped(checks: Sequence[PlannedCheck], only: type[Check]) -> list[_Group]:
    paths: dict[str, set[str]] = {}
    groups: dict[str, list[tuple[int, PlannedCheck]]] = {}
    for number, planned in enumerate(checks):
        if not isinstance(planned.check, only):
            continue
        paths.setdefault(planned.name, set()).add(planned.path)
        groups.setdefault(planned.path, []).append((number, planned))
    return [
        _Group(
            group[0][1].pattern,
            tuple(group),
            frozenset(number for number, planned in group if len(paths[planned.name]) > 1),
        )
        for group in groups.values()
    ]


def _places(
    groups: Sequence[_Group], data: Json
) -> Iterator[tuple[int, PlannedCheck | None, tuple[Step, ...], Json]]:
    """Yield the position of each check with each of its places.

    The check is None where one of an earlier pattern with the same name counts.
    """
    seen: dict[str, set[tuple[Step, ...]]] = {}
    for group in groups:
        for steps, value in group.pattern.find(data):
            names = {planned.name for number, planned in group.checks if number in group.shared}
            settled = {name for name in names if steps in seen.setdefault(name, set())}
            for number, planned in group.checks:
                yield number, None if planned.name in settled else planned, steps, value
            for name in names:
                seen[name].add(steps)


def _violation(
    doc: str, steps: tuple[Step, ...], planned: PlannedCheck, fault: Fault, value: Json
) -> Violation:
    if fault.key is not None:
        return Violation(doc, join_path((*steps, fault.key)), planned.path, planned.name, fault.message, None)
    return Violation(doc, join_path(steps), planned.path, planned.name, fault.message, shown_value(value))


def shown_value(value: Json) -> str:
    """Return a value as JSON text, a long text or number cut, and of lists and objects the size alone.

    >>> shown_value("m³/h"), shown_value({"a": 1}), len(shown_value("x" * 10_000_000))
    ('"m³/h"', '{1 key}', 203)
    """
    if isinstance(value, dict):
        return f"{{{format_count(len(value), 'key')}}}"
    if isinstance(value, list):
        return f"[{format_count(len(value), 'item')}]"
    if isinstance(value, str) and len(value) > _LONGEST_VALUE:
        return json_text(value[:_LONGEST_VALUE])[:-1] + '…"'
    text = json_text(value)
    return text if len(text) <= 2 * _LONGEST_VALUE or isinstance(value, str) else f"{text[:_LONGEST_VALUE]}…"


def join_tallies(parts: Sequence[Tallies]) -> Tallies:
    """Return the tallies of all parts; their order is that of the documents."""
    whole: Tallies = {}
    for part in parts:
        for number, tally in part.items():
            whole.setdefault(number, CheckTally()).join(tally)
    return whole


def count_checks(plan: Plan, tallies: Mapping[str, Tallies]) -> tuple[CheckCount, ...]:
    """Return the counts of every check, by system and then in the order of the spec; 0 without violations."""
    counts = []
    for system, tally_of in tallies.items():
        for number, planned in enumerate(plan.checks):
            tally = tally_of.get(number, CheckTally())
            counted = (tally.values, tally.violations, tally.documents)
            counts.append(
                CheckCount(
                    system, planned.path, planned.name, *counted, tuple(tally.examples), tally.not_applicable
                )
            )
    return tuple(counts)


def name_idle(plan: Plan, tallies: Mapping[str, Tallies]) -> tuple[str, ...]:
    """Return at most one sentence: the checks with a path in no prediction, possibly misspelled.

    Not misspelled are the path of a declared field, a pattern at any depth (`**`), and the checks of a
    protocol.
    """
    silent = [
        planned
        for number, planned in enumerate(plan.checks)
        if not any(number in tally_of for tally_of in tallies.values())
    ]
    declared = {info.path for info in plan.fields}
    published = _published(plan.spec.protocol) if silent else {}
    mute = [
        planned.name
        for number, planned in enumerate(plan.checks)
        if (own := [by_check[number] for by_check in tallies.values() if number in by_check])
        and not any(tally.values for tally in own)
        and any(tally.not_applicable for tally in own)
    ]
    sentences = (
        ("no prediction has all the values that these relations need: " + ", ".join(mute[:MOST_NAMED]),)
        if mute
        else ()
    )
    idle = [
        planned
        for planned in silent
        if planned.path not in declared
        and None not in planned.pattern.parts
        and planned.name not in published.get(planned.path, ())
    ]
    if not idle:
        return sentences
    listed = list_names([f"{planned.name} at {planned.path}" for planned in idle], MOST_NAMED)
    return (
        *sentences,
        f"no prediction has a value for these checks; are their paths right? {listed}",
    )


def _published(protocol: str | None) -> dict[str, set[str]]:
    """Return the names of a protocol's own checks by path."""
    checks = () if protocol is None else read_spec({"protocol": protocol}).checks
    return {path: {call.name for call in calls} for path, calls in checks}


class Sink(Struct, frozen=True, eq=False):
    """Keeps each violation of a system, as a line of JSON, as it is found."""

    streams: Mapping[str, TextIO]
    has_values: bool = True

    def __call__(self, system: str, violation: Violation) -> None:
        line = (violation if self.has_values else violation.hide_value()).to_dict(system)
        print(json.dumps(line, ensure_ascii=False), file=self.streams[system])

    def kept(self) -> dict[str, tuple[bytes | Path, ...]]:
        """Return by system the lines, or the file that they are in."""
        return {
            system: (
                stream.getvalue().encode("utf-8", "backslashreplace")
                if isinstance(stream, io.StringIO)
                else Path(stream.name),
            )
            for system, stream in self.streams.items()
        }


@contextmanager
def open_sink(
    plan: Plan, folder: Path | None, number: int, systems: Iterable[str], *, has_values: bool = True
) -> Iterator[Sink | None]:
    """Yield what keeps one shard's violations, in memory or in a file per system; None without checks."""
    if not plan.checks:
        yield None
        return
    with ExitStack() as stack:
        yield Sink(
            {
                system: io.StringIO()
                if folder is None
                else stack.enter_context(
                    (folder / f"violations-{at:05}-{number:05}.jsonl").open(
                        "w", encoding="utf-8", errors="backslashreplace", newline="\n"
                    )
                )
                for at, system in enumerate(systems)
            },
            has_values,
        )
