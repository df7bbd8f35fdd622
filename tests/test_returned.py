"""What the package gives a caller: names that can be asked about, records that are short and stay as they are."""

from __future__ import annotations

import inspect
import pydoc
import subprocess
import sys
import typing
from pathlib import Path
from typing import Any

import pytest

import fieldassay as fa

NAMES = [name for name in fa.__all__ if name != "__version__"]
JOBS = fa.ExtractOptions(jobs=0)
SPEC = {"fields": {f"f{at}": "number" for at in range(12)}, "slices": ["kind"]}


@pytest.mark.parametrize("name", NAMES)
def test_help_signatures_and_annotations_can_be_asked_for(name: str) -> None:
    value = getattr(fa, name)
    assert pydoc.render_doc(value) and inspect.signature(value)
    members = [member for key, member in inspect.getmembers(value, inspect.isfunction) if key[0] != "_"]
    for asked in (value, *members):
        typing.get_type_hints(asked)


def test_dir_and_help_of_the_package_are_the_public_names() -> None:
    assert set(dir(fa)) == set(fa.__all__)
    # In a process of its own: pydoc parses whole files, and what it took (half a gigabyte) would stay.
    told = subprocess.run(
        [sys.executable, "-m", "pydoc", "fieldassay"], capture_output=True, text=True, check=True
    )
    assert {name for name in NAMES if name not in told.stdout} == set()


@pytest.fixture(scope="module")
def returned(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    gold = [{"id": at, "kind": str(at % 9), **{f"f{n}": at for n in range(12)}} for at in range(60)]
    sure = [row | {"f1": 7, "confidence": {f"f{n}": n / 12 for n in range(12)}} for row in gold]
    folder = tmp_path_factory.mktemp("returned")
    result = fa.score(gold, {"a": gold, "b": sure}, SPEC, replicates=200)
    run, file = result.save(folder / "run"), folder / "baseline.json"
    return {
        "result": result, "run": run, "estimate": result.estimates[0], "comparison": result.comparisons[0],
        "diff": fa.diff(f"{run.folder}:a", f"{run.folder}:b"), "gate": fa.gate(result, gates=["accuracy > 0.5"] * 50),
        "calibrate": fa.calibrate(result, system="b"), "baseline": fa.set_baseline(run, file),
        "attribution": fa.attribute(run, systems="b"), "spec": fa.read_spec(SPEC), "plan": fa.read_plan(SPEC),
        "validation": fa.validate(SPEC, gold), "document": fa.explain_document("7", run=run),
        "extraction": fa.extract(_letters(folder), "fields: {a: number}", folder / "out", read, JOBS),
    }  # fmt: skip


def _letters(folder: Path) -> Path:
    letters = folder / "letters"
    letters.mkdir()
    for at in range(20):
        (letters / f"{at}.txt").write_text(f"a {at}")
    return letters


def read(document: Any) -> dict[str, Any]:
    return {"a": document["pages"][0][2:]}


def test_a_repr_is_two_lines_of_a_terminal_at_any_size(returned: dict[str, Any]) -> None:
    assert {name: text for name, value in returned.items() if len(text := repr(value)) > 160} == {}
    assert not any("\n" in repr(value) for value in returned.values())


@pytest.mark.parametrize("name", ["estimate", "comparison", "diff", "extraction"])
def test_what_comes_back_is_imported_from_the_root_and_can_be_in_a_set(
    returned: dict[str, Any], name: str
) -> None:
    assert isinstance(returned[name], getattr(fa, name.capitalize()))
    assert returned[name] in {returned[name]}


def test_counts_and_evidence_cannot_be_changed_under_their_result(returned: dict[str, Any]) -> None:
    result = returned["result"]
    with pytest.raises(TypeError, match="change a copy"):
        result.counts["documents"] = 99
    evidence, rows = result.evidence, len(result.evidence)
    evidence.drop_in_place("gold")
    assert result.evidence.height == rows and "gold" in result.evidence.columns
