// SPDX-License-Identifier: Apache-2.0
//
// The list of --devices, as far as it decides how many processes are started (docs/guide/nodes.md).
#ifndef MARLINE_LAUNCH_START_DEVICES_HPP
#define MARLINE_LAUNCH_START_DEVICES_HPP

#include <string>

#include "base/environment.hpp"

namespace marline::launch {

constexpr int kMostWorkers = 255;  // devices of a program, less one

// Whether the list names `nodes` or `cluster`; if it is empty, MARLINE_DEVICES counts. Then the first process that is
// started runs the program, and the others are its devices.
bool wants_nodes(const std::string& devices, const Environment& environment);
// Whether these other processes together are one device.
bool wants_cluster(const std::string& devices, const Environment& environment);

// How many workers `nodes:K` asks for, and the list without their number, for the program. In a program that uses MPI,
// each rank has this many workers of its own.
struct OwnWorkers {
  int count = 0;
  std::string devices;
};
OwnWorkers own_workers(const std::string& devices);

// The list of made-up nodes; `apart` becomes a different one for each process.
std::string named_nodes(const std::string& names, int count);

// Refuses by one line what otherwise each process of the job would refuse.
void refuse_unfit_job(int count, const std::string& nodes_as);
// The same for ranks that are each other's devices.
void refuse_unfit_ranks(int count, const std::string& nodes_as);
// Refuses MARLINE_WIRE=mpi for a job that no launcher of MPI starts.
void refuse_wire(const std::string& wire);

// The words of MARLINE_DEVICES that this file knows, one form a line, and the largest number of devices of one kind.
Words known_devices();
constexpr int kMostDevices = 256;

}  // namespace marline::launch

#endif
