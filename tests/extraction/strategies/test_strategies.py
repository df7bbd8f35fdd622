"""Claims that hold for every strategy."""

import json
import subprocess
import sys
from dataclasses import replace

import pytest
from tests.extraction.strategies import extraction

from fieldassay.documents.layout.text import page_text
from fieldassay.extraction.answers import leaves_of
from fieldassay.extraction.endpoints.exchange import Answer, Failure
from fieldassay.extraction.evidence import field_steps
from fieldassay.extraction.fields import plan_leaves
from fieldassay.extraction.strategies.calls import Command, Function
from fieldassay.extraction.strategies.prompted import Prompted
from fieldassay.extraction.strategies.rules.strategy import Rules
from fieldassay.extraction.strategies.verify import Verify
from fieldassay.extraction.strategy import Strategy, Task
from fieldassay.paths import join_path
from fieldassay.spec.language.parse import read_spec
from fieldassay.spec.plan.compile import compile_plan

DRIVING = ("example_files", "extract", "predictions", "open_system")
"""Modules that drive strategies: they load documents and write folders."""

HEAVY = ("httpx2", "pypdfium2", "numpy", "scipy", "jinja2")


@pytest.mark.slow
def test_importing_strategies_loads_nothing_heavy():
    code = (
        "import sys, importlib, pkgutil, fieldassay.extraction as e\n"
        "names = [m.name for m in pkgutil.walk_packages(e.__path__, 'fieldassay.extraction.')]\n"
        f"names = [n for n in names if n.split('.')[-1] not in {DRIVING!r}]\n"
        "[importlib.import_module(n) for n in names]\n"
        f"print([m for m in {HEAVY!r} if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


SPEC = read_spec(extraction.SPEC)
PLANNED = plan_leaves(compile_plan(SPEC))
FOREIGN = {**extraction.RECORD, "invented": "x"}
CASES = [
    ("rules", Rules(), None),
    ("prompted", Prompted("e", "m"), extraction.answer(FOREIGN)),
    ("prompted with quotes", Prompted("e", "m", verify=Verify(quotes="flag")), extraction.answer(FOREIGN)),
    ("command", Command(("own",)), extraction.answer(FOREIGN)),
    ("function", Function("own:extract"), extraction.answer({"record": FOREIGN, "confidence": {"total": 0.5}})),
]  # fmt: skip


@pytest.fixture(params=CASES, ids=[case[0] for case in CASES])
def played(request):
    _, strategy, reply = request.param

    def play(text=extraction.INVOICE, given=reply, spec=SPEC):
        return extraction.play(strategy, extraction.document(text), Task(spec), lambda asked: given)

    return strategy, play


def test_it_is_a_frozen_value(played):
    strategy, _ = played
    assert isinstance(strategy, Strategy) and strategy == replace(strategy) and hash(strategy)


def test_it_gives_the_same_twice(played):
    _, play = played
    assert play() == play()


def test_a_failed_answer_is_its_failure(played):
    strategy, play = played
    if isinstance(strategy, Rules):
        return
    _, found = play(given=Answer(None, Failure("rate_limited", "slow down")))
    assert found.record is None and found.failure.kind == "rate_limited"


def test_equal_options_are_the_same_text_and_ask_the_same(played):
    strategy, play = played
    assert repr(strategy) == repr(replace(strategy))
    assert [one.body for one in play()[0]] == [one.body for one in play()[0]]


def test_every_declared_field_has_a_key_and_no_other_has(played):
    _, found = played[1]()
    assert list(found.record) == [field.name for field in SPEC.fields]
    assert all(list(item) == ["item", "count", "amount"] for item in found.record["lines"])


def test_what_the_document_does_not_say_is_null(played):
    _, found = played[1]()
    assert found.record["status"] is None


def test_no_item_of_a_list_is_empty(played):
    _, found = played[1]()
    assert all(any(value is not None for value in item.values()) for item in found.record["lines"])


def test_evidence_and_confidence_are_of_values_that_are_there(played):
    _, found = played[1]()
    there = {join_path(steps) for steps, value in leaves_of(found.record)}
    assert found.evidence.keys() == there and found.confidence.keys() <= there


def test_evidence_can_be_looked_up_in_the_document(played):
    _, found = played[1]()
    text = page_text(extraction.document(extraction.INVOICE).pages[0]).text
    placed = [one for one in found.evidence.values() if one.page is not None]
    assert placed and all(text[one.start : one.end] == one.quote for one in placed)


def test_confidences_are_shares(played):
    _, found = played[1]()
    assert all(0 <= one <= 1 for one in found.confidence.values())


def test_the_record_is_plain_json(played):
    _, found = played[1]()
    assert json.loads(json.dumps(found.record)) == found.record


def test_values_of_one_kind_can_be_read_by_their_types(played):
    _, found = played[1]()
    for steps, value in leaves_of(found.record):
        assert PLANNED[field_steps(steps)].reader.read(value).problem is None
