// SPDX-License-Identifier: Apache-2.0
//
// Devices for code of GCC that was built without a compiler for devices. The runtime passes the arguments of libgomp's
// entry points on to these functions (devices.h, marline_device_provider_t). A kernel is a function of the program that
// gets an array of addresses. A device in this process runs it on copies of the mapped data. In a forked process the
// function has the same address, in a worker on another node a different one. For a device in this process, `declare
// target` variables are the program's own. Any thread.
#include "base/report.hpp"
#include "device/libomptarget/staging/pinned.hpp"
#include "device/remote/job/ranks.hpp"
#include "data/gcc_map_kinds.hpp"
#include "image/functions.hpp"
#include "image/offload_tables.hpp"
#include "registry/loaded_variables.hpp"
#include "registry/registry.hpp"
#include "data/data_environment.hpp"
#include "registry/region.hpp"

#include <atomic>
#include <cstdlib>
#include <new>

extern "C" int omp_get_default_device();

namespace marline::offload::abi {

using namespace data;
using namespace image;
using namespace items;
using namespace registry;

namespace {

constexpr int kHostFallback = -2;  // GOMP_DEVICE_HOST_FALLBACK: the clause `if` is false

// Whether the device has the function's library. A process lacks a library that was opened after the process was
// started, or has been closed and opened again.
bool has_module_of(const Device* device, const void* address) {
  return !device->kind->is_forked || was_loaded(address);
}

// Finds the device with this number and makes it ready for use. The result is the host (null) also for a device of a
// kind that runs only images.
Destination ready_destination(int number) {
  Destination to = number == kHostFallback ? Destination{nullptr} : destination_of(number);
  Device* device = to.device;
  if (device == nullptr) return to;
  if (device->kind->locate == nullptr) {
    if (is_mandatory()) {
      fatal(
          "OMP_TARGET_OFFLOAD=mandatory, and device %d (%s) does not run code of GCC: MARLINE_DEVICES=host, process "
          "and nodes do",
          device->number, device->kind->name);
    }
    return {nullptr};
  }
  prepare(device);
  map_loaded_variables(device);
  return to;
}

Device* ready_device(int number) { return ready_destination(number).device; }

void keep_element(Device* device, const marline_device_maps_t& maps, const char* address) {
  for (size_t i = 0; i < maps.count; ++i) {
    if (maps.addresses[i] != address || is_attachment(maps.kinds[i])) continue;
    LockedTable table(*device->mapping);
    table->storage().add_place(address, maps.sizes[i], reinterpret_cast<uint64_t>(address));
  }
}

// On a device in this process, a pointer that is a `declare target` variable is the program's own variable and keeps
// its value. So the data that it points to must keep its address on the device, too.
void keep_pointees(Device* device, const marline_device_maps_t& maps) {
  if (!device->kind->shares_memory) return;
  for (size_t i = 0; i < maps.count; ++i) {
    if (!is_attachment(maps.kinds[i]) || maps.addresses[i] == nullptr) continue;
    auto slot = reinterpret_cast<uint64_t>(maps.addresses[i]);
    if (device->mapping->translate(maps.addresses[i]) != slot) continue;
    keep_element(device, maps, *static_cast<char**>(maps.addresses[i]) + maps.sizes[i]);
  }
}

// A target data construct between its begin and its end.
struct OpenData {
  Device* device;
  ItemList items;
  const void* code;
};

// Called when the device does not have the region's code, so that the host must run the region. Warns once, as the same
// is true of all regions of a file.
int run_on_host(const Device* device, const Entry* entry, const void* code) {
  const char* why = is_offload_function(code)
                        ? "its library was loaded, perhaps again, when the device had been started"
                        : "its file has no section .gnu.offload_funcs, which GCC writes if it is built for offloading";
  if (is_mandatory()) {
    fatal("OMP_TARGET_OFFLOAD=mandatory, and device %d (%s) does not have %s: %s", device->number, device->kind->name,
          entry->name, why);
  }
  static std::atomic<bool> said{false};
  if (!said.exchange(true)) {
    warn("device %d (%s) does not have %s: %s; it runs on the host, and so may others", device->number,
         device->kind->name, entry->name, why);
  }
  return 0;
}

int run(int number, void (*function)(void*), const marline_device_maps_t* maps, int thread_limit) {
  Destination to = ready_destination(number);
  Device* device = to.device;
  if (device == nullptr) return 0;
  auto* code = reinterpret_cast<const void*>(function);
  const Entry* entry = entry_of_function(code);
  if (!has_module_of(device, code) || !has_kernel(device, entry)) return run_on_host(device, entry, code);
  ItemList items;
  keep_pointees(device, *maps);
  take_maps(*maps, *device->mapping, items);
  Region region = {};
  region.kernel = entry;
  ReportScope scope(ConstructKind::kTarget, maps->nowait != 0, device->number, maps->code);
  region.items = items_of(items);
  region.items.of_region = true;
  region.items.reported = scope.reported();
  region.items.source.kernel = entry->name;
  region.scope = &scope;
  region.teams = 0;  // GCC does not pass the number of teams here
  region.thread_limit = thread_limit;
  region.in_memory = true;
  region.node = to.node != 0 ? to.node : maps->node;
  region.device_number = to.number;
  run_region(device, region);
  return 1;
}

void* data_begin(int number, const marline_device_maps_t* maps) {
  Device* device = ready_device(number);
  if (device == nullptr) return nullptr;
  void* memory = std::malloc(sizeof(OpenData));
  if (memory == nullptr) fatal("no memory for a target data construct");
  auto* open = new (memory) OpenData{device, {}, maps->code};
  keep_pointees(device, *maps);
  take_maps(*maps, *device->mapping, open->items);
  ReportScope scope(ConstructKind::kEnterData, false, device->number, maps->code);
  Items all = items_of(open->items);
  all.reported = scope.reported();
  all.source.code = maps->code;
  marline_target_data_begins();
  device->mapping->begin(all);
  for (size_t i = 0; i < maps->count; ++i) {
    if (!is_use_device(maps->kinds[i]) || maps->addresses[i] == nullptr) continue;
    uint64_t address = device->mapping->translate(maps->addresses[i]);
    if (address != 0) maps->addresses[i] = reinterpret_cast<void*>(address);
  }
  return open;
}

void data_end(void* data) {
  auto* open = static_cast<OpenData*>(data);
  {
    ReportScope scope(ConstructKind::kExitData, false, open->device->number, open->code);
    Items all = items_of(open->items);
    all.reported = scope.reported();
    all.source.code = open->code;
    marline_target_data_begins();
    open->device->mapping->end(all);
  }
  open->~OpenData();
  std::free(open);
}

// A target enter data, exit data or update.
void data_construct(ConstructKind kind, int number, const marline_device_maps_t& maps) {
  Device* device = ready_device(number);
  if (device == nullptr) return;
  ItemList items;
  if (kind == ConstructKind::kEnterData) keep_pointees(device, maps);
  kind == ConstructKind::kUpdate ? take_updates(maps, items) : take_maps(maps, *device->mapping, items);
  ReportScope scope(kind, maps.nowait != 0, device->number, maps.code);
  Items all = items_of(items);
  all.reported = scope.reported();
  all.source.code = maps.code;
  if (kind == ConstructKind::kUpdate) return device->mapping->update(all);
  marline_target_data_begins();
  kind == ConstructKind::kEnterData ? device->mapping->begin(all) : device->mapping->end(all);
}

void update(int number, const marline_device_maps_t* maps) { data_construct(ConstructKind::kUpdate, number, *maps); }
void enter_data(int number, const marline_device_maps_t* maps) {
  data_construct(ConstructKind::kEnterData, number, *maps);
}
void exit_data(int number, const marline_device_maps_t* maps) {
  data_construct(ConstructKind::kExitData, number, *maps);
}

// Allocates pinned memory by the default device if that is a device of libomptarget, else by the first such device.
void* pinned_memory(size_t bytes) {
  int chosen = omp_get_default_device();
  for (int i = -1; i < device_count(); ++i) {
    bool exists;
    Device* device = device_for_routine(i < 0 ? chosen : i, exists);
    if (device == nullptr || device->kind->delegate == nullptr) continue;
    prepare(device);
    return allocate_pinned(device, bytes);
  }
  return nullptr;
}

void release_pinned_memory(void* memory) {
  if (!release_pinned(memory)) fatal("omp_free(%p): no pinned block begins there", memory);
}

constinit const marline_device_provider_t kProvider = {sizeof(marline_device_provider_t),
                                                       start_early,
                                                       device_count,
                                                       run,
                                                       data_begin,
                                                       data_end,
                                                       update,
                                                       enter_data,
                                                       exit_data,
                                                       default_device,
                                                       pinned_memory,
                                                       release_pinned_memory,
                                                       meet_ranks,
                                                       cluster_nodes};

[[gnu::constructor]] void provide() {
  if (marline_devices_provide(&kProvider) != 0)
    warn("another library has devices for code of GCC; Marline's are not used");
}

// Runs after the program's own destructors, which may use devices.
[[gnu::destructor]] void end() { stop_all(); }

}  // namespace

}  // namespace marline::offload::abi
