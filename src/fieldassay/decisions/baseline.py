"""A baseline, its file, and systems and runs against it."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from importlib.metadata import version
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any

import msgspec
import numpy as np
import numpy.typing as npt
from msgspec import Struct, field
from msgspec.structs import asdict, replace

from fieldassay.decisions.basis import BasisDifference, ResultBasis, basis_of_run, compare_bases
from fieldassay.decisions.gates.kinds import BEFORE, NOW, BaselineMatch, MetricChange, decide_changes
from fieldassay.errors import Problem, ProblemsError, nearest, problem
from fieldassay.io.files.whole_files import JsonFormat, checksum
from fieldassay.io.text.shown import Brief, make_printable
from fieldassay.metrics.catalogue.definitions import BoundMetric, bind_metric, select_metrics
from fieldassay.metrics.catalogue.grammar import Gate, MetricCall, parse_gate, parse_metric
from fieldassay.metrics.comparisons.pair import PairedMatrix
from fieldassay.metrics.comparisons.pairwise import list_field_metrics
from fieldassay.metrics.estimate import HOLDOUT, PARTS, parts_of
from fieldassay.metrics.result.documents import (
    MOST_REPEATS,
    DocumentStatistics,
    PairedData,
    is_comparable,
    list_parts,
    name_statistic,
)
from fieldassay.metrics.result.result import Result
from fieldassay.metrics.statistics.statistics import Statistic, Sum
from fieldassay.options import OptionRecord
from fieldassay.runs.run import Run
from fieldassay.scoring.provenance import freeze_recorded

# A baseline: the reference of later runs, document by document, without any content of the documents.

Ints = npt.NDArray[np.int64]


_DIGITS = 32
MOST_REASON = 1000
"""Characters that the reason of a baseline may have."""


class Headline(Struct, frozen=True):
    """One number of the baseline, for people: nothing is computed from it."""

    system: str
    metric: str
    value: float | None
    n: int
    documents: int
    interval: tuple[float, float] | None = None
    unit: str = "ratio"
    better: str = "higher"


class BaselineEntry(Struct, frozen=True):
    """One baseline of the history: when it was set, from which run, with which release, and why."""

    created: str
    run: str
    fieldassay: str
    reason: str = ""
    is_frozen: bool = False


class BaselineSystem(Struct, frozen=True, eq=False):
    """One system: its slices (values of the documents by key), and its columns by statistic and field.

    A column has one whole number a document.

    `predictions` is the SHA-256 of its predictions; empty where they were not in a file.
    """

    name: str
    slices: Mapping[str, tuple[tuple[str, ...], ...]]
    columns: Mapping[tuple[str, str | None], Ints]
    predictions: str = ""
    repeats: int = 1
    """The number of runs that the numbers of a document are the sum of."""


class Baseline(Brief, Struct, frozen=True, eq=False):
    """The measurements of a baseline, and their basis.

    `documents` are sorted ids, and `gold` the digests of their gold. `digests` has one for each of the
    `PARTS`, `basis` the content of each except gold. `history` ends with this baseline.
    """

    fieldassay: str
    created: str
    run: str
    spec: str
    reason: str
    is_frozen: bool = field(name="frozen")
    """Whether a run is refused unless its basis is this one; else it is compared where gold is the same."""
    digests: Mapping[str, str]
    basis: Mapping[str, Any]
    metrics: tuple[str, ...]
    headlines: tuple[Headline, ...]
    documents: tuple[str, ...]
    gold: tuple[str, ...]
    systems: tuple[BaselineSystem, ...]
    history: tuple[BaselineEntry, ...]
    cluster: str | None = None
    """What documents of one family share, where families were drawn."""

    def label(self) -> str:
        """Return in a few words which baseline it is."""
        return f"the {'frozen ' if self.is_frozen else ''}baseline of {self.created[:40]}"


def check_reason(reason: str, remedy: str = "say why a new baseline is needed; its history keeps it") -> str:
    """Return the reason of a change, in one line. Raises `ProblemsError` if it is empty or too long.

    >>> check_reason(" doses are compared\\n as numbers ")
    'doses are compared as numbers'
    """
    text = " ".join(reason.split())
    if not any(char.isalnum() for char in text):
        raise problem("--reason", "is missing or empty", remedy, "no_reason")
    if len(text) > MOST_REASON:
        raise problem(
            "--reason",
            f"has {len(text):,} characters; {MOST_REASON:,} are the most",
            "shorten it",
            "no_reason",
        )
    return text


def find_faults(baseline: Baseline) -> Iterator[str]:
    """Yield the contradictions in a baseline that its checksum cannot show."""
    if set(baseline.digests) != set(PARTS) or not all(baseline.digests.values()):
        yield f"its digests are not those of {', '.join(PARTS)}"
    if any(first >= second for first, second in pairwise(baseline.documents)):
        yield "its documents are unsorted or repeated"
    if not baseline.documents:
        yield "it has no documents"
    if not baseline.systems:
        yield "it has no system"
    yield from (f"the system {name[:60]!r} is there {count} times" for name, count in _repeated(baseline))
    for system in baseline.systems:
        if any(len(groups) != len(baseline.documents) for groups in system.slices.values()):
            yield f"a slice of the system {system.name[:60]!r} does not have a line for each document"


def _repeated(baseline: Baseline) -> Sequence[tuple[str, int]]:
    counts = Counter(system.name for system in baseline.systems)
    return [(name, count) for name, count in counts.items() if count > 1]


# Baselines on disk: small JSON files to commit, with every document's statistics and a checksum.

_LARGEST = 2**62
_LONGEST = 40


def encode_run_lengths(values: Ints) -> str:
    """Return a column as text.

    >>> encode_run_lengths(np.array([1, 1, 1, 0, -5]))
    '1*3 0 -5'
    """
    if not len(values):
        return ""
    starts = np.concatenate([[0], np.flatnonzero(values[1:] != values[:-1]) + 1])
    counts = np.diff(np.concatenate([starts, [len(values)]]))
    return " ".join(
        str(value) if count == 1 else f"{value}*{count}"
        for value, count in zip(values[starts].tolist(), counts.tolist(), strict=True)
    )


def decode_run_lengths(text: str, length: int) -> Ints:
    """Return the column written in a text.

    Raises ValueError unless it is whole numbers, `length` of them, each below 2^62 in size.

    >>> decode_run_lengths("1*3 0 -5", 5)
    array([ 1,  1,  1,  0, -5])
    """
    pairs = [_split_run(part) for part in text.split()]
    counts = [count for _, count in pairs]
    if sum(counts) != length:  # before anything of that size is made
        raise ValueError(f"a column has {sum(counts)} numbers for {length} documents")
    return np.repeat(np.array([value for value, _ in pairs], np.int64), np.array(counts, np.int64))


def _split_run(part: str) -> tuple[int, int]:
    value, _, count = part.partition("*")
    digits = value.removeprefix("-")
    is_sound = (
        len(part) <= _LONGEST
        and digits.isascii()
        and digits.isdigit()
        and (count == "" if "*" not in part else count.isdigit())
    )
    if not is_sound or not part.isascii() or abs(int(value)) >= _LARGEST or (count and int(count) < 1):
        raise ValueError(f"{part[:_LONGEST]!r} is not a whole number")
    return int(value), int(count or 1)


FORMAT = JsonFormat(
    "baseline",
    "restore it from version control, or set it again with `fieldassay baseline set RUN`",
    bad="bad_baseline",
    unwritable="unwritable_baseline",
    most_bytes=256 << 20,
    after_merge="; a merge cannot join two baselines",
)


def baseline_bytes(baseline: Baseline) -> bytes:
    """Return a baseline as the bytes of its file."""
    content = _content(baseline)
    return FORMAT.encode({"checksum": checksum(content), **content})


def read_baseline(path: Path) -> Baseline:
    """Return the baseline in a file. Raises `ProblemsError` if there is none, or if it is not a sound one."""
    data = FORMAT.read_bytes(path)
    if data is None:
        raise FORMAT.refusal(
            path,
            "there is no baseline here",
            "make one with `fieldassay baseline set RUN`, or name its file",
            "no_baseline",
        )
    members = FORMAT.decode(path, data)
    content = {name: value for name, value in members.items() if name not in (*FORMAT.head(), "checksum")}
    if members.get("checksum") != checksum(content):
        raise FORMAT.refusal(path, "is damaged or was edited by hand: its checksum does not match")
    return _build(path, content)


def write_baseline(path: Path, baseline: Baseline) -> None:
    """Put a baseline in its place, as a whole. Raises `ProblemsError` if that fails."""
    FORMAT.write(path, baseline_bytes(baseline))


def _content(baseline: Baseline) -> dict[str, Any]:
    systems = [
        {
            "name": system.name,
            "predictions": system.predictions,
            **({"repeats": system.repeats} if system.repeats > 1 else {}),
            "slices": {key: [list(names) for names in groups] for key, groups in system.slices.items()},
            "statistics": [
                [name, field, encode_run_lengths(values)] for (name, field), values in system.columns.items()
            ],
        }
        for system in baseline.systems
    ]
    head = {name: getattr(baseline, name) for name in ("fieldassay", "created", "run", "spec", "reason")}
    return {
        **head,
        "frozen": baseline.is_frozen,
        "digests": dict(baseline.digests),
        "basis": dict(baseline.basis),
        "metrics": list(baseline.metrics),
        "headlines": [asdict(headline) for headline in baseline.headlines],
        "documents": [list(pair) for pair in zip(baseline.documents, baseline.gold, strict=True)],
        "systems": systems,
        "history": [asdict(entry) for entry in baseline.history],
        **({} if baseline.cluster is None else {"cluster": baseline.cluster}),
    }


class _System(msgspec.Struct):
    name: str
    slices: dict[str, list[list[str]]]
    statistics: list[tuple[str, str | None, str]]
    predictions: str = ""
    repeats: Annotated[int, msgspec.Meta(ge=1, le=MOST_REPEATS)] = 1


def _build(path: Path, content: dict[str, Any]) -> Baseline:
    try:
        documents = msgspec.convert(content.get("documents"), list[tuple[str, str]])
        names, gold = zip(*documents, strict=True) if documents else ((), ())
        file_systems = msgspec.convert(content.get("systems"), list[_System])
        systems = [_build_system(system, len(names)) for system in file_systems]
        members = {**content, "documents": names, "gold": gold, "systems": systems}
        baseline = msgspec.convert(members, Baseline)
    except (msgspec.ValidationError, ValueError) as error:
        raise FORMAT.malformed(path, error) from None
    faults = list(find_faults(baseline))
    if faults:
        raise FORMAT.refusal(path, f"is not a valid baseline: {'; '.join(faults)}")
    return baseline


def _build_system(system: _System, documents: int) -> BaselineSystem:
    columns = {(name, field): decode_run_lengths(text, documents) for name, field, text in system.statistics}
    if len(columns) < len(system.statistics):
        raise ValueError(f"the system {system.name[:60]!r} has a statistic twice")
    slices = {key: tuple(tuple(names) for names in groups) for key, groups in system.slices.items()}
    return BaselineSystem(system.name, slices, columns, system.predictions, system.repeats)


# Comparison of a result's systems with a baseline: on the same documents, or not at all, with the reason.

_NEW = 'set a new baseline: fieldassay baseline set RUN --reason "…"'
_FREEZE = 'start a new baseline: fieldassay baseline set RUN --freeze --reason "…"'
MOST_NAMED = 8
SINGLE_RUNS = "one run each: score repeated runs to separate random answers from changes of the system"


def list_regressions(result: Result, more: Iterable[Gate] = ()) -> tuple[MetricCall, ...]:
    """Return the metrics that regression gates are about: those of the result's spec, and more of them."""
    texts = result.run.get("gates")
    own = [parse_gate(text) for text in texts] if isinstance(texts, list) else []
    return tuple(dict.fromkeys(gate.metric for gate in (*own, *more) if gate.function == "regression"))


def match_result(result: Result, gates: Sequence[Gate], baseline: Path | None) -> dict[str, BaselineMatch]:
    """Return the comparison of each system with the baseline in a file, for regression gates.

    The gates are those of the result's spec, and `more`.

    Nothing is read where there is no such gate. A problem of the baseline is the reason of undecided gates.
    """
    calls = list_regressions(result, gates)
    if not calls:
        return {}
    if baseline is None:
        return dict.fromkeys(result.systems, BaselineMatch())
    try:
        reference = read_baseline(baseline)
    except ProblemsError as error:
        return dict.fromkeys(result.systems, BaselineMatch(why=f"no baseline: {error}"))
    if result.paired is None:
        return dict.fromkeys(
            result.systems, BaselineMatch(why="the result lacks the statistics of its documents")
        )
    return match_systems(reference, result.paired, result.run, calls)


def match_systems(
    baseline: Baseline,
    data: PairedData,
    run: Mapping[str, Any],
    calls: Sequence[MetricCall],
    *,
    takes_common: bool = False,
) -> dict[str, BaselineMatch]:
    """Return each system of a run beside its baseline, or the reason why not.

    `run` is the content of `run.json`, `calls` are the metrics wanted. With `takes_common` runs of other gold
    are compared on the documents with the same gold: a gate must not pass by documents left out.

    A system is compared with the baseline's system of the same name, or the only one of both. Raises
    `ProblemsError` if the baseline is frozen and the run stands on anything else.
    """
    difference = find_difference(baseline, data, run)
    is_partial = takes_common and set(difference.parts) <= {"gold"} and len(difference.rows)
    if difference.parts and not is_partial:
        remedy = f"score with the {' and the '.join(difference.parts)} that it was made with, or {_NEW}"
        why = (
            difference.reason
            if difference.reason == UNKNOWN
            else f"{baseline.label()} was made with {difference.reason}; {remedy}"
        )
        return {system.system: BaselineMatch(why=why, evidence=(_tell(baseline),)) for system in data.systems}
    counts = f"{len(difference.rows):,} of {len(data.systems[0].documents):,} documents"
    remark = f"compared on the {counts} with equal gold: {difference.documents}" if difference.parts else ""
    matches = {
        system.system: _match(baseline, data, system, calls, run, difference.rows) for system in data.systems
    }
    if not remark:
        return matches
    return {name: replace(match, evidence=(*match.evidence, remark)) for name, match in matches.items()}


UNKNOWN = "the run lacks the digests of its spec and gold; score it again with this version"


def find_difference(baseline: Baseline, data: PairedData, run: Mapping[str, Any]) -> BasisDifference:
    """Return how the basis of a run differs from that of a baseline.

    Raises `ProblemsError` if the baseline is frozen and anything differs.
    """
    basis = basis_of_run(run, data.systems[0])
    if basis.unknown:
        return BasisDifference(basis.unknown, np.zeros(0, np.int64), UNKNOWN)
    before = ResultBasis(
        baseline.digests,
        dict(zip(baseline.documents, baseline.gold, strict=True)),
        lambda: baseline.basis,
    )
    difference = compare_bases(before, basis)
    if difference.parts and baseline.is_frozen:
        raise problem(
            "the run",
            f"is refused: {baseline.label()} was made with {difference.reason}",
            f"undo the change, or {_FREEZE}",
            "baseline_differs",
        )
    return difference


def _tell(baseline: Baseline, before: str = "", now: str = "") -> str:
    system = f", its system {before}" if before else ""
    renamed = f", compared with {now} (each is the only one)" if before != now else ""
    reason = f": {baseline.reason}" if baseline.reason else ""
    release = f" (fieldassay {baseline.fieldassay})" if baseline.fieldassay != version("fieldassay") else ""
    return f"{baseline.label()} from {baseline.run}{release}{system}{renamed}{reason}"


def digest_predictions(run: Mapping[str, Any], system: str) -> str:
    """Return the recorded SHA-256 of a system's predictions; the empty text if they were not in a file."""
    inputs = run.get("inputs")
    labels, digests = (
        inputs.get(name) if isinstance(inputs, Mapping) else None for name in ("predictions", "sha256")
    )
    if not isinstance(labels, Mapping) or not isinstance(digests, Mapping):
        return ""
    return str(digests.get(labels.get(system)) or "")


def _match(
    baseline: Baseline,
    data: PairedData,
    system: DocumentStatistics,
    calls: Sequence[MetricCall],
    run: Mapping[str, Any],
    rows: npt.NDArray[np.int64],
) -> BaselineMatch:
    named = next((candidate for candidate in baseline.systems if candidate.name == system.system), None)
    is_only = len(baseline.systems) == 1 and len(data.systems) == 1
    stored = named or (baseline.systems[0] if is_only else None)
    if stored is None:
        names = ", ".join(other.name for other in baseline.systems[:MOST_NAMED]) + (
            ", …" if len(baseline.systems) > MOST_NAMED else ""
        )
        return BaselineMatch(
            why=f"{baseline.label()} has no system {system.system!r}; it has: {names}; name systems alike, "
            f"or {_NEW}",
            evidence=(_tell(baseline),),
        )
    if baseline.cluster is not None and data.cluster is None:
        return BaselineMatch(
            why=f"{baseline.label()} draws families; score with --cluster '{baseline.cluster[:60]}'",
            evidence=(_tell(baseline),),
        )
    wanted = _list_wanted((*calls, *(bound.call for bound in list_field_metrics(data))), data)
    statistics = {
        statistic: system.statistics[statistic] for statistic in wanted if statistic in system.statistics
    }
    groups = {
        key: tuple(tuple(map(make_printable, names)) for names in of_key)
        for key, of_key in system.groups.items()
    }
    now = replace(system, system=NOW, statistics=statistics, groups=groups).take(rows.tolist())
    before = _restore(baseline, stored, now, wanted)
    arena = PairedMatrix.open(replace(data, metrics=(), systems=(before, now)))
    digest = digest_predictions(run, system.system)
    is_same = bool(digest) and digest == stored.predictions
    evidence = [_tell(baseline, stored.name, system.system)]
    if not is_same:  # answers drawn again may differ as well as systems
        means = f"means over {stored.repeats} repeated runs in the baseline and {system.repeats} now"
        evidence.append(SINGLE_RUNS if stored.repeats == system.repeats == 1 else means)
    return BaselineMatch(arena, "", tuple(evidence), is_same)


def _list_wanted(calls: Iterable[MetricCall], data: PairedData) -> tuple[Statistic, ...]:
    wanted: list[Statistic] = []
    for call in calls:
        try:
            wanted += list_parts(bind_metric(call, data.vocabulary).recipe)
        except ValueError:  # the gate itself says so
            continue
    return tuple(dict.fromkeys(wanted))


def _restore(
    baseline: Baseline, stored: BaselineSystem, now: DocumentStatistics, wanted: Sequence[Statistic]
) -> DocumentStatistics:
    """Return a system of the baseline with its documents in the order of the run, under the run's ids."""
    place = {name: at for at, name in enumerate(baseline.documents)}
    order = np.array([place[name] for name in now.documents], np.int64)
    statistics: dict[Statistic, Sum] = {}
    for statistic in wanted:
        name = name_statistic(statistic)
        columns = {field: values for (column, field), values in stored.columns.items() if column == name}
        if columns:
            statistics[statistic] = Sum(tuple(columns), np.stack(list(columns.values()))[:, order])
    groups = {
        key: tuple(stored_groups[at] for at in order.tolist()) for key, stored_groups in stored.slices.items()
    }
    return DocumentStatistics(
        BEFORE,
        now.documents,
        statistics,
        groups,
        stored.repeats,
    )


# Baselines made from finished runs, and finished runs checked against a baseline.


class BaselineRequest(OptionRecord, frozen=True):
    """The contents of a baseline: systems and metrics (empty: all), its reason, freezing."""

    systems: tuple[str, ...] = ()
    metrics: tuple[str, ...] = ()
    reason: str = ""
    freezes: bool = False


class ChangeLine(Struct, frozen=True):
    """The change of one metric of one system, or `why` it is not known."""

    system: str
    metric: str
    change: MetricChange | None
    why: str = ""
    remark: str = ""
    """Remarks on the number of runs behind it."""


def make_baseline(
    run: Run, request: BaselineRequest, now: datetime, before: Baseline | None = None
) -> Baseline:
    """Return the baseline of a finished run.

    It goes on with the history of the one `before`. Raises `ProblemsError` for a run that cannot be one, and
    if a frozen baseline is to be replaced without a reason.
    """
    digests = _check_whole(run)
    is_free = before is None or not before.is_frozen
    reason = "" if is_free and not request.reason else check_reason(request.reason)
    by_name = {system.system: system for system in run.paired.systems}
    unknown = [
        Problem(
            "--system", f"the run has no system {name[:100]!r}", nearest(name[:100], by_name), "unknown_name"
        )
        for name in request.systems
        if name not in by_name
    ]
    if unknown:
        raise ProblemsError(unknown)
    systems = tuple(by_name[name] for name in dict.fromkeys(request.systems)) or run.paired.systems
    bound = _choose_metrics(run, request.metrics)
    documents = systems[0].documents
    order = np.array(sorted(range(len(documents)), key=documents.__getitem__), np.int64)
    entry = BaselineEntry(
        now.isoformat(timespec="seconds"),
        run.folder.name or str(run.folder),
        version("fieldassay"),
        reason,
        request.freezes,
    )
    gold = systems[0].gold
    assert gold is not None
    return Baseline(
        fieldassay=entry.fieldassay,
        created=entry.created,
        run=entry.run,
        spec=run.spec_name,
        reason=reason,
        is_frozen=request.freezes,
        digests=digests,
        basis={name: part.content for name, part in freeze_recorded(run.spec.text, run.file.models).items()},
        metrics=tuple(str(metric.call) for metric in bound),
        headlines=tuple(_list_headlines(run, systems, request.metrics)),
        documents=tuple(documents[at] for at in order.tolist()),
        gold=tuple(row.tobytes().hex() for row in gold[order]),
        systems=tuple(
            replace(
                _store(system, bound, order, run.paired.slices),
                predictions=digest_predictions(run.facts, system.system),
            )
            for system in systems
        ),
        history=(*(() if before is None else before.history), entry),
        cluster=run.paired.cluster,
    )


def read_before(path: Path) -> Baseline | None:
    """Return the baseline that a new one replaces, if any. Raises `ProblemsError` for an unsound one."""
    return read_baseline(path) if FORMAT.read_bytes(path) is not None else None


def demand_basis(path: Path, runs: Iterable[Run]) -> None:
    """Raise `ProblemsError` if the baseline in a file is frozen and a run stands on anything else."""
    baseline = read_baseline(path)
    for run in runs if baseline.is_frozen else ():
        find_difference(baseline, run.paired, run.facts)


def check_run(run: Run, baseline: Baseline, metrics: Sequence[str] = ()) -> list[ChangeLine]:
    """Return the change of each metric of each system: those named, else the baseline's headlines.

    Verdicts hold for all of them together.

    Raises `ProblemsError` if nothing can be compared.
    """
    calls = (
        _read_calls(metrics, run)
        if metrics
        else tuple(dict.fromkeys(parse_metric(headline.metric) for headline in baseline.headlines))
    )
    matches = match_systems(baseline, run.paired, run.facts, calls, takes_common=True)
    if all(match.arena is None for match in matches.values()):
        why = next(iter(matches.values())).why
        raise problem(
            run.folder,
            f"cannot be compared: {why.partition('; ')[0]}",
            why.partition("; ")[2],
            "incomparable",
        )
    lines = [_compare(system, call, match) for system, match in matches.items() for call in calls]
    decided = iter(decide_changes([line.change for line in lines if line.change is not None]))
    return [line if line.change is None else replace(line, change=next(decided)) for line in lines]


def _compare(system: str, call: MetricCall, match: BaselineMatch) -> ChangeLine:
    try:
        return ChangeLine(system, str(call), match.compare(call), remark=". ".join(match.evidence[1:]))
    except ValueError as error:
        return ChangeLine(system, str(call), None, str(error))


def _check_whole(run: Run) -> Mapping[str, str]:
    """Return the digests of a run's inputs. Raises `ProblemsError` for a partial run, or without digests."""
    parts = [part for part in parts_of(run.facts) if not part.option.startswith(HOLDOUT)]
    if parts:
        raise problem(
            run.folder,
            f"has {' and '.join(map(str, parts))}, and a baseline needs all of them",
            f"score again without {' and '.join(part.option for part in parts)}",
            "partial_run",
        )
    bases = [basis_of_run(run.facts, system) for system in run.paired.systems]
    if any(basis.unknown for basis in bases):
        raise problem(
            run.folder,
            "lacks the digests of its spec and gold",
            "score it again with this version",
            "incomparable",
        )
    return bases[0].digests


def _choose_metrics(run: Run, names: Sequence[str]) -> tuple[BoundMetric, ...]:
    """Return the metrics to store: those named and those of regression gates, else all comparable ones."""
    compared, also, _ = run.bound
    gates = [parse_gate(text) for text in run.file.gates]
    gated = [
        bind_metric(gate.metric, run.paired.vocabulary) for gate in gates if gate.function == "regression"
    ]
    if names:
        named = [bind_metric(call, run.paired.vocabulary) for call in _read_calls(names, run)]
        chosen = [
            *named,
            *(metric for metric in gated if is_comparable(metric) and run.paired.can_compare(metric)),
        ]
    else:
        chosen = [metric for metric in (*compared, *also, *gated) if _has_parts(metric, run.paired)]
    return tuple({str(metric.call): metric for metric in chosen}.values())


def _has_parts(bound: BoundMetric, data: PairedData) -> bool:
    parts = list_parts(bound.recipe)
    return bool(parts) and all(
        statistic in system.statistics for system in data.systems for statistic in parts
    )


def _read_calls(names: Iterable[str], run: Run) -> tuple[MetricCall, ...]:
    """Return the metrics named. Raises `ProblemsError` for unknown ones, and for those without statistics."""
    try:
        calls = [call for name in names for call in _expand(name, run.paired)]
        bound = [bind_metric(call, run.paired.vocabulary) for call in calls]
    except ValueError as error:
        raise problem("--metrics", str(error), kind="unknown_name") from None
    refused = [
        Problem(
            "--metrics",
            f"nothing was kept to compare systems by {metric.call}",
            "score again with a gate on it",
            "not_comparable",
        )
        for metric in bound
        if not run.paired.can_compare(metric)
    ]
    if refused:
        raise ProblemsError(refused)
    return tuple(dict.fromkeys(metric.call for metric in bound))


def _expand(name: str, data: PairedData) -> Sequence[MetricCall]:
    """Return the one metric of that name if there is one, else the members of the group."""
    calls = select_metrics([name], data.vocabulary)
    return [call for call in calls if call.name == parse_metric(name).name] or calls


def _list_headlines(run: Run, systems: Sequence[DocumentStatistics], names: Sequence[str]) -> list[Headline]:
    calls = _read_calls(names, run) if names else tuple(bound.call for bound in run.paired.metrics)
    headlines = []
    for system in systems:
        for call in calls:
            estimate = next(
                (candidate for candidate in run.estimates.select(call) if candidate.system == system.system),
                None,
            )
            if estimate is not None:
                numbers = (
                    estimate.value,
                    estimate.n,
                    estimate.documents,
                    estimate.interval,
                    estimate.unit,
                    estimate.better,
                )
                headlines.append(Headline(system.system, str(call), *numbers))
    return headlines


def _store(
    system: DocumentStatistics,
    bound: Sequence[BoundMetric],
    order: np.ndarray[Any, np.dtype[np.int64]],
    slices: Sequence[str],
) -> BaselineSystem:
    """Return a system as a baseline stores it."""
    wanted = dict.fromkeys(statistic for metric in bound for statistic in list_parts(metric.recipe))
    columns = {
        (name_statistic(statistic), field): values[order]
        for statistic in wanted
        for field, values in zip(
            system.statistics[statistic].fields, system.statistics[statistic].values, strict=True
        )
    }
    keys = dict.fromkeys(
        (*slices, *(metric.call.slice[0] for metric in bound if metric.call.slice is not None))
    )
    groups = {
        key: tuple(tuple(map(make_printable, system.groups[key][at])) for at in order.tolist())
        for key in keys
        if key in system.groups
    }
    ordered = dict(sorted(columns.items(), key=lambda item: (item[0][0], item[0][1] or "")))
    return BaselineSystem(system.system, groups, ordered, repeats=system.repeats)
