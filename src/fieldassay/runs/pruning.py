"""Which runs of a store are old enough to go, and what killed processes left in it."""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from pathlib import Path

from msgspec import Struct

from fieldassay.atomic.staging import Leftover, discard, list_foreign, list_leftovers
from fieldassay.atomic.whole_files import list_leftover_files
from fieldassay.errors import Problem, ProblemsError
from fieldassay.regex import lazy_regex
from fieldassay.runs.listing import list_stored
from fieldassay.runs.run import Run
from fieldassay.runs.run_file import OWN_FILES

_AGE = lazy_regex(r"([0-9]{1,5})([hdw])", re.ASCII)
_UNITS = {"h": "hours", "d": "days", "w": "weeks"}


class Pruning(Struct, frozen=True):
    """The folders to remove from a store, and the old ones that stay.

    Tagged runs stay, damaged ones, which need a look, and those with files that are not the run's own
    (`foreign`).
    """

    runs: tuple[Run, ...]
    tagged: tuple[Run, ...]
    damaged: tuple[Run, ...]
    foreign: tuple[Run, ...]
    leftovers: tuple[Leftover, ...]

    def to_dict(self) -> dict[str, list[str]]:
        """Return the folders as JSON data.

        Removed are `runs` and `leftovers`; kept are `tagged`, `damaged` and `foreign`.
        """
        found = {
            name: [str(one.folder) for one in getattr(self, name)]
            for name in ("runs", "tagged", "damaged", "foreign")
        }
        return {**found, "leftovers": [str(one.path) for one in self.leftovers]}


def plan_pruning(
    store: Path, now: datetime, keep: int | None = None, age: timedelta | None = None
) -> Pruning:
    """Return the removals after which the `keep` newest runs stay, or those no older than `age`.

    Leftovers of dead processes are always removed; without `keep` and `age` no run is. Raises `ProblemsError`
    if there is no such store.
    """
    runs = list_stored(store).runs
    old: tuple[Run, ...] = ()
    if keep is not None:
        old = runs[keep:]
    elif age is not None:
        old = tuple(run for run in runs if run.started < now - age)
    tagged = tuple(run for run in old if run.tags)
    damaged = tuple(run for run in old if run.damage and not run.tags)
    files = (
        path for folder in (store, *(run.folder for run in runs)) for path in list_leftover_files(folder)
    )
    dead = (
        *(leftover for leftover in list_leftovers(store, now) if not leftover.is_alive),
        *(Leftover(path, is_alive=False) for path in files),
    )
    sound = [run for run in old if not run.tags and not run.damage]
    foreign = tuple(run for run in sound if list_foreign(run.folder, OWN_FILES))
    return Pruning(tuple(run for run in sound if run not in foreign), tagged, damaged, foreign, dead)


def prune(plan: Pruning) -> None:
    """Remove everything in a plan.

    Raises `ProblemsError` with everything that could not be removed, after the rest was.
    """
    problems: list[Problem] = []
    for path in (*(run.folder for run in plan.runs), *(leftover.path for leftover in plan.leftovers)):
        try:
            discard(path)
        except FileNotFoundError:  # another process was faster
            continue
        except OSError as error:
            problems.append(
                Problem(
                    str(path),
                    f"cannot be removed ({error.strerror or error})",
                    "see who may write there",
                    "run_folder",
                )
            )
    if problems:
        raise ProblemsError(problems)


def parse_age(text: str) -> timedelta:
    """Return a length of time; raises ValueError for what is none.

    >>> parse_age("30d").days, parse_age("2w").days
    (30, 14)
    """
    found = _AGE.fullmatch(text.strip())
    if found is None:
        raise ValueError(f"{text[:50]!r} is no age: write a number with h, d or w, such as 30d")
    return timedelta(**{_UNITS[found[2]]: int(found[1])})
