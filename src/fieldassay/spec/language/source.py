"""The sources of a spec: a file, a text, a mapping, a Pydantic model, a JSON Schema."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct

from fieldassay.errors import ProblemsError, problem
from fieldassay.io.files.typed_json import NestingError, RepeatedKeyError, parse_json
from fieldassay.io.files.whole_files import open_file
from fieldassay.regex import lazy_regex
from fieldassay.spec.language.report import Lines, Places
from fieldassay.spec.language.yaml_text import DEEPEST, HALF, check_size, join_halves, read_yaml, too_deep

_LONGEST_WITH_LINES = 300_000
_MOST_BITS = 10_000
_SUFFIXES = (".yaml", ".yml", ".json")
_MODEL = lazy_regex(r"[A-Za-z_][\w.]*(?<!\.py):[A-Za-z_]\w*")
_MODEL_FILE = lazy_regex(r"([^:\n]+\.py):([A-Za-z_]\w*)")


class Source(Struct, frozen=True, eq=False):
    """The data of a source with the places of its parts. `stem` is the default name of the spec."""

    data: Any
    places: Places
    stem: str


class RecordedSpec(Struct, frozen=True):
    """The text of a spec inside another file.

    It names no other file and no module, so that data cannot decide what is imported.
    """

    text: str


def read_source(source: Any) -> Source:
    """Return the data of a path, a text, a mapping, or a Pydantic model (a class or `module:Class`).

    A text of one line with the ending of a spec file, or with the name of a file, is a path; a `RecordedSpec`
    never is. Raises `ProblemsError` for an unreadable source.
    """
    if isinstance(source, RecordedSpec):
        return _read_string(source.text)
    if isinstance(source, Mapping):
        return Source(_plain(source, "spec", 0), Places("spec"), "spec")
    if isinstance(source, Path):
        return _read_file(source)
    if isinstance(source, type):
        return _read_model(source)
    if not isinstance(source, str):
        raise problem(
            type(source).__name__,
            "is nothing a spec can be read from",
            "give a path, a text, a mapping or a Pydantic model",
        )
    if _MODEL.fullmatch(source) and not _is_file(source):
        return _read_model(import_model(source))
    if _is_path(source):
        return _read_file(Path(source))
    if _MODEL_FILE.fullmatch(source):
        raise problem(
            source,
            "names a class in a file",
            "write MODULE:CLASS, such as shop.models:Invoice, or give the class",
            "invalid",
        )
    return _read_string(source)


def _read_string(text: str) -> Source:
    return _read_text(text, "spec", ".json" if text.lstrip().startswith("{") else ".yaml", "spec")


def _is_path(text: str) -> bool:
    if "\n" in text or "\0" in text or len(text) > 1000:
        return False
    return text.endswith(_SUFFIXES) or _is_file(text)


def _is_file(text: str) -> bool:
    try:
        return Path(text).is_file()
    except (OSError, ValueError):  # too long for a path, or not encodable as one
        return False


def _read_file(path: Path) -> Source:
    label = str(path)
    if path.suffix.casefold() not in _SUFFIXES:
        raise problem(
            label,
            f"cannot tell what kind of file {path.suffix!r} is",
            f"one of: {', '.join(_SUFFIXES)}",
            "unknown_format",
        )
    try:
        with open_file(path) as stream:
            text = stream.read().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise problem(
            label, f"is not UTF-8 text (byte {error.start})", "save it as UTF-8", "encoding"
        ) from error
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise problem(label, f"cannot be read ({reason})", "check the path", "unreadable_file") from error
    return _read_text(text, label, path.suffix.casefold(), path.stem)


def _read_text(text: str, label: str, suffix: str, stem: str) -> Source:
    check_size(text, label)
    if suffix == ".json":
        try:
            return Source(_read_json(text, label), Places(label, lambda: _json_lines(text)), stem)
        except ProblemsError:
            if label != "spec":
                raise
    data, lines = read_yaml(text, label)
    return Source(data, Places(label, lambda: lines), stem)


def _read_json(text: str, label: str) -> Any:
    try:
        return _plain(parse_json(text, once=True), label, 0)
    except RepeatedKeyError as error:
        raise problem(label, str(error), "keep one", "duplicate_key") from None
    except NestingError:
        raise too_deep(label) from None
    except json.JSONDecodeError as error:
        raise problem(
            f"{label}:{error.lineno}",
            f"not JSON ({error.msg}, column {error.colno})",
            "correct the syntax",
            "syntax",
        ) from error
    except ValueError as error:
        raise problem(label, f"not JSON ({error})", "correct the syntax", "syntax") from error


def _json_lines(text: str) -> Lines:
    """Return the lines of JSON text, parsed as YAML; no lines if it is not YAML or would take long."""
    if len(text) > _LONGEST_WITH_LINES:
        return {}
    try:
        return read_yaml(text, "")[1]
    except ProblemsError:
        return {}


def _plain(data: Any, label: str, depth: int) -> Any:
    """Return mappings as dicts with text keys, sequences as lists, dates as texts."""
    if depth > DEEPEST:
        raise too_deep(label)
    if isinstance(data, Mapping):
        return {
            str(_plain(key, label, depth)): _plain(value, label, depth + 1) for key, value in data.items()
        }
    if isinstance(data, list | tuple):
        return [_plain(value, label, depth + 1) for value in data]
    if isinstance(data, int) and data.bit_length() > _MOST_BITS:
        raise problem(
            label, "holds a number of more than 3,000 digits", "write a shorter one, or a text", "too_large"
        )
    if isinstance(data, str) and join_halves(data) is None:
        raise problem(label, *HALF, "syntax")
    if data is None or isinstance(data, str | int | float | bool):
        return data
    return data.isoformat() if hasattr(data, "isoformat") else str(data)


def named_source(text: str, folder: Path) -> Any:
    """Return the source of a spec named by a user in a folder.

    It is a path, a text, or the class of `module:Class` or `shop/models.py:Class`. Modules in the folder are
    found, as by other programs started in a project. Only a user's text may be passed: a name from a file
    must never be imported.
    """
    if _is_file(text):
        return Path(text)
    dotted = text if _MODEL.fullmatch(text) else _module_of(text, folder)
    if dotted is not None:
        return import_model(dotted, folder)
    return text if ":" in text else Path(text)


def _module_of(text: str, folder: Path) -> str | None:
    """Return `module:Class` for a class in a Python file below the folder, None for any other text."""
    file = _MODEL_FILE.fullmatch(text)
    if file is None:
        return None
    path = (folder / file[1]).resolve()
    if not path.is_file():
        raise problem(file[1], "is not a file", "check the path, or write MODULE:CLASS", "unreadable_file")
    inside = path.relative_to(folder.resolve()) if path.is_relative_to(folder.resolve()) else None
    parts = () if inside is None else (*inside.parts[:-1], inside.stem)
    if not parts or not all(part.isidentifier() for part in parts):
        what = "no module of the current folder is this file"
        raise problem(
            text,
            what,
            f"go to the project's folder and write MODULE:{file[2]}, such as shop.models:{file[2]}",
            "unknown_name",
        )
    return f"{'.'.join(parts)}:{file[2]}"


def import_model(dotted: str, folder: Path | None = None) -> type[Any]:
    """Return the class of `module:Class`; with a folder, its modules take precedence during the import."""
    import importlib

    module, _, name = dotted.partition(":")
    added = [] if folder is None else [str(folder.resolve())]
    sys.path[:0] = added
    try:
        found = getattr(importlib.import_module(module), name)
    except (Exception, SystemExit) as error:
        why = (
            str(error)
            if isinstance(error, ImportError | AttributeError)
            else f"{type(error).__name__}: {error}"
        )
        remedy = "check the module and the class, and the Python path"
        raise problem(dotted, f"cannot be imported ({why})", remedy, "unknown_name") from error
    finally:
        for path in added:
            sys.path.remove(path)
    if not isinstance(found, type):
        raise problem(dotted, "is not a class", "name a Pydantic model", "invalid")
    return found


def _read_model(model: type[Any]) -> Source:
    from pydantic import TypeAdapter
    from pydantic.errors import PydanticUserError

    from fieldassay.spec.language.pydantic_names import SchemaWithNames

    label = model.__name__
    try:
        schema = TypeAdapter(model).json_schema(schema_generator=SchemaWithNames)
    except PydanticUserError as error:
        raise problem(
            label, f"has no JSON Schema ({str(error).splitlines()[0]})", "give a Pydantic model", "invalid"
        ) from error
    return Source(_plain(schema, label, 0), Places(label), label)
