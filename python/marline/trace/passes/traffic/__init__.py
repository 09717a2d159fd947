# SPDX-License-Identifier: Apache-2.0
"""Messages between ranks: who sends how much to whom, and how late."""
