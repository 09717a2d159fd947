# SPDX-License-Identifier: Apache-2.0
"""The analysis of a trace with Marline's own passes in the register (registry.py): what reports, tests and users' files
import. The passes themselves import the register only."""

from . import passes  # noqa: F401  registers them
from .registry import (Analysis, AnalysisError, analysis_pass, is_built_in, load_passes, named_passes, pass_names,
                       resolve)  # fmt: skip

__all__ = ["Analysis", "AnalysisError", "analysis_pass", "is_built_in", "load_passes", "named_passes", "pass_names",
           "resolve"]  # fmt: skip
