# SPDX-License-Identifier: Apache-2.0
"""The pages of several runs: two compared, a table of scaling, a program's history."""
