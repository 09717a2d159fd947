# SPDX-License-Identifier: Apache-2.0
"""What is in a trace: the table of events, the files' records in columns, calls of MPI and their messages."""
