"""YAML with places: the text of a spec, its problems, and a cursor through it."""

import math
import re
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from typing import Any

from fieldassay.errors import Problem, ProblemsError, kind_of, nearest, problem
from fieldassay.paths import Step, join_path

# Collects the problems of one source, with their places.

_LINE = re.compile(r":([0-9]{1,9}): [$]")

Steps = tuple[Step, ...]
Lines = Mapping[Steps, int]


def no_lines() -> Lines:
    """Return an empty mapping: no line is known."""
    return {}


class Places:
    """Locates steps in a source: `spec.yaml:12: $.fields.TOTAL.type`.

    `lines` is called once, for the first problem, since finding the lines may cost a second parse. `origins`
    maps places of a spec made from another source (a JSON Schema) to places there; the longest known prefix
    counts.
    """

    def __init__(
        self, label: str, lines: Callable[[], Lines] = no_lines, origins: Mapping[Steps, Steps] | None = None
    ) -> None:
        self.label = label
        self._find_lines = lines
        self._lines: Lines | None = None
        self._origins = origins or {}

    def where(self, steps: Steps) -> str:
        """Return the place as text, with the line of the longest prefix that has one."""
        steps = self._origin(steps)
        if self._lines is None:
            self._lines = self._find_lines()
        line = next(
            (self._lines[steps[:n]] for n in range(len(steps), 0, -1) if steps[:n] in self._lines), None
        )
        label = self.label if line is None else f"{self.label}:{line}"
        path = join_path(steps)
        return f"{label}: ${'' if not path or path.startswith('[') else '.'}{path}"

    def with_origins(self, origins: Mapping[Steps, Steps]) -> "Places":
        """Return the same places for a spec made from this source."""
        return Places(self.label, self._find_lines, origins)

    def _origin(self, steps: Steps) -> Steps:
        for n in range(len(steps), -1, -1):
            if steps[:n] in self._origins:
                return (*self._origins[steps[:n]], *steps[n:])
        return steps


class Report:
    """The problems of one source so far."""

    def __init__(self, places: Places) -> None:
        self.places = places
        self.problems: list[Problem] = []

    def add(self, steps: Steps, what: str, remedy: str = "", kind: str = "invalid") -> None:
        """Note a problem at a place of the source."""
        self.problems.append(Problem(self.places.where(steps), what, remedy, kind))

    def add_error(self, steps: Steps, error: Exception, kind: str = "invalid") -> None:
        """Note an error whose message is `WHAT; REMEDY`."""
        what, _, remedy = str(error).partition("; ")
        self.add(steps, what, remedy, kind)

    def raise_any(self) -> None:
        """Raise `ProblemsError` with every distinct problem, if any."""
        if self.problems:
            raise ProblemsError(in_order(self.problems))


def in_order(problems: Iterable[Problem]) -> tuple[Problem, ...]:
    """Return the distinct problems in the order of their lines; those without a line come first.

    >>> [problem.where for problem in in_order([Problem("a:9: $", "x"), Problem("a:2: $", "y")])]
    ['a:2: $', 'a:9: $']
    """
    return tuple(sorted(dict.fromkeys(problems), key=_line))


def _line(problem: Problem) -> int:
    match = _LINE.search(problem.where)
    return int(match[1]) if match else 0


# YAML text as plain data and the lines of its places; hostile text is a problem, never a crash.

LARGEST_TEXT = 1_000_000
"""The maximum of characters; a spec is written by hand or made from a schema."""
DEEPEST = 100
"""The maximum nesting."""
MOST_NODES = 200_000
"""The maximum of values with aliases followed; a few lines of aliases could fill the memory."""


def read_yaml(text: str, label: str) -> tuple[Any, dict[Steps, int]]:
    """Return the data of one YAML document and the line (from 1) of each place in it.

    Keys are always texts. Raises `ProblemsError` for invalid YAML, duplicate keys, cycles, and text beyond
    the limits above.

    >>> read_yaml("a: [1, yes]", "spec.yaml")
    ({'a': [1, 'yes']}, {('a',): 1, ('a', 0): 1, ('a', 1): 1})
    """
    check_size(text, label)
    node = _compose(text, label)
    builder = _YamlBuilder(label)
    data = builder.build(node, ()) if node is not None else None
    builder.report.raise_any()
    return data, builder.lines


@lru_cache(maxsize=32)
def read_preset(text: str, name: str) -> Mapping[str, Any]:
    """Return the data of a protocol's text, read once and shared: nobody may change it."""
    data: Mapping[str, Any] = read_yaml(text, f"protocol {name}")[0]
    return data


def check_size(text: str, label: str) -> None:
    """Raise `ProblemsError` if a text is too long to be a spec."""
    if len(text) > LARGEST_TEXT:
        raise problem(
            label,
            f"has {len(text)} characters, more than a spec may have",
            f"at most {LARGEST_TEXT}",
            "too_large",
        )


HALF = ("an escape \\u is half of a character", "write the whole character")


def join_halves(text: str) -> str | None:
    """Return a text with characters instead of pairs of surrogates; None where one has no partner.

    >>> join_halves("\\ud83d\\ude00") == "\\U0001f600", join_halves("\\ude00")
    (True, None)
    """
    try:
        return text.encode("utf-16", "surrogatepass").decode("utf-16")
    except UnicodeDecodeError:
        return None


def too_deep(label: str) -> ProblemsError:
    """Return the error for a source that nests too deeply."""
    return problem(label, f"nests deeper than {DEEPEST} levels", "flatten it", "too_deep")


@lru_cache(maxsize=4)
def _compose(text: str, label: str) -> Any:
    """Return the nodes of a text, which are only read; kept, for the spec of many scores in one process."""
    from ruamel.yaml import YAML
    from ruamel.yaml.error import MarkedYAMLError, YAMLError

    try:
        return YAML(typ="safe", pure=True).compose(text)
    except RecursionError as error:
        raise too_deep(label) from error
    except MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        where = f"{label}:{mark.line + 1}" if mark is not None else label
        what = " ".join(str(part) for part in (error.problem, error.context) if part)
        column = f", column {mark.column + 1}" if mark is not None else ""
        raise problem(where, f"not YAML ({what}{column})", "correct the syntax", "syntax") from error
    except (YAMLError, ValueError) as error:
        first = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        raise problem(label, f"not YAML ({first[:200]})", "correct the syntax", "syntax") from error


class _YamlBuilder:
    """Turns YAML nodes into data, noting lines and problems."""

    def __init__(self, label: str) -> None:
        lines: dict[Steps, int] = {}
        self.lines = lines
        self.label = label
        self.report = Report(Places(label, lambda: lines))
        self.count = 0
        self.open: set[int] = set()

    def build(self, node: Any, steps: Steps) -> Any:
        """Return the data of a node."""
        self.count += 1
        if self.count > MOST_NODES:
            what = f"holds more than {MOST_NODES} values once its aliases are followed"
            raise problem(self.label, what, "write it without so many aliases", "too_large")
        if len(steps) > DEEPEST:
            raise too_deep(self.label)
        if node.id == "scalar":
            return self._scalar(node, steps)
        if id(node) in self.open:
            self.report.add(steps, "an alias contains itself", "write the value out", "syntax")
            return None
        self.open.add(id(node))
        data = self._sequence(node, steps) if node.id == "sequence" else self._mapping(node, steps)
        self.open.discard(id(node))
        return data

    def _sequence(self, node: Any, steps: Steps) -> list[Any]:
        items = []
        for index, child in enumerate(node.value):
            inner = (*steps, index)
            self.lines[inner] = child.start_mark.line + 1
            items.append(self.build(child, inner))
        return items

    def _mapping(self, node: Any, steps: Steps) -> dict[str, Any]:
        data: dict[str, Any] = {}
        for key, child in node.value:
            if key.id != "scalar":
                self.report.add(steps, "a key is a list or a mapping", "use a text as key", "syntax")
                continue
            name = self._text(key, steps)
            inner = (*steps, name)
            first = self.lines.get(inner)
            if name in data and first is not None:
                self.report.add(
                    inner,
                    f"the key {name!r} is there twice (again on line {key.start_mark.line + 1})",
                    "keep one",
                    "duplicate_key",
                )
                continue
            self.lines[inner] = key.start_mark.line + 1
            data[name] = self.build(child, inner)
        return data

    def _scalar(self, node: Any, steps: Steps) -> Any:
        kind = str(node.tag).rpartition(":")[2]
        if kind == "null":
            return None
        if kind == "bool":
            return node.value.casefold() in ("true", "yes", "on", "y")
        if kind in ("int", "float"):
            return self._number(node.value, kind, steps)
        if kind not in ("str", "timestamp", "value", "merge"):
            self.report.add(steps, f"the tag {node.tag!s} is not allowed", "write a plain value", "syntax")
        return self._text(node, steps)

    def _text(self, node: Any, steps: Steps) -> str:
        """Return a text with the halves of characters that were written as two escapes joined."""
        text = join_halves(str(node.value))
        if text is None:
            self.report.add(steps, *HALF, "syntax")
        return text or ""

    def _number(self, text: str, kind: str, steps: Steps) -> Any:
        plain = text.replace("_", "").casefold()
        special = {".inf": float("inf"), "+.inf": float("inf"), "-.inf": float("-inf"), ".nan": float("nan")}
        if plain in special:
            return special[plain]
        try:
            return (
                float(plain)
                if kind == "float"
                else int(plain, 0)
                if plain.lstrip("+-")[:2] in ("0x", "0o", "0b")
                else int(plain)
            )
        except ValueError:
            self.report.add(
                steps, f"cannot read the number {text[:40]!r}", "quote it if it is a text", "syntax"
            )
            return None


# Reads typed values from one mapping of a spec and notes those that do not fit.


class Cursor:
    """One mapping of a spec at a place.

    Each method returns a key's value or the default, and notes a problem if the value does not fit.
    """

    def __init__(self, data: Mapping[str, Any], steps: Steps, report: Report) -> None:
        self.data = data
        self.steps = steps
        self.report = report

    def refuse(self, key: str, what: str, remedy: str = "", kind: str = "invalid") -> None:
        """Note a problem with the value of a key."""
        self.report.add((*self.steps, key), what, remedy, kind)

    def has(self, key: str) -> bool:
        """Return whether the key has a value."""
        return self.data.get(key) is not None

    def text(self, key: str, default: str | None = None) -> str | None:
        """Return a text; numbers and booleans are converted."""
        if not self.has(key):
            return default
        text = as_text(self.data[key])
        if text is None:
            self.refuse(key, f"must be a text, not {kind_of(self.data[key])}", "write one text", "wrong_kind")
            return default
        return text

    def choice(self, key: str, default: str, choices: tuple[str, ...]) -> str:
        """Return one of the choices."""
        text = self.text(key, default)
        if text not in choices:
            self.refuse(
                key, f"cannot be {str(text)[:100]!r}", nearest(str(text)[:100], choices), "unknown_name"
            )
            return default
        return text

    def flag(self, key: str) -> bool:
        """Return true or false; false by default."""
        value = self.data.get(key)
        if value is not None and not isinstance(value, bool):
            self.refuse(
                key, f"must be true or false, not {kind_of(value)}", "write true or false", "wrong_kind"
            )
        return value is True

    def number(self, key: str, default: float) -> float:
        """Return a finite number of at least 0."""
        value = self.data.get(key)
        if value is None:
            return default
        number = as_number(value)
        if number is None or number < 0:
            self.refuse(
                key, f"must be a number of at least 0, not {kind_of(value)}", "write a number", "wrong_kind"
            )
            return default
        return number

    def texts(self, key: str) -> tuple[str, ...]:
        """Return a list of texts; a single text is a list of one."""
        value = self.data.get(key)
        if value is None:
            return ()
        texts = [as_text(item) for item in (value if isinstance(value, list) else [value])]
        for position, text in enumerate(texts):
            if text is None:
                what = f"must be a text, not {kind_of(value[position] if isinstance(value, list) else value)}"
                self.report.add((*self.steps, key, position), what, "write a list of texts", "wrong_kind")
        return tuple(text for text in texts if text is not None)

    def mapping(self, key: str) -> dict[str, Any]:
        """Return a mapping; empty by default."""
        value = self.data.get(key)
        if value is not None and not isinstance(value, dict):
            self.refuse(
                key, f"must be a mapping, not {kind_of(value)}", "write keys and values", "wrong_kind"
            )
        return value if isinstance(value, dict) else {}

    def refuse_unknown(self, keys: tuple[str, ...]) -> None:
        """Note each unknown key."""
        for key in self.data:
            if key not in keys:
                remedy = nearest(key[:100], keys) if keys else "leave it out"
                self.refuse(key, f"unknown key {key[:100]!r}", remedy, "unknown_key")


def as_text(value: Any) -> str | None:
    """Return a scalar as text (null and booleans as YAML writes them); None for a list or a mapping."""
    if isinstance(value, str):
        return value
    if value is None or isinstance(value, bool):
        return "null" if value is None else str(value).lower()
    return str(value) if isinstance(value, int | float) and len(str(value)) < 1000 else None


def as_number(value: Any) -> float | None:
    """Return a finite number as float; None for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) else None
