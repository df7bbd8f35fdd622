"""Files made wrong: a value of another kind, a part missing or twice, a text cut short, a flipped byte."""

import io
import json
from random import Random
from typing import Any

HOSTILE: tuple[Any, ...] = (
    None, True, False, 0, -1, 7, 10**30, -(2**63), 0.5, -0.0, 1e308, "", " ", "x", "null", "NaN", "1,5",
    "\x00", "\x1b[2J", "\u202e", "\ud800",
    "=1+1", "evil_module:Spec", "../../x", "a" * 5000, "[", "9" * 5000, "accuracy(", "lines[].amount", "\r\n",
    [], {}, [[]], [None], [{}],
    {"": ""}, {"a": {"b": []}}, [1, "x", None], ["a", "a"], "2026-13-45", "1e999", "module.py", "{}",
    "- a: b", "&a [*a]",
)  # fmt: skip
"""Values that are put in the place of others."""

_SHORT = rb"""" ' , : ; { } [ ] \r\n - # & * ! | > % @ ` null true NaN Infinity -1 1e999 \\ \u0000 \ud800"""
TOKENS = (
    *_SHORT.split(b" "), b"\n", b"\r\n", b"\t", b"\xff", b"\x00", b"\xef\xbb\xbf", b"\x1b[31m", b" " * 200,
    b"[" * 2000, b"9" * 5000,
    b"a: &a [*a]\n", "\u202e".encode(), b'{"a": ' * 300,
)  # fmt: skip
"""Pieces that are put into texts."""

PUMPED = (
    *(bytes([code]) for code in range(32, 127)),
    b"\t",
    b"\n",
    b"\r\n",
    b"\\n",
    "\u00a0".encode(),
    b"[{",
    b"<a ",
)
"""Pieces that are repeated thousands of times."""


def mutate_text(data: bytes, rng: Random) -> bytes:
    """Return a text with a few pieces inserted, removed, repeated, exchanged, or with bytes flipped."""
    for _ in range(rng.choice((1, 1, 2, 5))):
        start = rng.randrange(len(data) + 1)
        end = min(len(data), start + rng.choice((1, 2, 8, 60)))
        kind = rng.randrange(7)
        if kind == 0:
            data = data[:start] + rng.choice(TOKENS) + data[start:]
        elif kind == 1:
            data = data[:start] + data[end:]
        elif kind == 2:
            data = data[:end] + data[start:end] * rng.choice((1, 3)) + data[end:]
        elif kind == 3:
            data = data[:start]
        elif kind == 4:
            lines = data.split(b"\n")
            rng.shuffle(lines)
            data = b"\n".join(lines)
        elif kind == 5:
            data = data[:start] + pumped(rng) + data[start:]
        else:
            data = flip_bytes(data, rng)
    return data


def pumped(rng: Random) -> bytes:
    """Return a character or a piece many times over: a pattern or a loop that is not linear takes seconds."""
    unit = rng.choice((*PUMPED, rng.choice(TOKENS)[:40]))
    return unit * (rng.choice((300, 3_000, 30_000)) // len(unit) + 1)


def flip_bytes(data: bytes, rng: Random) -> bytes:
    """Return the bytes with one to three of them changed."""
    changed = bytearray(data)
    for _ in range(rng.choice((1, 1, 3)) if changed else 0):
        changed[rng.randrange(len(changed))] = rng.randrange(256)
    return bytes(changed)


def mutate_tree(value: Any, rng: Random) -> Any:
    """Return JSON data with one place of it replaced, removed, renamed or repeated."""
    found = value
    if isinstance(found, dict) and found and rng.random() < 0.9:
        key = rng.choice(list(found))
        return _mutate_member(dict(found), key, rng)
    if isinstance(found, list) and found and rng.random() < 0.9:
        at = rng.randrange(len(found))
        kind = rng.random()
        if kind < 0.7:
            return [*found[:at], mutate_tree(found[at], rng), *found[at + 1 :]]
        return [*found[:at], *found[at + 1 :]] if kind < 0.85 else [*found, found[at]]
    return pumped(rng).decode("utf-8", "replace") if rng.random() < 0.1 else rng.choice(HOSTILE)


def _mutate_member(found: dict[str, Any], key: str, rng: Random) -> dict[str, Any]:
    kind = rng.random()
    if kind < 0.75:
        return {**found, key: mutate_tree(found[key], rng)}
    value = found.pop(key)
    return found if kind < 0.88 else {**found, rng.choice(("x", key.upper(), "", f"{key}s", "a.b[]")): value}


def mutate_json(data: bytes, rng: Random) -> bytes:
    """Return a JSON text made wrong in its data."""
    value = json.loads(data)
    for _ in range(rng.choice((1, 1, 2, 4))):
        value = mutate_tree(value, rng)
    return json.dumps(value).encode()


def mutate_yaml(data: bytes, rng: Random) -> bytes:
    """Return a YAML text made wrong in its data, as JSON."""
    from ruamel.yaml import YAML

    return mutate_json(json.dumps(YAML(typ="safe").load(data.decode())).encode(), rng)


def mutate_lines(data: bytes, rng: Random) -> bytes:
    """Return JSON lines with some of them made wrong in their data."""
    lines = data.splitlines()
    for at in rng.sample(range(len(lines)), rng.choice((1, 1, 3))):
        lines[at] = (
            json.dumps(mutate_tree(json.loads(lines[at]), rng)).encode()
            if rng.random() < 0.8
            else mutate_text(lines[at], rng)
        )
    return b"\n".join(lines) + b"\n"


def mutate_parquet(data: bytes, rng: Random) -> bytes:
    """Return a Parquet file with another column type, without a column, or with other values in one."""
    import polars as pl

    table = pl.read_parquet(io.BytesIO(data))
    name = rng.choice(table.columns)
    changed: pl.DataFrame = rng.choice(
        (
            lambda: table.drop(name),
            lambda: table.rename({name: rng.choice(("x", "", "doc2", '["x"]', "[]"))}),
            lambda: table.with_columns(pl.lit(None).alias(name)),
            lambda: table.with_columns(pl.lit(rng.choice((5, "x", 1.5, float("nan"), True))).alias(name)),
            lambda: table.with_columns(pl.col(name).reverse()),
            lambda: table.with_columns(
                pl.when(pl.int_range(pl.len()) % 3 == 0).then(None).otherwise(pl.col(name)).alias(name)
            ),
            lambda: table.with_columns(pl.concat_list(pl.col(name)).alias(name)),
            lambda: table.head(rng.randrange(3)),
            lambda: pl.concat([table, table.head(2)]),
        )
    )()
    stream = io.BytesIO()
    changed.write_parquet(stream)
    return stream.getvalue()
