# SPDX-License-Identifier: Apache-2.0
"""Starting programs: what is known of them before, where they run, the launcher, and the proof that Marline was there.
Standard library only."""
