# SPDX-License-Identifier: Apache-2.0
"""The graph of a run, drawn by kind of task."""
