"""A plan for only some of its fields, or with other options of its sections."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from fieldassay.errors import Problem, ProblemsError, nearest
from fieldassay.options import option_names
from fieldassay.spec.language.model import Field
from fieldassay.spec.language.sections import SECTIONS
from fieldassay.spec.plan.compile import compile_plan
from fieldassay.spec.plan.digest import digest_of
from fieldassay.spec.plan.nodes import Plan


def restrict(plan: Plan, names: Sequence[str]) -> Plan:
    """Return the plan of the spec with only the named top-level fields and everything in them.

    It is a spec of its own: its digest differs, undeclared keys are not judged, and it carries no protocol's
    name. Raises `ProblemsError` for a name that is no top-level field, and for gates, metrics and checks
    about omitted fields.

    >>> from fieldassay.spec.plan.compile import read_plan
    >>> restrict(read_plan("fields: {total: money, shop: text}"), ["total"]).slots
    ('total',)
    """
    known = {field.name: field for field in plan.spec.fields if field.name}
    problems = [_unknown(name, known) for name in names if name not in known]
    kind = plan.spec.document_type
    chosen = tuple(field for field in plan.spec.fields if field.name in names)
    if kind is not None and kind.field not in names:
        problems += [
            Problem(
                "fields",
                f"{field.name!r} applies to some types of documents only",
                f"add {kind.field!r}, which holds the type",
                "unknown_name",
            )
            for field in chosen
            if field.applies_to
        ]
        kind = None
    if problems:
        raise ProblemsError(problems)
    return compile_plan(replace(plan.spec, fields=chosen, document_type=kind, extra="ignore", protocol=None))


def with_sections(plan: Plan, **options: Any) -> Plan:
    """Return the plan with these options in place of those of the sections of its spec.

    >>> from fieldassay.spec.plan.compile import read_plan
    >>> with_sections(read_plan("fields: {total: money}"), level=0.9).spec.statistics.level
    0.9
    """
    sections: dict[str, Any] = {
        key: replace(
            getattr(plan.spec, key), **{name: options[name] for name in option_names(kind) if name in options}
        )
        for key, kind in SECTIONS.items()
    }
    spec = replace(plan.spec, **sections)
    return replace(plan, spec=spec, digest=digest_of(spec)) if spec != plan.spec else plan


def _unknown(name: str, known: Mapping[str, Field]) -> Problem:
    if not known:
        return Problem(
            "fields",
            f"no field {name[:200]!r}: the spec declares none by name",
            "leave out the choice of fields",
            "unknown_name",
        )
    return Problem("fields", f"no top-level field {name[:200]!r}", nearest(name[:200], known), "unknown_name")
