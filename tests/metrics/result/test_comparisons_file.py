from __future__ import annotations

import pytest

from fieldassay.errors import ProblemsError
from fieldassay.metrics.comparisons.pairwise import contest
from fieldassay.metrics.result.comparison import Comparisons, comparisons_json, read_comparisons
from fieldassay.scoring.inputs import ScoreOptions
from fieldassay import score

GOLD = [{"id": at, "kind": f"k{at % 2}", "total": at} for at in range(12)]


def test_the_file_gives_back_what_was_written() -> None:
    systems = {
        name: [{"id": at, "total": at if at % step else 0} for at in range(12)]
        for name, step in {"a": 2, "b": 3, "c": 5}.items()
    }
    result = score(
        GOLD,
        {**systems, "silent": [{"id": 0}]},
        "fields: {total: number}",
        ScoreOptions(slices=("kind",), metrics=("precision",)),
    )
    made = Comparisons(result.comparisons, result.rankings)
    assert {one.verdict for one in made.comparisons} >= {"undefined", "no_difference_shown"}
    assert any(one.slice for one in made.comparisons)
    assert made.rankings[0].places[-1].value is None
    assert read_comparisons(comparisons_json(made)) == made
    assert result.paired is not None
    assert comparisons_json(contest(result.paired, "a")) == comparisons_json(made)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"[]",
        b'{"schema_version": 2}',
        b'{"schema_version": 1, "comparisons": [{}], "rankings": []}',
        b"\xff",
        b"[" * 100_000,
    ],
    ids=["empty", "list", "version", "not a comparison", "bytes", "deep"],
)
def test_other_files_are_refused(data: bytes) -> None:
    with pytest.raises(ProblemsError) as caught:
        read_comparisons(data)
    assert caught.value.problems[0].kind == "bad_comparisons_file"
