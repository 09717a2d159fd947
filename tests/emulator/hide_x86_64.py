#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Hides the x86-64 images of a program with offloading from LLVM's libomptarget, in place.

libomptarget makes four devices of each x86-64 processor for which the program has an image, and numbers them before the
GPUs. An image that is marked as made for no machine is passed over; the emulator takes it for its kernels all the same.

    hide_x86_64.py PROGRAM...     exit 0: done (also if nothing was to do); 1: a program has no offload section
"""
from __future__ import annotations

import struct
import sys
from pathlib import Path

MAGIC = b"\x10\xff\x10\xad"
HEADER = struct.Struct("<4sIQQQ")      # magic, version, size, offset of the entry, size of the entry
ENTRY = struct.Struct("<HHIQQQQ")      # kinds, flags, strings' offset and number, image's offset and size
MACHINE_OFFSET, EM_X86_64 = 18, 62


def hide(path: Path) -> bool:
    data = bytearray(path.read_bytes())
    at, found = data.find(MAGIC), False
    while at >= 0:
        _, version, size, entry, _ = HEADER.unpack_from(data, at)
        if version == 1 and HEADER.size + ENTRY.size <= size <= len(data) - at and entry + ENTRY.size <= size:
            image = at + ENTRY.unpack_from(data, at + entry)[5]
            found = True
            if data[image : image + 4] == b"\x7fELF" and data[image + MACHINE_OFFSET] == EM_X86_64:
                struct.pack_into("<H", data, image + MACHINE_OFFSET, 0)
        at = data.find(MAGIC, at + 4)
    path.write_bytes(data)
    return found


def main() -> int:
    missing = [name for name in sys.argv[1:] if not hide(Path(name))]
    for name in missing:
        print(f"hide_x86_64: {name} has no images: build it with "
              "-fopenmp-targets=nvptx64-nvidia-cuda,x86_64-pc-linux-gnu")
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
