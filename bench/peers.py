"""Runs one peer on the benchmark's work; started by `run.py` in the environment of that peer.

`work/venvs/PEER/bin/python peers.py ADAPTER WORK documents COUNT ROUNDS` or `… ADAPTER WORK list ITEMS 1`
prints one line of JSON: the seconds of the best round, the peer's headline score, and its version. Only the
standard library and the peer are imported; imports are outside the clock, and what the peer builds per
document (models, for one) is inside.
"""

from __future__ import annotations

import json
import logging
import os
import sys
import time
from collections.abc import Callable, Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

Record = dict[str, Any]
Pairs = list[tuple[Record, Record]]
Score = Callable[[Pairs], float]
"""Scores (gold, prediction) pairs and returns the peer's headline."""


def mean(values: list[float]) -> float:
    """Return the arithmetic mean."""
    return sum(values) / len(values)


def anls_star() -> Score:
    """Return ANLS*, mean over documents."""
    from anls_star import anls_score

    return lambda pairs: mean([anls_score(gold, predicted) for gold, predicted in pairs])


def autoevals() -> Score:
    """Return autoevals' JSONDiff, mean over documents."""
    from autoevals.json import JSONDiff

    scorer = JSONDiff()
    return lambda pairs: mean(
        [scorer.eval(output=predicted, expected=gold).score for gold, predicted in pairs]
    )


def deepdiff() -> Score:
    """Return 1 - deep distance without regard to order, mean over documents."""
    from deepdiff import DeepDiff

    def similarity(gold: Record, predicted: Record) -> float:
        difference = DeepDiff(gold, predicted, ignore_order=True, get_deep_distance=True)
        return 1.0 - float(difference.get("deep_distance", 0.0))

    return lambda pairs: mean([similarity(gold, predicted) for gold, predicted in pairs])


def leaves(record: Record) -> Iterator[tuple[str, Any]]:
    """Yield (field, value) of every non-null value; items of a list share their field names."""
    for key, value in record.items():
        if isinstance(value, list):
            yield from (
                (f"{key}.{name}", inner)
                for item in value
                for name, inner in item.items()
                if inner is not None
            )
        elif value is not None:
            yield key, value


def entities(record: Record, spans: dict[tuple[str, Any], int]) -> list[Record]:
    """Return the record as labelled spans, one per distinct (field, value): equal spans, equal values."""
    numbered = ((field, spans.setdefault((field, value), len(spans))) for field, value in leaves(record))
    return [{"label": field, "start": 10 * place, "end": 10 * place + 9} for field, place in numbered]


def nervaluate() -> Score:
    """Return the strict F1 of the records read as entities. It sees no items: this is a bag of leaves."""
    from nervaluate.evaluator import Evaluator

    def strict_f1(pairs: Pairs) -> float:
        read = []
        for gold, predicted in pairs:
            spans: dict[tuple[str, Any], int] = {}
            read.append((entities(gold, spans), entities(predicted, spans)))
        tags = sorted({entity["label"] for gold, _ in read for entity in gold})
        evaluator = Evaluator(
            [gold for gold, _ in read], [predicted for _, predicted in read], tags=tags, loader="dict"
        )
        return float(evaluator.evaluate()["overall"]["strict"].f1)

    return strict_f1


TEXT_FIELDS = (
    "invoice_number",
    "vendor_name",
    "vendor_address",
    "vendor_tax_id",
    "customer_name",
    "po_number",
    "currency",
)
DATE_FIELDS = ("invoice_date", "due_date")
MONEY_FIELDS = ("subtotal", "tax", "total")


def type_of_numbers() -> type:
    """Return the type that the work has its numbers as: the written one has texts."""
    return str if Path(sys.argv[2]).name == "written" else float


def stickler_model() -> Any:
    """Return stickler's model of the work.

    Numbers to 1%, dates as dates, texts by edit distance from 0.8, items matched from 0.5.
    """
    from pydantic import create_model
    from stickler import (
        ComparableField,
        DateComparator,
        LevenshteinComparator,
        NumericComparator,
        StructuredModel,
    )

    def text() -> Any:
        return (str | None, ComparableField(comparator=LevenshteinComparator(), threshold=0.8, default=None))

    def number() -> Any:
        return (
            type_of_numbers() | None,
            ComparableField(comparator=NumericComparator(tolerance=0.01), threshold=0.99, default=None),
        )

    def date() -> Any:
        return (str | None, ComparableField(comparator=DateComparator(), threshold=1.0, default=None))

    class Base(StructuredModel):
        match_threshold = 0.5

    columns = {
        "sku": text(),
        "description": text(),
        "quantity": number(),
        "unit_price": number(),
        "amount": number(),
    }
    item = create_model("Item", __base__=Base, **columns)
    fields = (
        {name: text() for name in TEXT_FIELDS}
        | {name: date() for name in DATE_FIELDS}
        | {name: number() for name in MONEY_FIELDS}
    )
    return create_model(
        "Invoice",
        __base__=StructuredModel,
        **fields,
        line_items=(list[item] | None, ComparableField(default=None)),
    )


def stickler() -> Score:
    """Return the overall score of stickler's `compare_with`, mean over documents."""
    model = stickler_model()
    return lambda pairs: mean(
        [float(model(**gold).compare_with(model(**predicted))["overall_score"]) for gold, predicted in pairs]
    )


def stickler_bulk() -> Score:
    """Return the F1 of stickler's documented path for data sets, the bulk evaluator."""
    from stickler.structured_object_evaluator.bulk_structured_model_evaluator import (
        BulkStructuredModelEvaluator,
    )

    model = stickler_model()

    def f1(pairs: Pairs) -> float:
        evaluator = BulkStructuredModelEvaluator(target_schema=model)
        for place, (gold, predicted) in enumerate(pairs):
            evaluator.update(model(**gold), model(**predicted), str(place))
        return float(evaluator.compute().metrics["cm_f1"])

    return f1


def stickler_zero_config() -> Score:
    """Return the overall score of stickler on a plain Pydantic model, mean over documents."""
    from pydantic import create_model
    from stickler import eval_for

    text, number = (str | None, None), (type_of_numbers() | None, None)
    columns = {"sku": text, "description": text, "quantity": number, "unit_price": number, "amount": number}
    item = create_model("Item", **columns)
    fields = dict.fromkeys((*TEXT_FIELDS, *DATE_FIELDS), text) | dict.fromkeys(MONEY_FIELDS, number)
    spec = eval_for(create_model("Invoice", **fields, line_items=(list[item] | None, None)))
    return lambda pairs: mean(
        [float(spec.evaluate(gold, predicted).overall_score) for gold, predicted in pairs]
    )


def omni() -> Score:
    """Return the accuracy of omni-extract-bench, mean over documents."""
    from omni_extract_bench.metric import score

    def typed(kind: str) -> dict[str, Any]:
        return {"anyOf": [{"type": kind}, {"type": "null"}]}

    def shape(texts: tuple[str, ...], numbers: tuple[str, ...]) -> dict[str, Any]:
        fields = dict.fromkeys(texts, typed("string")) | dict.fromkeys(
            numbers, typed("number" if type_of_numbers() is float else "string")
        )
        return {"type": "object", "properties": fields}

    schema = shape((*TEXT_FIELDS, *DATE_FIELDS), MONEY_FIELDS)
    item = shape(("sku", "description"), ("quantity", "unit_price", "amount"))
    schema["properties"]["line_items"] = {"type": "array", "items": item}
    return lambda pairs: mean(
        [float(score(predicted, gold, schema)["accuracy"]) for gold, predicted in pairs]
    )


ADAPTERS: dict[str, tuple[str, str, Callable[[], Score]]] = {
    "stickler bulk": ("stickler", "stickler-eval", stickler_bulk),
    "stickler compare_with": ("stickler", "stickler-eval", stickler),
    "stickler zero-config": ("stickler", "stickler-eval", stickler_zero_config),
    "anls*": ("anls_star", "anls_star", anls_star),
    "autoevals JSONDiff": ("autoevals", "autoevals", autoevals),
    "deepdiff ignore_order": ("deepdiff", "deepdiff", deepdiff),
    "nervaluate": ("nervaluate", "nervaluate", nervaluate),
    "omni-extract-bench": ("omni", "omni-extract-bench", omni),
}
"""Environment, distribution and scorer by the name that the table shows."""


def load_pairs(work: Path, task: str, size: int) -> Pairs:
    """Return the first documents of the work, or the one document with a list of `size` items."""
    if task == "list":
        document = json.loads((work / f"list_{size}.json").read_text())
        return [(document["gold"], document["pred"])]
    gold, predicted = ((work / name).read_text().splitlines()[:size] for name in ("gold.jsonl", "pred.jsonl"))
    return list(zip(map(json.loads, gold), map(json.loads, predicted), strict=True))


def main() -> None:
    """Time one adapter and print the outcome."""
    adapter, work, task, size, rounds = (
        sys.argv[1],
        Path(sys.argv[2]),
        sys.argv[3],
        int(sys.argv[4]),
        int(sys.argv[5]),
    )
    _, distribution, make = ADAPTERS[adapter]
    logging.disable(logging.WARNING)
    score, pairs = make(), load_pairs(work, task, size)
    if task == "documents":
        score(pairs[:2])
    seconds, value = [], 0.0
    for _ in range(rounds):
        start = time.perf_counter()
        value = score(pairs)
        seconds.append(time.perf_counter() - start)
    print(
        json.dumps(
            {
                "version": version(distribution),
                "documents": len(pairs),
                "seconds": min(seconds),
                "score": value,
            }
        )
    )


if __name__ == "__main__":
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    main()
