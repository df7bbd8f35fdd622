"""The files of systems that the pages show run against imitations of the servers whose models they name."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import yaml
from doc_pages import TEXTS, blocks
from tests.extraction.endpoints.scripted_server import (
    Hit,
    Reply,
    ScriptedServer,
    completion,
    error,
    gpt_5,
)  # fmt: skip

from fieldassay.commands.cli.main import main
from fieldassay.extraction.strategies.prompted import Prompted
from fieldassay.extraction.systems.systems_file import read_systems

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
