#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The first minutes of a user with the wheel, in a root without compilers (test_wheel.py).
set -eux
cd "$HOME"
python3 -m venv venv
venv/bin/pip install --quiet ./marline-*.whl
PATH=$HOME/venv/bin:$PATH
marline info
marline devices --devices host:1
for program in ranks-*; do
  marline run -n 2 -t 1 -- "./$program"
  marline trace -n 2 -t 1 -- "./$program"
done
marline run --devices=process:2 -- ./target
marline run --devices=cluster:2 -- ./target
