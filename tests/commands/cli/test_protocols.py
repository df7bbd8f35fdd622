"""`fieldassay protocols`: what ships, as it ships, and as the beginning of a spec of one's own."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from command_runs import Ran

from fieldassay.spec.plan.compile import read_plan
from fieldassay.spec.presets.catalogue import own_copy, preset_heads, preset_names, preset_text

Runner = Callable[..., Ran]
SPECS = [head.name for head in preset_heads() if head.kind == "spec"]
PUBLISHED = {
    "slot-filling",
    "prescription",
    "lab-report",
    "engineering-extractor",
    "entry-matching",
    "entry-matching-mean",
    "business-documents",
}


def test_the_published_protocols_are_there(run: Runner) -> None:
    assert set(SPECS) >= PUBLISHED
    told = json.loads(run("protocols", "list", "--json").out)
    assert [head["name"] for head in told] == list(preset_names())
    assert all(name in run("protocols", "list").out for name in preset_names())


@pytest.mark.parametrize("name", preset_names())
def test_show_prints_the_file_and_the_head_says_version_source_and_purpose(run: Runner, name: str) -> None:
    assert run("protocols", "show", name).out == preset_text(name)
    head = next(head for head in preset_heads() if head.name == name)
    assert head.version and head.description and head.citation
    assert json.loads(run("protocols", "show", name, "--json").out)["name"] == name


@pytest.mark.parametrize("name", SPECS)
def test_a_protocol_compiles_and_so_does_a_copy_with_the_same_rules(
    run: Runner, name: str, tmp_path: Path
) -> None:
    mine = tmp_path / "mine.yaml"
    assert run("protocols", "new", name, "--out", str(mine)).code == 0
    assert mine.read_text() == own_copy(name)
    plan, copy = read_plan(preset_text(name)), read_plan(mine)
    assert (plan.digest, plan.spec.definitions, plan.spec.metrics) == (
        copy.digest,
        copy.spec.definitions,
        copy.spec.metrics,
    )
    assert copy.spec.name == f"my-{name}"
    taken = read_plan({"protocol": name})
    assert (taken.digest, taken.spec.metrics) == (plan.digest, plan.spec.metrics)


def test_a_copy_never_replaces_a_file(run: Runner, tmp_path: Path) -> None:
    mine = tmp_path / "mine.yaml"
    mine.write_text("precious")
    found = run("protocols", "new", "slot-filling", "--out", str(mine))
    assert (found.code, mine.read_text()) == (2, "precious")
