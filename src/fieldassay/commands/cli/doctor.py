"""`fieldassay doctor`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fieldassay.commands.cli.grouping import json_option

if TYPE_CHECKING:
    from fieldassay.extraction.endpoints.endpoint import Endpoint


@click.command()
@json_option
@click.option(
    "--endpoint",
    metavar="URL",
    help="Ask this server which options it takes, instead; or FILE#NAME of a file of systems.",
)
@click.option("--model", metavar="NAME", help="The model to ask for, with --endpoint.")
@click.option("--key-env", metavar="NAME", default="", help="The variable that holds the key of --endpoint.")
@click.option(
    "--key-file", metavar="FILE", default="", help="A file, mode 0600, that holds the key of --endpoint."
)
def doctor(is_json: bool, endpoint: str | None, model: str | None, key_env: str, key_file: str) -> int:
    """Show the parts of this installation, and test that it computes the expected numbers.

    With --endpoint: show the options of chat completions that a server takes, ignores and refuses, by seven
    short requests. Exits with 1 if the self-test fails, or the server does not answer.

    \b
    fieldassay doctor --endpoint https://api.openai.com/v1 --model gpt-5-mini --key-env OPENAI_API_KEY
    """
    if endpoint is not None:
        if model is None:
            raise click.UsageError("name a model of the server: --model NAME.")
        return _probe(endpoint, model, (key_env, key_file), is_json=is_json)
    from fieldassay.commands.cli.output import write
    from fieldassay.commands.doctor import check_up
    from fieldassay.io.json_value import json_text

    found = check_up()
    if is_json:
        write(json_text(found))
    else:
        write(_render(found))
    return 0 if found["self_test"]["is_passed"] else 1


def _endpoint(text: str, key: tuple[str, str]) -> Endpoint:
    """Return the endpoint of a URL with its key, or that of FILE#NAME."""
    from fieldassay.extraction.endpoints.endpoint import Endpoint

    path, separator, name = text.partition("#")
    if text.startswith(("http://", "https://")) or not separator:
        return Endpoint("endpoint", text, *key, deadline_s=60.0)
    from dataclasses import replace

    from fieldassay.errors import nearest, problem
    from fieldassay.extraction.systems.systems_file import read_systems

    known = read_systems(Path(path)).endpoints
    if name not in known:
        raise problem(path, f"no endpoint {name!r}", nearest(name, known), "unknown_name")
    found = replace(known[name], deadline_s=60.0)
    return found if key == ("", "") else replace(found, key_env=key[0], key_file=key[1])


def _probe(url: str, model: str, key: tuple[str, str], *, is_json: bool) -> int:
    """Print how a server treats the options of a chat completion."""
    import os

    from fieldassay.commands.cli.output import screen, write
    from fieldassay.extraction.endpoints.capabilities import probe
    from fieldassay.extraction.endpoints.client import ChatChannel
    from fieldassay.extraction.endpoints.credentials import read_key
    from fieldassay.io.json_value import json_text
    from fieldassay.reports.writers.page import Column, Page

    endpoint = _endpoint(url, key)
    channel = ChatChannel(endpoint, read_key(endpoint, os.environ))
    try:
        found = probe(channel, model, endpoint.url)
    finally:
        channel.close()
    if is_json:
        write(json_text(found.as_json()))
        return int(found.failure is not None)
    page = Page(screen())
    page.title(f"{model} at {url}")
    if found.failure is not None:
        page.line(f"does not answer: {found.failure.kind}: {found.failure.message}")
    else:
        page.line(f"serves {found.served_model or 'a model that it does not name'}")
        page.line()
        names = "usage", "json_schema", "json_object", "logprobs", "seed", "temperature"
        rows = [["limit of tokens", found.limit], *([name, getattr(found, name)] for name in names)]
        page.table([Column("option", is_name=True), Column("works", is_name=True)], rows)
    write(page.text())
    return int(found.failure is not None)


def _render(found: dict[str, Any]) -> str:
    from fieldassay.commands.cli.output import screen
    from fieldassay.io.text.shown import format_count
    from fieldassay.reports.writers.page import Column, Page

    shown = screen()
    page = Page(shown)
    page.title(
        f"fieldassay {found['versions']['fieldassay']}, Python {found['versions']['python']} on "
        f"{found['platform']}"
    )
    page.line(
        f"{format_count(found['cpus'], 'CPU')}; output {shown.width} columns wide, "
        f"{'with' if shown.has_colors else 'without'} colors"
    )
    page.line()
    versions = [
        [name, version] for name, version in found["versions"].items() if name not in ("fieldassay", "python")
    ]
    page.table([Column("package", is_name=True), Column("version")], versions)
    page.line()
    extras: dict[str, dict[str, Any]] = found["extras"]
    rows = [
        [name, "installed" if one["is_installed"] else f"not installed: {one['install']}", one["use"]]
        for name, one in extras.items()
    ]
    page.table([Column("optional part"), Column(""), Column("for")], rows)
    page.line(f"encoders found: {', '.join(found['encoders']) or 'none'}")
    page.line()
    test = found["self_test"]
    said = "passed: the numbers are what they must be" if test["is_passed"] else f"FAILED: {test['why']}"
    page.line(f"self-test ({format_count(test['documents'], 'document')}, {test['seconds']:.1f} s): {said}")
    return page.text()
