"""Problems that a user can cause: where, what, what to do; reported all at once."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong with an input.

    `where` is a place (`spec.yaml: $.fields.TOTAL.type`, `preds.jsonl:17`), `what` says what is wrong there, `remedy` what to do,
    `kind` is the stable name that the documentation lists.

    >>> print(Problem("spec.yaml: $.fields.TOTAL.type", "unknown type 'mony'", "did you mean 'money'?", "unknown_name"))
    spec.yaml: $.fields.TOTAL.type: unknown type 'mony'; did you mean 'money'?
    """

    where: str
    what: str
    remedy: str = ""
    kind: str = "invalid"

    def __str__(self) -> str:
        return f"{self.where}: {self.what}" + (f"; {self.remedy}" if self.remedy else "")


class FieldassayError(Exception):
    """Anything a user can mend. The command line prints its text and exits with `exit_code`, without a traceback."""

    exit_code = 2


class ProblemsError(FieldassayError):
    """One or more problems of the inputs, found in one pass.

    >>> str(ProblemsError([Problem("a", "is wrong"), Problem("b", "is wrong too", "mend it")]))
    'a: is wrong\\nb: is wrong too; mend it'
    """

    def __init__(self, problems: Sequence[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(map(str, self.problems)))

    def __reduce__(self) -> tuple[type[ProblemsError], tuple[tuple[Problem, ...]]]:
        return (type(self), (self.problems,))


class MissingExtraError(FieldassayError):
    """An optional part that is not installed, or a model that is not on this machine: one sentence with the remedy."""


class NothingEvaluatedError(FieldassayError):
    """No document could be scored at all."""

    exit_code = 5


def nearest(name: str, names: Iterable[str]) -> str:
    """Return `did you mean 'x'?` for the closest of `names`, or what there is to choose from.

    >>> nearest("mony", ["money", "number"])
    "did you mean 'money'?"
    >>> nearest("zzz", ["money", "number"])
    'one of: money, number'
    """
    known = sorted(names)
    folded = {candidate.casefold(): candidate for candidate in known}
    close = difflib.get_close_matches(name.casefold(), folded, n=1)
    return f"did you mean {folded[close[0]]!r}?" if close else f"one of: {', '.join(known)}"
