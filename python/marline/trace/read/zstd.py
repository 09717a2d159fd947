# SPDX-License-Identifier: Apache-2.0
"""Reads what the recorder has compressed, by the system's libzstd.so.1, as the recorder writes it."""

from __future__ import annotations

import ctypes
from functools import lru_cache

import numpy as np

from .records import TraceError

LIBRARY = "libzstd.so.1"


@lru_cache(maxsize=None)
def _library() -> ctypes.CDLL:
    try:
        library = ctypes.CDLL(LIBRARY)
    except OSError as error:
        raise TraceError(f"the trace is compressed, and {LIBRARY} cannot be loaded ({error}): install it, for example "
                         "the package libzstd1 of Debian or libzstd of Fedora") from error  # fmt: skip
    library.ZSTD_decompress.restype = ctypes.c_size_t
    library.ZSTD_decompress.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_void_p, ctypes.c_size_t]
    return library


def decompress(packed: np.ndarray, to: np.ndarray) -> bool:
    """Fills `to` from the bytes in `packed`; False if they do not give just as much."""
    size = _library().ZSTD_decompress(to.ctypes.data, to.nbytes, packed.ctypes.data, packed.nbytes)
    return bool(size == to.nbytes)
