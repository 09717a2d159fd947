# SPDX-License-Identifier: Apache-2.0
"""`marline check`: runs a program under libmarline-check and says what that has found."""
