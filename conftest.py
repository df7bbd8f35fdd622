"""How the tests run: with the profile's number of examples."""

from __future__ import annotations

import gc
import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from _pytest.doctest import DoctestModule
from _pytest.runner import runtestprotocol
from hypothesis import HealthCheck, settings
from tests.costs import Recorder, beyond, mark_costly, name_of
from tests.effort import is_full
from tests.warm_program import warm_program
from tests.workers import run_in_workers

gc.set_threshold(100_000, 20, 50)  # as the command sets it: cycles are rare, and looking for them is dear

EXAMPLES = {"dev": 14, "ci": 60, "full": 100}
"""Examples of a property in each profile: `pytest --hypothesis-profile ci`."""

for name, examples in EXAMPLES.items():
    # A deadline, or a check that examples come fast, would fail on a busy machine.
    lenient = [HealthCheck.too_slow, HealthCheck.filter_too_much]
    settings.register_profile(name, max_examples=examples, deadline=None, suppress_health_check=lenient)
settings.load_profile("dev")


COSTLY = ("browser", "programs")
"""Fixtures that one worker makes. A test that uses one is slow: it opens a browser, or starts processes."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options of this suite."""
    parser.addoption("--record-costs", action="store_true", help="write tests/costs.txt")
    parser.addoption("--workers", type=int, default=1, help="the number of processes that run tests")


def pytest_configure(config: pytest.Config) -> None:
    """Measure the costs if they are to be recorded."""
    if config.getoption("--record-costs"):
        config.pluginmanager.register(Recorder())


@pytest.hookimpl(wrapper=True)
def pytest_collect_file(file_path: Path) -> Iterator[None]:
    """Look for doctests in the package alone."""
    found = yield
    if not file_path.is_relative_to(Path(__file__).parent / "tests"):
        return found
    return [one for one in found if not isinstance(one, DoctestModule)]


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark the slow tests; leave those of the full size, and all but two cases of a simulation, to `full`."""
    simulated = [item for item in items if "simulations" in item.path.parts]
    if not is_full():
        left = {item for item in items if item.get_closest_marker("full") is not None}
        left |= beyond(simulated, dict.fromkeys(map(name_of, simulated), 2))
        config.hook.pytest_deselected(items=list(left))
        items[:] = [item for item in items if item not in left]
    for item in items:
        if not {*COSTLY}.isdisjoint(getattr(item, "fixturenames", ())) or "simulations" in item.path.parts:
            item.add_marker("slow")
    if not config.getoption("--record-costs"):
        mark_costly(items)


def pytest_collection_finish() -> None:
    """Leave the tests and what they import out of each search for garbage."""
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True, scope="module")
def models_of_one_module() -> Iterator[None]:
    """Let go of models after each file of tests: one takes 150 MB."""
    yield
    comparator = sys.modules.get("fieldassay.values.comparators.embedding")
    if comparator is not None:
        comparator._load.cache_clear()


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> bool:
    """Run a test, and report its call, and what went wrong, not that it was set up."""
    for report in runtestprotocol(item, log=False, nextitem=nextitem):
        if report.when == "call" or not report.passed:
            item.ihook.pytest_runtest_logreport(report=report)
    return True


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session: pytest.Session) -> bool | None:
    """Run the tests in several processes if that is asked for, and nothing went wrong before."""
    number, config = session.config.getoption("--workers"), session.config
    if number < 2 or config.option.collectonly or session.testsfailed or not hasattr(os, "fork"):
        return None
    run_in_workers(session, number, COSTLY)
    return True


@pytest.fixture(scope="session")
def programs() -> Iterator[Path]:
    """Return a folder with the programs `fieldassay` and `pytest`, which start at once."""
    with tempfile.TemporaryDirectory() as folder, warm_program(Path(folder)) as ready:
        yield ready
