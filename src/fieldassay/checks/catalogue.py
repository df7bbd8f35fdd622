"""The checks by name."""

from __future__ import annotations

from fieldassay.registry import Catalogue

CHECKS = Catalogue(
    "check",
    {
        "has_keys": "fieldassay.checks.shapes:HasKeys",
        "holds": "fieldassay.checks.holds:Holds",
        "kind": "fieldassay.checks.shapes:IsKind",
        "length": "fieldassay.checks.shapes:HasLength",
        "not_empty": "fieldassay.checks.shapes:NotEmpty",
        "number": "fieldassay.checks.shapes:IsNumber",
        "one_of": "fieldassay.checks.shapes:OneOf",
        "pattern": "fieldassay.checks.texts:Matches",
        "range": "fieldassay.checks.shapes:InRange",
        "unit_format": "fieldassay.checks.texts:UnitFormat",
    },
)
