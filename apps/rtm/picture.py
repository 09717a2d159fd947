#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws the models and images in files that `rtm -o` wrote, a row for each: picture.py FILE... OUTPUT.png"""

import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plot
import numpy as np

SPACING = 0.01  # kilometres: the program's default


def main(*words: str) -> int:
    if len(words) < 2:
        print("usage: picture.py FILE... OUTPUT.png", file=sys.stderr)
        return 2
    *files, output = words
    figure, axes = plot.subplots(len(files), 2, figsize=(9, 2.5 * len(files)), squeeze=False, layout="constrained")
    for (left, right), file in zip(axes, files, strict=True):
        speeds, _, image = np.load(file)
        sides = dict(extent=(0, SPACING * speeds.shape[0], SPACING * speeds.shape[1], 0), aspect="equal")
        limit = np.quantile(abs(image), 0.995)  # a few spots beside the sources are brighter than all reflectors
        model = left.imshow(1e-3 * speeds.T, cmap="viridis", **sides)
        right.imshow(image.T, cmap="gray", vmin=-limit, vmax=limit, **sides)
        figure.colorbar(model, ax=left, label="speed, km/s")
        left.set(title="model", ylabel="depth, km")
        right.set(title="image")
    for axis in axes[-1]:
        axis.set_xlabel("km")
    figure.savefig(output, dpi=90, metadata={"Software": None})
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
