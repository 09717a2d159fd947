# SPDX-License-Identifier: Apache-2.0
"""What sampled call stacks say: which functions own the time, and the flame graph."""
