"""Catalogues: the names usable in a spec and their classes; plugins join by entry point."""

import importlib
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from msgspec import Struct

from fieldassay.errors import nearest, problem


@lru_cache(maxsize=64)
def _plugins(group: str) -> dict[str, str]:
    from importlib.metadata import entry_points  # takes long, and most names are no plugins

    return {entry.name: entry.value for entry in entry_points(group=group)}


class Catalogue(Struct, frozen=True, dict=True):
    """Entries by name, each `module:Class`, loaded on first use.

    `kind` is the word for an entry in messages. Packages add entries under the entry point group
    `fieldassay.<kind>s`.
    """

    kind: str
    entries: Mapping[str, str]

    @property
    def group(self) -> str:
        """Return the entry point group of this kind."""
        return f"fieldassay.{self.kind}s"

    def names(self) -> tuple[str, ...]:
        """Return every known name, sorted, plugins included."""
        return tuple(sorted({*self.entries, *_plugins(self.group)}))

    def __contains__(self, name: object) -> bool:
        return name in self.entries or name in _plugins(self.group)

    def name_of(self, entry: type[Any]) -> str | None:
        """Return the name of a class, plugins included; None if it has none."""
        target = f"{entry.__module__}:{entry.__qualname__}"
        return next(
            (name for name, known in {**_plugins(self.group), **self.entries}.items() if known == target),
            None,
        )

    def load(self, name: str, where: str = "") -> type[Any]:
        """Return the class of that name; raises `ProblemsError` with the nearest valid name."""
        target = self.entries.get(name) or _plugins(self.group).get(name)
        if target is None:
            what = f"unknown {self.kind} {name!r}"
            raise problem(where or self.kind, what, nearest(name, self.names()), "unknown_name")
        module, _, attribute = target.partition(":")
        loaded: type[Any] = getattr(importlib.import_module(module), attribute)
        return loaded
