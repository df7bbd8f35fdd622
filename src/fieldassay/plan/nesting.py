"""Options of a field that belong to a comparator inside its comparator."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from fieldassay.comparators.catalogue import COMPARATORS
from fieldassay.plan.build import annotations_of, takes_comparators
from fieldassay.spec.calls import FIRST, call_data, parse_call
from fieldassay.spec.freeze import freeze, thaw
from fieldassay.spec.model import Call


def hand_down(call: Call, name: str, value: Any) -> Call | None:
    """Return the call with an option given to every comparator inside it that has the option and does not set it; None if none does.

    >>> steps = freeze(["exact", "number"])
    >>> call = hand_down(Call("cascade", (("steps", steps),)), "tolerance", 0.01)
    >>> call_data(call)
    {'cascade': {'steps': ['exact', {'number': {'tolerance': 0.01}}]}}
    """
    if call.name not in COMPARATORS:
        return None
    annotations = annotations_of(COMPARATORS.load(call.name))
    options, is_taken = dict(call.options), False
    for option, raw in call.options:
        annotation = annotations.get(next(iter(annotations), "") if option == FIRST else option)
        if annotation is None or not takes_comparators(annotation):
            continue
        found = _hand_to(thaw(raw), name, value)
        if found is not None:
            options[option], is_taken = freeze(found), True
    return replace(call, options=tuple(sorted(options.items()))) if is_taken else None


def _hand_to(data: Any, name: str, value: Any) -> Any | None:
    """Return one comparator, or several, as data with the option; None if nothing takes it."""
    if isinstance(data, list):
        found = [_hand_to(one, name, value) for one in data]
        return None if all(one is None for one in found) else [one if new is None else new for one, new in zip(data, found, strict=True)]
    try:
        call = parse_call(data)
    except ValueError:  # the problem is noted where the comparator is built
        return None
    taken = _with_option(call, name, value) or hand_down(call, name, value)
    return None if taken is None else call_data(taken)


def _with_option(call: Call, name: str, value: Any) -> Call | None:
    names = tuple(annotations_of(COMPARATORS.load(call.name))) if call.name in COMPARATORS else ()
    is_set = name in dict(call.options) or (FIRST in dict(call.options) and names[:1] == (name,))
    return None if name not in names or is_set else replace(call, options=tuple(sorted((*call.options, (name, value)))))
