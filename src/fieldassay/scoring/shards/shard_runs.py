"""Runs the shards of a scoring run, in this process, in others, or on other machines."""

from __future__ import annotations

import tempfile
from collections.abc import Generator, Iterator, Mapping
from pathlib import Path

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from fieldassay.scoring.inputs.options import ScoreOptions
from fieldassay.scoring.shards.outcomes import Done
from fieldassay.scoring.shards.work import Progress, Work, do_work

SMALLEST_SHARD = 200
"""Fewer documents than this are not worth a process of their own."""

BATCHES = 5
"""Batches of a shard at most: what another process holds until it is merged."""


def run_shards(whole: Work, options: ScoreOptions, progress: Progress | None = None) -> Generator[Done]:
    """Yield the results of each shard of the work, in the order of documents."""
    shards = _Shards(whole, _shard_size(len(whole.matching), options))
    works = map(shards.work, range(len(shards)))
    if options.engine == "local" and (options.workers == 1 or len(shards) == 1):
        for work in works:
            yield do_work(work, progress)
        return
    for done in _run_apart(whole, works, options):
        if progress is not None:
            progress(done.documents)
        yield done


def _shard_size(documents: int, options: ScoreOptions) -> int:
    size = documents if options.workers == 1 else -(-documents // (options.workers * 4))
    if options.workers > 1 or options.engine != "local":
        size = min(size, BATCHES * options.batch)
    return max(size, SMALLEST_SHARD)


class _Shards(Struct, frozen=True, eq=False):
    """The work of a run in shards of contiguous documents, so that their files are in gold order."""

    whole: Work
    size: int

    def __len__(self) -> int:
        return -(-len(self.whole.matching) // self.size)

    def work(self, number: int) -> Work:
        """Return the work of one shard, with no more of the sources than it needs."""
        if len(self) == 1:
            return self.whole
        documents = np.arange(len(self.whole.matching))[number * self.size : (number + 1) * self.size]
        matching = self.whole.matching.take(documents)
        return replace(self.whole, matching=matching, number=number, is_local=False)


def _run_apart(whole: Work, works: Iterator[Work], options: ScoreOptions) -> Iterator[Done]:
    """Yield the results of shards that other processes judge."""
    engine, _, address = options.engine.partition("=")
    if engine == "local":
        from fieldassay.io.workers.pool import run_pool

        yield from run_pool(do_work, works, options.workers)
        return
    from fieldassay.io.workers.ray_tasks import run_ray

    for away in run_ray(_do_away, works, options.workers, address or None):
        yield _take_home(away, whole.folder)


class _Away(Struct, frozen=True, eq=False):
    """The results of a shard from another machine, with the content of the files of its evidence."""

    done: Done
    files: Mapping[str, bytes]


def _do_away(work: Work) -> _Away:
    """Return the results of a shard, judged where the folder for evidence is not at hand."""
    if work.folder is None:
        return _Away(do_work(replace(work, is_local=False)), {})
    with tempfile.TemporaryDirectory(prefix="fieldassay-") as place:
        done = do_work(replace(work, folder=Path(place)))
        files = {file.name: file.read_bytes() for file in sorted(Path(place).iterdir())}
    return _Away(replace(done, frames=()), files)


def _take_home(away: _Away, folder: Path | None) -> Done:
    """Return the results of a shard with its evidence in files here."""
    if folder is None:
        return away.done
    for name, content in away.files.items():
        (folder / name).write_bytes(content)
    violations = {
        system: tuple(part if isinstance(part, bytes) else folder / part.name for part in parts)
        for system, parts in away.done.violations.items()
    }
    frames = tuple(folder / name for name in away.files if name.endswith(".parquet"))
    return replace(away.done, frames=frames, violations=violations)
