"""The options of catalogue entries: the same for records of msgspec and for frozen dataclasses."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest
from msgspec import Struct

from fieldassay.options import REQUIRED, has_options, options_of, undefined_methods, with_options
from fieldassay.registry import Catalogue
from fieldassay.spec.language.model import Call
from fieldassay.spec.language.report import Places, Report
from fieldassay.spec.plan.build import build_call
from fieldassay.values.comparators.base import Comparator, Scores
from fieldassay.values.types.column import Column


class Recorded(Comparator, Struct, frozen=True):
    within: float
    words: tuple[str, ...] = ("a",)

    def compare(self, gold: Column, pred: Column) -> Scores:
        raise NotImplementedError


@dataclass(frozen=True)
class Decorated(Comparator):
    within: float
    words: tuple[str, ...] = field(default_factory=lambda: ("a",))
    made: int = field(default=0, init=False)

    def compare(self, gold: Column, pred: Column) -> Scores:
        raise NotImplementedError


class Incomplete(Comparator, Struct, frozen=True):
    within: float = 0.0


KINDS = [Recorded, Decorated]


@pytest.mark.parametrize("kind", KINDS)
def test_options_are_what_the_constructor_takes_with_its_defaults(kind: type[Comparator]) -> None:
    assert [(one.name, one.default) for one in options_of(kind)] == [("within", REQUIRED), ("words", ("a",))]
    assert undefined_methods(kind) == () and has_options(kind) and not has_options("text")


@pytest.mark.parametrize("kind", KINDS)
def test_other_options_leave_the_rest_and_the_entry_itself(kind: type[Recorded]) -> None:
    first = kind(0.5, ("b",))
    other = with_options(first, within=0.1)
    assert (other.within, other.words, first.within) == (0.1, ("b",), 0.5)
    assert hash(with_options(first)) == hash(first) and with_options(first) == first


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("given", "told"), [({"within": 0.5}, ""), ({}, "needs the option 'within'")])
def test_a_spec_builds_both(kind: type[Comparator], given: dict[str, object], told: str) -> None:
    report = Report(Places("spec.yaml"))
    catalogue = Catalogue("comparator", {"own": f"{__name__}:{kind.__name__}"})
    built = build_call(Call("own", tuple(given.items())), catalogue, (), report)
    assert isinstance(built, kind) != bool(told)
    assert [told in problem.what for problem in report.problems] == [True] * bool(told)


def test_a_class_without_its_methods_is_refused_before_it_is_called() -> None:
    report = Report(Places("spec.yaml"))
    catalogue = Catalogue("comparator", {"own": f"{__name__}:Incomplete"})
    assert build_call(Call("own"), catalogue, (), report) is None
    (problem,) = report.problems
    assert "defines no 'compare'" in problem.remedy, problem
