"""The parts of an installation, and a test that it computes the expected numbers."""

import hashlib
import json
import os
import platform
import time
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from typing import Any

from fieldassay.errors import FieldassayError, install_line
from fieldassay.scoring.inputs import ScoreOptions
from fieldassay.scoring.provenance import PACKAGES
from fieldassay.scoring.score import sample

DOCUMENTS = 24
EXPECTED = "82fb66529bbffa7ed8d660ca4be917accfcc5ef1d6b56b8f2fa083908453f247"
"""The digest of the estimates of the sample's first documents: the same on every machine.

It changes only with the computation.
"""

EXTRAS: dict[str, tuple[tuple[str, ...], str]] = {
    "embeddings": (
        ("tokenizers", "safetensors"),
        "compare texts by meaning with small encoders such as MiniLM",
    ),
    "sentence-transformers": (
        ("sentence_transformers",),
        "compare texts by meaning with sentence-transformers",
    ),
    "calendars": (("hijridate", "convertdate"), "dates of the Islamic and the Persian calendar"),
    "pandas": (("pandas",), "results as pandas tables in notebooks"),
}
"""Optional parts: their modules and their purposes."""


def check_up() -> dict[str, Any]:
    """Return versions, optional parts, processors and the self-test, as plain data."""
    return {
        "versions": {"python": platform.python_version(), **{name: _version(name) for name in PACKAGES}},
        "platform": f"{platform.system()} {platform.machine()}",
        "cpus": os.cpu_count() or 1,
        "extras": {name: _extra(name, modules, use) for name, (modules, use) in EXTRAS.items()},
        "self_test": self_test(),
    }


def _extra(name: str, modules: tuple[str, ...], use: str) -> dict[str, Any]:
    is_installed = all(find_spec(module) is not None for module in modules)
    return {"is_installed": is_installed, "install": install_line(name), "use": use}


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed"


def self_test() -> dict[str, Any]:
    """Return the outcome of scoring the sample's first documents; any differing estimate fails the test."""
    clock = time.perf_counter()
    try:
        digest, why = estimates_digest(), ""
    except FieldassayError as error:
        digest, why = "", str(error)
    is_passed = digest == EXPECTED
    if not is_passed and not why:
        why = f"the estimates have the digest {digest[:16]}, expected {EXPECTED[:16]}: reinstall the packages"
    return {
        "is_passed": is_passed,
        "documents": DOCUMENTS,
        "seconds": round(time.perf_counter() - clock, 3),
        "digest": digest,
        "why": why,
    }


def estimates_digest() -> str:
    """Return the SHA-256 of all estimates of the sample's first documents, numbers to twelve digits.

    The last bit of a number may vary between versions of libraries.
    """
    from fieldassay.scoring.score import score

    files = sample()
    options = ScoreOptions(evidence="none", limit=DOCUMENTS)
    result = score(files.gold, files.predictions, files.spec, options, bootstrap=200)
    lines = [
        json.dumps(_rounded(estimate.to_dict()), sort_keys=True, allow_nan=False)
        for estimate in result.estimates
    ]
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


def _rounded(value: Any) -> Any:
    if isinstance(value, float):
        return f"{value:.12g}"
    if isinstance(value, dict):
        return {key: _rounded(item) for key, item in value.items()}
    return [_rounded(item) for item in value] if isinstance(value, list) else value
