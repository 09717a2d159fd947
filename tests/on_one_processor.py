#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""on_one_processor.py COMMAND...: runs it on one of the processors that are there, any.

For tests under qemu, 7.2 and 10. It lets a load-acquire overtake the store-release before it (`ldar` after `stlr`),
which the architecture does not: of 200,000 times that two threads stored each a 1 and then looked at the other's word,
both saw 0 in 2,600, on a crowded machine in 60. Protocols that rest on the order of seq_cst operations, as that of
sleep and wake, then lose a wake-up now and then. On one processor the threads take turns, and nothing overtakes."""

import os
import random
import sys

os.sched_setaffinity(0, {random.choice(sorted(os.sched_getaffinity(0)))})
os.execvp(sys.argv[1], sys.argv[1:])
