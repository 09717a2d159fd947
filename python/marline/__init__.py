# SPDX-License-Identifier: Apache-2.0
"""The `marline` command: one folder per subcommand (`marline run` is launch/). `run` and `info` need only the standard
library."""

import sys

if sys.version_info < (3, 10):
    from marline import older_python

    older_python.prepare()
