"""A few seconds of `make fuzz`: files made wrong end in a sentence, never in a traceback."""

from pathlib import Path

import pytest
from tests.effort import is_full
from tests.fuzz.cases import find_lost_rows, run_case
from tests.fuzz.corpus import TARGETS, make_corpus
from tests.fuzz.reviews import run


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
    count = 2_000 // len(SAFE) if is_full() else 4
    failures = [failure for seed in range(count) if (failure := run_case(name, seed, corpus)) is not None]
    assert not failures, "\n\n".join(map(str, failures))


def test_requests_made_wrong_are_answered() -> None:
    assert not list(run(2_000 if is_full() else 60, seed=7))


def test_a_row_that_is_lost_is_noticed(corpus: Path) -> None:
    gold, pred = ((corpus / f"{name}.jsonl").read_bytes() for name in ("gold", "pred"))
    assert not find_lost_rows(gold, "gold", corpus / "run") and not find_lost_rows(
        pred, "pred", corpus / "run"
    )
    more = b'{"id": "other"}\n'
    assert find_lost_rows(gold + more, "gold", corpus / "run") == "gold without a score: ['other']"
    assert (
        find_lost_rows(pred + more, "pred", corpus / "run") == "1 predictions without gold, and 0 are counted"
    )
