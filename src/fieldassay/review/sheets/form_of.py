"""The fields and facts of a review on disk."""

from __future__ import annotations

from typing import Any

from fieldassay.errors import problem
from fieldassay.review.log.store import Store, read_facts
from fieldassay.review.sheets.forms import ReviewForm
from fieldassay.spec.language.parse import RecordedSpec
from fieldassay.spec.plan.compile import read_plan


def read_form(store: Store) -> tuple[ReviewForm, dict[str, Any]]:
    """Return the fields and the facts of a review. Raises `ProblemsError` if its spec is another one now."""
    with store.reading() as db:
        facts = read_facts(db)
    plan = read_plan(RecordedSpec(facts["spec"]))
    if plan.digest != facts["plan_digest"]:
        what = "its spec is not the one that it was made with"
        remedy = "restore it from a backup, or review with the release of fieldassay that made it"
        raise problem(store.folder, what, remedy, "bad_review")
    return ReviewForm(plan), facts
