# SPDX-License-Identifier: Apache-2.0
"""What stands out among tasks, and in the graph of their dependences."""
