# SPDX-License-Identifier: Apache-2.0
"""A trace in the formats of other tools: databases, graphs, profiles, traces. `write.py` writes what is asked for."""
