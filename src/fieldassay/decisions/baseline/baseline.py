"""A baseline, and its file."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any

import msgspec
import numpy as np
import numpy.typing as npt
from msgspec import Struct, field
from msgspec.structs import asdict

from fieldassay.errors import problem
from fieldassay.io.files.typed_json import JsonFormat, checksum
from fieldassay.io.text.shown import Brief
from fieldassay.metrics.estimate import PARTS
from fieldassay.metrics.result.documents import MOST_REPEATS

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
    held = FORMAT.decode(path, data)
    content = {name: value for name, value in held.items() if name not in (*FORMAT.head(), "checksum")}
    if held.get("checksum") != checksum(content):
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
        "headlines": [asdict(one) for one in baseline.headlines],
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
        found = msgspec.convert(content.get("systems"), list[_System])
        systems = [_build_system(system, len(names)) for system in found]
        held = {**content, "documents": names, "gold": gold, "systems": systems}
        made = msgspec.convert(held, Baseline)
    except (msgspec.ValidationError, ValueError) as error:
        raise FORMAT.malformed(path, error) from None
    faults = list(find_faults(made))
    if faults:
        raise FORMAT.refusal(path, f"is not a valid baseline: {'; '.join(faults)}")
    return made


def _build_system(found: _System, documents: int) -> BaselineSystem:
    columns = {(name, field): decode_run_lengths(text, documents) for name, field, text in found.statistics}
    if len(columns) < len(found.statistics):
        raise ValueError(f"the system {found.name[:60]!r} has a statistic twice")
    slices = {key: tuple(tuple(names) for names in groups) for key, groups in found.slices.items()}
    return BaselineSystem(found.name, slices, columns, found.predictions, found.repeats)
