"""Runs for reports, with values that would like to be markup, commands or no XML at all."""

from functools import cache
from typing import Any

from fieldassay.decisions.gate import decide_result
from fieldassay.metrics.catalogue.grammar import parse_gate
from fieldassay.reports.report import Reported, report_scored
from fieldassay.scoring.score import score

SPEC = """
name: bills
fields:
  total: {type: money, currency: AUD, critical: true}
  name: text
  kind: text
  lines: {type: list, items: {type: object, fields: {sku: id, amount: number}}}
document_type: kind
gates: [accuracy >= 0.9, 'field_accuracy[total] >= 0.1', regression(accuracy) > -0.01]
"""
HOSTILE = {
    "nul and escape": "a\x00b\x1b[31mc",
    "lone surrogate": "x\ud800y",
    "no character": "x\ufffe\uffff",
    "end of section": "]]><![CDATA[ & <a href='\"'>",
    "comment": "--> <!-- <script>alert(1)</script>",
    "command": "::set-output name=a::b\n::set-output name=a::b\r\n::error::x",
    "old command": "##[add-path]/evil",
    "percent": "100%0A::error::x",
    "cells": "a|b\\|c\n| d |`e`",
    "mentions": "@octocat fixes #1 and https://evil.example www.evil.example",
    "bidi": "\u202eabc\u2066",
    "long": "y" * 200_000,
}


def records(documents: int = 6) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    gold = [
        {
            "id": f"d{k}",
            "kind": "ab"[k % 2],
            "total": f"{k}.00",
            "name": f"Shop {k}",
            "lines": [{"sku": "x", "amount": k}],
        }
        for k in range(documents)
    ]
    pred = [
        {**row, "name": "Shop 0", "lines": [{"sku": "x", "amount": 99}, {"sku": "y", "amount": 1}]}
        for row in gold
    ]
    return gold, pred


def made(
    gold: Any = None,
    pred: Any = None,
    *,
    gates: tuple[str, ...] = (),
    evidence: Any = "all",
    spec: str = SPEC,
) -> Reported:
    """Return a scored run as reports take it."""
    if gold is None:
        gold, pred = records()
    systems = pred if isinstance(pred, dict) else {"llama": pred}
    options = {
        "evidence": evidence,
        "bootstrap": 50,
        "gates": gates,
        "slices": ("type",) if spec == SPEC else (),
    }
    result = score(gold, systems, spec, **options)
    return report_scored(result, None, decide_result(result, [parse_gate(gate) for gate in gates]), evidence)


@cache
def small() -> Reported:
    """Return the scored run of the records."""
    return made()


@cache
def hostile() -> Reported:
    """Return a run in which every value, document, system and type is hostile."""
    gold = [
        {
            "id": f"{key}: {value[:300]}".replace("\ud800", "?"),
            "kind": value[:50],
            "total": "1",
            "name": value,
            "lines": [],
        }
        for key, value in HOSTILE.items()
    ]
    pred = [
        {**row, "name": f"{row['name']} {row['name']}", "total": row["name"], "lines": row["name"]}
        for row in gold
    ]
    return made(gold, {f"llama {HOSTILE['command']}": pred, f"qwen {HOSTILE['cells']}": pred})
