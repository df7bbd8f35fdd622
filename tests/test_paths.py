import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.effort import costs_at_most

from fieldassay.paths import ITEM, Pattern, field_of, join_path, split_path

keys = st.text(max_size=8) | st.sampled_from(["", "a.b", "[0]", 'q"q', "*", "**", "\n", " a", "\ud800", "\\"])
steps = st.lists(keys | st.integers(0, 99) | st.just(ITEM), max_size=6).map(tuple)


@given(steps=steps)
def test_joined_steps_split_back(steps):
    assert split_path(join_path(steps)) == steps


@pytest.mark.parametrize(
    "text",
    ["a..b", ".a", "a.", "a[", "a]", "a[x]", "a[1", 'a["', 'a["x]', "a[0]b", "a.[0]", '"a"', 'a["\\q"]'],
)
def test_what_is_no_path_is_refused(text):
    with pytest.raises(ValueError, match="not a"):
        split_path(text)


@pytest.mark.parametrize(
    ("path", "field"),
    [
        ("", ""),
        ("a", "a"),
        ("a[3]", "a[]"),
        ("a[3][0].b", "a[][].b"),
        ('a["x[3]"][1]', 'a["x[3]"][]'),
        ("a[].b", "a[].b"),
    ],
)
def test_the_field_of_a_value_has_no_indices(path, field):
    assert field_of(path) == field


@given(steps=steps)
def test_a_field_is_its_own_field(steps):
    assert field_of(field_of(join_path(steps))) == field_of(join_path(steps))


@pytest.mark.parametrize(
    ("pattern", "path", "matches"),
    [
        ("**.*_unit", "flow_unit", True),
        ("**.*_unit", "pumps[].flow_unit", True),
        ("**.*_unit", "pumps[3].flow_unit", True),
        ("**.*_unit", "pumps[].unit", False),
        ("**", "", True),
        ("**", "a[].b", True),
        ("*", "a", True),
        ("*", "a.b", False),
        ("*", "a[]", False),
        ("a.*", "a[]", False),
        ("a[].b", "a[7].b", True),
        ("a[1].b", "a[2].b", False),
        ("a.**.z", "a.z", True),
        ("a.**.z", "a.b[].c.z", True),
        ("a.**.b.**.c", "a.b.b.x.c", True),
        ("**.total", "total", True),
        ("**.a.*.b", "a.a.x.b", True),
        ("x*y*z", "xyyz", True),
        ("x*y*z", "xz", False),
        ("ab*ba", "aba", False),
        ('["a*"]', "ab", False),
        ('["a*"]', "a*", True),
    ],
)
def test_patterns_match_whole_paths(pattern, path, matches):
    assert Pattern(pattern).matches(path) is matches


@given(steps=steps)
def test_two_stars_match_everything(steps):
    assert Pattern("**").matches_steps(steps)


def test_matching_takes_no_time_on_hostile_texts():
    with costs_at_most(160):
        assert not Pattern(".".join(["**", "a*a*a*b"] * 20)).matches(".".join(["a" * 200] * 200))
        assert not Pattern("*a" * 50 + "b").matches("a" * 100_000)
        assert split_path("a." * 50_000 + "b")[-1] == "b"
