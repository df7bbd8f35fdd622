"""Runs the tests in forks of the process that collected them: `pytest --workers 2`.

Modules are imported and tests collected once, in memory that the workers share. A worker takes one file after the
other, so that what a module makes is made once; files that use the same costly fixture go to one worker.
"""

import os
import signal
import traceback
from collections import defaultdict
from collections.abc import Collection
from multiprocessing.connection import Connection, Pipe, wait

import pytest

from fieldassay.public import check_fork


class Sender:
    """Sends the reports of a worker's tests, and at its end what went wrong outside of them, or `None`."""

    def __init__(self, line: Connection) -> None:
        self.line = line

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.line.send(report)


def run_in_workers(session: pytest.Session, number: int, costly: Collection[str]) -> None:
    """Run the collected tests in `number` forks and report them here; `costly` names fixtures of the session."""
    session.config._tmp_path_factory.getbasetemp()  # type: ignore[attr-defined]  # one for all workers
    groups = group_by_file(session.items, costly)
    queue, fill = os.pipe()
    os.write(fill, b"".join(at.to_bytes(2, "big") for at in range(len(groups))))
    os.close(fill)
    workers: dict[Connection, int] = {}
    for _ in range(number):
        ours, theirs = Pipe(duplex=False)
        if (process := os.fork()) == 0:
            _work(session.config, queue, groups, theirs)
        theirs.close()
        workers[ours] = process
    try:
        _report(session, workers)
    finally:
        for process in workers.values():
            os.kill(process, signal.SIGKILL)
            os.waitpid(process, 0)


def group_by_file(items: list[pytest.Item], costly: Collection[str]) -> list[list[pytest.Item]]:
    """Return the tests by file, and first, as one group each, those of files that use the same costly fixture."""
    files: dict[str, list[pytest.Item]] = defaultdict(list)
    for item in items:
        files[item.nodeid.partition("::")[0]].append(item)
    groups: dict[str, list[pytest.Item]] = {name: [] for name in costly}
    for file, tests in files.items():
        names = {name for test in tests for name in getattr(test, "fixturenames", ())}
        groups.setdefault(next((name for name in costly if name in names), file), []).extend(tests)
    return [group for group in groups.values() if group]


def _work(config: pytest.Config, queue: int, groups: list[list[pytest.Item]], line: Connection) -> None:
    """Run groups from the queue until it is empty, and end this process."""
    end = None
    try:
        check_fork()  # a module that makes a table while it is imported would stop every test of tables
        capture = config.pluginmanager.getplugin("capturemanager")
        capture.stop_global_capturing()
        capture.start_global_capturing()  # into a file of its own
        config.pluginmanager.unregister(name="terminalreporter")
        config.pluginmanager.register(Sender(line))
        item = None
        while at := os.read(queue, 2):
            for following in groups[int.from_bytes(at, "big")]:
                if item is not None:
                    config.hook.pytest_runtest_protocol(item=item, nextitem=following)
                item = following
        if item is not None:
            config.hook.pytest_runtest_protocol(item=item, nextitem=None)
    except BaseException:
        end = traceback.format_exc()
    finally:
        line.send(end)
        os._exit(0)


def _report(session: pytest.Session, workers: dict[Connection, int]) -> None:
    """Report what the workers send until all have ended; raises `Failed` if one ended before its tests did."""
    running, lost = dict.fromkeys(workers, "no test"), []
    while running:
        for line in wait(list(running)):
            try:
                report = line.recv()
            except EOFError:
                report = "it was killed"
            if isinstance(report, pytest.TestReport):
                running[line] = report.nodeid
                session.config.hook.pytest_runtest_logreport(report=report)
                if session.shouldfail:
                    raise session.Failed(session.shouldfail)
                continue
            last = running.pop(line)
            if report is not None:
                lost.append(f"a worker ended at {last}, or after it: {report}")
    if lost:
        session.shouldfail = "\n".join(lost)
        raise session.Failed(session.shouldfail)
