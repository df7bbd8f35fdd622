"""Ids that are nearly the same: suggested, never taken."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator

from fieldassay.records.ids import base_name, drop_endings

_SUFFIX = re.compile(r"(?<=[^.])\.(?=[^.]{0,4}[A-Za-z])[A-Za-z0-9]{1,5}$")


def _drop_suffix(name: str) -> str:
    return _SUFFIX.sub("", drop_endings(name))


def _fold_unicode(name: str) -> str:
    return unicodedata.normalize("NFKC", name)


DIFFERENCES: tuple[tuple[str, Callable[[str], str]], ...] = (
    ("Unicode form", _fold_unicode),
    ("folder", base_name),
    ("suffix", _drop_suffix),
    ("case", str.casefold),
)


def suggest(unmatched: Iterable[str], missing: Iterable[str]) -> Iterator[tuple[str, str, str]]:
    """Yield (id, gold id, in what they differ) for ids that equal exactly one missing gold id but for case, folder, suffix or Unicode form.

    >>> list(suggest(["scans/A.PNG", "b"], ["a.png", "c"]))
    [('scans/A.PNG', 'a.png', 'folder, case')]
    """
    folded: dict[str, list[str]] = {}
    for name in missing:
        folded.setdefault(_fold(name), []).append(name)
    for name in unmatched:
        near = folded.get(_fold(name), ())
        if len(near) == 1:
            yield name, near[0], _difference(name, near[0])


def _fold(name: str) -> str:
    for _, drop in DIFFERENCES:
        name = drop(name)
    return name


def _difference(first: str, second: str) -> str:
    needed = []
    for skipped, _ in DIFFERENCES:
        one, other = first, second
        for label, drop in DIFFERENCES:
            if label != skipped:
                one, other = drop(one), drop(other)
        if one != other:
            needed.append(skipped)
    return ", ".join(needed) or "spelling"
