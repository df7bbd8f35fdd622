"""Runs on disk, made by the real command line."""

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from fieldassay.commands.cli.main import main

Make = Callable[..., Path]


@pytest.fixture(scope="session")
def make_run(tmp_path_factory: pytest.TempPathFactory) -> Make:
    """Return a function that scores systems and returns the run's folder."""

    def make(
        spec: Mapping[str, Any] | str,
        gold: Sequence[Any],
        systems: Mapping[str, Sequence[Any]],
        *options: Any,
        name: str = "run",
    ) -> Path:
        folder = tmp_path_factory.mktemp("runs")
        (folder / "spec.json").write_text(
            spec if isinstance(spec, str) else json.dumps(spec), encoding="utf-8"
        )
        sources = {"gold": gold, **{f"pred-{at}": rows for at, rows in enumerate(systems.values())}}
        for file, rows in sources.items():
            (folder / f"{file}.jsonl").write_text(
                "".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8"
            )
        given = [
            part
            for at, system in enumerate(systems)
            for part in ("--pred", f"{system}={folder / f'pred-{at}.jsonl'}")
        ]
        inputs = ["--spec", str(folder / "spec.json"), "--gold", str(folder / "gold.jsonl"), *given]
        assert main(["score", *inputs, "--out", str(folder / name), "--quiet", *map(str, options)]) == 0
        return folder / name

    return make
