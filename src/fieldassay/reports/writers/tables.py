"""The parts of a diff's report before their layout."""

from __future__ import annotations

from msgspec import Struct


class Table(Struct, frozen=True):
    """A table: a caption, its heads, its rows, and the positions of the columns of numbers."""

    caption: str
    heads: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    numbers: tuple[int, ...] = ()


class Part(Struct, frozen=True):
    """A part of the report: its title, sentences, tables, and remarks below them."""

    title: str
    lines: tuple[str, ...] = ()
    tables: tuple[Table, ...] = ()
    remarks: tuple[str, ...] = ()


class Told(Struct, frozen=True):
    """The whole report: a title, the warnings, the systems, the parts, and notes."""

    title: str
    warnings: tuple[str, ...]
    systems: tuple[tuple[str, str], ...]
    parts: tuple[Part, ...]
    notes: tuple[str, ...]
