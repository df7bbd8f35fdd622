"""The server of a review under load, and killed: `python bench/review.py load|kill`."""

import argparse
import random
import shutil
import statistics
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from tests.review.web.hammer import Client, Server, check, make_large, work


def percentile(values, share):
    return statistics.quantiles(values, n=100)[int(share * 100) - 1] if len(values) > 1 else float("nan")


def tell(name, values):
    print(
        f"{name:<8} n {len(values):>7,}  median {1000 * statistics.median(values):7.1f} ms  "
        f"p95 {1000 * percentile(values, 0.95):7.1f} ms  p99 {1000 * percentile(values, 0.99):7.1f} ms"
    )


def load(folder, options):
    begun = time.monotonic()
    store = make_large(folder, options.documents, options.clients)
    print(
        f"new: {options.documents:,} documents, {10 * options.documents:,} values: {time.monotonic() - begun:.1f} s, "
        f"{store.file.stat().st_size / 1e6:,.0f} MB"
    )
    server = Server(folder)
    first = Client(0)
    first.sign_in(server.port)
    for name, path in (("page", "/"), ("form", "/api/form")):
        times = []
        for _ in range(40):
            begun = time.monotonic()
            request = urllib.request.Request(
                f"http://127.0.0.1:{server.port}{path}", headers={"Cookie": first.cookie}
            )
            urllib.request.urlopen(request).read()
            times.append(time.monotonic() - begun)
        tell(name, times)
    clients = [Client(number) for number in range(options.clients)]
    work(clients, server.port, options.seconds)
    server.stop()
    for name in ("claim", "save"):
        tell(name, [one for client in clients for one in client.times[name]])
    begun = time.monotonic()
    acknowledged, faults = check(store, clients)
    print(
        f"{acknowledged:,} labels by {options.clients} clients in {options.seconds:g} s; "
        f"{len(faults)} faults {faults[:3]}; checked in {time.monotonic() - begun:.1f} s"
    )


def kill(folder, options):
    store = make_large(folder, options.documents, options.clients)
    clients, chance = [Client(number) for number in range(options.clients)], random.Random(options.seed)
    for number in range(options.rounds):
        server = Server(folder)
        work(clients, server.port, chance.random(), server)
        if number % 20 == 19:
            print(
                f"{number + 1} killed, {sum(len(one.acknowledged) for one in clients):,} acknowledged",
                flush=True,
            )
    server = Server(folder)
    work(clients, server.port, 1.0)
    server.stop()
    acknowledged, faults = check(store, clients)
    print(
        f"{options.rounds} x kill -9: {acknowledged:,} acknowledged labels, {len(faults)} faults {faults[:3]}"
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["load", "kill"])
    parser.add_argument("--documents", type=int, default=100_000)
    parser.add_argument("--clients", type=int, default=8)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="fieldassay-review-"))
    try:
        {"load": load, "kill": kill}[options.what](folder, options)
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
