# SPDX-License-Identifier: Apache-2.0
"""`marline report` of a trace that holds sums and no records (MARLINE_TRACE_AGGREGATE)."""
