"""Baselines on disk: small JSON files to commit, with the statistics of every document and a checksum over all of it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt

from fieldassay.atomic.whole_files import open_file, write_file
from fieldassay.errors import Problem, ProblemsError
from fieldassay.gates.baseline.baseline import Baseline, BaselineSystem, Entry, Headline, find_faults

Ints = npt.NDArray[np.int64]

_LARGEST = 2**62
_LONGEST = 40


def join_runs(values: Ints) -> str:
    """Return a column as text.

    >>> join_runs(np.array([1, 1, 1, 0, -5]))
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


def split_runs(text: str, length: int) -> Ints:
    """Return the column that a text stands for. Raises ValueError unless it is whole numbers, `length` of them, each below 2^62 in size.

    >>> split_runs("1*3 0 -5", 5)
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
        raise ValueError(f"{part[:_LONGEST]!r} is no whole number")
    return int(value), int(count or 1)


BASELINE = "fieldassay-baseline.json"
"""What a baseline is called where nobody says otherwise."""

FORMAT = "fieldassay baseline"
SCHEMA_VERSION = 1
MOST_BYTES = 256 << 20

_RESTORE = "restore it from version control, or set it again with `fieldassay baseline set RUN`"


def baseline_bytes(baseline: Baseline) -> bytes:
    """Return a baseline as the bytes of its file: JSON, one document, one headline and one column a line; the same bytes for the same baseline."""
    content = _content(baseline)
    head = {"format": FORMAT, "schema_version": SCHEMA_VERSION, "checksum": checksum(content)}
    return _lay_out({**head, **content}).encode("utf-8", "backslashreplace")


def checksum(content: Any) -> str:
    """Return the SHA-256 of plain data as canonical JSON, so that line ends and white space have no part in it.

    >>> checksum({"b": 1, "a": [2]}) == checksum({"a": [2], "b": 1})
    True
    """
    text = json.dumps(content, sort_keys=True, ensure_ascii=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode("ascii")).hexdigest()


def read_baseline(path: Path) -> Baseline:
    """Return the baseline in a file. Raises `ProblemsError` if there is none, or if it is not a sound one."""
    data = read_bytes(path)
    if data is None:
        raise _refusal(
            path,
            "there is no baseline here",
            "make one with `fieldassay baseline set RUN`, or name its file",
            "no_baseline",
        )
    held = _decode(path, data)
    if not isinstance(held, dict) or held.get("format") != FORMAT:
        raise _refusal(
            path, "is not a baseline of fieldassay", "name the file that `fieldassay baseline set` wrote"
        )
    if type(held.get("schema_version")) is not int or held["schema_version"] != SCHEMA_VERSION:
        what = f"has version {str(held.get('schema_version'))[:20]!r} of the format, and only {SCHEMA_VERSION} is known here"
        raise _refusal(path, what, "install the release of fieldassay that wrote it", "version")
    content = {
        key: value for key, value in held.items() if key not in ("format", "schema_version", "checksum")
    }
    if held.get("checksum") != checksum(content):
        raise _refusal(path, "is damaged or was edited by hand: its checksum is another", _RESTORE)
    return _build(path, content)


def write_baseline(path: Path, baseline: Baseline) -> None:
    """Put a baseline in its place, as a whole. Raises `ProblemsError` where something else is there, or where it cannot be written."""
    before = read_bytes(path)
    if before is not None and f'"{FORMAT}"'.encode() not in before[:200]:
        raise _refusal(
            path,
            "is there already and is not a baseline of fieldassay",
            "name another file",
            "not_a_baseline",
        )
    try:
        write_file(path, [baseline_bytes(baseline)])
    except (OSError, ValueError) as error:
        remedy = "name a file in a folder that can be written"
        raise _refusal(path, f"cannot be written ({_why(error)})", remedy, "unwritable_baseline") from None


def read_bytes(path: Path) -> bytes | None:
    """Return what a file holds, None if there is no file. Raises `ProblemsError` for what cannot be read, or is too large."""
    try:
        with open_file(path) as stream:
            data = stream.read(MOST_BYTES + 1)
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise _refusal(
            path, f"cannot be read ({_why(error)})", "name the file of a baseline", "unreadable_file"
        ) from None
    if len(data) > MOST_BYTES:
        raise _refusal(path, "is too large to be a baseline", "name the file of a baseline")
    return data


def _content(baseline: Baseline) -> dict[str, Any]:
    systems = [
        {
            "name": system.name,
            "predictions": system.predictions,
            "slices": {key: [list(names) for names in groups] for key, groups in system.slices.items()},
            "statistics": [
                [name, field, join_runs(values)] for (name, field), values in system.columns.items()
            ],
        }
        for system in baseline.systems
    ]
    head = {name: getattr(baseline, name) for name in ("fieldassay", "created", "run", "spec", "reason")}
    return {
        **head,
        "digests": dict(baseline.digests),
        "metrics": list(baseline.metrics),
        "headlines": [asdict(one) for one in baseline.headlines],
        "hashed": baseline.is_hashed,
        "documents": list(baseline.documents),
        "systems": systems,
        "history": [asdict(entry) for entry in baseline.history],
    }


def _lay_out(data: dict[str, Any]) -> str:
    """Return JSON with one item of each list a line, so that a difference shows what changed."""
    parts = [f" {_text(key)}: {_lay_out_value(key, value)}" for key, value in data.items()]
    return "{\n" + ",\n".join(parts) + "\n}\n"


def _lay_out_value(key: str, value: Any) -> str:
    if key == "systems":
        return _lines((_lay_out_system(system) for system in value), "  ")
    return _lines(map(_text, value), "  ") if isinstance(value, list) else _text(value)


def _lay_out_system(system: dict[str, Any]) -> str:
    slices = ",\n".join(f"    {_text(key)}: {_text(groups)}" for key, groups in system["slices"].items())
    inner = f"{{\n{slices}\n   }}" if slices else "{}"
    statistics = _lines(map(_text, system["statistics"]), "    ")
    names = "".join(f'   "{key}": {_text(system[key])},\n' for key in ("name", "predictions"))
    return f'{{\n{names}   "slices": {inner},\n   "statistics": {statistics}\n  }}'


def _lines(items: Iterator[str] | map[str], indent: str) -> str:
    text = ",\n".join(f"{indent}{item}" for item in items)
    return f"[\n{text}\n{indent[:-1]}]" if text else "[]"


def _text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


class _System(msgspec.Struct):
    name: str
    slices: dict[str, list[list[str]]]
    statistics: list[tuple[str, str | None, str]]
    predictions: str = ""


class _File(msgspec.Struct):
    """The content of the file, as it must be."""

    fieldassay: str
    created: str
    run: str
    spec: str
    reason: str
    digests: dict[str, str]
    metrics: list[str]
    headlines: list[Headline]
    hashed: bool
    documents: list[str]
    systems: list[_System]
    history: list[Entry]


def _build(path: Path, content: dict[str, Any]) -> Baseline:
    try:
        found = msgspec.convert(content, _File)
        systems = tuple(_build_system(system, len(found.documents)) for system in found.systems)
    except (msgspec.ValidationError, ValueError) as error:
        raise _refusal(path, f"is not as a baseline must be ({str(error)[:200]})", _RESTORE) from None
    made = Baseline(
        fieldassay=found.fieldassay,
        created=found.created,
        run=found.run,
        spec=found.spec,
        reason=found.reason,
        digests=found.digests,
        metrics=tuple(found.metrics),
        headlines=tuple(found.headlines),
        is_hashed=found.hashed,
        documents=tuple(found.documents),
        systems=systems,
        history=tuple(found.history),
    )
    faults = list(find_faults(made))
    if faults:
        raise _refusal(path, f"is not as a baseline must be: {'; '.join(faults)}", _RESTORE)
    return made


def _build_system(found: _System, documents: int) -> BaselineSystem:
    columns = {(name, field): split_runs(text, documents) for name, field, text in found.statistics}
    if len(columns) < len(found.statistics):
        raise ValueError(f"the system {found.name[:60]!r} has a statistic twice")
    slices = {key: tuple(tuple(names) for names in groups) for key, groups in found.slices.items()}
    return BaselineSystem(found.name, slices, columns, found.predictions)


def _decode(path: Path, data: bytes) -> Any:
    try:
        return json.loads(data.decode("utf-8"), object_pairs_hook=_distinct, parse_constant=_refuse_constant)
    except UnicodeDecodeError:
        raise _refusal(path, "is not UTF-8 text", _RESTORE) from None
    except RecursionError:
        raise _refusal(path, "is nested too deeply to be a baseline", _RESTORE) from None
    except ValueError as error:
        raise _refusal(
            path, f"is not JSON ({str(error)[:200]})", f"{_RESTORE}; a merge cannot join two baselines"
        ) from None


def _distinct(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("an object has the same key twice")
    return found


def _refuse_constant(text: str) -> Any:
    raise ValueError(f"{text} is no number")


def _why(error: Exception) -> str:
    return (error.strerror if isinstance(error, OSError) else None) or str(error)


def _refusal(path: Path, what: str, remedy: str, kind: str = "bad_baseline") -> ProblemsError:
    return ProblemsError([Problem(str(path), what, remedy, kind)])
