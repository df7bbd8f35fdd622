"""A price is that of the endpoint, of the spec, or published; else it is unknown, and never 0."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.extraction.endpoints.driving import channels, drive, questions
from tests.extraction.endpoints.scripted_server import ScriptedServer

from fieldassay.extraction.endpoints.driver import DriveOptions
from fieldassay.extraction.endpoints.endpoint import Endpoint
from fieldassay.extraction.endpoints.exchange import Usage
from fieldassay.extraction.endpoints.prices import Prices
from fieldassay.spec.language.prices import cost_usd

TABLE = {
    "m": {"prompt": 2.0, "cached_prompt": 0.5, "completion": 10.0},
    "old": {"prompt": 2.0, "completion": 10.0},
}


@pytest.mark.parametrize(
    ("model", "tokens", "cost"),
    [
        ("m", {"prompt": 1e6, "completion": 1e5}, 3.0),
        ("m", {"prompt": 1e6, "cached_prompt": 4e5, "completion": 0}, 1.4),
        ("m", {"prompt": 1e6, "cached_prompt": 2e6, "completion": 0}, 0.5),
        ("old", {"prompt": 1e6, "cached_prompt": 4e5, "completion": 0}, 2.0),
        ("old", {"prompt": 1e6, "image": 4e5, "completion": None}, 2.0),
        ("m", {"prompt": 1, "embedding": 5}, None),
        ("m", {"prompt": None, "cached_prompt": 5}, None),
        ("other", {"prompt": 5}, None),
    ],
)
def test_cached_tokens_are_inside_those_of_the_prompt(
    model: str, tokens: dict[str, float | None], cost: float | None
) -> None:
    assert cost_usd(TABLE, model, tokens) == (None if cost is None else pytest.approx(cost))


def test_the_source_of_a_price_is_on_record() -> None:
    endpoints = {
        "own": Endpoint("own", "https://own.example/v1", prices={"m": {"prompt": 1.0, "completion": 1.0}}),
        "openai": Endpoint("openai", "https://api.openai.com/v1"),
        "local": Endpoint("local", "http://127.0.0.1/v1"),
    }
    prices = Prices(TABLE, endpoints)
    million = {"prompt_tokens": 10**6, "completion_tokens": 0}
    assert prices.cost("own", Usage("m", **million)) == 1.0
    assert prices.cost("openai", Usage("old", **million)) == 2.0
    assert prices.cost("local", Usage("gpt-5-mini", **million)) is None
    assert prices.cost("openai", Usage("m")) is None
    assert prices.sources == {"m": "endpoint", "old": "spec", "gpt-5-mini": "unknown"}


def test_published_prices_are_those_of_the_package() -> None:
    genai_prices = pytest.importorskip("genai_prices")
    prices = Prices({}, {"openai": Endpoint("openai", "https://api.openai.com/v1")})
    for count in (400_000, 0):
        usage = Usage("gpt-5-mini", 10**6, count, 10**5)
        expected = genai_prices.calc_price(
            genai_prices.Usage(input_tokens=10**6, cache_read_tokens=count, output_tokens=10**5), "gpt-5-mini"
        )
        assert prices.cost("openai", usage) == pytest.approx(float(expected.total_price))
    assert prices.cost("openai", Usage("no-such-model", 5, None, 5)) is None
    assert prices.sources["gpt-5-mini"].startswith("genai-prices ")
    prices.close()


def run(tmp_path: Path, limit: float, count: int = 40) -> tuple[int, float, str]:
    prices = Prices({"m": {"prompt": 1000.0, "completion": 1000.0}}, {}, published=False)
    options = DriveOptions(price=prices.cost, max_cost_usd=limit)
    with ScriptedServer() as server:
        found, summary = drive(questions(count), tmp_path, channels(server.url, max_in_flight=8), options)
    return len(found), summary.progress.spent_usd, "" if summary.stop is None else summary.stop.kind


def test_a_limit_of_cost_is_kept_and_used(tmp_path: Path) -> None:
    """A document costs 0.12 USD; the estimate before the first is 1.03 USD."""
    done, spent, stop = run(tmp_path, 3.0)
    assert stop == "budget" and spent == pytest.approx(0.12 * done) and 2.7 < spent <= 3.0
    done, spent, stop = run(tmp_path, 100.0)
    assert (done, stop) == (40, "") and spent == pytest.approx(0.12 * 40)


def test_a_limit_of_cost_needs_a_price(tmp_path: Path) -> None:
    with ScriptedServer() as server:
        options = DriveOptions(max_cost_usd=1.0)
        found, summary = drive(questions(2), tmp_path, channels(server.url), options)
    assert not found and not server.hits
    assert summary.stop is not None and "price of m is unknown" in summary.stop.message


def test_documents_that_are_reused_cost_nothing_now(tmp_path: Path) -> None:
    prices = Prices({"m": {"prompt": 1.0, "completion": 1.0}}, {}, published=False)
    options = DriveOptions(price=prices.cost)
    with ScriptedServer() as server:
        first, one = drive(questions(3), tmp_path, channels(server.url), options)
        again, two = drive(questions(3), tmp_path, channels(server.url), options)
    assert [again[key].cost_usd for key in first] == [first[key].cost_usd for key in first] == [0.00012] * 3
    assert one.progress.spent_usd == pytest.approx(0.00036) and two.progress.spent_usd == 0
