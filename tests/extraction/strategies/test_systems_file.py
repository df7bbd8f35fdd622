"""The file of systems: what it says, the systems of a matrix, and every problem at once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from fieldassay.errors import ProblemsError
from fieldassay.extraction.systems.systems_file import read_systems

BASE: dict[str, Any] = {"strategy": "prompted", "endpoint": "local", "model": "m"}
LOCAL = {"local": {"url": "http://127.0.0.1:1/v1"}}


def test_options_become_those_of_the_strategy() -> None:
    options = {
        **BASE,
        "input": {"as": "text"},
        "examples": {"from": "train.jsonl", "select": "nearest", "k": 2},
        "decode": {"format": "text", "logprobs": True, "max_tokens": 10},
        "verify": {"quotes": "require"},
        "split": {"pages": 8, "overlap": 1, "fields": 40},
    }
    made = read_systems({"endpoints": LOCAL, "systems": {"base": options}}).systems["base"].strategy
    assert (made.input.form, made.examples.source, made.examples.k) == ("text", "train.jsonl", 2)
    assert (made.decode.format, made.decode.logprobs, made.decode.max_tokens) == ("text", True, 10)
    assert (made.verify.quotes, made.split.pages, made.prompt.name) == ("require", 8, "extract-1")


def test_none_is_the_default_of_a_part() -> None:
    made = read_systems(
        {"endpoints": LOCAL, "systems": {"a": {**BASE, "examples": "none", "verify": "none"}}}
    )
    assert made.systems["a"].strategy.examples is None
    assert made.systems["a"].strategy.verify.quotes == "none"


def test_a_matrix_makes_a_system_of_every_combination() -> None:
    matrix = {"base": {"verify": ["none", {"quotes": "require"}], "model": ["m", "n"]}}
    found = read_systems({"endpoints": LOCAL, "systems": {"base": BASE}, "matrix": matrix}).systems
    assert list(found) == [
        "base_verify=none_model=m",
        "base_verify=none_model=n",
        "base_verify=quotes-require_model=m",
        "base_verify=quotes-require_model=n",
    ]
    last = found["base_verify=quotes-require_model=n"]
    assert (last.base, last.factors, last.strategy.model) == (
        "base",
        {"verify": "quotes-require", "model": "n"},
        "n",
    )


@pytest.mark.parametrize(
    ("data", "told"),
    [
        ({"systems": {"a": {"strategy": "promted"}}}, "did you mean 'prompted'?"),
        ({"systems": {"a": {"strategy": "rules", "leest": 1}}}, "did you mean 'least'?"),
        ({"systems": {"a": {}}}, "has no strategy"),
        ({"systems": {}}, "has no system"),
        ({"systems": {"a/b": {"strategy": "rules"}}}, "cannot name a folder"),
        ({"systems": {"run": {"strategy": "rules"}}}, "cannot name a folder"),
        ({"systems": {"Transcripts": {"strategy": "rules"}}}, "cannot name a folder"),
        ({"systems": {"sweep.json": {"strategy": "rules"}}}, "cannot name a folder"),
        ({"systems": {"CON": {"strategy": "rules"}}}, "cannot name a folder"),
        ({"systems": {"lpt1.v2": {"strategy": "rules"}}}, "cannot name a folder"),
        ({"systems": {"a.": {"strategy": "rules"}}}, "cannot name a folder"),
        ({"endpoints": LOCAL, "systems": {"a": {**BASE, "model": 3}}}, "write it in quotes"),
        ({"endpoints": LOCAL, "systems": {"a": {**BASE, "model": ""}}}, "is empty"),
        ({"endpoints": LOCAL, "systems": {"a": {**BASE, "split": {"pages": 0}}}}, "must be at least 1"),
        ({"systems": {"a": {"strategy": "command", "run": []}}}, "is empty"),
        ({"systems": {"a": {"strategy": "command", "run": 5}}}, "must be a list of texts, not the number 5"),
        ({"systems": {"a": {"strategy": "command", "run": ["x"], "workers": 0}}}, "must be at least 1"),
        ({"systems": {"a": {"strategy": "function", "call": ["x"]}}}, "must be a text, not a list"),
        (
            {"endpoints": {"x": {"url": "https://x/v1", "key": "sk-1"}}, "systems": {}},
            "must not stand in a file",
        ),
        ({"endpoints": {"x": {"url": "http://x.example/v1"}}, "systems": {}}, "unencrypted"),
        ({"systems": {"a": BASE}}, "no endpoint 'local'"),
        ({"endpoints": LOCAL, "systems": {"a": {**BASE, "decode": {"format": "xml"}}}}, "cannot be 'xml'"),
        ({"endpoints": LOCAL, "systems": {"a": {**BASE, "verify": 3}}}, "must be a mapping"),
        ({"endpoints": LOCAL, "systems": {"a": {**BASE, "prompt": "extract-9"}}}, "unknown prompt"),
        ({"systems": {"a": {"strategy": "rules"}}, "matrix": {"b": {}}}, "no system 'b'"),
        (
            {"systems": {"a": {"strategy": "rules"}}, "matrix": {"a": {"least": 3}}},
            "must be a list of levels",
        ),
        ({"systems": {"a": {"strategy": "rules", "repeats": 0}}}, "at least 1"),
        ("- a", "must be a mapping"),
    ],
)
def test_a_problem_is_named_with_its_remedy(data: Any, told: str) -> None:
    with pytest.raises(ProblemsError) as caught:
        read_systems(data)
    assert told in str(caught.value)


def test_all_problems_are_named_at_once_and_no_key_is_repeated() -> None:
    text = """
endpoints:
  x: {url: "https://x/v1", api_key: sk-canary-123}
systems:
  a: {strategy: promted}
  b: {strategy: rules, leest: 2}
"""
    with pytest.raises(ProblemsError) as caught:
        read_systems(text)
    assert len(caught.value.problems) == 3
    assert "canary" not in str(caught.value)
    assert all(problem.where.startswith("spec:") for problem in caught.value.problems)


WRONG_KINDS = """endpoints:
  local: {url: "http://127.0.0.1:1/v1"}
systems:
  a: {strategy: prompted, endpoint: local, model: 3}
  b: {strategy: command, run: []}
  c: {strategy: command, run: [python], workers: 0}
"""


@pytest.mark.parametrize(
    ("text", "told"),
    [
        pytest.param(b"{{ documnt }} {{ document }}", "did you mean 'document'?", id="an unknown name"),
        pytest.param(b"{% if x %} {{ document }}", "is no template", id="no end of a block"),
        pytest.param("{{ document }} é".encode("latin-1"), "is not UTF-8", id="another encoding"),
    ],
)
def test_a_prompt_that_cannot_be_filled_in_is_refused_before_anything_is_asked(
    tmp_path: Path, text: bytes, told: str
) -> None:
    (tmp_path / "prompt.txt").write_bytes(text)
    (tmp_path / "systems.yaml").write_text(
        'endpoints: {local: {url: "http://127.0.0.1:1/v1"}}\n'
        "systems:\n  a: {strategy: prompted, endpoint: local, model: m, prompt: prompt.txt}\n"
    )
    with pytest.raises(ProblemsError) as caught:
        read_systems(tmp_path / "systems.yaml")
    assert told in str(caught.value)


def test_braces_in_the_message_of_the_system_are_no_template(tmp_path: Path) -> None:
    (tmp_path / "prompt.txt").write_text('Answer with {"total": {{}}} and nothing else.')
    (tmp_path / "systems.yaml").write_text(
        'endpoints: {local: {url: "http://127.0.0.1:1/v1"}}\n'
        "systems:\n  a: {strategy: prompted, endpoint: local, model: m, prompt: prompt.txt}\n"
    )
    prompt = read_systems(tmp_path / "systems.yaml").systems["a"].strategy.prompt
    assert "{{}}" in prompt.messages({"fields": "", "schema": "", "document": ""})[0]["content"]


def test_wrong_kinds_stand_at_their_line_of_the_file(tmp_path: Path) -> None:
    file = tmp_path / "systems.yaml"
    file.write_text(WRONG_KINDS)
    with pytest.raises(ProblemsError) as caught:
        read_systems(file)
    assert [problem.where for problem in caught.value.problems] == [
        f"{file}:4: $.systems.a.model", f"{file}:5: $.systems.b.run", f"{file}:6: $.systems.c.workers"
    ]  # fmt: skip


def test_the_names_of_a_matrix_have_a_bound() -> None:
    levels = {name: ["x" * 40] for name in ("model", "endpoint", "input", "prompt", "decode", "verify")}
    with pytest.raises(ProblemsError, match="names of more than 200 characters"):
        read_systems({"endpoints": LOCAL, "systems": {"a": BASE}, "matrix": {"a": levels}})


def test_a_matrix_has_a_bound() -> None:
    levels = list(range(1, 1000))
    with pytest.raises(ProblemsError, match="has 998,001 combinations"):
        read_systems(
            {"systems": {"a": {"strategy": "rules"}}, "matrix": {"a": {"repeats": levels, "least": levels}}}
        )


def test_names_that_differ_by_case_only_are_one_folder() -> None:
    with pytest.raises(ProblemsError, match="'A' is taken"):
        read_systems({"systems": {"a": {"strategy": "rules"}, "A": {"strategy": "rules"}}})


def test_a_choice_may_stand_in_place_of_the_mapping_that_it_begins():
    system = {"strategy": "prompted", "endpoint": "e", "model": "m"}
    held = read_systems({"endpoints": {"e": {"url": "http://127.0.0.1:9/v1"}}, "systems": {
        "short": {**system, "input": "images", "decode": "text", "verify": "require"},
        "long": {**system, "input": {"as": "images"}, "decode": {"format": "text"}, "verify": {"quotes": "require"}},
    }})  # fmt: skip
    assert held.systems["short"].strategy == held.systems["long"].strategy
