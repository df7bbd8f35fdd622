"""Sound files of every kind, and the commands that read them: what fuzzing starts from."""

import json
import shutil
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random

from tests.fuzz.mutations import (
    flip_bytes,
    mutate_json,
    mutate_lines,
    mutate_parquet,
    mutate_text,
    mutate_yaml,
)

from fieldassay.commands.cli.main import main
from fieldassay.io.files.whole_files import digest_file

Mutation = Callable[[bytes, Random], bytes]

SPEC = """
fieldassay: 1
name: tiny
data: {id_key: id}
locale: en_AU
null_values: [N/A]
document_type: {field: kind, aliases: {a: [aa]}}
fields:
  total: {type: money, currency: AUD, tolerance: {relative: 0.01}, critical: true}
  name: {type: text, compare: words, weight: 2}
  kind: {type: enum, values: [a, b]}
  when: {type: date, order: dmy}
  lines: {type: list, align: {key: sku}, items: {type: object, fields: {sku: id, amount: number}}}
  tags: {type: list, items: text, separator: "|"}
metrics: [accuracy, f1(granularity=slot), presence]
definitions: {own: {formula: 0.5 * accuracy + 0.5 * f1, description: mine}}
checks: {total: number}
gates: [accuracy >= 0.1, lower(f1) > 0.01, regression(accuracy) > -0.5]
"""
TOML = (
    '[fields]\nname = "text"\ntotal = {type = "money", currency = "AUD"}\n[fields.lines]\n'
    'type = "list"\nitems = {fields = {sku = "id"}}\n'
)
SCHEMA = {
    "$defs": {
        "line": {
            "type": "object",
            "properties": {"sku": {"type": "string"}, "amount": {"type": ["number", "null"]}},
        }
    },
    "type": "object",
    "required": ["total"],
    "properties": {
        "total": {"type": "number", "description": "the sum"},
        "when": {"type": "string", "format": "date"},
        "kind": {"enum": ["a", "b"]},
        "lines": {"type": "array", "items": {"$ref": "#/$defs/line"}},
        "who": {
            "allOf": [
                {"properties": {"name": {"type": "string"}}},
                {"properties": {"age": {"type": "integer"}}},
            ]
        },
        "either": {
            "anyOf": [{"type": "string"}, {"type": "object", "additionalProperties": {"type": "number"}}]
        },
    },
}
SYSTEMS = """
systems:
  r: {strategy: rules, labels: {total: [Total, Sum]}}
"""
GATES = (
    "gates:\n  - accuracy >= 0.5\n  - {gate: lower(f1) > 0.1, title: sure}\n  - "
    "field_accuracy[total] >= 0.2\nname: release\n"
)


def records(offset: int) -> list[dict[str, object]]:
    """Return gold (offset 0) or predictions, which differ in some documents."""
    return [
        {
            "id": f"d{number}", "total": number + offset * (number % 3), "name": f"Ada {number}",
            "kind": "ab"[number % 2],
            "when": f"{number + 1:02}.03.2025",
            "lines": [{"sku": f"s{line}", "amount": line + offset * number} for line in range(number % 4)],
            "tags": "x|y",
        }
        for number in range(8)
    ]  # fmt: skip


@dataclass(frozen=True)
class Target:
    """A file that is made wrong, how, and the commands that then read it."""

    file: str
    mutations: tuple[Mutation, ...]
    commands: tuple[tuple[str, ...], ...]
    copies: str = ""
    """The folder that is copied to `work` first, as the file lies in it."""
    can_end_the_process: bool = False
    keeps: str = ""
    """`gold` or `pred`: each id of the file must be scored, or counted among those that have no gold."""


FAST = ("--bootstrap", "20", "-q")
_SPEC = ("--spec", "spec.yaml")
PRED = ("--pred", "m=pred.jsonl")


def _score(*more: str) -> tuple[str, ...]:
    return ("score", *more, *FAST)


_RUN_COMMANDS = (
    ("report", "work", "--format", "html", "--out", "page.html"), ("report", "work", "--format", "junit"),
    ("report", "work", "--format", "github"),
    ("report", "work", "-o", "metrics.tex"), ("diff", "run:m", "work:m"), ("explain", "work", "d1"),
    ("explain", "work", "d1", "total"),
    ("report", "work", "-o", "out.csv"), ("report", "work", "-o", "out.xlsx"),
    ("report", "work", "-o", "out.json"),
    ("report", "work", "-o", "out.md"),
    ("report", "work", "--table", "errors", "-o", "errors.md"), ("report", "work", "--table", "fields"),
    ("gate", "work", "--gates", "gates.yaml"),
    ("calibrate", "work", "--system", "m"), ("baseline", "set", "work", "--out", "new.json"),
    ("gate", "work", "--baseline", "baseline.json"),
    ("runs", "show", "work"),
    ("runs", "list", "--runs", "."),
)  # fmt: skip
_PARTS = ("run.json", "metrics.json", "comparisons.json", "gates.json")
_TABLES = ("documents.parquet", "evidence.parquet", "statistics.parquet")

_GOLD = ("--gold", "gold.jsonl", *PRED)


def _of_gold(file: str, *mutations: Mutation) -> Target:
    """Return a file of gold, which is scored and drafted from."""
    commands = (_score("--spec", "spec.yaml", "--gold", file, *PRED), ("init", "--gold", file))
    return Target(file, mutations, commands, keeps="gold")


def _of_answers(file: str, *mutations: Mutation) -> Target:
    """Return a file of a folder of answers, or of responses of a service."""
    place = "work" if "/" in file else file
    command = _score(*_SPEC, "--gold", "gold.jsonl", "--pred", f"m={place}")
    return Target(file, mutations, (command,), "answers" if "/" in file else "")


def _of_spec(file: str, *mutations: Mutation) -> Target:
    """Return a spec, which is scored by and validated."""
    return Target(file, mutations, (_score("--spec", file, *_GOLD), ("score", "--check", "--spec", file)))


TARGETS: dict[str, Target] = {
    "gold.jsonl": _of_gold("gold.jsonl", mutate_lines, mutate_text),
    "gold.json": _of_gold("gold.json", mutate_json, mutate_text),
    "gold.csv": _of_gold("gold.csv", mutate_text),
    "gold.xlsx": _of_gold("gold.xlsx", flip_bytes),
    "gold.parquet": _of_gold("gold.parquet", mutate_parquet),
    "gold.parquet, bytes": replace(_of_gold("gold.parquet", flip_bytes), can_end_the_process=True),
    "pred.jsonl": Target(
        "pred.jsonl",
        (mutate_lines, mutate_text),
        (_score("--spec", "spec.yaml", *_GOLD), ("score", "--check", "--spec", "spec.yaml", *_GOLD)),
        keeps="pred",
    ),
    "answer": _of_answers("work/d1.md", mutate_text),
    "answer of JSON": _of_answers("work/d2.json", mutate_json, mutate_text),
    "responses": _of_answers("responses.jsonl", mutate_lines, mutate_text),
    "labels": Target(
        "labels.jsonl",
        (mutate_lines, mutate_text),
        (
            (
                "review",
                "promote",
                "--labels",
                "labels.jsonl",
                *_GOLD[:2],
                "--spec",
                "spec.yaml",
            ),
        ),
    ),
    "systems": Target(
        "systems.yaml",
        (mutate_yaml, mutate_text),
        (
            (
                "extract",
                "--docs",
                "answers",
                *_SPEC,
                "--systems",
                "systems.yaml",
                "--system",
                "r",
                "--out",
                "x",
                "-q",
            ),
        ),
    ),
    "spec.yaml": _of_spec("spec.yaml", mutate_yaml, mutate_yaml, mutate_text),
    "spec.toml": _of_spec("spec.toml", mutate_text),
    "spec.json": _of_spec("spec.json", mutate_json, mutate_text),
    "schema.json": Target(
        "schema.json",
        (mutate_json, mutate_text),
        (_score("--spec", "schema.json", *_GOLD), ("init", "--schema", "schema.json")),
    ),
    "gates.yaml": Target(
        "gates.yaml", (mutate_yaml, mutate_text), (("gate", "run", "--gates", "gates.yaml"),)
    ),
    "baseline.json": Target(
        "baseline.json", (mutate_json, mutate_text), (("gate", "run", "--baseline", "baseline.json"),)
    ),
    "frozen.json": Target(
        "frozen.json",
        (mutate_json, mutate_text),
        (_score("--spec", "spec.yaml", *_GOLD, "--baseline", "frozen.json"),),
    ),
    "policy.json": Target(
        "policy.json",
        (mutate_json, mutate_text),
        (("calibrate", "--policy", "policy.json", "--pred", "m=pred.jsonl", "--spec", "spec.yaml"),),
    ),
    **{
        f"run: {name}": Target(f"work/{name}", (mutate_json, mutate_text), _RUN_COMMANDS, "run")
        for name in _PARTS
    },
    **{f"run: {name}": Target(f"work/{name}", (mutate_parquet,), _RUN_COMMANDS, "run") for name in _TABLES},
    **{
        f"run: {name}, bytes": Target(
            f"work/{name}", (flip_bytes,), _RUN_COMMANDS, "run", can_end_the_process=True
        )
        for name in _TABLES
    },
}


def make_corpus() -> None:
    """Write the sound files into the current folder."""
    import polars as pl
    import xlsxwriter

    gold, pred = (
        records(0),
        [{**record, "confidence": {"total": 0.1 + at / 10}} for at, record in enumerate(records(1))],
    )
    for name, rows in (("gold", gold), ("pred", pred)):
        Path(f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    Path("gold.json").write_text(json.dumps(gold))
    flat = [
        {key: json.dumps(value) if isinstance(value, list) else value for key, value in record.items()}
        for record in gold
    ]
    pl.DataFrame(flat).write_csv("gold.csv")
    pl.DataFrame(flat).write_parquet("gold.parquet")
    with xlsxwriter.Workbook("gold.xlsx") as book:
        sheet = book.add_worksheet()
        for at, row in enumerate([list(flat[0]), *(list(one.values()) for one in flat)]):
            sheet.write_row(at, 0, row)
    Path("spec.yaml").write_text(SPEC)
    Path("spec.toml").write_text(TOML)
    fields = {
        "name": "text",
        "total": {"type": "money", "currency": "AUD"},
        "lines": {"items": {"fields": {"sku": "id"}}},
    }
    Path("spec.json").write_text(json.dumps({"fields": fields}))
    Path("schema.json").write_text(json.dumps(SCHEMA))
    Path("gates.yaml").write_text(GATES)
    Path("systems.yaml").write_text(SYSTEMS)
    Path("answers").mkdir()
    record = json.dumps({"total": 1, "name": "Ada 1", "lines": [{"sku": "s0", "amount": 0}]})
    Path("answers/d1.md").write_text(
        f"<think>hm</think>Here it is:\n```json\n{record}\n```\nDone, 'x', (y).\n"
    )
    Path("answers/d2.json").write_text(json.dumps({"output": [{"content": [{"text": record}]}]}))
    lines = [
        {
            "custom_id": "d1",
            "response": {"body": {"choices": [{"message": {"content": record}}], "usage": {}}},
        },
        {
            "id": "d2",
            "stop_reason": "end_turn",
            "content": [{"type": "text", "text": record}],
            "type": "message",
        },
        {"id": "d3", "candidates": [{"content": {"parts": [{"text": record}]}}]},
    ]
    Path("responses.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    label = {"state": "value", "text": "12.50", "regions": [{"page": 1, "box": [0.1, 0.2, 0.3, 0.4]}]}
    labels = [
        {"id": f"d{at}", "reviewer": "r1", "labels": {"total": label, "lines[0].sku": label}}
        for at in range(3)
    ]
    Path("labels.jsonl").write_text("".join(json.dumps(line) + "\n" for line in labels))
    data = ("--spec", "spec.yaml", "--gold", "gold.jsonl", *PRED, "--pred", "other=gold.jsonl")
    codes = [
        main(["score", *data, "--out", "run", *FAST]),
        main(["baseline", "set", "run", "--out", "baseline.json"]),
        main(["baseline", "set", "run", "--freeze", "--out", "frozen.json"]),
        main(["calibrate", "run", "--system", "m", "--out", "policy.json"]),
    ]
    missing = [
        target.file for target in TARGETS.values() if not target.copies and not Path(target.file).exists()
    ]
    assert not missing, f"the corpus lacks {missing}: {codes}"


def record_digest(file: Path) -> None:
    """Record the digest of a file of a run, so that nothing but its content can tell that it is damaged."""
    if file.name != "run.json":
        record = file.parent / "run.json"
        facts = json.loads(record.read_bytes())
        facts["sha256"][file.name] = digest_file(file)
        record.write_text(json.dumps(facts))


def set_up(target: Target, corpus: Path, work: Path) -> None:
    """Make a folder with the sound files for one case."""
    for path in corpus.iterdir():
        (work / path.name).symlink_to(path) if path.is_dir() else shutil.copy(path, work / path.name)
    if target.copies:
        shutil.copytree(corpus / target.copies, work / "work")
