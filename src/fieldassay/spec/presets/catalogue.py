"""The published protocols shipped with the package, by name; each is a spec in a YAML file here."""

from collections.abc import Mapping
from dataclasses import dataclass
from dataclasses import field as default
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from fieldassay.errors import nearest, problem

_FOLDER, _SUFFIX = Path(__file__).parent, ".yaml"


@dataclass(frozen=True, slots=True)
class PresetHead:
    """The description of a protocol.

    `kind` is `spec`, or `decision` for a page of gates over finished runs.
    """

    name: str
    kind: str
    version: str
    description: str
    citation: str
    protocol: str | None = None
    """The protocol that it builds on."""
    data: Mapping[str, Any] = default(default_factory=dict, repr=False)

    def to_dict(self) -> dict[str, Any]:
        """Return the head as plain data."""
        names = ("name", "kind", "version", "description", "citation", "protocol")
        return {name: getattr(self, name) for name in names}


@cache
def preset_names() -> tuple[str, ...]:
    """Return the names of the shipped protocols, sorted.

    >>> "slot-filling" in preset_names()
    True
    """
    return tuple(sorted(entry.stem for entry in _FOLDER.glob(f"*{_SUFFIX}")))


def preset_text(name: str, where: str = "protocol") -> str:
    """Return the text of a protocol's spec.

    Raises `ProblemsError` with the nearest name for an unknown one.
    """
    names = preset_names()
    if name not in names:
        remedy = nearest(name, names) if names else "no protocol is installed"
        raise problem(where, f"unknown protocol {name[:100]!r}", remedy, "unknown_name")
    return (_FOLDER / f"{name}{_SUFFIX}").read_text(encoding="utf-8")


@lru_cache(maxsize=64)
def preset_head(name: str) -> PresetHead:
    """Return the description of a protocol.

    >>> preset_head("slot-filling").kind
    'spec'
    """
    from ruamel.yaml import YAML

    data = YAML(typ="safe").load(preset_text(name))
    texts = {key: " ".join(str(data.get(key, "")).split()) for key in ("version", "description", "citation")}
    return PresetHead(name, str(data.get("kind", "spec")), **texts, protocol=data.get("protocol"), data=data)


def preset_heads() -> tuple[PresetHead, ...]:
    """Return the descriptions of all protocols, sorted by name."""
    return tuple(map(preset_head, preset_names()))


@lru_cache(maxsize=64)
def describes_protocol(description: str) -> bool:
    """Return whether a description is that of a shipped protocol: of scoring, and not of documents.

    >>> describes_protocol(preset_head("slot-filling").description), describes_protocol("Invoices of 2025")
    (True, False)
    """
    return " ".join(description.split()) in {head.description for head in preset_heads()}


def own_copy(name: str) -> str:
    """Return a protocol's text as the start of a user's spec, named `my-NAME`, with its origin in it.

    >>> print(own_copy("slot-filling-chamfer").splitlines()[2])
    name: my-slot-filling-chamfer
    """
    lines = preset_text(name, "protocols new").splitlines(keepends=True)
    changed = [f"name: my-{name}\n" if line.startswith("name:") else line for line in lines]
    head = preset_head(name)
    said = f"# Began as the protocol {name}" + (f", version {head.version}" if head.version else "") + ".\n"
    return said + "".join(changed)
