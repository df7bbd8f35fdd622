"""A few questions tell which options a server takes, which it ignores and which it refuses."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from tests.extraction.endpoints.driving import CANARY, channels
from tests.extraction.endpoints.scripted_server import Hit, Reply, ScriptedServer, completion

from fieldassay.commands.cli.doctor import doctor
from fieldassay.extraction.endpoints.capabilities import probe

RECORD = '{"word": "blue", "count": null}'


def refuse(name: str, instead: str = "") -> Reply:
    hint = f" Use '{instead}' instead." if instead else ""
    message = f"Unsupported parameter: '{name}' is not supported with this model.{hint}"
    return Reply(400, {"error": {"message": message, "code": "unsupported_parameter"}})


def full(hit: Hit) -> Reply:
    """A server that takes everything, but the old name of the limit."""
    body = hit.body
    if "max_tokens" in body:
        return refuse("max_tokens", "max_completion_tokens")
    choice: dict[str, Any] = {}
    if body.get("logprobs"):
        choice = {"logprobs": {"content": [{"token": "Blue", "bytes": [66], "logprob": -0.1}]}}
    if "response_format" in body:
        return Reply(body=completion(RECORD, **choice))
    return Reply(body=completion("Blue is the color of the sky.", **choice))


def bare(hit: Hit) -> Reply:
    """A server that ignores all and refuses two."""
    for name in ("seed", "logprobs"):
        if name in hit.body:
            return refuse(name)
    body = completion("Blue is the color of the sky.")
    del body["usage"]
    return Reply(body=body)


@pytest.mark.parametrize(
    ("script", "limit", "found"),
    [
        (full, "max_tokens", ["yes", "yes", "yes", "yes", "yes"]),
        (bare, "max_tokens", ["ignored", "ignored", "ignored", "refused", "refused"]),
    ],
    ids=["full", "bare"],
)
def test_the_options_of_a_server_are_found(
    script: Callable[[Hit], Reply], limit: str, found: list[str]
) -> None:
    with ScriptedServer(script) as server:
        channel = channels(server.url)["scripted"]
        seen = probe(channel, "m")
        channel.close()
    assert seen.failure is None and seen.served_model == "served-model"
    assert [seen.usage, seen.json_schema, seen.json_object, seen.logprobs, seen.seed] == found


def test_doctor_says_what_a_server_takes_and_never_its_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SCRIPTED_KEY", CANARY)
    with ScriptedServer(bare) as server:
        asked = ["--endpoint", server.url, "--model", "m", "--key-env", "SCRIPTED_KEY"]
        shown = CliRunner().invoke(doctor, asked, standalone_mode=False)
        as_json = CliRunner().invoke(doctor, [*asked, "--json"], standalone_mode=False)
        assert server.hits[0].headers["authorization"] == f"Bearer {CANARY}"
        server.script = lambda hit: Reply(401, {"error": {"message": f"bad key {CANARY}"}})
        failed = CliRunner().invoke(doctor, asked, standalone_mode=False)
    assert shown.return_value == 0 and "json_schema" in shown.output and "refused" in shown.output
    assert json.loads(as_json.output)["logprobs"] == "refused"
    assert failed.return_value == 1 and "does not answer: auth" in failed.output
    assert CANARY not in shown.output + as_json.output + failed.output


def test_doctor_takes_an_endpoint_of_a_file_of_systems(tmp_path: Path) -> None:
    file = tmp_path / "systems.yaml"
    with ScriptedServer(bare) as server:
        file.write_text(
            f"fieldassay_extract: 1\nendpoints: {{own: {{url: {server.url}}}}}\n"
            "systems: {base: {strategy: prompted, endpoint: own, model: m}}\n"
        )
        shown = CliRunner().invoke(
            doctor, ["--endpoint", f"{file}#own", "--model", "m"], standalone_mode=False
        )
        assert shown.return_value == 0 and len(server.hits) == 6
        wrong = CliRunner().invoke(
            doctor, ["--endpoint", f"{file}#owm", "--model", "m"], standalone_mode=False
        )
    assert "did you mean 'own'?" in str(wrong.exception)
