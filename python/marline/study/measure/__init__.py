# SPDX-License-Identifier: Apache-2.0
"""Running a study: each run, its verdict, and the file of results."""
