"""What a user should know of the answers that were scored: what had to be done to read them, and what in them was not judged."""

from __future__ import annotations

from collections.abc import Mapping

from fieldassay.records.source import PROBED, Source

_REMARKS: Mapping[str, str] = {
    "several_blocks": "held several objects; the one with most declared keys was taken, the last of equals",
    "inside_thinking": "had their record in a thought that is never closed; it was taken, since there was nothing else",
}
"""What is said of repairs that decide which object is the answer, or where a confidence comes from."""


def remark_repairs(system: str, answers: int, repairs: Mapping[str, int]) -> list[str]:
    """Return a sentence for each kind of repair that a reader should know of.

    >>> remark_repairs("m", 60, {"several_blocks": 50, "trailing_comma": 3})
    ['m: 50 of 60 answers held several objects; the one with most declared keys was taken, the last of equals']
    """
    return [f"{system}: {repairs[name]:,} of {answers:,} answers {told}" for name, told in _REMARKS.items() if repairs.get(name)]


def remark_undeclared(system: str, undeclared: Mapping[str, int], source: Source) -> str:
    """Return a sentence on predicted keys that the spec does not declare; if the record stands under one of them, how to say so."""
    listed = sorted(undeclared.items(), key=lambda item: -item[1])
    named = ", ".join(f"{path} ({count})" for path, count in listed[:5])
    more = f" and {len(listed) - 5} more" if len(listed) > 5 else ""
    told = f"{system}: predicted keys that the spec does not declare are not judged: {named}{more}"
    key = find_misplaced(source) if len(listed) == 1 else None
    return told if key is None else f"{told}; did you mean `--pred-key {key}`?"


def find_misplaced(source: Source) -> str | None:
    """Return the key under which most of the declared keys stand in the first rows of predictions, if they stand under one."""
    options = source.options
    wanted = options.declared - {""}
    for row in source.rows.read(range(min(PROBED, len(source)))) if options.data_key is None else ():
        for key, value in row.value.items() if isinstance(row.value, dict) else ():
            if key not in wanted and isinstance(value, dict) and 2 * len(value.keys() & wanted) > len(wanted):
                return str(key)
    return None
