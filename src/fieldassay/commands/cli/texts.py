"""Short command line texts for parts of a spec."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from fieldassay.errors import ProblemsError


def definition_of(
    kind: str, compare: str | None, normalize: Sequence[str], options: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the field definition by the options; `compare`, `normalize` are `name` or `name:key=value,…`.

    >>> definition_of("text", "anls:threshold=0.5", ["case"], {"critical": True})
    {'type': 'text', 'critical': True, 'compare': {'anls': {'threshold': 0.5}}, 'normalize': ['case']}
    """
    definition: dict[str, Any] = {"type": kind, **options}
    if compare is not None:
        definition["compare"] = call_of(compare)
    if normalize:
        definition["normalize"] = [call_of(text) for text in normalize]
    return definition


def call_of(text: str) -> Any:
    """Return the call that `name` or `name:key=value,…` means, as the spec language has it.

    >>> call_of("words"), call_of("date:days=3")
    ('words', {'date': {'days': 3}})
    """
    name, colon, rest = text.partition(":")
    if not colon:
        return name.strip()
    if "=" not in rest:
        return {name.strip(): option_value(rest)}
    pairs = (part.partition("=") for part in split_outside(rest))
    return {name.strip(): {key.strip(): option_value(value) for key, _, value in pairs}}


def option_value(text: str) -> Any:
    """Return the value of a text in YAML; text that is not YAML is itself.

    >>> option_value("0.01"), option_value("[a, b]"), option_value("en_AU"), option_value("{relative: 0.1}")
    (0.01, ['a', 'b'], 'en_AU', {'relative': 0.1})
    """
    from fieldassay.spec.language.yaml_text import read_yaml

    try:
        data, _ = read_yaml(f"value: {text}", "option")
    except ProblemsError:
        return text
    return data["value"] if isinstance(data, dict) and set(data) == {"value"} else text


def split_calls(texts: Sequence[str]) -> tuple[str, ...]:
    """Return the metrics in texts that separate them by commas.

    >>> split_calls(["f1(granularity=slot, regime=filled), accuracy", "recall"])
    ('f1(granularity=slot, regime=filled)', 'accuracy', 'recall')
    """
    return tuple(part for text in texts for part in split_outside(text))


def split_outside(text: str, separator: str = ",") -> list[str]:
    """Return the parts of a text between separators outside brackets and quotes.

    >>> split_outside("f1(granularity=slot, regime=filled), accuracy")
    ['f1(granularity=slot, regime=filled)', 'accuracy']
    """
    parts, depth, start, quote = [], 0, 0, ""
    for position, char in enumerate(text):
        if quote:
            quote = "" if char == quote else quote
        elif char in "\"'":
            quote = char
        elif char in "([{":
            depth += 1
        elif char in ")]}":
            depth = max(0, depth - 1)
        elif char == separator and depth == 0:
            parts.append(text[start:position])
            start = position + 1
    return [part.strip() for part in (*parts, text[start:]) if part.strip()]
