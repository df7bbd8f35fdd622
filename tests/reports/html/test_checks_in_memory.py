"""The page of a result in memory names the checks that predictions violate; a run on disk has them in a file."""

from __future__ import annotations

import fieldassay as fa


def test_the_page_of_a_result_shows_violated_checks_with_an_example() -> None:
    gold = [{"id": at, "total": at} for at in range(3)]
    spec = "{fields: {total: number}, checks: {total: {one_of: [1, 2]}}}"
    page = fa.report(fa.score(gold, {"new": gold}, spec, replicates=50), "html")
    assert "Checks that predictions violate" in page
    assert "<td>one of <code>total</code></td>" in page.replace("one_of", "one of")
    assert "0" in page.partition("Checks that predictions violate")[2].partition("</table>")[0]
