"""A large run made directly as tables: what scoring many documents leaves, without the time it takes."""

import numpy as np
import polars as pl

from fieldassay.metrics.estimate import Estimate
from fieldassay.metrics.result.result import Result
from fieldassay.reports.html.source import ReportSource

SYSTEMS = ("alder", "beech", "cypress")
WRONG = (0.04, 0.08, 0.16)


def make_source(
    documents: int, fields: int, seed: int = 7, shares: tuple[float, ...] = WRONG
) -> ReportSource:
    """Return a run of three systems in which every value is different, and a share of each system is wrong."""
    random = np.random.default_rng(seed)
    names = pl.Series([f"doc-{number:06d}" for number in range(documents)])
    evidence, table, estimates = [], [], []
    gold = pl.Series([f'"{number:09x}{number * 7919 % 10**7:07d}"' for number in range(documents * fields)])
    for system, share in zip(SYSTEMS, shares, strict=True):
        wrong = random.random(documents * fields) < share
        evidence.append(_rows(system, names, gold, wrong, fields))
        right = fields - wrong.reshape(documents, fields).sum(axis=1)
        score = pl.Series(right / fields)
        numbers = {
            "score": score,
            "leaves": pl.Series([float(fields)] * documents),
            "matches": pl.Series(right, dtype=pl.Float64),
        }
        table.append(
            pl.DataFrame(
                {
                    "system": [system] * documents,
                    "doc": names,
                    **numbers,
                    "type": ["invoice", "receipt"] * (documents // 2),
                }
            )
        )
        mean = float(right.mean() / fields)
        estimates.append(
            Estimate("accuracy", system, None, {}, "filled", mean, documents, documents, 0, "leaf")
        )
    run = {"spec": {"name": "large", "text": ""}, "metrics": ["accuracy"], "slices": ["type"]}
    found = pl.concat(table)
    result = Result(tuple(estimates), lambda: found, run=run, counts={"documents": documents})
    return ReportSource(result, pl.concat(evidence).lazy())


def _rows(system: str, names: pl.Series, gold: pl.Series, wrong: np.ndarray, fields: int) -> pl.DataFrame:
    """Return the evidence of one system, a row per document and field."""
    count = len(gold)
    paths = pl.Series([f"field_{number:02d}" for number in range(fields)] * len(names))
    frame = pl.DataFrame(
        {
            "doc": names.gather(np.repeat(np.arange(len(names)), fields)),
            "field": paths,
            "gold": gold,
            "wrong": wrong,
        }
    )
    changed = pl.when("wrong").then(pl.col("gold").str.replace("0", "O")).otherwise("gold")
    text = {"system": system, "kind": "value", "type": "text"}
    return frame.with_columns(**{name: pl.lit(value) for name, value in text.items()},
    pred=changed).with_columns(
        gold_path=pl.col("field"), pred_path=pl.col("field"), gold_value=pl.col("gold").str.strip_chars('"'),
        pred_value=pl.col("pred").str.strip_chars('"'),
        outcome=pl.when("wrong").then(pl.lit("mismatch")).otherwise(pl.lit("match")),
        score=(~pl.col("wrong")).cast(pl.Float64),
        reason=pl.when("wrong").then(pl.lit("different")).otherwise(pl.lit("equal")),
        diagnoses=pl.when("wrong").then(pl.lit(["ocr_confusion"])).otherwise(pl.lit([],
            dtype=pl.List(pl.String))),
        flags=pl.lit([], dtype=pl.List(pl.String)), confidence=pl.Series(np.linspace(0, 1, count).round(3)),
        weight=pl.lit(1.0),
        critical=pl.lit(False), other_field=pl.lit(None, dtype=pl.String),
    ).drop("wrong")  # fmt: skip
