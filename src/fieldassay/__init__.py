"""fieldassay: how good structured data extraction from documents is, field by field, and how sure that is."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from fieldassay.version import __version__

if TYPE_CHECKING:
    from fieldassay.commands.extract import ExtractOptions as ExtractOptions
    from fieldassay.commands.extract import SweepOptions as SweepOptions
    from fieldassay.commands.extract import extract as extract
    from fieldassay.commands.extract import run as run
    from fieldassay.commands.judge import Judge as Judge
    from fieldassay.commands.judge import Judgement as Judgement
    from fieldassay.commands.runs import agreement as agreement
    from fieldassay.commands.runs import attribute as attribute
    from fieldassay.commands.runs import calibrate as calibrate
    from fieldassay.commands.runs import check_baseline as check_baseline
    from fieldassay.commands.runs import diff as diff
    from fieldassay.commands.runs import explain_document as explain_document
    from fieldassay.commands.runs import gate as gate
    from fieldassay.commands.runs import open_run as open_run
    from fieldassay.commands.runs import report as report
    from fieldassay.commands.runs import set_baseline as set_baseline
    from fieldassay.commands.score import score as score
    from fieldassay.decisions.calibration.certificate import Guarantee as Guarantee
    from fieldassay.decisions.diff.diff import Diff as Diff
    from fieldassay.errors import FieldassayError as FieldassayError
    from fieldassay.errors import NothingEvaluatedError as NothingEvaluatedError
    from fieldassay.errors import ProblemsError as ProblemsError
    from fieldassay.extraction.endpoints.exchange import Request as Request
    from fieldassay.extraction.extract import Extraction as Extraction
    from fieldassay.extraction.strategy import Extracted as Extracted
    from fieldassay.extraction.strategy import Strategy as Strategy
    from fieldassay.extraction.strategy import Task as Task
    from fieldassay.metrics.estimate import Estimate as Estimate
    from fieldassay.metrics.evidence import JudgedValue as JudgedValue
    from fieldassay.metrics.result.result import Result as Result
    from fieldassay.metrics.result.result import metrics_json as metrics_json
    from fieldassay.metrics.result.result import read_metrics as read_metrics
    from fieldassay.metrics.result.verdicts import Comparison as Comparison
    from fieldassay.reports.export.export import export_run as export_run
    from fieldassay.reports.export.export import guide_result as guide_result
    from fieldassay.runs.run import Run as Run
    from fieldassay.runs.run import list_stored as list_stored
    from fieldassay.scoring.explain import explain_field as explain_field
    from fieldassay.scoring.explain import explain_values as explain_values
    from fieldassay.scoring.explain import validate as validate
    from fieldassay.scoring.inputs import ScoreOptions as ScoreOptions
    from fieldassay.scoring.score import sample as sample
    from fieldassay.spec.language.model import Spec as Spec
    from fieldassay.spec.language.parse import read_spec as read_spec
    from fieldassay.spec.language.write import write_spec as write_spec
    from fieldassay.spec.plan.compile import read_plan as read_plan
    from fieldassay.spec.plan.nodes import describe as describe
    from fieldassay.values.aligners import Aligner as Aligner
    from fieldassay.values.checks.relations import Check as Check
    from fieldassay.values.checks.relations import Fault as Fault
    from fieldassay.values.checks.relations import Look as Look
    from fieldassay.values.comparators.base import Comparator as Comparator
    from fieldassay.values.comparators.base import Scores as Scores
    from fieldassay.values.types.column import Column as Column
    from fieldassay.values.types.column import Reader as Reader
    from fieldassay.values.types.column import Reading as Reading
    from fieldassay.values.types.text import Normalizer as Normalizer

_HOMES = {
    "score": "fieldassay.commands.score",
    "Judge": "fieldassay.commands.judge",
    "Judgement": "fieldassay.commands.judge",
    "JudgedValue": "fieldassay.metrics.evidence",
    "extract": "fieldassay.commands.extract",
    "run": "fieldassay.commands.extract",
    "SweepOptions": "fieldassay.commands.extract",
    "ExtractOptions": "fieldassay.commands.extract",
    "Result": "fieldassay.metrics.result.result",
    "Estimate": "fieldassay.metrics.estimate",
    "Comparison": "fieldassay.metrics.result.verdicts",
    "Diff": "fieldassay.decisions.diff.diff",
    "Extraction": "fieldassay.extraction.extract",
    "ScoreOptions": "fieldassay.scoring.inputs",
    "Run": "fieldassay.runs.run",
    "open_run": "fieldassay.commands.runs",
    "list_stored": "fieldassay.runs.run",
    "diff": "fieldassay.commands.runs",
    "gate": "fieldassay.commands.runs",
    "set_baseline": "fieldassay.commands.runs",
    "check_baseline": "fieldassay.commands.runs",
    "calibrate": "fieldassay.commands.runs",
    "attribute": "fieldassay.commands.runs",
    "Guarantee": "fieldassay.decisions.calibration.certificate",
    "agreement": "fieldassay.commands.runs",
    "report": "fieldassay.commands.runs",
    "export_run": "fieldassay.reports.export.export",
    "guide_result": "fieldassay.reports.export.export",
    "Spec": "fieldassay.spec.language.model",
    "read_spec": "fieldassay.spec.language.parse",
    "write_spec": "fieldassay.spec.language.write",
    "read_plan": "fieldassay.spec.plan.compile",
    "describe": "fieldassay.spec.plan.nodes",
    "validate": "fieldassay.scoring.explain",
    "explain_values": "fieldassay.scoring.explain",
    "explain_field": "fieldassay.scoring.explain",
    "explain_document": "fieldassay.commands.runs",
    "sample": "fieldassay.scoring.score",
    "metrics_json": "fieldassay.metrics.result.result",
    "read_metrics": "fieldassay.metrics.result.result",
    "Comparator": "fieldassay.values.comparators.base",
    "Scores": "fieldassay.values.comparators.base",
    "Reader": "fieldassay.values.types.column",
    "Reading": "fieldassay.values.types.column",
    "Column": "fieldassay.values.types.column",
    "Normalizer": "fieldassay.values.types.text",
    "Aligner": "fieldassay.values.aligners",
    "Check": "fieldassay.values.checks.relations",
    "Fault": "fieldassay.values.checks.relations",
    "Look": "fieldassay.values.checks.relations",
    "Strategy": "fieldassay.extraction.strategy",
    "Task": "fieldassay.extraction.strategy",
    "Extracted": "fieldassay.extraction.strategy",
    "Request": "fieldassay.extraction.endpoints.exchange",
    "FieldassayError": "fieldassay.errors",
    "ProblemsError": "fieldassay.errors",
    "NothingEvaluatedError": "fieldassay.errors",
}
"""The module of each public name, loaded on first use, so that importing the package loads nothing."""

__all__ = ["__version__", *_HOMES]  # noqa: PLE0604, RUF100


def __getattr__(name: str) -> Any:
    """Return a public name from its module."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return __all__
