"""What records that return to a caller share: a short representation, mappings that stay, names of frames."""

from __future__ import annotations

from collections.abc import Mapping, Sized
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn

from fieldassay.io.text.shown import clip

if TYPE_CHECKING:
    from polars import DataFrame as DataFrame
    from polars import LazyFrame as LazyFrame
else:  # names that annotations resolve to without loading Polars
    DataFrame = LazyFrame = Any

_LONGEST, _LONGEST_TEXT, _MOST_SHOWN = 160, 40, 3
_SCALARS = (str, int, float)


class Brief:
    """A record whose `repr` is two lines of a terminal at any size: short values, and the sizes of others.

    >>> from msgspec import Struct
    >>> class Page(Brief, Struct):
    ...     name: str
    ...     rows: list
    >>> Page("totals", list(range(1000)))
    Page(name='totals', rows=<1,000>)
    """

    __slots__ = ()
    __struct_fields__: ClassVar[tuple[str, ...]]

    def __repr__(self) -> str:
        values = {name: getattr(self, name) for name in self.__struct_fields__}
        parts = [f"{name}={_brief(value)}" for name, value in values.items() if _says(value)]
        return clip(f"{type(self).__name__}({', '.join(parts)})", _LONGEST)


def _says(value: Any) -> bool:
    return value is not None and not (isinstance(value, Sized) and not value)


def _brief(value: Any) -> str:
    if isinstance(value, str | PurePath):
        return repr(clip(str(value), _LONGEST_TEXT))
    if isinstance(value, int | float):
        return f"{value:.6g}" if isinstance(value, float) else str(value)
    if (
        isinstance(value, tuple)
        and len(value) <= _MOST_SHOWN
        and all(isinstance(one, _SCALARS) for one in value)
    ):
        return f"({', '.join(map(_brief, value))})"
    return f"<{len(value):,}>" if isinstance(value, Sized) else f"<{type(value).__name__}>"


class Unchanging(dict[str, Any]):
    """A mapping that cannot be changed, nor can the mappings in it.

    >>> Unchanging({"a": {"b": 1}})["a"]["b"] = 2
    Traceback (most recent call last):
    TypeError: this mapping belongs to a result; change a copy of it, dict(...)
    """

    __slots__ = ()

    def __init__(self, values: Mapping[str, Any]) -> None:
        super().__init__(
            {name: Unchanging(one) if isinstance(one, dict) else one for name, one in values.items()}
        )

    def _refuse(self, *_: Any, **__: Any) -> NoReturn:
        raise TypeError("this mapping belongs to a result; change a copy of it, dict(...)")

    __setitem__ = __delitem__ = __ior__ = update = setdefault = pop = popitem = clear = _refuse

    def __reduce__(self) -> tuple[Any, ...]:
        return Unchanging, (dict(self),)
