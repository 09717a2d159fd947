#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Run by conda-build, with marline installed in PREFIX. A copy, since the loader looks for libmarline.so.0 relative to
# the folder in which it finds the name: a link would send it to the wrong one.
set -eux
rm -f "$PREFIX/lib/libgomp.so.1"
cp "$PREFIX/lib/marline/compat/libgomp.so.1" "$PREFIX/lib/libgomp.so.1"
patchelf --set-rpath "\$ORIGIN" "$PREFIX/lib/libgomp.so.1"
