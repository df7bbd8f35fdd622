"""Records made to break a page: markup, formulas, invisible characters, names with a meaning in code."""

from typing import Any

SCRIPT = '</script><script>window.hacked=1</script><img src=x onerror="window.hacked=2">'
TEXTS = (
    "plain \u202etext", SCRIPT, "\u2028line\u2029", "plain\u00a0text", "a\x00b", "y" * 200_000,
    " plain text ", "plain\u200btext", "{{7*7}}${7*7}",
    '=HYPERLINK("http://x")', "-->", "]]>", "\\u003cscript\\u003e", "%3Cscript%3E",
)  # fmt: skip
IDS = (
    "=cmd|calc", "<svg onload=window.hacked=4>", "a\u202edcb\u202c", "x" * 300, "__proto__",
    '"><script>window.hacked=5</script>',
    "#documents?doc=1", "new\nline", "%00", "{{7*7}}", "constructor", "a&b=c", "1",
)  # fmt: skip
FIELDS = (SCRIPT, "__proto__", "constructor", "a b", "=1+1", "lines")
SYSTEMS = (
    "<img src=x onerror=window.hacked=3>",
    '"><script>window.hacked=6</script>',
    "=evil()",
    "\u202ereversed",
)

SPEC: dict[str, Any] = {
    "fieldassay": 1,
    "name": SCRIPT,
    "data": {"id_key": "id"},
    "document_type": {"field": "kind"},
    "slices": ["type"],
    "gates": ["accuracy >= 0.5"],
    "fields": {
        "kind": "text",
        "total": "money",
        "note": "text",
        SCRIPT: "text",
        "__proto__": "text",
        "constructor": "text",
        "state": {"type": "enum", "values": ["<b>a</b>", "=1", "c"]},
        "lines": {
            "type": "list",
            "align": "assignment",
            "items": {"type": "object", "fields": {"name": "text", "n": "number"}},
        },
    },
}


def gold_records() -> list[dict[str, Any]]:
    """Return one record for each id."""
    return [_gold(place, name) for place, name in enumerate(IDS)]


def _gold(place: int, name: str) -> dict[str, Any]:
    lines = [{"name": f"item {number}", "n": number} for number in range(4)]
    fixed = {
        "__proto__": "p",
        "constructor": "c",
        SCRIPT: "v",
        "state": ("<b>a</b>", "=1", "c")[place % 3],
        "lines": lines,
    }
    return {
        "id": name,
        "kind": ("<i>t</i>", "=1+1", SCRIPT)[place % 3],
        "total": 12.5 + place,
        "note": f"plain text {place}",
        **fixed,
    }


def predictions() -> dict[str, list[dict[str, Any]]]:
    """Return what each system predicts: hostile texts, values of the wrong kind, nothing, and gold itself."""
    gold = gold_records()
    return {
        SYSTEMS[0]: [_spoil(record, place) for place, record in enumerate(gold)],
        SYSTEMS[1]: [{**record, "lines": "<script>", "total": "NaN", "state": SCRIPT} for record in gold],
        SYSTEMS[2]: [{"id": record["id"]} for record in gold],
        SYSTEMS[3]: gold,
    }


def _spoil(record: dict[str, Any], place: int) -> dict[str, Any]:
    lines = [*record["lines"][::-1][:3], {"name": SCRIPT, "n": 1e308}]
    return {
        **record,
        "note": TEXTS[place % len(TEXTS)],
        "total": (12.5, "<script>", -5, 1e308)[place % 4],
        "state": SCRIPT,
        "lines": lines,
    }
