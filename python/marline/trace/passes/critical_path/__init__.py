# SPDX-License-Identifier: Apache-2.0
"""What bounded the run, and what that is made of."""
