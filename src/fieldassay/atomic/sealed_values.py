"""Values of known classes on disk, each file with a digest of its bytes: read whole, or not at all."""

from __future__ import annotations

import hashlib
import io
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

from fieldassay.atomic.whole_files import open_file, write_file

Known: TypeAlias = Callable[[str, str], bool]
"""Whether the class of a module may be in a file."""

_PLAIN = frozenset(
    {
        ("collections", "Counter"),
        ("numpy", "dtype"),
        ("numpy", "ndarray"),
        ("numpy._core.multiarray", "_reconstruct"),
        ("numpy._core.multiarray", "scalar"),
        ("numpy._core.numeric", "_frombuffer"),
        ("pathlib", "Path"),
        ("pathlib", "PosixPath"),
        ("pathlib", "WindowsPath"),
        ("pathlib._local", "PosixPath"),
        ("pathlib._local", "WindowsPath"),
    }
)


class SealError(ValueError):
    """A file is cut off, changed, or holds something that it never holds."""


def write_sealed(path: Path, value: Any) -> None:
    """Write a value, whole or not at all, even if the process is killed; forced to disk."""
    data = pickle.dumps(value, protocol=pickle.HIGHEST_PROTOCOL)
    write_file(path, [hashlib.sha256(data).digest(), data])


def read_sealed(path: Path, is_known: Known) -> Any:
    """Return the value in a file. Raises OSError, `SealError` for damage or objects of other classes."""
    with open_file(path) as stream:
        seal, data = stream.read(hashlib.sha256().digest_size), stream.read()
    if hashlib.sha256(data).digest() != seal:
        raise SealError("is cut off or was changed")
    try:
        return _Reader(data, is_known).load()
    except SealError:
        raise
    except Exception as error:  # whatever a forged file makes the reader do
        raise SealError(f"cannot be read ({type(error).__name__})") from None


class _Reader(pickle.Unpickler):
    """Makes objects of known classes only: a file that somebody else wrote calls nothing."""

    def __init__(self, data: bytes, is_known: Known) -> None:
        super().__init__(io.BytesIO(data))
        self._is_known = is_known

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) not in _PLAIN and not ("." not in name and self._is_known(module, name)):
            raise SealError(f"holds an object of another kind ({module[:50]}.{name[:50]})")
        found = super().find_class(module, name)
        if (module, name) not in _PLAIN and not isinstance(found, type):
            raise SealError(f"holds no object ({module[:50]}.{name[:50]})")
        return found
