// SPDX-License-Identifier: Apache-2.0
//
// The table of the variables that libmarline-target reads, and the functions that read their values.
#include "base/options.hpp"

#include "../common/options.hpp"

#include <strings.h>

namespace marline::offload {

namespace {

struct NoValues {};  // each option is read where it is needed
using Row = OptionRow<NoValues>;

// In the order of Option. docs/options.md is generated from these texts.
constexpr Row kTable[] = {
    {
        "MARLINE_DEVICES",
        "auto",
        "auto, none, or a list of host, host:N, process, process:N, nodes, cluster, cluster:gpu, cluster:all and "
        "libomptarget, with N from 1 to 256",
        "Which devices the program has. `host`: this processor, in the program's process; `process`: the same in "
        "processes of "
        "their own; `nodes`: the processors of the job's other processes, in an MPI program those of all ranks; "
        "`cluster`: the processors of the job's other processes "
        "as one device, and behind it each of them by its number; `cluster:gpu`: the same of their GPUs, one for each; "
        "`cluster:all`: the same of their GPUs, one for each as far as its node has enough, and of the processors of "
        "the others; `libomptarget`: those that LLVM's library drives. "
        "`auto`: GPUs for which the program has images, or else 4 of `host` if it has images for this processor. Code "
        "of GCC has devices only by this variable.",
    },
    {
        "MARLINE_LIBOMPTARGET",
        "auto",
        "a path",
        "LLVM's library for GPUs. `auto`: the first in LD_LIBRARY_PATH, then in /usr/lib/llvm-*/lib.",
    },
    {
        "OMP_AVAILABLE_DEVICES",
        "*",
        "a list of *, kind(gpu), kind(cpu), isa(...), arch(...), vendor(...) and uid(...), combined "
        "by !, && or ||, with an optional [first:length] behind each item",
        "Which of these devices the program has, and in which order. `marline devices` shows their traits.",
    },
    {
        "MARLINE_STAGING",
        "64M",
        "bytes, with k, M or G; 0: none",
        "Pinned memory per device of libomptarget through which data of target constructs and copies of routines go, "
        "so that no thread waits "
        "for the driver. What does not fit is copied directly, and so is what one region needs above half of it.",
    },
    {
        "MARLINE_WIRE",
        "auto",
        "auto, local or mpi",
        "How the processes of a job reach each other. `local`: shared memory within a node, TCP between nodes; `mpi`: "
        "the MPI "
        "library's messages. `auto`: `local` if a launcher has said where the processes meet, or else `mpi` in an MPI "
        "job. Ranks that are each other's devices "
        "have `local`.",
    },
    {
        "MARLINE_NODES_AS",
        "auto",
        "names separated by commas, one for each process of the job, or each rank",
        "The nodes on which the processes count as being, in the order of their numbers, to try a program for several "
        "nodes on "
        "one. Processes with the same name share memory if they truly can. `auto`: the true nodes.",
    },
    {
        "MARLINE_START_TIMEOUT",
        "30s",
        "a time from 1s to 24h, with ms, s, m or h",
        "How long the processes of a job wait for one another at its start, before they abort with an error that says "
        "which have not come. Larger jobs wait longer, by as much again for every 32 processes, and so does a process "
        "whose machine has more threads that want to run than CPUs: as many times longer as there are more, up to ten "
        "times.",
    },
    {
        "MARLINE_HOST_TIMEOUT",
        "30s",
        "a time from 1s to 24h, with ms, s, m or h",
        "How long a machine of the job may be silent before its processes count as lost, because it has crashed or the "
        "network is cut, by the wire `local`. A process that is stopped, or does not read, is not lost: its system "
        "answers.",
    },
    {
        "MARLINE_NETWORK",
        "auto",
        "an IPv4 network with the bits that count, as in 10.1.0.0/16, or an address",
        "The network by which ranks on several machines reach each other's devices: each listens at its own address "
        "there, and nowhere else. `auto`: at all its addresses.",
    },
    {
        "MARLINE_LINK",
        "none",
        "latency=TIME,bandwidth=BYTES,card=BYTES, with ns, us, ms or s and k, M or G per second; for a "
        "pair of nodes A-B:latency=..., several separated by semicolons",
        "Links between different nodes are made as slow as this, to try a program for several machines on one. `card`: "
        "what all links of a node can do together, in each direction. `none`: they are as fast as they are. A pair is "
        "named by the processes with the lowest numbers on its nodes.",
    },
    {
        "MARLINE_NODE_DEVICES",
        "machine",
        "machine, sockets, numa, a number from 1 to 63, or gpus; also one of these, a comma and gpus",
        "The devices that each worker of a job is. `machine`: one, of all CPUs that the worker may use; `sockets`, "
        "`numa`: one for each socket or NUMA domain of these; a number: that many, with as many cores each. Threads "
        "(OMP_NUM_THREADS) are divided likewise. `gpus`: the GPUs that LLVM's libomptarget drives there, behind these "
        "or alone. Has to be set for the workers.",
    },
    {
        "MARLINE_CLUSTER_WRITES",
        "diff",
        "diff, map, depend or check, and pages alone or behind a comma",
        "How the device `cluster` finds out what a target region has written. `diff`: it compares all memory that the "
        "region may use; `map`: "
        "all but what the region maps by `map(to:)` alone, which it must not write then; `depend`: only what the "
        "region's `depend` clauses "
        "name as `out`, `inout`, `mutexinoutset` or `inoutset`; `check`: as `diff`, and reports what `depend` would "
        "miss. `pages`, as in `map,pages`: of "
        "these only memory pages that have been written (Linux 6.7 or later).",
    },
    {
        "MARLINE_CLUSTER_PLACEMENT",
        "heft",
        "heft, hold, roundrobin or owner",
        "Which node of the device `cluster` runs a target region. `heft`: the one where it ends first, by the times "
        "that regions have "
        "taken; `hold`: likewise, but all that has been created is planned together, when the program waits; "
        "`roundrobin`: each in turn; `owner`: the one that has most of the data.",
    },
    {
        "MARLINE_CLUSTER_SENDS",
        "ahead",
        "ahead or ready",
        "When a deferred target construct goes to the device `cluster`. `ahead`: as soon as it waits for nothing but "
        "other such "
        "constructs; `ready`: when it can run.",
    },
    {
        "MARLINE_CLUSTER_MEMORY",
        "unlimited",
        "bytes, with k, M or G",
        "How much of what is mapped to the device `cluster` may lie on each node at a time. When a node is full, what "
        "no region "
        "uses there goes: to the program's process, if it is nowhere else.",
    },
};

const Row& row_of(Option option) { return kTable[static_cast<int>(option)]; }

// Whether options are being checked while the library is loaded. Written and read by the thread that loads it.
bool g_is_loading = false;

// The processes of a job have the same variables, so the first one reports a value that cannot be used, and the others
// only end. They give it a second for that, because a launcher may end a job when the first of its ranks has failed.
// But MARLINE_NODE_DEVICES may be another one for each worker.
void leave_report_to_first(Option option) {
  if (option == Option::kNodeDevices) return;
  sleep(1);
  _exit(kUnusableOption);
}

}  // namespace

const char* option_value(Option option) {
  const char* value = trusted_variable(row_of(option).name);
  return is_blank(value) || strcasecmp(value, row_of(option).default_value) == 0 ? nullptr : value;
}

const char* option_text(Option option) {
  const char* given = option_value(option);
  return given != nullptr ? given : row_of(option).default_value;
}

size_t option_bytes(Option option) {
  return option_as<size_t>(
      option, [](Cursor& in, size_t& bytes) { return read_plain_bytes(in, bytes) && bytes <= size_t{1} << 44; });
}

int option_milliseconds(Option option) {
  return option_as<int>(option, [](Cursor& in, int& milliseconds) {
    static constexpr const char* kUnits[] = {"ms", "s", "m", "h"};
    static constexpr double kMilliseconds[] = {1, 1e3, 6e4, 3.6e6};
    constexpr double kLeast = 1e3, kMost = 24 * 3.6e6;
    double number;
    int unit;
    if (!in.accept_real(number) || !read_word(in, kUnits, unit)) return false;
    const double time = number * kMilliseconds[unit];
    milliseconds = time >= kLeast && time <= kMost ? static_cast<int>(time) : 0;
    return milliseconds != 0;
  });
}

void refuse_value(Option option, const char* value, const char* wrong) {
  const Row& row = row_of(option);
  if (g_is_loading && !speaks_for_job()) leave_report_to_first(option);
  refuse_option(row.name, value, row.accepted, wrong);
}

CheckedAtLoad::CheckedAtLoad(Option option, void (*read)()) {
  if (option_value(option) == nullptr) return;
  g_is_loading = true;
  read();
  g_is_loading = false;
}

}  // namespace marline::offload

extern "C" __attribute__((visibility("default"))) void marline_device_options_show(marline::Text& out) {
  marline::show_options(out, marline::offload::kTable);
}
