# SPDX-License-Identifier: Apache-2.0
"""What is made of a trace for other programs and for the eye: Perfetto, Chrome, Gantt charts."""
