"""What commands and options were called before, and the line to write today."""

from __future__ import annotations

from collections.abc import Mapping

COMMANDS: Mapping[str, str] = {
    "agreement": "fieldassay review agreement",
    "baseline check": "fieldassay gate RUN --baseline FILE",
    "review close": "fieldassay review status DIR --close",
    "review import": "fieldassay review export FILE -o labels.jsonl",
    "review log": "fieldassay review export DIR -o log.csv --log",
    "review people": "fieldassay review team DIR [list|add|passwd|role|disable|enable] [NAME]",
    "review serve": "fieldassay review team DIR",
    "export": "fieldassay report RUN -o FILE [--table NAME]",
    "validate": "fieldassay score --check --spec FILE [--gold PATH] [--pred PATH]",
}
"""By the words of an old command, without `fieldassay`."""

OPTIONS: Mapping[str, Mapping[str, str]] = {
    "diff": dict.fromkeys(("--system-a", "--system-b"), "fieldassay diff BEFORE:SYSTEM AFTER:SYSTEM"),
    "review export": {"--format": "-o FILE.jsonl, FILE.json (Label Studio) or FILE.csv"},
    "score": {"--fail-under": "--gate 'accuracy >= 0.9'"},
}
"""By command and old option."""

SECTIONS: Mapping[str, str] = {
    **{f"--{key.replace('_', '-')}": f"data: {{{key}: {value}}}" for key, value in (
        ("gold_key", "KEY"), ("pred_key", "KEY"), ("systems_key", "KEY"), ("id_key", "KEY"), ("wrap", "KEY"),
        ("group", "true"), ("encoding", "NAME"), ("names", "loose"), ("match_ids", "FORM"),
        ("max_unpacked", "SIZE"),
    )},
    **{f"--{key}": f"statistics: {{{key}: {value}}}" for key, value in (
        ("level", "SHARE"), ("bootstrap", "N"), ("seed", "N"), ("correction", "holm"),
        ("compare", "[METRIC]"), ("reference", "NAME"),
    )},
}  # fmt: skip
"""By an option that `score` alone has: the line of the spec, which every command reads."""


def find_today(command: str, option: str) -> str | None:
    """Return what to write today for an option of old; None for one that never was."""
    line = SECTIONS.get(option)
    return OPTIONS.get(command, {}).get(option) or (None if line is None else f"{line}, in the spec")
