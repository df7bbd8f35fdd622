"""Paths as reports show them: without the folders of the machine that made them."""

from __future__ import annotations

import re

from fieldassay.regex import lazy_regex

_ABSOLUTE = lazy_regex(r"(?<![\w./:'\"\\-])(?:[A-Za-z]:)?[/\\](?:[^\s/\\:'\"]+[/\\])+(?=[^\s/\\:'\"])")


def hide_folders(text: str, paths: tuple[str, ...] = ()) -> str:
    r"""Return a sentence or a command with each absolute path cut to its last part.

    `paths` are known ones, which may have spaces. Quoted values are left as they are.

    >>> hide_folders("/home/ann/work/gold.jsonl: 1 of 72 documents (such as '/a/b') is in runs/gold.jsonl")
    "gold.jsonl: 1 of 72 documents (such as '/a/b') is in runs/gold.jsonl"
    >>> hide_folders(r"D:\data\gold.csv: and/or"), hide_folders("/my data/g.csv: x", ("/my data/g.csv",))
    ('gold.csv: and/or', 'g.csv: x')
    """
    for path in sorted(filter(is_absolute, paths), key=len, reverse=True):
        text = text.replace(path, name_of(path))
    return _ABSOLUTE.sub("", text)


def is_absolute(path: str) -> bool:
    r"""Return whether a path of any system begins at a root.

    >>> is_absolute("/a/b"), is_absolute("C:\\a"), is_absolute("a/b")
    (True, True, False)
    """
    return re.match(r"(?:[A-Za-z]:)?[/\\]", path) is not None


def name_of(path: str) -> str:
    """Return the last part of an absolute path; a relative one as it is.

    >>> name_of("/a/b/"), name_of("a/b"), name_of("-")
    ('b', 'a/b', '-')
    """
    return re.split(r"[/\\]", path.rstrip("/\\"))[-1] or path if is_absolute(path) else path
