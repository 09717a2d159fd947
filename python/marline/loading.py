# SPDX-License-Identifier: Apache-2.0
"""Loads libmarline.so into this process, to ask it, or says why the loader cannot. Standard library only."""

import ctypes
import re

from marline.errors import Refusal, no_hwloc
from marline.layout import Layout

HWLOC = re.compile(r"libhwloc\.so\.\d+")


def version(layout: Layout) -> str:
    runtime = _load(layout)
    runtime.marline_version.restype = ctypes.c_char_p
    return runtime.marline_version().decode()


def why_not(layout: Layout) -> str | None:
    """None if the runtime can be loaded."""
    try:
        _load(layout)
    except Refusal as refusal:
        return str(refusal)
    return None


def _load(layout: Layout) -> ctypes.CDLL:
    library = layout.require(layout.runtime, "this installation is incomplete: install Marline again")
    try:
        return ctypes.CDLL(str(library))
    except OSError as error:
        missing = HWLOC.search(str(error))
        text = no_hwloc(missing[0]) if missing else f"{library} cannot be loaded: {error}; install Marline again"
        raise Refusal(text) from error
