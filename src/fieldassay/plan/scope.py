"""Where a field stands in a spec and in a record, and what it inherits."""

from __future__ import annotations

from dataclasses import dataclass, replace

from fieldassay.paths import ITEM, join_path, split_path
from fieldassay.spec.model import Field
from fieldassay.spec.report import Steps


@dataclass(frozen=True, slots=True)
class Scope:
    """The place of a field: `steps` in the spec, `path` in a record, its slot, and what the fields around it pass on.

    Weights multiply downward (a list of weight 2 makes each of its values count twice); what is critical makes everything in it critical.
    """

    steps: Steps
    path: str
    slot: int
    weight: float = 1.0
    is_critical: bool = False
    applies_to: frozenset[str] = frozenset()

    def under(self, field: Field, applies_to: frozenset[str]) -> Scope:
        """Return the scope with what the field itself says."""
        return replace(self, weight=self.weight * field.weight, is_critical=self.is_critical or field.critical, applies_to=applies_to)

    def member(self, name: str) -> Scope:
        """Return the scope of a field of this object."""
        path = join_path([*split_path(self.path), name])
        return replace(self, steps=(*self.steps, "fields", name), path=path, applies_to=frozenset())

    def items(self) -> Scope:
        """Return the scope of the items of this list."""
        path = join_path([*split_path(self.path), ITEM])
        return replace(self, steps=(*self.steps, "items"), path=path, applies_to=frozenset())

    def pattern(self, text: str) -> Scope:
        """Return the scope of a pattern of this tree; the values themselves say where they are."""
        return replace(self, steps=(*self.steps, "fields", text), path=text, applies_to=frozenset())
