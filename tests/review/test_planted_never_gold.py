"""Whatever reviewers say, a value that was planted, and what they said of it, never becomes gold."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.review.receipts import SPEC, add, form_of, make_receipts, prediction, take

from fieldassay.commands.cli.main import main
from fieldassay.review.log.store import Store
from fieldassay.review.promotion.history import history_of
from fieldassay.review.sheets import sheets
from fieldassay.review.sheets.draw import Shares

ANSWERS = st.sampled_from(["as shown", "truth", "absent", "illegible", "skipped", "other"])


def answer_all(store: Store, answers: Any) -> None:
    """Finish every sheet; each value is answered as drawn."""
    form, people = form_of(store), [add(store, name, "reviewer") for name in ("anna", "ben")]
    for person in people:
        while (number := take(store, person)) is not None:
            with store.reading() as db:
                seen = sheets.view(db, form, person, number)["asked"]
            for one in seen:
                if not one["is_context"]:
                    said = _answer(form, one, answers())
                    store.write(lambda log, p=person, n=number, s=said: sheets.save_label(log, form, p, n, s))
            store.write(lambda log, p=person, n=number: sheets.finish(log, form, p, n))


def _answer(form: Any, one: dict[str, Any], how: str) -> sheets.Answer:
    node, given_text = one["node"], one["given"]
    if how in ("absent", "illegible", "skipped"):
        return sheets.Answer(node, how)  # type: ignore[arg-type]
    if node in form.lists:
        return sheets.Answer(node, "absent")
    right = str(prediction(1).get(node, "7.77"))
    text = {"as shown": given_text, "truth": right, "other": "9.99"}[how]
    return sheets.Answer(node, "value", text or right)


@pytest.mark.parametrize("way", ["from the review", "from its labels file", "from settled labels"])
@settings(max_examples=settings.default.max_examples // 5)
@given(data=st.data())
def test_a_planted_value_never_reaches_gold(
    tmp_path_factory: pytest.TempPathFactory, way: str, data: st.DataObject
) -> None:
    folder = tmp_path_factory.mktemp("planted")
    gold, review = folder / "gold.jsonl", folder / "review"
    documents = data.draw(st.integers(1, 4))
    wrong = data.draw(st.lists(st.sampled_from(["shop", "total", "day"]), max_size=2))
    truth = [prediction(at) | dict.fromkeys(wrong, "11.11") for at in range(1, documents + 1)]
    gold.write_text("".join(json.dumps(one) + "\n" for one in truth))
    double = data.draw(st.sampled_from([0.0, 0.0, 0.5]))
    store = make_receipts(review, documents, Shares(double, 0.2, 0.2, 1.0), gold=gold)
    answer_all(store, lambda: data.draw(ANSWERS))
    with store.reading() as db:
        planted = db.execute(
            "SELECT document.name, node FROM asked JOIN document ON document.id=document WHERE shown='planted'"
        ).fetchall()
    assert main(["review", "close", str(review)]) == 0
    ended = _promote(way, review, gold, folder)
    assert ended == 0 or double  # two sheets may differ, and then nothing is written at all
    found = {one["id"]: one for one in map(json.loads, gold.read_text().splitlines())}
    before = {one["id"]: one for one in truth}
    assert {place: found[place[0]].get(place[1]) for place in planted} == {
        place: before[place[0]][place[1]] for place in planted
    }
    history = history_of(gold)
    told = [json.loads(line) for line in history.read_text().splitlines()] if history.exists() else []
    assert not {(one["document"], one["path"]) for one in told} & set(planted)


def _promote(way: str, review: Path, gold: Path, folder: Path) -> int:
    labels = folder / "labels.jsonl"
    source = [str(review)]
    if way != "from the review":
        more = ["--settled"] if way == "from settled labels" else []
        assert main(["review", "export", str(review), "-o", str(labels), *more]) == 0
        (folder / "spec.yaml").write_text(SPEC)
        source = ["--labels", str(labels), "--spec", str(folder / "spec.yaml")]
    return main(["review", "promote", *source, "--gold", str(gold), "--reason", "a property"])
