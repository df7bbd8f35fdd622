"""The tests of `make test-fast`: of each test as many cases as fit into a twentieth of a second.

`make test-costs` measures what each case takes and records how many fit, in `costs.txt`. All others are
marked `slow`. So every claim that is cheap enough is tested with at least one of its cases.
"""

import resource
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.effort import loop_time
from tests.warm_program import warm

RECORD = Path(__file__).with_name("costs.txt")
MOST = 1.0
"""What the cases of one test may take, in loops of a million additions: a twentieth of a second."""


def mark_costly(items: list[pytest.Item]) -> None:
    """Mark the cases of tests beyond those that fit."""
    lines = RECORD.read_text(encoding="utf-8").splitlines()
    for item in beyond(items, {name: int(fits) for fits, _, name in (line.partition(" ") for line in lines)}):
        item.add_marker("slow")


def beyond(items: list[pytest.Item], most: dict[str, int]) -> set[pytest.Item]:
    """Return the cases of tests beyond so many of each; those that stay are spread over the table."""
    cases: dict[str, list[pytest.Item]] = defaultdict(list)
    for item in items:
        cases[name_of(item)].append(item)
    return {
        item
        for name, number in most.items()
        for at, item in enumerate(cases[name])
        if at not in {kept * len(cases[name]) // number for kept in range(number)}
    }


def name_of(item: pytest.Item) -> str:
    """Return the name of a test without its case."""
    return item.nodeid.partition("[")[0]


class Recorder:
    """Measures the processor time of each case, and writes how many of a test fit.

    The time of a fixture that tests share is shared by the cases that use it.
    """

    def __init__(self) -> None:
        self.cases: list[tuple[pytest.Item, float]] = []
        self.fixtures: dict[tuple[str, str], float] = defaultdict(float)
        self.shared = 0.0
        self.unit = ("", 1.0)

    def pytest_sessionstart(self) -> None:
        """Import everything, so that no test is charged for it."""
        warm()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        file = item.nodeid.partition("::")[0]
        if self.unit[0] != file:
            self.unit = (file, loop_time())  # a busy machine takes longer for both
        self.shared, start = 0.0, _time()
        found = yield
        self.cases.append((item, (_time() - start - self.shared) / self.unit[1]))
        return found

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, fixturedef: pytest.FixtureDef[object]) -> Iterator[None]:
        before, start = self.shared, _time()
        found = yield
        if fixturedef.scope != "function":
            spent, inner = _time() - start, self.shared - before
            self.fixtures[fixturedef.argname, fixturedef.baseid] += (spent - inner) / self.unit[1]
            self.shared = before + spent
        return found

    def pytest_sessionfinish(self) -> None:
        totals: dict[str, float] = defaultdict(float)
        for item, cost in self.cases:
            totals[name_of(item)] += cost
        for (name, place), cost in self.fixtures.items():
            users = [item for item, _ in self.cases if _uses(item, name, place)]
            for item in users:
                totals[name_of(item)] += cost / len(users)
        counts = Counter(name_of(item) for item, _ in self.cases)
        lines = [
            f"{int(MOST * counts[name] / total)} {name}"
            for name, total in sorted(totals.items())
            if total > MOST
        ]
        RECORD.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def _uses(item: pytest.Item, fixture: str, place: str) -> bool:
    return item.nodeid.startswith(place) and fixture in getattr(item, "fixturenames", ())


def _time() -> float:
    """Return the processor time of this process, and of those that it started and that have ended."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime
