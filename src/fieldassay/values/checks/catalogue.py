"""The checks by name."""

from __future__ import annotations

from fieldassay.registry import Catalogue

CHECKS = Catalogue(
    "check",
    {
        "has_keys": "fieldassay.values.checks.shapes:HasKeys",
        "holds": "fieldassay.values.checks.holds:Holds",
        "kind": "fieldassay.values.checks.shapes:IsKind",
        "length": "fieldassay.values.checks.shapes:HasLength",
        "not_empty": "fieldassay.values.checks.shapes:NotEmpty",
        "number": "fieldassay.values.checks.shapes:IsNumber",
        "one_of": "fieldassay.values.checks.shapes:OneOf",
        "pattern": "fieldassay.values.checks.texts:Matches",
        "range": "fieldassay.values.checks.shapes:InRange",
        "unit_format": "fieldassay.values.checks.texts:UnitFormat",
    },
)
