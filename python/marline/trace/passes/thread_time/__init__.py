# SPDX-License-Identifier: Apache-2.0
"""Where the time of the threads went: states of tasks and threads, their causes, and the breakdown."""
