# SPDX-License-Identifier: Apache-2.0
"""What tasks and threads used: counted events, memory."""
