# SPDX-License-Identifier: Apache-2.0
"""`marline reuse`: how far apart the touches of each line of memory are in a schedule, and what caches make of it."""
