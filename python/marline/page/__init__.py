# SPDX-License-Identifier: Apache-2.0
"""A report as one HTML file: what `--html FILE` writes. write.py puts it together; assets/ holds our HTML, CSS and
JavaScript, vendor/ the libraries of others."""
