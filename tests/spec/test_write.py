import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.strategies_spec import specs

from fieldassay.spec.language.model import Field, Spec, freeze, thaw
from fieldassay.spec.language.parse import read_spec
from fieldassay.spec.language.write import emit_yaml, spec_data, write_spec
from fieldassay.spec.language.yaml_text import read_yaml

scalars = (
    st.none()
    | st.booleans()
    | st.integers(-(10**9), 10**9)
    | st.floats(allow_nan=False)
    | st.text(max_size=10)
)
trees = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=12,
)


@given(spec=specs())
def test_a_written_spec_reads_back_equal(spec):
    text = write_spec(spec)
    again = read_spec(text)
    assert again == spec
    assert hash(again) == hash(spec)
    assert write_spec(again) == text


@given(spec=specs())
def test_a_spec_as_data_reads_back_equal(spec):
    assert read_spec(spec_data(spec)) == spec


@given(data=st.dictionaries(st.text(max_size=8), trees, max_size=4))
def test_emitted_yaml_is_the_same_data(data):
    assert read_yaml(emit_yaml(data, {}), "x")[0] == (data or None)


@given(value=trees)
def test_a_frozen_value_survives_thawing(value):
    assert freeze(thaw(freeze(value))) == freeze(value)


@pytest.mark.parametrize(
    "key",
    ["x" * 5000, "a\nb", "\0", "\u2028", "\ufeff", "? a", "- a", "&a", "*a*", "!t", "%d", "@", "`"],
)
def test_hostile_names_survive(key):
    spec = Spec("s", (Field(key, "text", description=key), Field("o", "object", fields=(Field(key),))))
    assert read_spec(write_spec(spec)) == spec
