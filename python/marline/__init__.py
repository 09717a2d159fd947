# SPDX-License-Identifier: Apache-2.0
"""The `marline` command: one folder per subcommand (`marline run` is launch/). `run` and `info` need only the standard
library."""
