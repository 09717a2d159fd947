# SPDX-License-Identifier: Apache-2.0
"""libmarline-analysis.so, for what arrays in NumPy cannot do fast (analysis/ has its sources): how it is loaded and
called; and where keys stand in a sorted array. np.searchsorted looks for each key by itself; here a key is looked for
first near the ones before, as most columns of a trace name the same few tasks in a row (analysis/search.h). Keys of
other types than 64-bit integers, of which there are few, are left to NumPy; so are all keys where the package is used
from its sources, without the library beside it."""

from __future__ import annotations

import ctypes
from functools import lru_cache
from pathlib import Path

import numpy as np

from .read.records import TraceError

# The package lies in PREFIX/lib/marline/python, and in a build tree a link to it does.
LIBRARY = Path(__file__).parents[3] / "libmarline-analysis.so"
_LESS, _LESS_EQUAL, _SAME = range(3)
_FUNCTIONS = {np.dtype(np.int64): "marline_search_signed", np.dtype(np.uint64): "marline_search_unsigned"}


@lru_cache(maxsize=None)
def library() -> ctypes.CDLL:
    try:
        return ctypes.CDLL(str(LIBRARY))
    except OSError as error:
        raise TraceError(f"{LIBRARY} cannot be loaded ({error}); install Marline again") from error


@lru_cache(maxsize=None)
def function(name: str) -> ctypes._NamedFuncPointer:
    """A function that returns a number of 64 bits."""
    found = library()[name]
    found.restype = ctypes.c_int64
    return found


def place_for(column: np.ndarray) -> ctypes.c_void_p:
    """Where the library reads or writes the column, which must live until the call has returned."""
    return ctypes.c_void_p(column.ctypes.data)


def count_less(sorted_keys: np.ndarray, keys: np.ndarray) -> np.ndarray:
    """How many of the sorted keys are less than each of `keys`."""
    if not _is_native(sorted_keys, keys):
        return np.searchsorted(sorted_keys, keys)
    return _search(sorted_keys, keys, _LESS)


def count_up_to(sorted_keys: np.ndarray, keys: np.ndarray) -> np.ndarray:
    """How many of the sorted keys are not greater than each of `keys`."""
    if not _is_native(sorted_keys, keys):
        return np.searchsorted(sorted_keys, keys, side="right")
    return _search(sorted_keys, keys, _LESS_EQUAL)


def find(sorted_keys: np.ndarray, keys: np.ndarray) -> np.ndarray:
    """Where each of `keys` stands in the sorted array without duplicates, or -1."""
    if _is_native(sorted_keys, keys):
        return _search(sorted_keys, keys, _SAME)
    if not len(sorted_keys):
        return np.full(len(keys), -1, dtype=np.int64)
    rows = np.minimum(np.searchsorted(sorted_keys, keys), len(sorted_keys) - 1)
    return np.where(sorted_keys[rows] == keys, rows, -1)


def _is_native(sorted_keys: np.ndarray, keys: np.ndarray) -> bool:
    return sorted_keys.dtype == keys.dtype and keys.dtype in _FUNCTIONS and _is_there()


@lru_cache(maxsize=None)
def _is_there() -> bool:
    return LIBRARY.exists()


def _search(sorted_keys: np.ndarray, keys: np.ndarray, wanted: int) -> np.ndarray:
    ordered, wished = np.ascontiguousarray(sorted_keys), np.ascontiguousarray(keys)
    places = np.empty(len(wished), dtype=np.int64)
    status = function(_FUNCTIONS[wished.dtype])(
        place_for(ordered), ctypes.c_int64(len(ordered)), place_for(wished), ctypes.c_int64(len(wished)),
        ctypes.c_int64(wanted), place_for(places))  # fmt: skip
    assert status == 0, f"no such search: {wanted}"
    return places
