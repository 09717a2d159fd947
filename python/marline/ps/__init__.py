# SPDX-License-Identifier: Apache-2.0
"""`marline ps`: what the tasks of a live or hung job do, and what they wait for (docs/guide/hangs.md). The standard
library alone.

rights    root becomes the user of the process that it asks about
answers   what may be answered: bounds, types, clean texts
client    asks processes, over their local socket or another node's relay
unwind    call stacks of suspended tasks, from copies of their stacks and the call frame information of files
places    addresses to functions and source lines
job       one process's or one rank's part of two reports, as objects
matching  sends with receives, collectives over ranks, messages that no rank receives
workers   the workers of a program with devices on nodes, and what they do
verdict   who computes, who waits for whom, cycles
text      the report as text
command   the command line, and --watch
"""
