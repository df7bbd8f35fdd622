"""A few seconds of `make fuzz`: files made wrong end in a sentence, never in a traceback."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.fuzz.cases import run_case
from tests.fuzz.corpus import TARGETS, make_corpus


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("corpus")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        make_corpus()
    return folder


SAFE = [name for name, target in TARGETS.items() if not target.can_end_the_process]


@pytest.mark.parametrize("name", SAFE)
def test_a_file_made_wrong_is_told_in_a_sentence(name: str, corpus: Path) -> None:
    failures = [failure for seed in range(4) if (failure := run_case(name, seed, corpus)) is not None]
    assert not failures, "\n\n".join(map(str, failures))
