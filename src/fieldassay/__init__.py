"""fieldassay: how good structured data extraction from documents is, field by field, and how sure that is."""

from __future__ import annotations

import importlib
import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fieldassay.errors import FieldassayError as FieldassayError
    from fieldassay.errors import NothingEvaluatedError as NothingEvaluatedError
    from fieldassay.errors import ProblemsError as ProblemsError
    from fieldassay.public.runs import calibrate as calibrate
    from fieldassay.public.runs import diff as diff
    from fieldassay.public.runs import gate as gate
    from fieldassay.public.runs import open_run as open_run
    from fieldassay.public.runs import report as report
    from fieldassay.public.scoring import score as score
    from fieldassay.result.result import Result as Result
    from fieldassay.runs.run import Run as Run
    from fieldassay.scoring.options import InputOptions as InputOptions
    from fieldassay.scoring.options import ScoreOptions as ScoreOptions
    from fieldassay.spec.model import Spec as Spec

__version__ = "0.1.0"

_HOMES = {
    "score": "public.scoring",
    "Spec": "spec.model",
    "Run": "runs.run",
    "Result": "result.result",
    "open_run": "public.runs",
    "diff": "public.runs",
    "calibrate": "public.runs",
    "gate": "public.runs",
    "report": "public.runs",
    "ScoreOptions": "scoring.options",
    "InputOptions": "scoring.options",
    "FieldassayError": "errors",
    "ProblemsError": "errors",
    "NothingEvaluatedError": "errors",
}
"""Where each public name is defined; it is loaded when it is first asked for, so that importing the package loads nothing."""

__all__ = ["__version__", *_HOMES]  # noqa: PLE0604, RUF100


class _Public:
    """A name of the package that is found where it is defined, also where a folder of the package has the same name (`diff`)."""

    def __init__(self, name: str, home: str) -> None:
        self.name, self.home = name, home

    def __get__(self, package: object, kind: type | None = None) -> Any:
        return getattr(importlib.import_module(f"fieldassay.{self.home}"), self.name)

    def __set__(self, package: object, value: object) -> None:
        """Leave the name as it is when Python binds a folder to it."""


class _Package(ModuleType):
    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *_HOMES})


for _name, _home in _HOMES.items():
    setattr(_Package, _name, _Public(_name, _home))
sys.modules[__name__].__class__ = _Package
