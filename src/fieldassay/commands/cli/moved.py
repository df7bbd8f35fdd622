"""What commands and options were called before, and the line to write today."""

from __future__ import annotations

from collections.abc import Mapping

COMMANDS: Mapping[str, str] = {
    "agreement": "fieldassay review agreement",
    "baseline check": "fieldassay gate RUN --baseline FILE",
    "export": "fieldassay report RUN -o FILE [--table NAME]",
    "validate": "fieldassay score --check --spec FILE [--gold PATH] [--pred PATH]",
}
"""By the words of an old command, without `fieldassay`."""

OPTIONS: Mapping[str, Mapping[str, str]] = {
    "score": {"--fail-under": "--gate 'accuracy >= 0.9'"},
}
"""By command and old option."""
