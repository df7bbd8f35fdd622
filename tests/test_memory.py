"""Memory that nobody holds is free at once: no result keeps arrays, tables or given records alive by a cycle."""

import ast
import contextlib
import gc
import gzip
import itertools
import sys
import weakref
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import fieldassay as fa

SPEC = """
fields:
  total: {type: money, currency: AUD}
  when: date
  name: text
  lines: {type: list, align: assignment, items: {type: object, fields: {sku: id, amount: number}}}
checks: {total: number}
gates: [accuracy >= 0.5]
"""
PLAIN = SPEC.replace("checks: {total: number}\n", "")
CALLS, SETTLED = 4, 2
STEPS = 6
"""The references followed from garbage, as far as an array behind a table of a result."""


class GivenRecord(dict[str, Any]):
    """A record that a caller gave."""


def records(shift: int) -> list[GivenRecord]:
    return [
        GivenRecord(
            id=str(at),
            total=f"{at + (at % 7 == 0) * shift}.00 AUD",
            when=f"2024-03-{at % 28 + 1:02}",
            name=f"name {at}",
            lines=[{"sku": f"s{line}", "amount": line + shift} for line in range(4)],
        )
        for at in range(12)
    ]


def score() -> fa.Result:
    gold, new = records(0), records(1)
    return fa.score(gold, {"old": records(0)[:8], "new": new}, SPEC, bootstrap=20)


@pytest.fixture
def work(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[], object]:
    """Return one of the operations; each call of it works in a new folder."""
    numbers = itertools.count()
    works: dict[str, Callable[[Path], object]] = {
        "score": lambda _: score().evidence,
        "report": lambda _: [fa.report(score(), "html"), gc.collect()],  # jinja2 leaves a cycle of its own
        "save and report": lambda here: fa.report(score().save(here / "run"), "markdown"),
        "diff": lambda here: fa.diff(score().save(here / "a"), score().save(here / "b")),
        "extract": lambda here: extract(here),
        "refused": refuse,
    }
    return lambda: works[request.param](tmp_path / str(next(numbers)))


def refuse(here: Path) -> None:
    """Meet what cannot be read in documents, predictions and references: each error ends where it is told."""
    for name in ("documents", "predictions"):
        (here / name).mkdir(parents=True)
    (here / "documents" / "broken.pdf").write_bytes(b"%PDF-1.4 broken")
    (here / "documents" / "1.txt").write_text("Total 1")
    fa.extract(here / "documents", PLAIN, here / "out", lambda document: {}, fa.ExtractOptions(jobs=0))
    (here / "predictions" / "0.json.gz").write_bytes(gzip.compress(b'{"total": 1}')[:-12])
    (here / "predictions" / "1.json").write_text('{"total": 1}')
    given = {"new": str(here / "predictions"), "old": records(1)}
    run = fa.score(records(0), given, PLAIN, bootstrap=20).save(here / "run")
    fa.diff(f"{run.folder}:new", f"{run.folder}:old")
    for reference in ("nope", f"{run.folder}:nope"):
        with contextlib.suppress(fa.ProblemsError):
            fa.diff(reference, run)


def extract(here: Path) -> fa.Result:
    documents = here / "documents"
    documents.mkdir(parents=True)
    for record in records(0)[:4]:
        (documents / f"{record['id']}.txt").write_text(f"{record['name']}\nTotal {record['total']}\n")
    fa.extract(
        documents, SPEC, here / "out", lambda document: {"total": "5.00 AUD"}, fa.ExtractOptions(jobs=0)
    )
    return fa.score(records(0)[:4], here / "out" / "predictions.jsonl", SPEC, match_ids="stem", bootstrap=20)


WORKS = ("score", "report", "save and report", "diff", "extract", "refused")


@pytest.fixture
def settled_collector() -> Iterator[None]:
    """Let the test alone decide when garbage is collected, and see none of the objects that were there before.

    They stay frozen: to look at all that a worker has collected takes a second each time.
    """
    gc.collect()
    gc.freeze()
    gc.disable()
    yield
    gc.set_debug(0)
    gc.garbage.clear()
    gc.enable()


@pytest.mark.parametrize("work", WORKS, indirect=True)
def test_the_number_of_living_objects_does_not_grow(
    work: Callable[[], object], settled_collector: None
) -> None:
    for _ in range(SETTLED):
        work()
    before = count_living()
    for _ in range(CALLS - SETTLED):
        work()
    grown = {name: (before[name], number) for name, number in count_living().items() if number > before[name]}
    assert not grown


def test_a_result_that_is_dropped_is_gone_without_a_collection(settled_collector: None) -> None:
    given = records(0)
    held = weakref.ref(given[0])
    result = fa.score(given, records(1), PLAIN, bootstrap=20)
    del given, result
    assert held() is None


def count_living() -> Counter[str]:
    """Return the number of arrays, tables, given records and objects of each class of the package."""
    kinds = Counter(
        f"{type(one).__module__}.{type(one).__qualname__}"
        for one in reach(gc.get_objects(), STEPS, untracked=True)
    )
    ours = ("numpy.ndarray", "polars.", "fieldassay.", __name__)
    return Counter({name: number for name, number in kinds.items() if name.startswith(ours)})


def reach(objects: list[Any], steps: int, *, untracked: bool = False) -> list[Any]:
    """Return the objects, and what they refer to in so many steps: never by a module, its names or a class.

    With `untracked` only objects that the collector does not list are followed.
    """
    barred = {id(vars(module)) for module in list(sys.modules.values()) if isinstance(module, ModuleType)}
    seen = {id(one): one for one in objects if id(one) not in barred}
    found = list(seen.values())
    for _ in range(steps):
        followed = [one for one in found if not isinstance(one, ModuleType | type)]
        found = []
        for one in gc.get_referents(*followed):
            if id(one) not in seen and id(one) not in barred and not (untracked and gc.is_tracked(one)):
                seen[id(one)] = one
                found.append(one)
    return list(seen.values())


def test_a_cache_whose_arguments_come_from_data_has_a_bound() -> None:
    """A function without parameters keeps one value; `lru_cache` says how many."""
    unbounded = [
        f"{path.name}: {function.name}"
        for path in Path(fa.__path__[0]).rglob("*.py")
        if "cache" in (text := path.read_text(encoding="utf-8"))
        for function in ast.walk(ast.parse(text))
        if isinstance(function, ast.FunctionDef) and ast.unparse(function.args)
        for decorator in map(ast.unparse, function.decorator_list)
        if decorator in ("cache", "functools.cache", "lru_cache") or "maxsize=None" in decorator
    ]
    assert not unbounded
