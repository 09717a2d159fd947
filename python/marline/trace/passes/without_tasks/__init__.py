# SPDX-License-Identifier: Apache-2.0
"""What programs without tasks consist of: regions, worksharing constructs, serial code, MPI calls that wait."""
