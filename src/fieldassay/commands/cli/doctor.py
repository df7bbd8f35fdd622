"""`fieldassay doctor`."""

from typing import Any

import click

from fieldassay.commands.cli.grouping import json_option


@click.command()
@json_option
def doctor(is_json: bool) -> int:
    """Show the parts of this installation, and test it.

    Exits with 1 if the self-test fails.
    """
    from fieldassay.commands.cli.output import write
    from fieldassay.commands.doctor import check_up
    from fieldassay.io.json_value import json_text

    found = check_up()
    if is_json:
        write(json_text(found))
    else:
        write(_render(found))
    return 0 if found["self_test"]["is_passed"] else 1


def _render(found: dict[str, Any]) -> str:
    from fieldassay.commands.cli.output import screen
    from fieldassay.io.text.shown import format_count
    from fieldassay.reports.writers.page import PageColumn, ScreenPage

    shown = screen()
    page = ScreenPage(shown)
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
    page.table([PageColumn("package", is_name=True), PageColumn("version")], versions)
    page.line()
    extras: dict[str, dict[str, Any]] = found["extras"]
    rows = [
        [name, "installed" if one["is_installed"] else f"not installed: {one['install']}", one["use"]]
        for name, one in extras.items()
    ]
    page.table([PageColumn("optional part"), PageColumn(""), PageColumn("for")], rows)
    page.line(f"encoders found: {', '.join(found['encoders']) or 'none'}")
    page.line()
    test = found["self_test"]
    said = "passed: the numbers are what they must be" if test["is_passed"] else f"FAILED: {test['why']}"
    page.line(f"self-test ({format_count(test['documents'], 'document')}, {test['seconds']:.1f} s): {said}")
    return page.text()
