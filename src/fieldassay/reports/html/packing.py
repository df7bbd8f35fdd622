"""Data as the report's page carries it: JSON, deflated, in base64; texts that repeat are stored once."""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import polars as pl

NOTHING = -1
"""The code of a value that is not there."""


def pack(data: Any) -> str:
    """Return JSON data as deflated base64 text, without any character that could end a script element.

    >>> unpack(pack({"a": ["</script>", None]}))
    {'a': ['</script>', None]}
    """
    text = json.dumps(data, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return pack_text(text)


def pack_text(text: str) -> str:
    """Return a text as deflated base64 text."""
    return base64.b64encode(zlib.compress(text.encode("utf-8", "backslashreplace"), 6)).decode("ascii")


def unpack(packed: str) -> Any:
    """Return the data that `pack` packed."""
    return json.loads(zlib.decompress(base64.b64decode(packed)))


def encode_texts(columns: Sequence[pl.Series]) -> tuple[list[str], list[pl.Series]]:
    """Return the distinct texts of all columns in order of appearance, and each column as codes into them.

    `NOTHING` is the code of null.

    >>> import polars as pl
    >>> texts, codes = encode_texts([pl.Series(["b", None]), pl.Series(["a", "b"])])
    >>> texts, [part.to_list() for part in codes]
    (['b', 'a'], [[0, -1], [1, 0]])
    """
    import polars as pl

    together = (
        pl.concat([column.cast(pl.String) for column in columns])
        if columns
        else pl.Series([], dtype=pl.String)
    )
    texts = together.drop_nulls().unique(maintain_order=True)
    table = pl.DataFrame({"text": texts, "code": pl.Series(range(len(texts)), dtype=pl.Int32)})
    joined = (
        pl.DataFrame({"text": together})
        .join(table, on="text", how="left", maintain_order="left")["code"]
        .fill_null(NOTHING)
    )
    ends = [0]
    for column in columns:
        ends.append(ends[-1] + len(column))
    return texts.to_list(), [joined[first:last] for first, last in pairwise(ends)]


def shrink(values: Sequence[Any]) -> Any:
    """Return a column as a list, or as its one value if all are the same; without rows an empty list.

    >>> shrink([1, 1]), shrink([1, 2]), shrink([])
    (1, [1, 2], [])
    """
    kept = list(values)
    return (
        kept[0]
        if kept and not isinstance(kept[0], list | dict) and all(value == kept[0] for value in kept)
        else kept
    )
