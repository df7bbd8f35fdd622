import re
from pathlib import Path

import pytest

import fieldassay.spec
from fieldassay.spec.language.names import FIELD_KEYS, SPEC_KEYS, type_names
from fieldassay.spec.plan.compile import read_plan
from fieldassay.values.aligners.catalogue import ALIGNERS

DOCS = Path(__file__).parents[2] / "docs"
PAGES = {name: (DOCS / name).read_text(encoding="utf-8") for name in ("spec.md", "aligners.md")}
EXAMPLES = [
    (name, text) for name, page in PAGES.items() for text in re.findall(r"```yaml\n(.*?)```", page, re.DOTALL)
]


@pytest.mark.parametrize(
    ("page", "text"), EXAMPLES, ids=[f"{name}-{place}" for place, (name, _) in enumerate(EXAMPLES)]
)
def test_every_example_compiles(page, text):
    whole = text if re.search(r"^(fields|type):", text, re.MULTILINE) else f"fields:\n  x: text\n{text}"
    assert read_plan(whole).fields


@pytest.mark.parametrize("name", [*SPEC_KEYS, *FIELD_KEYS, *type_names()])
def test_every_key_and_type_is_on_the_page_of_the_spec(name):
    assert f"`{name}`" in PAGES["spec.md"]


@pytest.mark.parametrize("name", ALIGNERS.names())
def test_every_aligner_is_on_its_page(name):
    assert f"| `{name}` |" in PAGES["aligners.md"]


def test_every_kind_of_problem_is_on_the_page_of_the_spec():
    sources = [*Path(fieldassay.spec.__path__[0]).rglob("*.py")]
    used = {
        kind
        for path in sources
        for kind in re.findall(
            r'"([a-z_]+)"\)+(?: from error)?$', path.read_text(encoding="utf-8"), re.MULTILINE
        )
    }
    known = set(re.findall(r"`([a-z_]+)`", PAGES["spec.md"].split("## Problems")[1]))
    kinds = {
        kind
        for kind in used
        if kind.startswith(
            ("unknown_", "invalid", "missing_", "misplaced", "duplicate", "wrong_", "too_", "mixed_")
        )
    }
    assert len(kinds) >= 10
    assert kinds <= known
