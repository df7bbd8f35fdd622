"""The finished shards of a run that is not complete yet, on disk, so that an interrupted run can go on."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from fieldassay.atomic.sealed_json import JsonFormat, checksum
from fieldassay.atomic.sealed_values import SealError, read_sealed, write_sealed
from fieldassay.atomic.staging import BusyError, claim
from fieldassay.atomic.whole_files import digest_file
from fieldassay.errors import Problem, ProblemsError
from fieldassay.scoring.outcomes import Done

HEAD = "incomplete.json"
FORMAT = JsonFormat(
    noun="incomplete run",
    restore="remove the folder, and score again",
    bad="incomplete_run",
    unwritable="incomplete_run",
    most_bytes=1 << 20,
)
_SHARDS = "shard-*.done"
_MODULES = frozenset(
    {
        "fieldassay.engine.fold",
        "fieldassay.evidence",
        "fieldassay.result.documents",
        "fieldassay.result.estimation",
        "fieldassay.result.repeats",
        "fieldassay.result.violations",
        "fieldassay.scoring.checking",
        "fieldassay.scoring.fit",
        "fieldassay.scoring.outcomes",
    }
)
"""The modules of the classes in a shard's results, besides those of `metrics`."""


def _is_known(module: str, name: str) -> bool:  # noqa: ARG001
    return module in _MODULES or module.startswith("fieldassay.metrics.")


class DamagedShardError(ProblemsError):
    """The file of a finished shard is not as it was written."""


class KeptShards(Struct, frozen=True):
    """A folder with the results of finished shards, and their evidence; `size` documents are one shard.

    `evidence` is the folder of the running process for evidence in parts (None: none is kept).
    """

    folder: Path
    size: int
    evidence: Path | None

    def save(self, number: int, done: Done) -> None:
        """Keep a finished shard: its evidence first, since the results make it count."""
        digests = {}
        for file in [] if self.evidence is None else list_files(self.evidence, number):
            _put(file, self.folder / file.name)
            digests[file.name] = digest_file(file)
        write_sealed(self._file(number), (replace(done, frames=()), digests))

    def has(self, number: int) -> bool:
        """Return whether a shard is finished."""
        return self._file(number).exists()

    def load(self, number: int) -> Done:
        """Return the results of a finished shard, its evidence in its place.

        Raises `ProblemsError` for a damaged one.
        """
        file = self._file(number)
        try:
            done, digests = read_sealed(file, _is_known)
            frames = [self._restore(name, digest) for name, digest in digests.items()]
        except (OSError, SealError, TypeError, ValueError) as error:
            what = f"is damaged: {file.name} {error}"[:300]
            raise DamagedShardError(
                [Problem(str(self.folder), what, "remove that file", "damaged_shard")]
            ) from None
        kept: Done = replace(done, frames=tuple(frame for frame in frames if frame.suffix == ".parquet"))
        return kept

    def discard(self) -> None:
        """Remove the finished shards."""
        for file in self.folder.glob(_SHARDS):
            file.unlink(missing_ok=True)

    def _restore(self, name: str, digest: str) -> Path:
        file = self.folder / Path(name).name
        if self.evidence is None or digest_file(file) != digest:
            raise SealError(f"has evidence in {name}, which was changed")
        place = self.evidence / file.name
        place.unlink(missing_ok=True)
        _put(file, place)
        return place

    def _file(self, number: int) -> Path:
        return self.folder / f"shard-{number:05}.done"


def list_files(evidence: Path, number: int) -> list[Path]:
    """Return the files of a shard in a folder of evidence in parts: evidence and violations."""
    return sorted(
        [*evidence.glob(f"part-{number:05}-*.parquet"), *evidence.glob(f"violations-*-{number:05}.jsonl")]
    )


def _put(source: Path, target: Path) -> None:
    """Put a file in a second place: as a link if possible, else as a copy."""
    target.unlink(missing_ok=True)
    try:
        os.link(source, target)
    except OSError:  # another file system, or one without such links
        shutil.copyfile(source, target)


def count_kept(folder: Path) -> int:
    """Return the number of finished shards in a folder."""
    return len(list(folder.glob(_SHARDS)))


@contextmanager
def open_kept(kept: KeptShards, facts: Mapping[str, str], *, is_resumed: bool) -> Iterator[KeptShards]:
    """Yield the finished shards of a run, none if it is a new one; no other process has them meanwhile.

    `facts` are the digests of all that decides the results, by what it is. Raises `ProblemsError` if the
    folder is in use, of another run, or has finished shards although the run is not to be resumed.
    """
    folder = kept.folder
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with claim(folder):
            try:
                found = count_kept(folder)
                if found and not is_resumed:
                    what = f"holds {found:,} finished shards of a run that was interrupted"
                    raise _refusal(folder, what, "go on with --resume, or remove the folder to start again")
                size = _check(folder, facts) if found else _begin(kept, facts)
                yield replace(kept, size=size)
            finally:
                if not count_kept(folder):
                    shutil.rmtree(folder, ignore_errors=True)
    except BusyError:
        raise _refusal(folder, "is in use by another process", "wait for its end") from None


def _begin(kept: KeptShards, facts: Mapping[str, str]) -> int:
    for file in list_leftovers(kept.folder):
        file.unlink(missing_ok=True)
    told = {"size": kept.size, "facts": dict(facts)}
    text = json.dumps({**FORMAT.head(), **told, "checksum": checksum(told)}, indent=1)
    FORMAT.write(kept.folder / HEAD, text.encode("utf-8", "surrogatepass") + b"\n")
    return kept.size


def list_leftovers(folder: Path) -> list[Path]:
    """Return the evidence of shards that were never finished."""
    return [*folder.glob("part-*.parquet"), *folder.glob("violations-*.jsonl")]


def _check(folder: Path, facts: Mapping[str, str]) -> int:
    """Return the size of shards of an interrupted run, if all that decides its results is the same."""
    head = folder / HEAD
    held = FORMAT.decode(head, FORMAT.read_bytes(head) or b"")
    told: dict[str, Any] = {name: held.get(name) for name in ("size", "facts")}
    if held.get("checksum") != checksum(told) or not isinstance(told["size"], int):
        raise FORMAT.refusal(head, "was changed")
    before = told["facts"]
    other = [name for name in {**before, **facts} if before.get(name) != facts.get(name)]
    if other:
        what = f"the interrupted run had another {', another '.join(other)}"
        raise _refusal(
            folder, what, "score with the same to go on, or remove the folder to start again", "other_shards"
        )
    size: int = told["size"]
    return size


def _refusal(folder: Path, what: str, remedy: str, kind: str = "incomplete_run") -> ProblemsError:
    return ProblemsError([Problem(str(folder), what, remedy, kind)])
