# SPDX-License-Identifier: Apache-2.0
"""`marline report`: what a trace's analysis says to a person. Needs NumPy and Rich."""
