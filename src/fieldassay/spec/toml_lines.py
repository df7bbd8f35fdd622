"""The lines of the keys of a TOML text."""

from __future__ import annotations

import re

from fieldassay.spec.report import Steps

_HEADER = re.compile(r"\s*\[(\[)?([^\]\n]{1,400})\]\]?\s*(?:#.*)?$")
_KEY = re.compile(
    r"""\s*((?:[A-Za-z0-9_-]+|"[^"\n]{0,200}"|'[^'\n]{0,200}')(?:\s*\.\s*(?:[A-Za-z0-9_-]+|"[^"\n]{0,200}"|'[^'\n]{0,200}'))*)\s*="""
)
_PART = re.compile(r"""[A-Za-z0-9_-]+|"([^"\n]*)"|'([^'\n]*)'""")


def toml_lines(text: str) -> dict[Steps, int]:
    """Return the lines (from 1) of tables and of keys that begin a line; keys inside inline tables are found by the line of their table.

    >>> toml_lines("name = 'a'\\n[fields]\\nTOTAL = {type = 'mony'}\\n")
    {('name',): 1, ('fields',): 2, ('fields', 'TOTAL'): 3}
    """
    lines: dict[Steps, int] = {}
    table: Steps = ()
    for number, line in enumerate(text.splitlines(), 1):
        if header := _HEADER.match(line):
            table = _parts(header[2])
            lines.setdefault(table, number)
        elif key := _KEY.match(line):
            steps = (*table, *_parts(key[1]))
            lines.setdefault(steps, number)
    return lines


def _parts(text: str) -> Steps:
    return tuple(match[1] if match[1] is not None else match[2] if match[2] is not None else match[0] for match in _PART.finditer(text))
