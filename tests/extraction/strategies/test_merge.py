"""Joining the answers of several parts: by place, whatever the parts."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.extraction.strategies.extraction import answer, document, play

from fieldassay.extraction.evidence import Found, field_steps
from fieldassay.extraction.places.search import Place
from fieldassay.extraction.strategies.merge import merge
from fieldassay.extraction.strategies.prompted import Prompted, Split
from fieldassay.extraction.strategy import Task
from fieldassay.spec.language.parse import read_spec

SPEC = read_spec(
    {"fields": {"total": "money", "lines": {"items": {"fields": {"item": "text", "amount": "money"}}}}}
)
ROWS = st.sampled_from(["Pump 1.00", "Seal 1.00", "Seal 2.00", "Cap 3.00"])
PAGES = st.lists(st.lists(ROWS, max_size=4), min_size=1, max_size=6)


def read(request):
    """Answer as a model that never errs."""
    sent = request.body["messages"][-1]["content"].splitlines()
    rows = [line.split() for line in sent if line.endswith("0") and line.count(" ") == 1]
    return answer({"total": None, "lines": [{"item": item, "amount": amount} for item, amount in rows]})


@given(pages=PAGES, size=st.integers(1, 6), overlap=st.integers(0, 3))
def test_the_items_are_those_of_the_document_whatever_the_parts(pages, size, overlap):
    if not any(pages):
        return
    split = Split(pages=size, overlap=min(overlap, size - 1))
    _, found = play(Prompted("e", "m", split=split), document(*map("\n".join, pages)), Task(SPEC), read)
    assert [f"{one['item']} {one['amount']}" for one in found.record["lines"]] == [
        row for page in pages for row in page
    ]


def found(value, line, kind="found", confidence=None):
    place = None if line is None else Place(0, line * 10, line * 10 + 5)
    return Found(value, confidence, place, kind, str(value), place)


ANSWERS = st.lists(
    st.dictionaries(
        st.sampled_from([("total",), ("lines", 0, "item"), ("lines", 1, "item"), ("lines", 1, "amount"), ("lines", 2, "item")]),
        st.builds(
            found, st.sampled_from(["a", "b"]), st.none() | st.integers(0, 3), st.sampled_from(["found", "absent"]),
            st.sampled_from([None, 0.2, 0.9]),
        ),
        max_size=4,
    ),
    max_size=4,
)  # fmt: skip


def joined(answers):
    return merge(answers, lambda place: (place.page, place.start // 10), lambda steps, one: str(one.value))


@given(answers=ANSWERS, order=st.randoms(use_true_random=False))
def test_the_order_of_the_answers_decides_nothing_but_the_order_of_items(answers, order):
    shuffled = list(answers)
    order.shuffle(shuffled)
    one, other = (
        Counter((field_steps(steps), repr(value)) for steps, value in joined(parts).values.items())
        for parts in (answers, shuffled)
    )
    assert one == other


LINES = {
    "one line": ("Fees: $950.00 | $874.75 | $774.75", ["950.00 874.75 774.75"], "950.00 874.75 774.75"),
    "above, too": ("Sum 874.75\nFees: 950.00 | 874.75", ["950.00 874.75"], "950.00 874.75"),
    "out of order": ("Fees 1.00 | 2.00\nFee 3.00", ["3.00 1.00 2.00"], "1.00 2.00 3.00"),
    "nowhere": ("x", ["b c a"], "b c a"),
    "some nowhere": ("Fee 3.00\nFee 5.00", ["b 3.00 c a 5.00 0"], "b 3.00 c a 5.00 0"),
    "a first part nowhere": ("x\fy\fFees 6", ["b c", "6"], "b c 6"),
    "a middle part nowhere": ("Fee 1\fx\fy\fFee 2", ["1", "b", "2"], "1 b 2"),
    "parts": ("Fees 9 | 8 | 7\fFee 1\fFees 6 | 9", ["9 8 7 1", "1 6 9"], "9 8 7 1 6 9"),
    "parts nowhere": ("a\fb\fc", ["z y", "y x"], "z y x"),
}


@pytest.mark.parametrize("name", LINES)
def test_items_without_a_line_of_their_own_keep_the_order_of_their_answer(name):
    text, answers, expected = LINES[name]
    task = Task(read_spec({"fields": {"fees": {"items": "text"}}}))
    replies = [answer({"fees": one.split()}) for one in answers]
    _, found = play(Prompted("e", "m", split=Split(2)), document(*text.split("\f")), task, replies)
    assert found.record["fees"] == expected.split()


@given(answers=ANSWERS)
def test_an_answer_given_twice_adds_nothing(answers):
    assert joined([*answers, *answers]).values == joined(answers).values


CONFLICTS = [
    ("better evidence", found("a", None, "absent", 0.9), found("b", 1, "found", 0.1), "b"),
    ("higher confidence", found("a", 1, "found", 0.2), found("b", 2, "found", 0.9), "b"),
    ("first in the document", found("a", 2), found("b", 1), "b"),
]


@pytest.mark.parametrize(
    ("one", "other", "value"), [case[1:] for case in CONFLICTS], ids=[case[0] for case in CONFLICTS]
)
def test_of_two_values_the_better_supported_counts_and_the_other_is_kept(one, other, value):
    result = joined([{("total",): one}, {("total",): other}])
    assert result.values[("total",)].value == value and result.notes == {"chunk_conflicts": 1}
    assert [candidate.value for candidate in result.candidates[("total",)]] == [value, "a"]
