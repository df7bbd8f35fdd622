"""An extraction as text for a terminal: what was predicted, what failed, what it took and cost."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from fieldassay.io.text.shown import format_count, visible
from fieldassay.metrics.estimate import format_bounds, format_in_unit, format_seconds

if TYPE_CHECKING:
    from fieldassay.extraction.endpoints.exchange import CostEstimate
    from fieldassay.extraction.extract import Extraction


def render_extraction(made: Extraction) -> str:
    """Return the lines on an extraction: documents, failures by kind, times, cost, and its folder."""
    told, counts = made.manifest, made.counts
    documents = format_count(told["given"], "document")
    if told["repeats"] > 1:
        documents += f", {told['repeats']} times each"
    lines = [
        f"{visible(told['system'])}: {documents}, {counts['predicted']:,} predicted, "
        f"{counts['failed']:,} failed"
    ]
    if counts["reused"]:
        lines.append(
            f"answered before: {counts['reused']:,} of {counts['attempted']:,}; asked for nothing twice"
        )
    lines += list_failures(told)
    if told["stop"] is not None:
        left = counts["given"] - counts["attempted"]
        stop = told["stop"]
        lines.append(
            f"stopped: {visible(stop['message'])} ({stop['kind']}); {format_count(left, 'document')} left. "
            "The same command goes on from here"
        )
    if told["notes"]:
        lines.append("noted: " + ", ".join(f"{count:,} {name}" for name, count in told["notes"].items()))
    lines += [_times(told["timings"]), _cost(told["cost"], counts)]
    return "".join(
        f"{line}\n" for line in [*lines, f"written to {made.folder}: {made.predictions.name}"] if line
    )


def list_failures(manifest: Mapping[str, Any], name: str = "") -> list[str]:
    """Return the lines on the failures of an extraction: how many of each kind, and the first of each."""
    if not manifest["failures"]:
        return []
    listed = ", ".join(f"{count:,} {kind}" for kind, count in manifest["failures"].items())
    firsts = manifest.get("first_failures", {}).items()
    return [
        f"{visible(name)} failed: {listed}" if name else f"failed: {listed}",
        *(
            f"  {kind}, such as {visible(one['id'])}: {visible(' '.join(one['message'].split()))[:300]}"
            for kind, one in firsts
        ),
    ]


def render_estimate(name: str, found: CostEstimate) -> str:
    """Return the lines on what an extraction would ask and cost.

    >>> from fieldassay.extraction.endpoints.exchange import CostEstimate
    >>> print(render_estimate("base", CostEstimate(3, 1, 2, 4000, 8000, 0.01, 0.05)), end="")
    base: 3 documents, 1 cannot be loaded; 2 calls, 4,000 prompt tokens, at most 8,000 completion tokens
      $0.010 to $0.050, and more where an answer has to be asked for again
    """
    documents = format_count(found.documents, "document")
    bad = f", {found.failed:,} cannot be loaded" if found.failed else ""
    if not found.calls:
        return f"{visible(name)}: {documents}{bad}; nothing is sent, and nothing costs anything\n"
    if not found.prompt_tokens:
        return f"{visible(name)}: {documents}{bad}; {format_count(found.calls, 'call')} of a program\n"
    tokens = f"{found.prompt_tokens:,} prompt tokens, at most {found.completion_tokens:,} completion tokens"
    first = f"{visible(name)}: {documents}{bad}; {format_count(found.calls, 'call')}, {tokens}\n"
    if found.least_usd is None or found.most_usd is None:
        return f"{first}  the cost is unknown: the model has no price; write `prices:` into the spec\n"
    cost = format_bounds((found.least_usd, found.most_usd), "usd")
    return f"{first}  {cost}, and more where an answer has to be asked for again\n"


def _times(told: Mapping[str, Any]) -> str:
    if told["p50_ms"] is None:
        return ""
    doubt = "" if told["are_reliable"] else "; this machine was too busy for reliable times"
    median, slow = (format_seconds(told[name]) for name in ("p50_ms", "p95_ms"))
    return f"time per document: median {median}, 95th percentile {slow}{doubt}"


def _cost(told: Mapping[str, Any], counts: Mapping[str, int]) -> str:
    if told["answers_usd"] == 0 and not told["possibly_billed"]:
        return ""
    if told["answers_usd"] is None:
        unpriced = format_count(told["unpriced_documents"], "document")
        text = f"cost: unknown for {unpriced} (no price, or no tokens reported)"
    else:
        spent = told["spent_now_usd"]
        now = f", {format_in_unit(spent, 'usd')} of it now" if spent is not None and counts["reused"] else ""
        text = f"cost: {format_in_unit(told['answers_usd'], 'usd')}{now}"
    billed = told["possibly_billed"]
    return text + (
        f"; {format_count(billed, 'attempt')} without an answer may have been billed too" if billed else ""
    )
