// SPDX-License-Identifier: Apache-2.0
//
// The list of --devices, as far as it decides how many processes are started (docs/guide/nodes.md).
#ifndef MARLINE_LAUNCH_START_DEVICES_HPP
#define MARLINE_LAUNCH_START_DEVICES_HPP

#include <string>

#include "base/environment.hpp"

namespace marline::launch {

constexpr int kMostWorkers = 255;  // devices of a program, less one

// Whether the list, or without one MARLINE_DEVICES, names `nodes` or `cluster`: then every process but the first one
// that is started is a device, or a part of one.
bool wants_nodes(const std::string& devices, const Environment& environment);
// Whether all of them are to be one device.
bool wants_cluster(const std::string& devices, const Environment& environment);

// How many workers the program gets for itself (`nodes:K`), and the list as the program is to have it. For a program
// that uses MPI each rank has its own, and MPI's processes stay as they are.
struct OwnWorkers {
  int count = 0;
  std::string devices;
};
OwnWorkers own_workers(const std::string& devices);

// The list of made-up nodes, with `apart` as one for each process.
std::string named_nodes(const std::string& names, int count);

// What each process of the job would refuse by a line of its own.
void refuse_unfit_job(int count, const std::string& nodes_as);
// The same for ranks that are each other's devices.
void refuse_unfit_ranks(int count, const std::string& nodes_as);
// The value of MARLINE_WIRE, for processes that no launcher of MPI's starts.
void refuse_wire(const std::string& wire);

// The words of MARLINE_DEVICES that this file knows, one form a line, and the largest number of devices of one kind.
Words known_devices();
constexpr int kMostDevices = 256;

}  // namespace marline::launch

#endif
