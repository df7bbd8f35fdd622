"""The shipped sample: where its files are."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from fieldassay.scoring.options import InputOptions

SYSTEMS = ("atlas", "birch", "cedar")


@dataclass(frozen=True, slots=True)
class Sample:
    """The paths of the sample's files, and how they are to be read."""

    gold: Path
    predictions: dict[str, Path]
    spec: Path
    inputs: InputOptions


def sample() -> Sample:
    """Return the shipped sample: 72 invented documents and the predictions of three invented systems.

    >>> sample().gold.name, list(sample().predictions)
    ('gold.jsonl', ['atlas', 'birch', 'cedar'])
    """
    folder = Path(__file__).parent / "sample"
    predictions = {system: folder / f"{system}.jsonl" for system in SYSTEMS}
    return Sample(
        folder / "gold.jsonl", predictions, folder / "spec.yaml", InputOptions(pred_key="prediction")
    )
