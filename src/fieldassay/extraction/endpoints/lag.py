"""A probe of how late the threads of this process run: whether measured times can be trusted."""

from __future__ import annotations

import threading
import time
from collections import deque

MOST_LAG = 0.05
"""The largest part of the median time of an answer by which threads may run late."""
_PROBE_SECONDS = 0.05
_KEPT = 20_000


class LagProbe:
    """Sleeps again and again, and notes by how much each sleep was too long."""

    def __init__(self) -> None:
        self._late: deque[float] = deque(maxlen=_KEPT)
        self._stopped = threading.Event()

    def start(self) -> None:
        """Begin to probe, in a thread of its own."""
        threading.Thread(target=self._probe, daemon=True, name="lag").start()

    def stop(self) -> None:
        """End the probe."""
        self._stopped.set()

    def p99_ms(self) -> float | None:
        """Return the 99th percentile in milliseconds, None before there are a hundred probes."""
        late = sorted(self._late)
        return None if len(late) < 100 else late[int(0.99 * (len(late) - 1))] * 1000

    def _probe(self) -> None:
        while not self._stopped.is_set():
            before = time.monotonic()
            time.sleep(_PROBE_SECONDS)
            self._late.append(time.monotonic() - before - _PROBE_SECONDS)
