"""The window finds a limit that nobody tells it; a gate lets in what fits, in order."""

from __future__ import annotations

import threading
import time

import pytest
from tests.extraction.endpoints.provider import Provider, simulate

from fieldassay.extraction.endpoints.limiter import ByteRoom, Gate, Window

PROVIDERS = {
    "1 place": Provider(places=1),
    "3 places": Provider(places=3),
    "13 places": Provider(places=13),
    "50 places": Provider(places=50),
    "50 places, no Retry-After": Provider(places=50, tells=False),
    "200 places": Provider(places=200),
    "5 a second": Provider(per_second=5),
    "50 a second, no Retry-After": Provider(per_second=50, tells=False),
    "1 in two seconds": Provider(per_second=0.5),
    "50 places, away for two minutes": Provider(places=50, away=(50, 170)),
}


@pytest.mark.parametrize("provider", PROVIDERS.values(), ids=PROVIDERS.keys())
def test_the_window_finds_the_limit_of_a_provider_and_nobody_starves(provider: Provider) -> None:
    seen = simulate(provider, Window(256), seconds=800)
    assert 0.85 <= seen.answers_per_second / provider.best() <= 1.05
    assert seen.longest_wait < 60 + provider.away[1] - provider.away[0] and seen.refused <= seen.answered


def test_a_window_that_is_not_used_does_not_grow() -> None:
    window = Window(256)
    for _ in range(1000):
        window.succeeded(0.0, inside=10)
    assert window.limit == 20
    for _ in range(20):
        window.succeeded(0.0, inside=20)
    assert window.limit == 40


def test_the_refusals_of_one_moment_cut_the_window_once() -> None:
    window = Window(256)
    for _ in range(15):
        window.refused(now=10.0, sent_at=9.0, retry_after_s=3.0)
    assert window.limit == 16 and window.wait(11.0, 1, 0) == 2.0 and window.wait(13.0, 1, 0) == 0


def test_a_late_refusal_does_not_prolong_the_pause() -> None:
    window = Window(256)
    window.refused(now=10.0, sent_at=9.0, retry_after_s=3.0)
    window.refused(now=12.9, sent_at=9.5, retry_after_s=3.0)
    assert window.wait(13.0, 1, 0) == 0


def test_what_is_larger_than_all_room_goes_alone() -> None:
    room = ByteRoom(100)
    assert room.wait(0, 500, 0) == 0 and room.wait(0, 1, 500) == float("inf") and room.wait(0, 60, 40) == 0


def test_a_gate_lets_in_by_order_of_arrival_and_never_more_than_fits() -> None:
    gate, order, most, guard = Gate(ByteRoom(3)), [], [0], threading.Lock()

    def pass_through(number: int) -> None:
        assert gate.enter(1, time.monotonic() + 600)
        with guard:
            order.append(number)
            most[0] = max(most[0], gate.inside)
        gate.leave(1)

    assert gate.enter(3, time.monotonic() + 600)
    threads = []
    for number in range(20):
        threads.append(threading.Thread(target=pass_through, args=(number,)))
        threads[-1].start()
        while len(gate._waiting) <= number:
            time.sleep(0.001)
    gate.leave(2)
    for thread in threads:
        thread.join(600)
    assert sorted(order) == list(range(20)) and order[0] in (0, 1) and most[0] <= 3


def test_a_closed_gate_sends_everybody_away() -> None:
    gate, found = Gate(ByteRoom(1)), []
    assert gate.enter(1, time.monotonic() + 600)
    threads = [threading.Thread(target=lambda: found.append(gate.enter(1, float("inf")))) for _ in range(5)]
    for thread in threads:
        thread.start()
    gate.close()
    for thread in threads:
        thread.join(600)
    assert found == [False] * 5


def test_a_place_that_does_not_come_in_time_is_given_up() -> None:
    gate = Gate(ByteRoom(1))
    assert gate.enter(1, time.monotonic() + 600) and not gate.enter(1, time.monotonic() + 0.01)
