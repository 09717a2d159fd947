// SPDX-License-Identifier: Apache-2.0
//
// Maps the `declare target` variables of GCC's code to a device, and follows the libraries that the program loads and
// closes.
#include "registry/loaded_variables.hpp"

#include "base/device_set.hpp"
#include "base/forks.hpp"
#include "base/list.hpp"
#include "base/lock.hpp"
#include "data/data_environment.hpp"
#include "image/offload_tables.hpp"

#include <atomic>

namespace marline::offload::registry {

using namespace data;
using namespace image;

namespace {

// A `declare target` variable with its address on a device.
struct Located : OffloadVariable {
  uint64_t place;  // address on the device
};
// All such variables that a device has mapped.
struct Known {
  // The value of loader_changes() when the variables were mapped; stored with release by the thread that mapped them.
  std::atomic<uint64_t> changes{0};
  List<Located, 8> variables;  // under g_tables_lock
};

Lock g_tables_lock;  // held while variables are mapped, after a library was opened or closed
Known g_known[kMostDevices];
const HeldAcrossForks g_held(g_tables_lock, ForkOrder::kTables);

void map_variable(Device* device, const Located& variable) {
  if (variable.link) {
    LockedTable(*device->mapping)->storage().add_place(variable.address, variable.bytes, variable.place);
  } else {
    device->mapping->add_global(variable.address, variable.bytes, variable.place);
  }
}

void unmap_variable(Device* device, const Located& variable) {
  if (variable.link) {
    LockedTable(*device->mapping)->storage().remove_place(variable.address);
  } else {
    device->mapping->remove_global(variable.address);
  }
}

bool is_among(const Located& variable, List<Located, 8>& list) {
  for (const Located& one : list) {
    if (one.address == variable.address && one.bytes == variable.bytes && one.link == variable.link) return true;
  }
  return false;
}

// Lists the loaded variables that the device has. Called without a lock, as the device may have to be asked.
void locate_variables(Device* device, List<Located, 8>& to) {
  List<OffloadVariable, 8> loaded;
  list_offload_variables(loaded);
  for (const OffloadVariable& variable : loaded) {
    uint64_t place = device->kind->locate(device, variable.address, variable.bytes);
    if (place != 0) to.push({variable, place});
  }
}

// Unmaps variables that are gone, and maps the current ones. Called with g_tables_lock.
void follow_loader(Device* device, List<Located, 8>& known, List<Located, 8>& now) {
  for (const Located& variable : known) {
    if (!is_among(variable, now)) unmap_variable(device, variable);
  }
  known.shrink(0);
  for (const Located& variable : now) {
    map_variable(device, variable);
    known.push(variable);
  }
}

}  // namespace

bool knows_loaded_variables(const Device* device) {
  // Pairs with the store in map_loaded_variables.
  return g_known[device->number].changes.load(std::memory_order_acquire) == loader_changes();
}

void map_loaded_variables(Device* device) {
  uint64_t changes = loader_changes();
  Known& known = g_known[device->number];
  if (known.changes.load(std::memory_order_acquire) == changes) return;  // pairs with the store below
  List<Located, 8> now;
  locate_variables(device, now);
  Guard guard(g_tables_lock);
  // Another thread has mapped these or newer variables.
  if (known.changes.load(std::memory_order_relaxed) >= changes) return;
  follow_loader(device, known.variables, now);
  known.changes.store(changes, std::memory_order_release);  // pairs with the load above
}

}  // namespace marline::offload::registry
