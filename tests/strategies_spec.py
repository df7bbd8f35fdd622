"""Random valid specs over all types, with nested lists and objects."""

from hypothesis import strategies as st

from fieldassay.metrics.catalogue.definitions import Definition
from fieldassay.spec.language.model import (
    Accept,
    Call,
    DataOptions,
    DocumentType,
    Field,
    Spec,
    StatisticsOptions,
)

NAMES = st.sampled_from(
    [
        "a",
        "total",
        "TOTAL_AMOUNT",
        "odd.key",
        "x[0]",
        "true",
        "1",
        "naïve",
        "two words",
        'quo"te',
        "n",
        "emoji 😀",
        "#",
        "- a",
    ]
)
WORDS = st.text(alphabet=st.characters(codec="utf-8"), min_size=1, max_size=12).filter(
    lambda text: text.strip()
)
WEIGHTS = st.sampled_from([0.0, 0.5, 1.0, 2.0, 3.25])
LEAF_OPTIONS = {
    "text": [()],
    "id": [(), (("checksum", "au.abn"),), (("case_sensitive", False),)],
    "enum": [
        (("values", ("paid", "open")),),
        (("aliases", (("open", ("unpaid", "due")),)), ("values", ("paid", "open"))),
    ],
    "boolean": [()],
    "integer": [(), (("tolerance", 0.1),)],
    "number": [(), (("tolerance", (("relative", 0.01),)),)],
    "money": [(), (("currency", "AUD"),), (("currency", "EUR"), ("tolerance", (("absolute", 0.5),)))],
    "date": [(), (("order", "dmy"),), (("days", 1),)],
    "datetime": [()],
    "time": [()],
    "duration": [()],
    "phone": [(), (("region", "AU"),)],
    "email": [()],
    "url": [()],
}
TEXT_CALLS = [
    None,
    Call("words"),
    Call("levenshtein"),
    Call("anls", (("threshold", 0.5),)),
    Call("jaro_winkler", (("prefix_weight", 0.2),)),
]
NORMALIZERS = [
    Call("case"),
    Call("case", (("form", "upper"),)),
    Call("accents"),
    Call("punctuation", (("mode", "space"),)),
    Call("white_space"),
]


@st.composite
def leaves(draw, name):
    kind = draw(st.sampled_from(sorted(LEAF_OPTIONS)))
    is_text = kind == "text"
    return Field(
        name,
        kind,
        draw(st.sampled_from(LEAF_OPTIONS[kind])),
        compare=draw(st.sampled_from(TEXT_CALLS)) if is_text else None,
        normalize=tuple(draw(st.lists(st.sampled_from(NORMALIZERS), max_size=2))) if is_text else (),
        accept=draw(st.none() | st.builds(Accept, st.sampled_from([0.0, 0.5, 0.8, 1.0]), st.booleans())),
        weight=draw(WEIGHTS),
        critical=draw(st.booleans()),
        accepted=tuple(draw(st.lists(WORDS | st.integers(-5, 5), max_size=2))),
        null=draw(st.sampled_from(["empty", "value"])),
        both_empty=draw(st.sampled_from(["skip", "agree"])),
        null_values=draw(st.none() | st.lists(WORDS, min_size=1, max_size=2).map(tuple)),
        unreadable_gold=draw(st.sampled_from([None, "text", "failed"])),
        description=draw(st.just("") | WORDS),
        labels=tuple(draw(st.lists(WORDS, max_size=2))),
    )


@st.composite
def lists(draw, name, depth):
    items = draw(fields_named("", depth - 1))
    keys = [inner.name for inner in items.fields]
    aligners = [
        None,
        Call("ordered"),
        Call("sequence"),
        Call("assignment", (("min_similarity", 0.3),)),
        Call("assignment", (("min_similarity", "none"),)),
    ]
    aligners += [Call("key", (("fields", (keys[0],)),))] if keys else []
    return Field(
        name,
        "list",
        items=items,
        align=draw(st.sampled_from(aligners)),
        combine=draw(st.sampled_from(["mean", "weighted", "product"])),
        keeps_empty_items=draw(st.booleans()),
        other_kind=draw(st.sampled_from(["mismatch", "empty"])),
        separator=draw(st.sampled_from([None, "|", ";"])),
        distinct=draw(st.booleans()),
        weight=draw(WEIGHTS),
    )


@st.composite
def fields_named(draw, name, depth):
    kind = draw(
        st.sampled_from(["leaf", "leaf", "list", "object", "whole list", "tree"] if depth > 0 else ["leaf"])
    )
    if kind == "list":
        return draw(lists(name, depth))
    if kind == "object":
        return Field(
            name,
            "object",
            fields=draw(members(depth - 1)),
            extra=draw(st.sampled_from(["ignore", "spurious"])),
        )
    if kind == "whole list":
        return Field(
            name,
            "list",
            compare=draw(st.sampled_from([Call("iou"), Call("by_position")])),
            items=draw(leaves("").map(_without_accept)),
        )
    if kind == "tree":
        inner = draw(leaves("**.*_x"))
        return Field(name, "any", patterns=draw(st.sampled_from([(), ((inner.name, inner),)])))
    return draw(leaves(name))


def _without_accept(field):
    return Field(field.name, field.type, field.options, field.compare, field.normalize)


@st.composite
def members(draw, depth):
    names = draw(st.lists(NAMES, min_size=1, max_size=4, unique=True))
    return tuple(draw(fields_named(name, depth)) for name in names)


OWN = (
    Definition("found", "document_mean(items_matched / (items_matched + items_missing))"),
    Definition("loss", "100 * (1 - found)", "lower", "percent", None, "what is lost"),
)
MEASURED = (
    {"metrics": ()},
    {"metrics": ("accuracy", "f1(granularity=slot)")},
    {"metrics": ("found", "loss"), "definitions": OWN, "score": "found"},
    {"metrics": ("f1",), "definitions": OWN, "skips_absent_fields": True},
)
"""What specs compute: their metrics, definitions and the score of a document."""


SECTIONS = {
    "data": st.builds(
        DataOptions,
        gold_key=NAMES | st.lists(NAMES, max_size=2).map(tuple),
        pred_key=NAMES | st.lists(NAMES, max_size=2).map(tuple),
        systems_key=st.none() | NAMES,
        id_key=st.lists(NAMES, max_size=2).map(tuple),
        wrap=st.none() | NAMES,
        group=st.booleans(),
        encoding=st.sampled_from([None, "cp1252"]),
        names=st.sampled_from(["exact", "loose"]),
        match_ids=st.sampled_from(["exact", "stem", "{id}_*.pdf={id}"]),
        max_unpacked=st.sampled_from([None, "8GB"]),
    ),
    "statistics": st.builds(
        StatisticsOptions,
        level=st.sampled_from([0.95, 0.9]),
        bootstrap=st.integers(0, 50),
        seed=st.integers(0, 3),
        correction=st.sampled_from(["min_p", "holm"]),
        compare=st.none() | st.just(("accuracy", "f1(granularity=slot)")),
        reference=st.none() | NAMES,
    ),
}


@st.composite
def specs(draw, depth=2):
    """Return a strategy of valid specs; `depth` bounds how deep lists and objects nest."""
    kinds = draw(st.none() | st.just(DocumentType("kind", (("invoice", ("tax invoice",)), ("receipt", ())))))
    return Spec(
        name=draw(WORDS),
        fields=draw(members(depth)),
        **draw(st.fixed_dictionaries(SECTIONS)),
        null_values=draw(st.lists(WORDS, max_size=2).map(tuple)),
        locale=draw(st.sampled_from([None, "en_AU", "de_DE"])),
        unreadable_gold=draw(st.sampled_from(["text", "failed"])),
        document_type=kinds,
        **draw(st.sampled_from(MEASURED)),
        gates=draw(st.sampled_from([(), ("accuracy >= 0.9",)])),
        slices=draw(st.sampled_from([(), ("type", "variant")])),
        prices=draw(st.sampled_from([(), (("gpt-x", (("completion", 10.0), ("prompt", 2.5))),)])),
        description=draw(st.just("") | WORDS),
    )
