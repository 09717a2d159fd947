// SPDX-License-Identifier: Apache-2.0
// The driver's end of a device's process: starts it, loads images into it, sends it kernels. Requests come from any
// thread, one at a time under a lock; the launch socket belongs to the engine's thread once the process has started.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "protocol.hpp"

namespace emulator {

// Of this library, where the device's program is too.
std::string own_folder();

class DeviceProcess {
 public:
  // `files`: the memory files in the order of protocol.hpp. Warns and returns false if the process cannot be started.
  [[nodiscard]] bool start(std::uint32_t index, const std::vector<int>& files, std::size_t shared_memory);
  bool started() const { return launches_ >= 0; }

  // The image's load address, or 0 after a line that says why.
  std::uint64_t load(std::span<const std::byte> image, const std::vector<ImageSegment>& segments);
  bool open_peer(std::uint32_t peer);
  bool map(std::uint64_t address, std::uint64_t size, int file);
  // In a fork of the program: so that the process ends with the program itself.
  void close_sockets();

  [[nodiscard]] bool send_launch(std::uint32_t slot, std::uint64_t function,
                                 std::span<const std::uint64_t> words) const;
  int launch_socket() const { return launches_; }

 private:
  ControlAnswer ask(const ControlRequest& request, int file);

  std::mutex mutex_;
  std::uint32_t index_ = 0;
  int control_ = -1;
  std::atomic<int> launches_{-1};  // written once by start, read by the engine's thread
};

}  // namespace emulator
