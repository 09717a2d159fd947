# SPDX-License-Identifier: Apache-2.0
"""Parts of the text that only some traces have."""
