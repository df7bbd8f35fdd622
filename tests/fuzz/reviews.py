"""Bodies of requests to a review made wrong: each is answered in a sentence, and the server goes on.

`python -m tests.fuzz.reviews --count 2000` sends as many as are asked for.
"""

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from random import Random

from tests.fuzz.mutations import mutate_text, mutate_tree
from tests.review.receipts import add, make_receipts
from tests.review.web.served import served

LABEL = {
    "node": "total",
    "state": "value",
    "text": "5.00",
    "regions": [{"page": 1, "box": [0.1, 0.1, 0.2, 0.2], "text": "5.00"}],
    "note": "",
    "active_ms": 900,
    "keys": 3,
    "key": "a",
    "expects": 0,
}
REQUESTS = (
    ("POST", "/api/claim", {}),
    ("PUT", "/api/sheets/1/labels", LABEL),
    ("PUT", "/api/sheets/1/items", {"list": "lines", "items": [1, 2]}),
    ("POST", "/api/sheets/1/finish", {"active_ms": 5}),
    ("POST", "/api/sheets/1/undo", {}),
    ("POST", "/api/read", {"node": "total", "text": "5.00"}),
)


def run(count: int, seed: int) -> Iterator[str]:
    """Yield what is wrong with the answers to requests; nothing where each is answered as it should be."""
    with tempfile.TemporaryDirectory() as folder:
        store = make_receipts(Path(folder) / "review", 3)
        add(store)
        with served(store) as alone:
            for number in range(seed, seed + count):
                rng = Random(number)
                method, path, body = rng.choice(REQUESTS)
                data = json.dumps(mutate_tree(body, rng)).encode()
                data = (
                    mutate_text(data, rng)
                    if rng.random() < 0.3
                    else data.replace(b"0.1", rng.choice((b"0.1", b"1e400")))
                )
                started = time.thread_time()
                answer = alone.ask(method, path, data, "r1")
                if answer.status >= 500 or time.thread_time() - started > 5:
                    yield f"seed {number}: {method} {path}: {answer.status} for {data[:300]!r}"
            assert alone.ask("GET", "/api/form", None, "r1").status < 500


def main() -> int:
    """Send requests, print what is wrong, and return whether anything was."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz.reviews")
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    given = parser.parse_args()
    faults = list(run(given.count, given.seed))
    print("\n".join([f"seed {given.seed}: {given.count} requests, {len(faults)} faults", *faults[:20]]))
    return bool(faults)


if __name__ == "__main__":
    sys.exit(main())
