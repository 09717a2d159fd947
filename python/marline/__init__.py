# SPDX-License-Identifier: Apache-2.0
"""The `marline` command: one module per subcommand. `run` and `info` need only the standard library."""
