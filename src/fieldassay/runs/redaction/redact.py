"""A run for sharing: the same numbers without the contents of the documents."""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from fieldassay.errors import problem
from fieldassay.io.files.parquet import read_parquet, write_parquet
from fieldassay.metrics.estimate import Estimate
from fieldassay.metrics.evidence import ANSWER_COLUMNS
from fieldassay.metrics.result.comparison import Comparison
from fieldassay.metrics.result.decisions_file import read_decisions
from fieldassay.metrics.result.repeats import Repeats
from fieldassay.metrics.result.result import Result
from fieldassay.metrics.result.statistics_file import DOCUMENT, GOLD, GROUP, REPEATS, STATISTICS, SYSTEM
from fieldassay.public import public
from fieldassay.runs.redaction.values import Redactor, declared_names
from fieldassay.runs.run import Run, corrupt_run_errors
from fieldassay.runs.run_file import GATES
from fieldassay.runs.write import RunFolder, make_folder, write_decisions
from fieldassay.spec.language.parse import read_spec
from fieldassay.spec.language.source import RecordedSpec
from fieldassay.spec.plan.compile import read_plan

if TYPE_CHECKING:
    import polars as pl

_KEPT_FACTS = ("started", "timings", "evidence", "limit", "workers", "batch", "rescored_from")
_KEPT_RUN = ("definitions", "slices", "bootstrap", "versions")
_PATHS = ("field", "gold_path", "pred_path", "other_field")
_VALUES = ("gold", "pred")
_READ = ("gold_value", "pred_value")
_HIDDEN = "(redacted)"
_VERDICT = "as it was decided before the run was redacted"


@public
def redact_run(
    folder: str | Path,
    target: str | Path,
    key: bytes = b"",
    *,
    has_shapes: bool = False,
    has_ids: bool = False,
) -> None:
    """Write a run again with its values replaced by `Redactor`, and all of its numbers.

    Without a key a random one is used and discarded, so that no other run can be compared with this one. Left
    out are the run's name, folder and inputs, notes, warnings, violations of checks, and the sentences
    of gates. Raises `ProblemsError` for a damaged run, and for a target that `score --out` would refuse too.
    """
    run = Run.open(Path(folder))
    if run.facts.get("redacted"):
        raise problem(folder, "is redacted already", "give the run that it was made from", "redacted")
    spec = read_spec(run.spec)
    redactor = Redactor(key or secrets.token_bytes(32), declared_names(spec), has_shapes, has_ids)
    result = run.result
    with corrupt_run_errors(run), make_folder(Path(target)) as made:
        _write_statistics(run, redactor, made)
        _write_gates(run, redactor, made)
        told = {
            "how": "shapes" if has_shapes else "tokens",
            "ids": has_ids,
            "key": redactor.token("fieldassay redact"),
        }
        facts = {name: run.facts[name] for name in _KEPT_FACTS if name in run.facts}
        if run.facts.get("only") is not None:
            facts["only"] = [redactor.id(one) for one in run.facts["only"]]
        if run.facts.get("where"):
            facts["where"] = [_HIDDEN]
        headline = run.facts.get("headline")
        if headline is not None:
            facts["headline"] = [_estimate(one, redactor).to_dict() for one in run.headline]
        made.write(
            _redact(result, run, redactor), {**facts, "command": ["fieldassay", "redact"], "redacted": told}
        )
        made.commit()


def _redact(result: Result, run: Run, redactor: Redactor) -> Result:
    rows, documents = run.evidence, result.documents
    note = (
        f"this run is redacted: its values{' and ids' if redactor.has_ids else ''} are "
        f"{'shapes' if redactor.has_shapes else 'tokens'}"
    )
    return Result(
        estimates=tuple(_estimate(one, redactor) for one in result.estimates),
        documents_table=None if documents is None else lambda: _documents(documents, redactor),
        evidence_table=None if rows is None else lambda: _evidence(rows.collect(), redactor),
        run=_provenance(run, redactor),
        counts=_counts(result.counts, redactor),
        notes=(f"{note}, and notes and warnings are left out",),
        comparisons=tuple(_comparison(one, redactor) for one in result.comparisons),
        rankings=tuple(replace(one, metric=redactor.expression(one.metric)) for one in result.rankings),
        repeats=tuple(_repeats(one, redactor) for one in result.repeats),
    )


def _repeats(one: Repeats, redactor: Redactor) -> Repeats:
    """Return the repeated runs of a system without the answers to its flaky values."""
    flaky = tuple(
        replace(
            value,
            document=redactor.id(value.document),
            field=redactor.path(value.field) or "",
            path=redactor.path(value.path) or "",
            answers=None,
        )
        for value in one.flaky
    )
    return replace(one, flaky=flaky)


def _estimate(one: Estimate, redactor: Redactor) -> Estimate:
    return replace(one, field=redactor.path(one.field), slice=redactor.slice(one.slice))


def _comparison(one: Comparison, redactor: Redactor) -> Comparison:
    return replace(
        one,
        metric=redactor.expression(one.metric),
        field=redactor.path(one.field),
        slice=redactor.slice(one.slice),
    )


def _provenance(run: Run, redactor: Redactor) -> dict[str, Any]:
    """Return the provenance, with digests shared only by runs redacted with the same key."""
    facts = run.facts
    spec, kept, digests = facts["spec"], facts.get("kept"), facts.get("digests") or {}
    systems = facts["inputs"]["predictions"] if facts.get("inputs") else run.estimates.systems
    text = redactor.spec_text(read_spec(run.spec))
    read_plan(RecordedSpec(text))
    return {
        "spec": {"name": spec.get("name"), "digest": redactor.token(str(spec.get("digest"))), "text": text},
        "metrics": [redactor.expression(one) for one in facts.get("metrics") or ()],
        "gates": [redactor.expression(one) for one in facts.get("gates") or ()],
        **(
            {}
            if kept is None
            else {
                "kept": {
                    name: [redactor.expression(one) for one in kept[name]] for name in ("compared", "also")
                }
            }
        ),
        **{name: facts[name] for name in _KEPT_RUN if name in facts},
        "inputs": {
            "gold": _HIDDEN,
            "predictions": dict.fromkeys(systems, _HIDDEN),
            **{name: facts["inputs"][name] for name in ("repeats",) if name in (facts.get("inputs") or {})},
        },
        "models": [
            {key: value for key, value in one.items() if not _is_place(value)}
            for one in facts.get("models") or ()
        ],
        "digests": {name: redactor.token(str(value)) for name, value in digests.items() if value},
    }


def _is_place(value: object) -> bool:
    return isinstance(value, str) and (value.startswith(("/", "~", ".")) or "\\" in value)


def _counts(counts: Mapping[str, Any], redactor: Redactor) -> dict[str, Any]:
    systems = {
        system: {
            **of,
            **(
                {"undeclared": {redactor.path(path): count for path, count in of["undeclared"].items()}}
                if "undeclared" in of
                else {}
            ),
        }
        for system, of in counts.get("systems", {}).items()
    }
    for of in systems.values():
        of.pop("checks", None)
    return {**counts, "systems": systems}


def _documents(table: pl.DataFrame, redactor: Redactor) -> pl.DataFrame:
    """Return the table of documents with ids, groups and texts on answers replaced."""
    import polars as pl

    texts = [
        name
        for name, kind in table.schema.items()
        if kind in (pl.String, pl.List(pl.String)) and name not in ("system", "doc", "repairs")
    ]
    answers = [name for name in texts if name in ANSWER_COLUMNS]
    table = _mapped(table, "doc", redactor.id)
    for name in texts:
        as_text = redactor.text if name not in answers else lambda text: redactor.text(text[:200])
        table = (
            _mapped_lists(table, name, redactor.text)
            if table.schema[name] != pl.String
            else _mapped(table, name, as_text)
        )
    return table.sort("system", "doc")


def _evidence(table: pl.DataFrame, redactor: Redactor) -> pl.DataFrame:
    table = _mapped(table, "doc", redactor.id)
    changes: dict[str, Callable[[str], str | None]] = {
        **dict.fromkeys(_PATHS, redactor.path),
        **dict.fromkeys(_VALUES, redactor.json_text),
        **dict.fromkeys(_READ, redactor.text),
    }
    for name, change in changes.items():
        table = _mapped(table, name, change)
    return table


def _mapped(table: pl.DataFrame, name: str, change: Callable[[str], str | None]) -> pl.DataFrame:
    """Return the table with the texts of a column replaced, each distinct one once."""
    import polars as pl

    known = table[name].drop_nulls().unique().to_list()
    found = pl.DataFrame(
        {name: known, "new": [change(text) for text in known]}, schema={name: pl.String, "new": pl.String}
    )
    order = table.columns
    return (
        table.join(found, on=name, how="left", maintain_order="left")
        .drop(name)
        .rename({"new": name})
        .select(order)
    )


def _mapped_lists(table: pl.DataFrame, name: str, change: Callable[[str], str]) -> pl.DataFrame:
    import polars as pl

    lists = [None if one is None else [change(text) for text in one] for one in table[name].to_list()]
    return table.with_columns(pl.Series(name, lists, dtype=pl.List(pl.String)))


def _write_statistics(run: Run, redactor: Redactor, made: RunFolder) -> None:
    """Write the paired statistics of systems, with ids and slice values replaced, in the order of new ids."""
    import polars as pl

    file = run.folder / STATISTICS
    if not file.is_file():
        return
    table = read_parquet(file, str(file))
    try:
        table = _redacted_statistics(table, redactor)
    except (
        pl.exceptions.PolarsError,
        AttributeError,
        LookupError,
        TypeError,
        ValueError,
        RecursionError,
    ) as error:
        raise run.refusal(f"not a table of statistics ({type(error).__name__})", STATISTICS) from None
    write_parquet(table, made.staging / STATISTICS, compression="zstd")


def _redacted_statistics(table: pl.DataFrame, redactor: Redactor) -> pl.DataFrame:
    import polars as pl

    renamed: dict[str, str] = {}
    for column in table.columns:
        kind, *rest = json.loads(column)
        if kind == GROUP and rest != ["repairs"]:
            table = _mapped_lists(table, column, redactor.text)
        elif kind == GOLD:
            digests = [redactor.token(one.hex()).encode() for one in table[column].to_list()]
            table = table.with_columns(pl.Series(column, digests, dtype=pl.Binary))
        elif kind not in (SYSTEM, DOCUMENT, GROUP, REPEATS):
            renamed[column] = json.dumps([kind, redactor.path(rest[0])])
    ids = [redactor.id(one.decode("utf-8", "surrogatepass")) for one in table[f'["{DOCUMENT}"]'].to_list()]
    encoded = [one.encode("utf-8", "surrogatepass") for one in ids]
    table = table.with_columns(pl.Series(f'["{DOCUMENT}"]', encoded, dtype=pl.Binary)).rename(renamed)
    ranks = table[f'["{SYSTEM}"]'].unique(maintain_order=True).to_list()
    order = sorted(range(len(ids)), key=lambda at: (ranks.index(table[f'["{SYSTEM}"]'][at]), ids[at]))
    return table[order]


def _write_gates(run: Run, redactor: Redactor, made: RunFolder) -> None:
    file = run.folder / GATES
    if not file.is_file():
        return
    found = read_decisions(file.read_bytes(), str(file))
    decisions = [
        replace(
            one,
            outcomes=tuple(
                replace(outcome, gate=redactor.gate(outcome.gate), rule=_VERDICT, evidence=(), title="")
                for outcome in one.outcomes
            ),
            run="",
        )
        for one in found
    ]
    write_decisions(decisions, made.staging)
