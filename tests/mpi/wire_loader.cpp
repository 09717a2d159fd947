// SPDX-License-Identifier: Apache-2.0
//
// A program without MPI that gets the wire `mpi` from libmarline-target's loader, as a device's process does: the
// loader's source is part of it, and the wires' libraries lie beside it.
//
// Usage: wire_loader openmpi|mpich|none
#include "wire/mpi/mpi_loader.hpp"

#include <cstdio>
#include <cstdlib>
#include <cstring>

using namespace marline::offload;
using namespace marline::offload::wire;

namespace {

int g_got = 0;

void expect(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "FAILED: %s\n", what);
  std::_Exit(1);
}

void* place(void*, int, const Frame&, const uint64_t*) { return nullptr; }
void deliver(void*, int, const Frame&, const uint64_t*) { ++g_got; }
void lost(void*, int, const char* why) { expect(false, why); }
void fail(const char* line) { expect(false, line); }

}  // namespace

int main(int argc, char** argv) {
  setvbuf(stdout, nullptr, _IOLBF, BUFSIZ);
  const char* wanted = argc > 1 ? argv[1] : "";
  int number = -1, count = -1;
  const bool is_launched = launched_by_mpi(number, count);
  expect(is_launched == (std::strcmp(wanted, "none") != 0), "the launcher is seen");
  if (is_launched) {
    expect(find_mpi_of_job() == (std::strcmp(wanted, "openmpi") == 0 ? Mpi::open_mpi : Mpi::mpich), "its MPI is found");
  }
  const WireKind* kind = load_mpi_wire();
  const WireUser user = {nullptr, place, deliver, lost, fail};
  const char* nodes[] = {"a", "b", "b"};
  Job job{};
  job.nodes = nodes;
  Wire* wire = kind->join(job, &user);
  expect(kind->number(wire) == number && kind->count(wire) == count, "MPI and the launcher say the same");
  expect(std::strcmp(kind->peer(wire, 0)->node, "a") == 0, "nodes have the names that are made up");
  expect(std::strcmp(kind->peer(wire, count - 1)->node, "b") == 0, "nodes have the names that are made up");
  Frame frame{};
  expect(kind->send(wire, (number + 1) % count, frame, nullptr, nullptr, nullptr), "without a bulk, all is copied");
  while (g_got == 0) {
    if (kind->poll(wire) == 0) kind->wait(wire, 100);
  }
  kind->leave(wire, true);
  std::printf("rank %d: done\n", number);
  return 0;
}
