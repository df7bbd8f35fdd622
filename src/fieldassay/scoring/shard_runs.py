"""Runs the shards of a scoring run, on this machine or another, and keeps those that are finished."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Generator, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from fieldassay.errors import Problem, ProblemsError
from fieldassay.scoring.options import ScoreOptions
from fieldassay.scoring.outcomes import Done
from fieldassay.scoring.shards import Progress, Work, do_work

if TYPE_CHECKING:
    from fieldassay.scoring.kept_shards import KeptShards

SMALLEST_SHARD = 200
"""Fewer documents than this are not worth a process of their own."""

BATCHES = 5
"""Batches of a shard at most: what a killed process loses, and what is held until it is merged."""

Facts = Callable[[], Mapping[str, str] | None]
"""Makes the digests of all that decides the results, None if an input cannot be read twice."""


def run_shards(
    whole: Work, options: ScoreOptions, facts: Facts, progress: Progress | None = None
) -> Generator[Done]:
    """Yield the results of each shard of the work, in the order of documents.

    If the options name a folder for them, finished shards are kept there, and those of an interrupted run are
    not done again.
    """
    size = _shard_size(len(whole.matching), options)
    folder = options.shards_folder
    if folder is not None and whole.folder is None and options.evidence != "none":
        raise ValueError("shards are kept on disk only together with their evidence: name `evidence_folder`")
    found = None
    if folder is not None and (size < len(whole.matching) or folder.exists()):
        found = facts()
        if found is None and options.resume:
            what, remedy = "an input cannot be read twice", "give files instead of standard input"
            raise ProblemsError([Problem(str(folder), what, remedy, "incomplete_run")])
    if found is None or folder is None:
        yield from _run(_Shards(whole, size, options, None), progress)
        return
    from fieldassay.scoring.kept_shards import DamagedShardError, KeptShards, open_kept

    kept = KeptShards(folder, size, whole.folder)
    with open_kept(kept, found, is_resumed=options.resume) as opened:
        try:
            yield from _run(_Shards(whole, opened.size, options, opened), progress)
        except DamagedShardError:
            raise
        except ProblemsError:
            opened.discard()  # the inputs must change, and then no shard can be taken over
            raise


def _shard_size(documents: int, options: ScoreOptions) -> int:
    size = documents if options.workers == 1 else -(-documents // (options.workers * 4))
    if options.workers > 1 or options.shards_folder is not None or options.engine != "local":
        size = min(size, BATCHES * options.batch)
    return max(size, SMALLEST_SHARD)


class _Shards(Struct, frozen=True, eq=False):
    """The work of a run in shards of contiguous documents, so that their files are in gold order."""

    whole: Work
    size: int
    options: ScoreOptions
    kept: KeptShards | None

    def __len__(self) -> int:
        return -(-len(self.whole.matching) // self.size)

    def work(self, number: int) -> Work:
        """Return the work of one shard, with no more of the sources than it needs."""
        if len(self) == 1:
            return self.whole
        documents = np.arange(len(self.whole.matching))[number * self.size : (number + 1) * self.size]
        matching = self.whole.matching.take(documents)
        return replace(self.whole, matching=matching, number=number, is_local=False)


def _run(shards: _Shards, progress: Progress | None) -> Iterator[Done]:
    kept = shards.kept
    finished = {number for number in range(len(shards)) if kept is not None and kept.has(number)}
    works = (shards.work(number) for number in range(len(shards)) if number not in finished)
    is_alone = shards.options.engine == "local" and (shards.options.workers == 1 or len(shards) == 1)
    outcomes = map(partial(_do_and_keep, kept, progress), works) if is_alone else _run_apart(shards, works)
    for number in range(len(shards)):
        done = kept.load(number) if kept is not None and number in finished else next(outcomes)
        if progress is not None and (number in finished or not is_alone):
            progress(done.documents)
        yield done


def _run_apart(shards: _Shards, works: Iterator[Work]) -> Iterator[Done]:
    """Yield the results of shards that other processes judge."""
    workers, (engine, _, address) = shards.options.workers, shards.options.engine.partition("=")
    if engine == "local":
        from fieldassay.executors.pool import run_pool

        yield from run_pool(partial(_do_and_keep, shards.kept, None), works, workers)
        return
    from fieldassay.executors.ray_tasks import run_ray

    for away in run_ray(_do_away, works, workers, address or None):
        yield _take_home(shards, away)


def _do_and_keep(kept: KeptShards | None, progress: Progress | None, work: Work) -> Done:
    done = do_work(work, progress)
    if kept is not None:
        kept.save(work.number, done)
    return done


class _Away(Struct, frozen=True, eq=False):
    """The results of a shard from another machine, with the content of the files of its evidence."""

    number: int
    done: Done
    files: Mapping[str, bytes]


def _do_away(work: Work) -> _Away:
    """Return the results of a shard, judged where the folder for evidence is not at hand."""
    from fieldassay.scoring.kept_shards import list_files

    if work.folder is None:
        return _Away(work.number, do_work(replace(work, is_local=False)), {})
    with tempfile.TemporaryDirectory(prefix="fieldassay-") as place:
        done = do_work(replace(work, folder=Path(place)))
        files = {file.name: file.read_bytes() for file in list_files(Path(place), work.number)}
    return _Away(work.number, replace(done, frames=()), files)


def _take_home(shards: _Shards, away: _Away) -> Done:
    """Return the results of a shard with its evidence in files here, and keep them."""
    done, folder = away.done, shards.whole.folder
    if folder is not None:
        places = [folder / name for name in away.files]
        for place in places:
            place.write_bytes(away.files[place.name])
        done = replace(done, frames=tuple(place for place in places if place.suffix == ".parquet"))
    if shards.kept is not None:
        shards.kept.save(away.number, done)
    return done
