# SPDX-License-Identifier: Apache-2.0
"""How much of the threads' time was used, and what took the rest."""
