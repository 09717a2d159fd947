# SPDX-License-Identifier: Apache-2.0
"""What programs without tasks are made of: parallel regions, worksharing constructs, serial code, MPI calls that wait."""
