"""What a strategy that asks nobody does with a document is within the limits of the document's worker."""

from __future__ import annotations

import pickle
from functools import partial

import pytest
from tests.effort import cost, is_full

from fieldassay.documents.load import load_bytes
from fieldassay.documents.pool import DocumentPool, Limits
from fieldassay.documents.transcript import DocumentError
from fieldassay.extraction.extract import extract_alone
from fieldassay.extraction.strategies.rules.strategy import Rules
from fieldassay.extraction.strategy import Task
from fieldassay.spec.plan.compile import read_plan

pytestmark = pytest.mark.slow

SPEC = read_plan(
    "fields: {total: money, number: id, lines: {items: {fields: {sku: text, price: money}}}}"
).spec
HOSTILE = {
    "wide.csv": lambda n: "\n".join(",".join([cell] * n) for cell in ("c", "5.00")),
    "line.txt": lambda n: "Total 5.00 " * n,
}


@pytest.mark.parametrize("name", HOSTILE)
def test_rules_take_time_in_proportion_to_a_row(name: str) -> None:
    alone = pickle.dumps((Rules(), Task(SPEC)))
    few = 4_000 if is_full() else 1_500
    documents = [load_bytes(HOSTILE[name](few * times).encode(), name) for times in (1, 1, 8)]
    _, short, long = (cost(partial(extract_alone, alone, document)) for document in documents)
    assert long < 8 * 3 * short


def test_a_strategy_that_takes_too_long_fails_with_the_reason_and_the_worker_goes_on() -> None:
    alone = pickle.dumps((Rules(), Task(SPEC)))
    long, short = (load_bytes(HOSTILE["line.txt"](n).encode(), "line.txt") for n in (200_000, 1))
    with DocumentPool(1, Limits(seconds=1.0)) as pool:
        with pytest.raises(DocumentError, match=r"took longer than 1 s") as caught:
            pool.submit(extract_alone, alone, long).result()
        assert caught.value.kind == "loader_timeout"
    with DocumentPool(1) as pool:
        assert pool.submit(extract_alone, alone, short).result().record["total"] == "5.00"
