"""Closing a review for good."""

from __future__ import annotations

from fieldassay.errors import problem
from fieldassay.review.controls import count_open_audits
from fieldassay.review.log.journal import Entry, Head, Journal
from fieldassay.review.log.store import Store


def close_review(store: Store, actor: str = "command") -> tuple[Head, int]:
    """Return the head of a review that takes no label any more, and how many sheets were not finished.

    Raises `ProblemsError` while audits are open: an estimate from those that happened to be done is biased.
    """

    def close(journal: Journal) -> tuple[Head, int]:
        waiting = count_open_audits(journal.db)
        if waiting:
            what = f"{waiting:,} audit{' is' if waiting == 1 else 's are'} open"
            remedy = "finish their sheets: the estimate of accuracy needs all audits"
            raise problem(store.folder, what, remedy, "open_audits")
        journal.append(Entry("close", {"closed": True}, actor))
        [unfinished] = journal.db.execute(
            "SELECT count(*) FROM sheet WHERE state IN ('open', 'held')"
        ).fetchone()
        return journal.head, unfinished

    return store.write(close)
