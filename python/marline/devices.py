# SPDX-License-Identifier: Apache-2.0
"""`marline devices`: the devices that a program finds with the given options. The runtime is asked, in a Python process
of its own that counts as a program with code for every device. Standard library only."""

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path

from marline.errors import REFUSED, Refusal
from marline.launch import compiled
from marline.layout import Layout

SECONDS = 60
# Runs with libmarline.so preloaded: the path of libmarline-target.so is its argument. The structure is that of
# devices.h.
ASK_RUNTIME = """
import ctypes, json, sys
texts, numbers = ("kind", "name", "uid", "arch", "isa", "vendor"), ("units", "numa_domain")
class Facts(ctypes.Structure):
    _fields_ = [("bytes", ctypes.c_size_t), *((name, ctypes.c_char_p) for name in texts),
                ("memory", ctypes.c_uint64), *((name, ctypes.c_int) for name in numbers)]
here, target = ctypes.CDLL(None), ctypes.CDLL(sys.argv[1], ctypes.RTLD_GLOBAL)
target.marline_device_assume_all()
target.marline_device_why_no_gpus.restype = ctypes.c_char_p
devices = []
for number in range(target.omp_get_num_devices()):
    facts = Facts(bytes=ctypes.sizeof(Facts))
    if target.marline_device_describe(number, ctypes.byref(facts)) != 0:
        sys.exit(f"device {number} cannot be described")
    devices.append({name: getattr(facts, name).decode(errors="replace") for name in texts}
                   )
    devices[-1].update({name: getattr(facts, name) for name in ("memory", *numbers)})
answer = {"devices": devices, "default": here.omp_get_default_device(),
          "why": target.marline_device_why_no_gpus().decode()}
print("devices:", json.dumps(answer), flush=True)
"""


def main(arguments: list[str], prefix: Path) -> int:
    parser = argparse.ArgumentParser(
        prog="marline devices",
        description="Lists the devices that a program with code for all of them finds, by number; * marks the default "
        "device. OMP_AVAILABLE_DEVICES, OMP_DEFAULT_DEVICE and the like hold as they do for a program.",
    )
    parser.add_argument("--devices", metavar="LIST",
                        help="as with `marline run`, e.g. process:2, nodes:2 or cluster:2; see MARLINE_DEVICES")
    options = parser.parse_args(arguments)
    answer = ask_runtime(Layout(prefix), options.devices)
    print("\n".join(lines_of(answer)))
    return 0


def ask_runtime(layout: Layout, devices: str | None) -> dict:
    library = layout.require(layout.target, "build or install Marline with it")
    folders = [str(layout.compat), os.environ.get("LD_LIBRARY_PATH")]
    changes = {"LD_LIBRARY_PATH": ":".join(folder for folder in folders if folder), "LD_PRELOAD": str(layout.runtime)}
    workers = 0
    if devices:
        own = dict(line.split("\t", 1) for line in compiled.ask(layout, "workers", devices))
        changes["MARLINE_DEVICES"] = own["devices"]
        workers = int(own["workers"])
    # env(1) sets them: what starts the job must not get the runtime itself.
    words = ["env", *(f"{name}={value}" for name, value in changes.items()), sys.executable, "-c", ASK_RUNTIME,
             str(library)]  # fmt: skip
    if workers:
        # The workers are such processes, too, though without regions: this variable says that they serve.
        words.insert(1, "MARLINE_JOB_SERVE=yes")
        words = [str(layout.command), "job", str(workers + 1), *words]
    status, output, said = asked(words, {name: value for name, value in os.environ.items() if name != "MARLINE_PROOF"})
    for line in output.splitlines():
        if line.startswith("devices: "):
            return json.loads(line.partition(": ")[2])
    if said:
        raise SystemExit(REFUSED)  # it has said why
    raise Refusal(f"{library} does not answer: install Marline again (exit status {status})")


def asked(words: list[str], environment: dict[str, str]) -> tuple[int, str, bool]:
    """Exit status, output, and whether there was an error message, which is passed on."""
    ended = subprocess.run(words, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                           stderr=subprocess.PIPE, universal_newlines=True, errors="replace", timeout=SECONDS,
                           check=False)  # fmt: skip
    sys.stderr.write(ended.stderr)
    return ended.returncode, ended.stdout, bool(ended.stderr)


def lines_of(answer: dict) -> list[str]:
    rows = [[" ", "number", "kind", "uid", "arch", "isa", "memory", "units", "NUMA", "name"]]
    for number, device in enumerate(answer["devices"]):
        domain = device["numa_domain"]
        rows.append([
            "*" if number == answer["default"] else " ", str(number), device["kind"], device["uid"],
            device["arch"] or "-", device["isa"] or "-", in_gibibytes(device["memory"]), str(device["units"] or "-"),
            str(domain) if domain >= 0 else "-", device["name"] or "-",
        ])  # fmt: skip
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = ["  ".join(word.ljust(width) for word, width in zip(row, widths)).rstrip() for row in rows]
    if not answer["devices"]:
        lines = ["no devices: target regions run on the host"]
    return lines + ([f"no GPUs: {answer['why']}"] if answer["why"] else [])


def in_gibibytes(size: int) -> str:
    return f"{size / 2**30:.1f} GiB" if size else "-"
