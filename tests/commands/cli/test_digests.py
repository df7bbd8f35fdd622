"""The digests of the inputs of a run, in `run.json`."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from command_runs import Ran, write_tiny

from fieldassay.scoring.provenance import inputs as fingerprints


def test_each_input_is_digested_once(
    tmp_path: Path, run: Callable[..., Ran], monkeypatch: pytest.MonkeyPatch
) -> None:
    digest, seen = fingerprints.digest_file, list[str]()
    monkeypatch.setattr(fingerprints, "digest_file", lambda path: seen.append(str(path)) or digest(path))
    files = write_tiny(tmp_path)
    assert run("score", *files.inputs, "--out", tmp_path / "run", "--quiet").code == 0
    recorded = json.loads((tmp_path / "run" / "run.json").read_bytes())["inputs"]["sha256"]
    assert sorted(recorded) == sorted(seen)
    assert recorded == {name: digest(Path(name)) for name in seen}
