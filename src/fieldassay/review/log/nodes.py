"""Nodes: the places of a document that are asked, under paths that stay when items come and go."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from fieldassay.paths import ITEM, Step, field_of, join_path, split_path


def items_above(path: str) -> Iterator[tuple[str, str]]:
    """Yield the list and the item of each item that a path is in, outermost first.

    >>> list(items_above("lines[3].parts[0].sku"))
    [('lines', 'lines[3]'), ('lines[3].parts', 'lines[3].parts[0]')]
    """
    if "[" in path:
        steps: tuple[Step, ...] = split_path(path)
        for end, step in enumerate(steps, 1):
            if isinstance(step, int) and step != ITEM:
                yield join_path(steps[: end - 1]), join_path(steps[:end])


def list_items(paths: Iterable[str]) -> dict[str, list[str]]:
    """Return the items that paths are in, by list, by rising numbers.

    >>> list_items(["lines[3].sku", "total", "lines[1].sku", "lines[3].amount"])
    {'lines': ['lines[1]', 'lines[3]']}
    """
    found: dict[str, set[str]] = {}
    for path in paths:
        for listed, item in items_above(path):
            found.setdefault(listed, set()).add(item)
    return {listed: sorted(items, key=number_of) for listed, items in found.items()}


def emptied_lists(asked: Iterable[str], live: Collection[str]) -> set[str]:
    """Return the lists that asked places are in and that have no item left, in items that are there.

    >>> sorted(emptied_lists(["lines[0].sku", "lines[0].tags[0]", "codes[0]"], ["lines[0]"]))
    ['codes', 'lines[0].tags']
    """
    filled = {listed for item in live for listed, _ in items_above(item)}
    lists = {listed for node in asked for listed, _ in items_above(node)} - filled
    return {listed for listed in lists if all(item in live for _, item in items_above(listed))}


def number_of(item: str) -> int:
    """Return the number at the end of the path of an item."""
    last = split_path(item)[-1]
    return last if isinstance(last, int) else ITEM


def is_below(path: str, above: str) -> bool:
    """Return whether a path is below another one.

    >>> is_below("rates.EUR", "rates"), is_below("rates", "rates"), is_below("x", "")
    (True, False, True)
    """
    return path.startswith((f"{above}.", f"{above}[")) or (not above and bool(path))


def is_in_list(path: str) -> bool:
    """Return whether a path leads through an item of a list."""
    return field_of(path) != path
