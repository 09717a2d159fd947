# SPDX-License-Identifier: Apache-2.0
"""From the file of results to figures, tables, charts and the report."""
