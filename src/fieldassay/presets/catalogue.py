"""The published protocols that ship with the package, by name; each is a spec in a YAML file here."""

from __future__ import annotations

from importlib.resources import files

from fieldassay.errors import Problem, ProblemsError, nearest

_SUFFIX = ".yaml"


def preset_names() -> tuple[str, ...]:
    """Return the names of the shipped protocols, sorted.

    >>> isinstance(preset_names(), tuple)
    True
    """
    entries = files("fieldassay.presets").iterdir()
    return tuple(sorted(entry.name.removesuffix(_SUFFIX) for entry in entries if entry.name.endswith(_SUFFIX)))


def preset_text(name: str, where: str = "protocol") -> str:
    """Return the text of a protocol's spec; an unknown name raises `ProblemsError` with the nearest one."""
    known = preset_names()
    if name not in known:
        remedy = nearest(name, known) if known else "no protocol is installed"
        raise ProblemsError([Problem(where, f"unknown protocol {name[:100]!r}", remedy, "unknown_name")])
    return (files("fieldassay.presets") / f"{name}{_SUFFIX}").read_text(encoding="utf-8")
