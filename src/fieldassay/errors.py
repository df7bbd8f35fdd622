"""Problems that a user can cause: place, problem and remedy, all reported at once."""

import bisect
import difflib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

_MOST_COMPARED = 150
_MOST_LISTED = 100


@dataclass(frozen=True, slots=True)
class Problem:
    """One problem of an input.

    `where` is the place (`spec.yaml: $.fields.TOTAL.type`, `preds.jsonl:17`), `what` the problem, `remedy`
    the remedy, `kind` the stable name in the documentation.

    >>> where = "spec.yaml: $.fields.TOTAL.type"
    >>> print(Problem(where, "unknown type 'mony'", "did you mean 'money'?", "unknown_name"))
    spec.yaml: $.fields.TOTAL.type: unknown type 'mony'; did you mean 'money'?
    """

    where: str
    what: str
    remedy: str = ""
    kind: str = "invalid"

    def __str__(self) -> str:
        return f"{self.where}: {self.what}" + (f"; {self.remedy}" if self.remedy else "")


class FieldassayError(Exception):
    """An error that a user can correct.

    The command line prints its text and exits with `exit_code`, without a traceback.
    """

    exit_code = 2

    def __init__(self, *details: object) -> None:
        super().__init__(*details)


class ProblemsError(FieldassayError):
    """One or more problems of the inputs, found in one pass.

    >>> str(ProblemsError([Problem("a", "is wrong"), Problem("b", "is wrong too", "correct it")]))
    'a: is wrong\\nb: is wrong too; correct it'
    """

    def __init__(self, problems: Sequence[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(map(str, self.problems)))

    def __reduce__(self) -> "tuple[type[ProblemsError], tuple[tuple[Problem, ...]]]":
        return (type(self), (self.problems,))


def problem(where: object, what: str, remedy: str = "", kind: str = "invalid") -> ProblemsError:
    """Return the error of one problem; `where` is written as a text.

    >>> str(problem("a.yaml:3", "is wrong", "correct it"))
    'a.yaml:3: is wrong; correct it'
    """
    return ProblemsError([Problem(str(where), what, remedy, kind)])


class MissingExtraError(FieldassayError):
    """An optional part that is not installed, or a model that is not on this machine, with the remedy."""


class NothingEvaluatedError(FieldassayError):
    """Not a single document could be scored."""

    exit_code = 5


_WORDS = {
    str: "a text",
    int: "a number",
    float: "a number",
    bool: "true or false",
    list: "a list",
    dict: "a mapping",
    type(None): "null",
}


def kind_of(value: Any) -> str:
    """Return the kind of a value of a spec in words, with the value if it is short.

    >>> kind_of(3), kind_of([1])
    ('the number 3', 'a list')
    """
    if isinstance(value, bool) or value is None:
        return "null" if value is None else str(value).lower()
    if isinstance(value, int | float):
        return f"the number {value}" if len(str(value)) <= 40 else "a number"
    return (
        f"the text {value!r}"
        if isinstance(value, str) and len(value) <= 40
        else _WORDS.get(type(value), type(value).__name__)
    )


def install_line(extra: str) -> str:
    """Return the command that installs an extra: in a clone, since the package is in no index.

    >>> install_line("ocr")
    "pip install '.[ocr]' (in a clone of fieldassay)"
    """
    return f"pip install '.[{extra}]' (in a clone of fieldassay)"


def nearest(name: str, names: Iterable[str]) -> str:
    """Return `did you mean 'x'?` for the closest of `names`, or the valid choices.

    Only some of very many names are examined and shown.

    >>> nearest("mony", ["money", "number"])
    "did you mean 'money'?"
    >>> nearest("zzz", ["money", "number"])
    'one of: money, number'
    """
    sorted_names, folded = _sorted_names(tuple(names))
    folded_name = name.casefold()
    candidates: Sequence[str] = tuple(folded)
    if len(candidates) > _MOST_COMPARED:
        at = bisect.bisect(candidates, folded_name)
        candidates = candidates[max(0, at - _MOST_COMPARED // 2) : at + _MOST_COMPARED // 2]
    close = difflib.get_close_matches(folded_name, candidates, n=1)
    if close:
        return f"did you mean {folded[close[0]]!r}?"
    return f"one of: {list_names(sorted_names, _MOST_LISTED)}"


def list_names(names: Sequence[str], most: int) -> str:
    """Return the first of some names, and how many more there are.

    >>> list_names(["a", "b"], 2), list_names(["a", "b", "c"], 1)
    ('a, b', 'a and 2 more')
    """
    more = len(names) - most
    return ", ".join(names[:most]) + (f" and {more:,} more" if more > 0 else "")


@lru_cache(maxsize=64)
def _sorted_names(names: tuple[str, ...]) -> tuple[tuple[str, ...], dict[str, str]]:
    """Return the names in order, and a mapping from their casefolded forms, in order."""
    sorted_names = tuple(sorted({*names}))
    folded = {name.casefold(): name for name in sorted_names}
    return sorted_names, dict(sorted(folded.items()))
