"""Systems: their file, the shipped ones, own extractors, and the programs on the page about these."""

import hashlib
import importlib
import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.doc_pages import TEXTS, blocks
from tests.extraction import strategy_cases
from tests.extraction.endpoints.scripted_server import Hit, Reply, ScriptedServer, completion, error, gpt_5

import fieldassay
from fieldassay.commands.cli.main import main
from fieldassay.documents.transcript import page_text
from fieldassay.errors import ProblemsError
from fieldassay.extraction.endpoints.exchange import Failure, ModelAnswer
from fieldassay.extraction.evidence import field_steps, plan_leaves
from fieldassay.extraction.strategies.prompted import Command, Function, Prompted
from fieldassay.extraction.strategies.rules.strategy import Rules
from fieldassay.extraction.strategy import Strategy, Task, leaves_of
from fieldassay.extraction.systems import read_systems
from fieldassay.options import _plugins
from fieldassay.paths import join_path
from fieldassay.spec.language.parse import read_spec
from fieldassay.spec.plan.compile import compile_plan

# Systems: their file, the shipped ones, and own extractors.

# The file of systems: what it says, the systems of a matrix, and every problem at once

BASE: dict[str, Any] = {"strategy": "prompted", "endpoint": "local", "model": "m"}
LOCAL = {"local": {"url": "http://127.0.0.1:1/v1"}}


def test_a_matrix_makes_a_system_of_every_combination() -> None:
    matrix = {"base": {"quotes": ["none", "require"], "model": ["m", "n"]}}
    found = read_systems({"endpoints": LOCAL, "systems": {"base": BASE}, "matrix": matrix}).systems
    assert list(found) == [
        "base_quotes=none_model=m",
        "base_quotes=none_model=n",
        "base_quotes=require_model=m",
        "base_quotes=require_model=n",
    ]
    last = found["base_quotes=require_model=n"]
    assert (last.base, last.factors, last.strategy.model) == (
        "base",
        {"quotes": "require", "model": "n"},
        "n",
    )


@pytest.mark.parametrize(
    ("data", "told"),
    [
        ({"systems": {"a": {"strategy": "promted"}}}, "did you mean 'prompted'?"),
        ({"systems": {"a": {"strategy": "command", "run": ["x"], "worker": 1}}}, "did you mean 'workers'?"),
        ({"systems": {"a": {"strategy": "rules", "least": 1}}}, "leave it out"),
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
        ({"endpoints": LOCAL, "systems": {"a": {**BASE, "model": ""}}}, "must be a text that is not empty"),
        (
            {"endpoints": LOCAL, "systems": {"a": {**BASE, "split": {"pages": 0}}}},
            "of at least 1, not the number 0",
        ),
        ({"systems": {"a": {"strategy": "command", "run": []}}}, "must be a list of one text or more"),
        ({"systems": {"a": {"strategy": "command", "run": 5}}}, "not the number 5; write ["),
        ({"systems": {"a": {"strategy": "command", "run": ["x"], "workers": 0}}}, "of at least 1"),
        ({"systems": {"a": {"strategy": "function", "call": ["x"]}}}, "a text that is not empty, not a list"),
        (
            {"endpoints": {"x": {"url": "https://x/v1", "key": "sk-1"}}, "systems": {}},
            "must not be in a file",
        ),
        ({"endpoints": {"x": {"url": "http://x.example/v1"}}, "systems": {}}, "unencrypted"),
        ({"systems": {"a": BASE}}, "no endpoint 'local'"),
        ({"endpoints": LOCAL, "systems": {"a": {**BASE, "decode": {"format": "xml"}}}}, "cannot be 'xml'"),
        ({"endpoints": LOCAL, "systems": {"a": {**BASE, "split": 3}}}, "must be a mapping"),
        ({"endpoints": LOCAL, "systems": {"a": {**BASE, "prompt": "extract-9"}}}, "unknown prompt"),
        ({"systems": {"a": {"strategy": "rules"}}, "matrix": {"b": {}}}, "no system 'b'"),
        (
            {"systems": {"a": {"strategy": "rules"}}, "matrix": {"a": {"repeats": 3}}},
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
        pytest.param(b"{% if x %} {{ document }}", "is not a template", id="no end of a block"),
        pytest.param(b"{% for _ in name %}x{% endfor %}{{ document }}", "line 1 has a For", id="a loop"),
        pytest.param(b"\n{{ 'x' * 10 ** 12 }}{{ document }}", "line 2 has a", id="arithmetic"),
        pytest.param(b"{{ name | center(1000000000) }}{{ document }}", "has a Filter", id="a filter"),
        pytest.param(b"{% set x = document ~ document %}{{ document }}", "has a", id="a variable"),
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
    levels = {name: ["x" * 40] for name in ("model", "endpoint", "input", "prompt", "decode", "quotes")}
    with pytest.raises(ProblemsError, match="names of more than 200 characters"):
        read_systems({"endpoints": LOCAL, "systems": {"a": BASE}, "matrix": {"a": levels}})


def test_a_matrix_has_a_bound() -> None:
    levels = list(range(1, 1000))
    with pytest.raises(ProblemsError, match="has 998,001 combinations"):
        read_systems(
            {"systems": {"a": {"strategy": "rules"}}, "matrix": {"a": {"repeats": levels, "ocr": levels}}}
        )


def test_names_that_differ_by_case_only_are_one_folder() -> None:
    with pytest.raises(ProblemsError, match="'A' is taken"):
        read_systems({"systems": {"a": {"strategy": "rules"}, "A": {"strategy": "rules"}}})


def test_a_choice_may_stand_in_place_of_the_mapping_that_it_begins():
    system = {"strategy": "prompted", "endpoint": "e", "model": "m"}
    held = read_systems({"endpoints": {"e": {"url": "http://127.0.0.1:9/v1"}}, "systems": {
        "short": {**system, "input": "images", "decode": "text", "quotes": "require"},
        "long": {**system, "input": {"as": "images"}, "decode": {"format": "text"}, "quotes": "require"},
    }})  # fmt: skip
    assert held.systems["short"].strategy == held.systems["long"].strategy


# Claims that hold for every strategy

DRIVING = ("extract", "propose", "systems")
"""Modules that drive strategies: they load documents and write folders."""

HEAVY = ("httpx2", "pypdfium2", "numpy", "scipy", "jinja2")


@pytest.mark.slow
def test_importing_strategies_loads_nothing_heavy():
    code = (
        "import sys, importlib, pkgutil, fieldassay.extraction as e\n"
        "names = [m.name for m in pkgutil.walk_packages(e.__path__, 'fieldassay.extraction.')]\n"
        f"names = [n for n in names if n.split('.')[-1] not in {DRIVING!r}]\n"
        "[importlib.import_module(n) for n in names]\n"
        f"print([m for m in {HEAVY!r} if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


SPEC = read_spec(strategy_cases.SPEC)
PLANNED = plan_leaves(compile_plan(SPEC))
FOREIGN = {**strategy_cases.RECORD, "invented": "x"}
CASES = [
    ("rules", Rules(), None),
    ("prompted", Prompted("e", "m"), strategy_cases.answer(FOREIGN)),
    ("prompted with quotes", Prompted("e", "m", quotes="flag"), strategy_cases.answer(FOREIGN)),
    ("command", Command(("own",)), strategy_cases.answer(strategy_cases.RECORD)),
    ("function", Function("own:extract"), strategy_cases.answer({"record": strategy_cases.RECORD, "confidence": {"total": 0.5}})),
]  # fmt: skip


@pytest.fixture(params=CASES, ids=[case[0] for case in CASES])
def played(request):
    _, strategy, reply = request.param

    def play(text=strategy_cases.INVOICE, given=reply, spec=SPEC):
        return strategy_cases.play(strategy, strategy_cases.document(text), Task(spec), lambda asked: given)

    return strategy, play


def test_it_is_a_frozen_value(played):
    strategy, _ = played
    assert isinstance(strategy, Strategy) and strategy == replace(strategy) and hash(strategy)


def test_a_failed_answer_is_its_failure(played):
    strategy, play = played
    if isinstance(strategy, Rules):
        return
    _, found = play(given=ModelAnswer(None, Failure("rate_limited", "slow down")))
    assert found.record is None and found.failure.kind == "rate_limited"


def test_equal_options_are_the_same_text_and_ask_the_same(played):
    strategy, play = played
    assert repr(strategy) == repr(replace(strategy))
    assert [one.body for one in play()[0]] == [one.body for one in play()[0]]


def test_every_declared_field_has_a_key_and_no_other_has(played):
    _, found = played[1]()
    assert list(found.record) == [field.name for field in SPEC.fields]
    assert all(list(item) == ["item", "count", "amount"] for item in found.record["lines"])


TREE = {"flow": {"value": 7, "min": None, "odd": {}}, "temps": [1, None, "7"], "none": [], "note": ""}


@pytest.mark.parametrize(
    ("strategy", "spec", "record"),
    [
        *((one, read_spec(spec), record)
          for one in (Command(("own",)), Function("own:extract"))
          for spec, record in ((strategy_cases.SPEC, FOREIGN), (strategy_cases.SPEC, {"lines": [None, "x"], "total": ["5", ""]}),
                               ("type: any", TREE))),
        (Prompted("e", "m"), read_spec("type: any"), TREE),
        (Prompted("e", "m", quotes="flag"), read_spec("type: any"), TREE),
    ],
)  # fmt: skip
def test_what_a_program_of_the_user_makes_and_every_tree_are_kept_as_they_are(strategy, spec, record):
    _, found = strategy_cases.play(
        strategy, strategy_cases.document("flow 7"), Task(spec), lambda _: strategy_cases.answer(record)
    )
    assert found.record == record and found.failure is None


def test_evidence_and_confidence_are_of_values_that_are_there(played):
    _, found = played[1]()
    there = {join_path(steps) for steps, value in leaves_of(found.record) if value is not None}
    assert found.evidence.keys() == there and found.confidence.keys() <= there


def test_evidence_can_be_looked_up_in_the_document(played):
    _, found = played[1]()
    text = page_text(strategy_cases.document(strategy_cases.INVOICE).pages[0]).text
    placed = [one for one in found.evidence.values() if one.page is not None]
    assert placed and all(text[one.start : one.end] == one.quote for one in placed)


def test_values_of_one_kind_can_be_read_by_their_types(played):
    _, found = played[1]()
    for steps, value in leaves_of(found.record):
        if value is None:
            continue
        assert PLANNED[field_steps(steps)].reader.read(value).problem is None


# The files of systems that the pages show run against imitations of the servers whose models they name

RECORD = {"shop": "Oak Ltd", "total": "12.50"}
SHOWN = [
    (name, text)
    for name in TEXTS
    for language in ("yaml", "console")
    for block in blocks(name, language)
    for text in block.split("$ ")
    if "strategy: prompted" in text
]


def whole(hit: Hit, **choice: Any) -> Reply:
    """Answer with what the schema asks for, with quotes where it has them; it must be a strict one."""
    schema = hit.body["response_format"]["json_schema"]["schema"]
    assert schema["required"] == [*schema["properties"]] and not schema["additionalProperties"]
    values = RECORD if "shop" in schema["properties"] else {"kind": "receipt"}
    quoted = {name: {"value": value, "quote": value} for name, value in values.items()}
    text = json.dumps(quoted if "properties" in str(schema["properties"]) else values)
    message = {"role": "assistant", "content": text, "reasoning_content": "Is it 12?"}
    return Reply(body=completion("", message=message, **choice))


def vllm(hit: Hit) -> Reply:
    """Answer as vLLM with a context of 4,096 tokens and a reasoning parser."""
    said = "This model's maximum context length is 4096 tokens and your request has 300 input tokens"
    return Reply(400, error(said)) if hit.body["max_tokens"] > 3796 else whole(hit)


def llama_cpp(hit: Hit) -> Reply:
    """Answer as llama.cpp with a model whose last brace is the last token that it may make."""
    return whole(hit, finish_reason="length")


SERVERS: dict[str, Callable[[Hit], Reply]] = {
    "gpt-5-mini": partial(gpt_5, answer=whole), "qwen3-8b": vllm, "qwen3-32b": vllm, "smollm2-135m": llama_cpp, "small": llama_cpp,
}  # fmt: skip


@pytest.mark.parametrize(("page", "text"), SHOWN, ids=[page for page, _ in SHOWN])
def test_every_prompted_system_of_a_page_extracts_at_the_first_run(
    page: str, text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with ScriptedServer(lambda hit: SERVERS[hit.body["model"]](hit)) as server:
        file = yaml.safe_load(text.removeprefix("cat systems.yaml\n"))
        for name in file["endpoints"]:
            file["endpoints"][name] |= {"url": server.url}
        monkeypatch.setenv("OPENAI_API_KEY", "sk-1")
        lines = [json.dumps({"id": f"t{at}.txt", "shop": "Elm", "total": "3"}) for at in range(3)]
        files = {
            "spec.yaml": "fields: {shop: text, total: money}\n"
            "document_type: {field: kind, aliases: {invoice: [], receipt: [], bank_statement: []}}",
            **{f"{name}.txt": "Read." for name in ("detection", "invoice", "receipt", "statement")},
            "systems.yaml": yaml.safe_dump(file, sort_keys=False),
            "train.jsonl": "\n".join(lines),
            **{f"train/t{at}.txt": f"Elm {at}" for at in range(3)},
            **{f"train-words.jsonl/t{at}.txt": f"Elm {at}" for at in range(3)},
            **{f"docs/{at}.txt": f"Oak Ltd\nReceipt {at}\nTotal 12.50\n" for at in range(9)},
        }
        for name, content in files.items():
            (tmp_path / name).parent.mkdir(exist_ok=True)
            (tmp_path / name).write_text(content)
        monkeypatch.chdir(tmp_path)
        for name in (
            key for key, one in read_systems(file).systems.items() if type(one.strategy) is Prompted
        ):
            extract = f"extract --docs docs --spec spec.yaml --system systems.yaml#{name} --out out/{name}"
            assert main(extract.split()) in (0, None)
            rows = [*map(json.loads, Path(f"out/{name}/predictions.jsonl").read_text().splitlines())]
            assert [row["pred"] for row in rows] == [RECORD] * 9
            assert not any(row.get("possibly_billed") or "reask" in row.get("notes", {}) for row in rows)
    assert sum(server.billed.values()) == len(server.billed)


# The programs on the page about extractors of one's own work.

FUNCTION, AGENT, STRATEGY = blocks("docs/extract.md", "python")
_, FUNCTION_FILE, AGENT_FILE, PLUGIN_FILE = blocks("docs/extract.md", "yaml")
DOCUMENT = strategy_cases.document("ACME\nTotal EUR 264.00")
TASK = Task(read_spec({"fields": {"total": "money"}}))


def test_the_function_extracts():
    held: dict = {}
    exec(FUNCTION, held)
    _, found = strategy_cases.play(
        Function("mine:extract"),
        DOCUMENT,
        TASK,
        lambda asked: strategy_cases.answer(held["extract"](asked.body)),
    )
    assert found.record == {"total": "264.00"} and found.evidence["total"].quote == "264.00"
    assert list(read_systems(FUNCTION_FILE).systems) == ["rules", "mine"]


@pytest.mark.parametrize("name", ["a.txt", "deep/b.csv", "broken.pdf"])
def test_an_agent_opens_its_file_and_nothing_is_read_for_it(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    content = b"ACME Ltd\nTotal EUR 264.00"
    for folder in ("docs", "moved"):
        (tmp_path / folder / name).parent.mkdir(parents=True)
        (tmp_path / folder / name).write_bytes(content)
    (tmp_path / "agent.py").write_text(AGENT)
    (tmp_path / "systems.yaml").write_text(AGENT_FILE)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr("fieldassay.documents.sources.DocumentPool.load_all", None)
    spec, out = "fields: {supplier: text}", tmp_path / "out"
    for folder in ("docs", "moved"):
        extraction = fieldassay.extract(tmp_path / folder, spec, out, str(tmp_path / "systems.yaml"))
        [row] = map(json.loads, extraction.predictions.read_text().splitlines())
        assert row["pred"] == {"supplier": None if name.endswith("pdf") else "ACME Ltd"}
        assert (row["id"], row.get("evidence"), row.get("reused")) == (name, None, folder == "moved" or None)
    journal = (out / "journal.jsonl").read_text()
    assert hashlib.sha256(content).hexdigest() in journal and str(tmp_path / "docs") not in journal


def test_the_strategy_of_at_most_twenty_lines_is_found_by_its_entry_point(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    (tmp_path / "acme_extractors.py").write_text(STRATEGY)
    monkeypatch.syspath_prepend(tmp_path)
    importlib.invalidate_caches()
    plugins = {"acme.twice": "acme_extractors:Twice"}
    monkeypatch.setattr(
        "fieldassay.options._plugins",
        lambda group: plugins if group == "fieldassay.extractors" else _plugins(group),
    )
    strategy = read_systems(PLUGIN_FILE).systems["twice"].strategy
    assert len(STRATEGY.split("class Twice")[1].splitlines()) <= 20
    for second, total in (("264.00", "264.00"), ("9", None)):
        answers = [strategy_cases.answer({"total": "264.00"}), strategy_cases.answer({"total": second})]
        requests, found = strategy_cases.play(strategy, DOCUMENT, TASK, answers)
        assert len(requests) == 2 and found.record == {"total": total}
