"""Collects the problems of one source, with their places."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from fieldassay.errors import Problem, ProblemsError
from fieldassay.paths import Step, join_path
from fieldassay.regex import lazy_regex

_LINE = lazy_regex(r":([0-9]{1,9}): [$]")

Steps = tuple[Step, ...]
Lines = Mapping[Steps, int]


def no_lines() -> Lines:
    """Return an empty mapping: no line is known."""
    return {}


class Places:
    """Locates steps in a source: `spec.yaml:12: $.fields.TOTAL.type`.

    `lines` is called once, for the first problem, since finding the lines may cost a second parse. `origins`
    maps places of a spec made from another source (a JSON Schema) to places there; the longest known prefix
    counts.
    """

    def __init__(
        self, label: str, lines: Callable[[], Lines] = no_lines, origins: Mapping[Steps, Steps] | None = None
    ) -> None:
        self.label = label
        self._find_lines = lines
        self._lines: Lines | None = None
        self._origins = origins or {}

    def where(self, steps: Steps) -> str:
        """Return the place as text, with the line of the longest prefix that has one."""
        steps = self._origin(steps)
        if self._lines is None:
            self._lines = self._find_lines()
        line = next(
            (self._lines[steps[:n]] for n in range(len(steps), 0, -1) if steps[:n] in self._lines), None
        )
        label = self.label if line is None else f"{self.label}:{line}"
        path = join_path(steps)
        return f"{label}: ${'' if not path or path.startswith('[') else '.'}{path}"

    def with_origins(self, origins: Mapping[Steps, Steps]) -> Places:
        """Return the same places for a spec made from this source."""
        return Places(self.label, self._find_lines, origins)

    def _origin(self, steps: Steps) -> Steps:
        for n in range(len(steps), -1, -1):
            if steps[:n] in self._origins:
                return (*self._origins[steps[:n]], *steps[n:])
        return steps


class Report:
    """The problems of one source so far."""

    def __init__(self, places: Places) -> None:
        self.places = places
        self.problems: list[Problem] = []

    def add(self, steps: Steps, what: str, remedy: str = "", kind: str = "invalid") -> None:
        """Note a problem at a place of the source."""
        self.problems.append(Problem(self.places.where(steps), what, remedy, kind))

    def raise_any(self) -> None:
        """Raise `ProblemsError` with every distinct problem, if any."""
        if self.problems:
            raise ProblemsError(in_order(self.problems))


def in_order(problems: Iterable[Problem]) -> tuple[Problem, ...]:
    """Return the distinct problems in the order of their lines; those without a line come first.

    >>> [problem.where for problem in in_order([Problem("a:9: $", "x"), Problem("a:2: $", "y")])]
    ['a:2: $', 'a:9: $']
    """
    return tuple(sorted(dict.fromkeys(problems), key=_line))


def _line(problem: Problem) -> int:
    found = _LINE.search(problem.where)
    return int(found[1]) if found else 0
