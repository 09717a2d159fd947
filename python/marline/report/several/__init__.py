# SPDX-License-Identifier: Apache-2.0
"""`marline report` of several traces: two are compared, more make a table of scaling."""
