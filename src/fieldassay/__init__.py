"""fieldassay: how good structured data extraction from documents is, field by field, and how sure that is."""

from __future__ import annotations

import importlib
import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

from fieldassay.version import __version__

if TYPE_CHECKING:
    from fieldassay.calibration.calibrate import apply_policy as apply_policy
    from fieldassay.calibration.result import Promise as Promise
    from fieldassay.errors import FieldassayError as FieldassayError
    from fieldassay.errors import NothingEvaluatedError as NothingEvaluatedError
    from fieldassay.errors import ProblemsError as ProblemsError
    from fieldassay.plan.compile import read_plan as read_plan
    from fieldassay.plan.describe import describe as describe
    from fieldassay.public.agreeing import agreement as agreement
    from fieldassay.public.attributing import attribute as attribute
    from fieldassay.public.corpora import run_corpus as run_corpus
    from fieldassay.public.explaining import explain_document as explain_document
    from fieldassay.public.extracting import ExtractOptions as ExtractOptions
    from fieldassay.public.extracting import extract as extract
    from fieldassay.public.runs import calibrate as calibrate
    from fieldassay.public.runs import check_baseline as check_baseline
    from fieldassay.public.runs import diff as diff
    from fieldassay.public.runs import gate as gate
    from fieldassay.public.runs import open_run as open_run
    from fieldassay.public.runs import report as report
    from fieldassay.public.runs import set_baseline as set_baseline
    from fieldassay.public.scoring import score as score
    from fieldassay.public.sweeping import SweepOptions as SweepOptions
    from fieldassay.public.sweeping import run as run
    from fieldassay.redaction.redact import redact_run as redact_run
    from fieldassay.reports.export.export import export_run as export_run
    from fieldassay.reports.export.guide import guide_result as guide_result
    from fieldassay.result.metrics_file import metrics_json as metrics_json
    from fieldassay.result.metrics_file import read_metrics as read_metrics
    from fieldassay.result.result import Result as Result
    from fieldassay.runs.listing import list_stored as list_stored
    from fieldassay.runs.run import Run as Run
    from fieldassay.scoring.explain import explain_field as explain_field
    from fieldassay.scoring.explain import explain_values as explain_values
    from fieldassay.scoring.options import InputOptions as InputOptions
    from fieldassay.scoring.options import ScoreOptions as ScoreOptions
    from fieldassay.scoring.sampling import sample as sample
    from fieldassay.scoring.validate import validate as validate
    from fieldassay.spec.model import Spec as Spec
    from fieldassay.spec.parse import read_spec as read_spec
    from fieldassay.spec.write import write_spec as write_spec

_HOMES = {
    "score": "fieldassay.public.scoring",
    "extract": "fieldassay.public.extracting",
    "run": "fieldassay.public.sweeping",
    "SweepOptions": "fieldassay.public.sweeping",
    "run_corpus": "fieldassay.public.corpora",
    "ExtractOptions": "fieldassay.public.extracting",
    "Result": "fieldassay.result.result",
    "ScoreOptions": "fieldassay.scoring.options",
    "InputOptions": "fieldassay.scoring.options",
    "Run": "fieldassay.runs.run",
    "open_run": "fieldassay.public.runs",
    "list_stored": "fieldassay.runs.listing",
    "diff": "fieldassay.public.runs",
    "gate": "fieldassay.public.runs",
    "set_baseline": "fieldassay.public.runs",
    "check_baseline": "fieldassay.public.runs",
    "calibrate": "fieldassay.public.runs",
    "attribute": "fieldassay.public.attributing",
    "Promise": "fieldassay.calibration.result",
    "apply_policy": "fieldassay.calibration.calibrate",
    "agreement": "fieldassay.public.agreeing",
    "report": "fieldassay.public.runs",
    "export_run": "fieldassay.reports.export.export",
    "redact_run": "fieldassay.redaction.redact",
    "guide_result": "fieldassay.reports.export.guide",
    "Spec": "fieldassay.spec.model",
    "read_spec": "fieldassay.spec.parse",
    "write_spec": "fieldassay.spec.write",
    "read_plan": "fieldassay.plan.compile",
    "describe": "fieldassay.plan.describe",
    "validate": "fieldassay.scoring.validate",
    "explain_values": "fieldassay.scoring.explain",
    "explain_field": "fieldassay.scoring.explain",
    "explain_document": "fieldassay.public.explaining",
    "sample": "fieldassay.scoring.sampling",
    "metrics_json": "fieldassay.result.metrics_file",
    "read_metrics": "fieldassay.result.metrics_file",
    "FieldassayError": "fieldassay.errors",
    "ProblemsError": "fieldassay.errors",
    "NothingEvaluatedError": "fieldassay.errors",
}
"""The module of each public name, loaded on first use, so that importing the package loads nothing."""

__all__ = ["__version__", *_HOMES]  # noqa: PLE0604, RUF100


class _Public:
    """A public name of the package, with precedence over a subpackage of the same name (`diff`)."""

    def __init__(self, name: str, home: str) -> None:
        self.name, self.home = name, home

    def __get__(self, package: object, kind: type | None = None) -> Any:
        return getattr(importlib.import_module(self.home), self.name)

    def __set__(self, package: object, value: object) -> None:
        """Leave the name as it is when Python binds a folder to it."""


class _Package(ModuleType):
    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *_HOMES})


for _name, _home in _HOMES.items():
    setattr(_Package, _name, _Public(_name, _home))
sys.modules[__name__].__class__ = _Package
