// SPDX-License-Identifier: Apache-2.0
// The driver's shared state: made once by cuInit under the lock of a static, then constant. The log's file is written
// with one call per line, so that threads do not mix their lines.
#include "driver.hpp"

#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdarg>
#include <cstdio>
#include <cstring>

namespace emulator {
namespace {

// Pinned and managed memory together; sparse, so its size costs nothing.
constexpr std::size_t kSharedSize = std::size_t{256} << 30;

std::atomic<Driver*> the_driver{nullptr};  // written once by start_driver, read by all entry points

int open_log() {
  const std::string& name = settings().log;
  if (name.empty()) {
    return -1;
  }
  const int file = name == "-" ? STDERR_FILENO : open(name.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (file < 0) {
    fatal("cannot write MARLINE_EMULATOR_LOG '%s': %s", name.c_str(), std::strerror(errno));
  }
  return file;
}

std::vector<std::unique_ptr<Device>> make_devices() {
  std::vector<std::unique_ptr<Device>> devices;
  for (std::uint64_t i = 0; i < settings().devices; i++) {
    devices.push_back(std::make_unique<Device>(static_cast<int>(i), settings().memory,
                                               static_cast<std::uint32_t>(settings().kernels)));
  }
  return devices;
}

// A fork has neither the engine's thread nor the right to the devices; CUDA answers there as before cuInit.
void forget_in_child() {
  if (Driver* forgotten = the_driver.exchange(nullptr); forgotten != nullptr) {
    for (const auto& device : forgotten->devices) {
      device->process.close_sockets();
    }
  }
}

}  // namespace

// The devices come first: the engine's thread reads their list from its start.
Driver::Driver()
    : devices(make_devices()), shared(kSharedBase, kSharedSize, Memory::HostAccess::kFull), engine(devices) {}

Driver* driver() { return the_driver.load(std::memory_order_acquire); }  // pairs with start_driver

void start_driver() {
  static Driver* const started = [] {
    auto* made = new Driver;
    the_driver.store(made, std::memory_order_release);
    pthread_atfork(nullptr, nullptr, forget_in_child);
    return made;
  }();
  (void)started;
}

Device* Driver::device(int index) const {
  return index >= 0 && static_cast<std::size_t>(index) < devices.size() ? devices[static_cast<std::size_t>(index)].get()
                                                                        : nullptr;
}

std::vector<int> Driver::memory_files() const {
  std::vector<int> files = {shared.file()};
  for (const auto& device : devices) {
    files.push_back(device->memory.file());
  }
  return files;
}

Device*& current_device() {
  thread_local Device* current = nullptr;
  return current;
}

bool strikes(Fault fault, const Device& device) {
  static auto& seen = *new std::vector<std::atomic<std::uint64_t>>(settings().errors.size());
  bool result = false;
  for (std::size_t i = 0; i < seen.size(); i++) {
    const InjectedError& error = settings().errors[i];
    if (error.fault == fault && (error.device < 0 || error.device == device.index)) {
      result |= seen[i].fetch_add(1) + 1 == error.nth;
    }
  }
  return result;
}

Result log_call(const char* name, Result result, const char* format, ...) {
  static const int file = open_log();
  if (file < 0) {
    return result;
  }
  char line[400], details[256] = "";
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(details, sizeof details, format, arguments);
  va_end(arguments);
  const char* error = result == kSuccess ? nullptr : describe(result);
  const int length = std::snprintf(line, sizeof line, "%.6f %s %s%s%s\n", static_cast<double>(now()) * 1e-9, name,
                                   details, error != nullptr ? ": " : "", error != nullptr ? error : "");
  (void)!write(file, line, static_cast<std::size_t>(length));
  return result;
}

Stream* stream_or_default(Stream* stream) {
  if (stream != nullptr) {
    return stream;
  }
  Device* device = current_device();
  return device != nullptr ? &device->default_stream : nullptr;
}

Result check(Stream* stream) {
  if (driver() == nullptr) {
    return kNotInitialized;
  }
  return stream == nullptr ? kInvalidContext : stream->device.error.load();
}

Result submit(Stream* stream, decltype(Operation::work) work) {
  if (strikes(Fault::kLost, stream->device)) {
    warn("device %d is lost, as MARLINE_EMULATOR_ERROR asks", stream->device.index);
    stream->device.error.store(kUnknown);
    return kUnknown;
  }
  driver()->engine.submit(*stream, std::move(work));
  return kSuccess;
}

Place find_place(DevicePointer address, std::size_t size) {
  Driver& all = *driver();
  if (all.shared.holds(address, size)) {
    return {all.shared.host_view(address), nullptr, &all.shared};
  }
  for (const auto& device : all.devices) {
    if (const Memory* memory = device->memory_at(address)) {
      return memory->holds(address, size) ? Place{memory->host_view(address), device.get(), memory} : Place{};
    }
  }
  return {};
}

}  // namespace emulator
