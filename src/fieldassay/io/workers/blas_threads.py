"""The threads of numpy's BLAS."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

from threadpoolctl import ThreadpoolController

MOST = 16
"""Parallel threads; each has some 20 MB of intermediate results."""
_ONE_AT_A_TIME = threading.RLock()


@contextmanager
def one_blas_thread() -> Iterator[int]:
    """Compute every product inside the block in one thread; yield the number of threads to run in parallel.

    The threads of one product wait for each other at every step, which takes ten times as long if other
    processes use the processors; independent products in parallel threads do not wait. A BLAS whose threads
    cannot be limited is left unchanged, and the number is 1.
    """
    with _ONE_AT_A_TIME:
        pools = _find_pools()
        before = max((library.num_threads or 1 for library in pools.lib_controllers), default=1)
        with pools.limit(limits=1):
            yield max(1, min(before, MOST))


@cache
def _find_pools() -> ThreadpoolController:
    """Return the control of the BLAS that is loaded; a look at all libraries takes a millisecond."""
    return ThreadpoolController().select(user_api="blas")
