"""The foundations of finished runs, from `run.json`, which decide whether they can be compared."""

from __future__ import annotations

from collections.abc import Mapping

from fieldassay.metrics.estimate import PARTS
from fieldassay.runs.run import Run


def list_lacking(run: Run) -> tuple[str, ...]:
    """Return the parts of `run.json` that a comparison takes and a run lacks."""
    file = run.file
    parts = {
        "bootstrap": file.bootstrap,
        "inputs": file.inputs,
        "spec": file.spec,
        "versions": run.version or None,
    }
    return tuple(name for name, part in parts.items() if part is None)


def find_unequal(first: Run, second: Run) -> tuple[str, ...]:
    """Return the parts with different digests; a part that a run does not record differs from every other."""
    return tuple(
        part for part in PARTS if first.digests[part] is None or first.digests[part] != second.digests[part]
    )


def list_unknown(run: Run) -> tuple[str, ...]:
    """Return the parts that the run does not record."""
    return tuple(part for part in PARTS if run.digests[part] is None)


def remark_drawing(runs: Mapping[str, Run], used: tuple[int, int, float]) -> tuple[str, ...]:
    """Return the remarks on runs with different replicates, seeds, levels or versions.

    `used` are the replicates, the seed and the level of this comparison.
    """
    remarks = []
    drawn = {name: (one.paired.replicates, one.paired.seed, one.paired.level) for name, one in runs.items()}
    if len(set(drawn.values())) > 1:
        told = "; ".join(f"{name}: {_describe_drawing(found)}" for name, found in drawn.items())
        remarks.append(
            f"the runs' intervals were drawn differently ({told}); this comparison draws "
            f"{_describe_drawing(used)}"
        )
    versions = {name: one.version for name, one in runs.items()}
    if len(set(versions.values())) > 1:
        told = "; ".join(f"{name}: {found}" for name, found in versions.items())
        remarks.append(
            f"the runs were made by different versions of fieldassay ({told}); see the changelog for what "
            "computes differently"
        )
    return tuple(remarks)


def _describe_drawing(drawn: tuple[int, int, float]) -> str:
    replicates, seed, level = drawn
    return f"{replicates:,} replicates, seed {seed}, level {level:g}"
