# SPDX-License-Identifier: Apache-2.0
"""Parts of the page that only some traces have."""
