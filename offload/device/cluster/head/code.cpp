// SPDX-License-Identifier: Apache-2.0
//
// Finds kernels and variables on all members of a cluster. A variable is a buffer of the cluster that has its own
// address on each node, and that every kernel may use.
#include "device/cluster/head/code.hpp"

#include "base/make.hpp"
#include "base/report.hpp"
#include "device/cluster/head/members.hpp"
#include "device/remote/program/code.hpp"
#include "image/images.hpp"

#include <cstring>

namespace marline::offload::device {

using namespace wire;

namespace {

// The addresses of one kernel or variable on the nodes: entry k is node k's address, and node 0 has none. `kinds` is as
// in KernelCodes.
struct Places {
  uint64_t at[kMostNodes];
  uint64_t kinds;  // no padding before it, as is_same compares all bytes
};

struct LoadedImage {
  const Module* module;
  Places handles;
};

struct Variable {
  const void* host;  // null: a variable of an image
  // Null: the variable belongs to the program or to a library, which workers do not unload.
  const LoadedImage* image;
  uint64_t bytes;
  Places* places;
  uint64_t address;
};

Lock g_lock;  // guards the lists; the kernels in them are permanent
List<const Places*> g_kernels;
List<Variable> g_variables;

template <class T>
T* make_zero() {
  auto* made = make_array<T>("the addresses of a program's code on a cluster", 1);
  return made;
}

bool is_same(const Places& one, const Places& other) { return std::memcmp(&one, &other, sizeof one) == 0; }

// Returns the number of a kernel, from 1 on. Kernels with the same addresses on all nodes have the same number.
uint64_t number_of_kernel(const Places& places) {
  Guard guard(g_lock);
  for (size_t i = 0; i < g_kernels.count(); ++i) {
    if (is_same(*g_kernels[i], places)) return i + 1;
  }
  auto* kept = make_zero<Places>();
  *kept = places;
  g_kernels.push(kept);
  return g_kernels.count();
}

// Asks each member for its address of one kernel or variable: `ask(member, node)` returns the address, or 0 if the
// member has none. A kind of members is in `kinds` only if all members of the kind have an address.
template <class Ask>
void ask_all(const Device* device, Places& to, const Ask& ask) {
  uint32_t asked = 0, lack = 0;
  to = {};
  for (int i = 0; i < device->member_count; ++i) {
    Device* member = device->members[i];
    uint32_t kind = bit_of(kind_of_member(member));
    to.at[i + 1] = ask(member, static_cast<NodeNumber>(i + 1));
    asked |= kind;
    lack |= to.at[i + 1] == 0 ? kind : 0;
  }
  to.kinds = asked & ~lack;
}

bool are_everywhere(const Device* device, const Places& places) {
  for (int i = 0; i < device->member_count; ++i) {
    if (places.at[i + 1] == 0) return false;
  }
  return true;
}

// Returns true if all members have the variable, and false if there is no kind of which all members have it. Else ends
// the program, as each member must take part in keeping the variable coherent. `by_gcc`: it is a variable of GCC's
// code, which is not compiled for GPUs.
bool is_variable(const Device* device, const Places& places, const char* name, bool by_gcc) {
  if (are_everywhere(device, places)) return true;
  if (places.kinds == 0) return false;
  fatal("the `declare target` variable %s is not on all members of device %d (cluster): %s", name, device->number,
        by_gcc ? "GCC makes no code for GPUs; use --devices=cluster"
               : "compile the program for each kind of them (-fopenmp-targets), or let them be of one kind "
                 "(--devices=cluster or cluster:gpu)");
}

// Finds the address in the cluster's memory of a variable that has been added before.
bool find_known(const void* host, const Places& places, uint64_t& address) {
  Guard guard(g_lock);
  for (const Variable& variable : g_variables) {
    if (variable.host != host || !is_same(*variable.places, places)) continue;
    address = variable.address;
    return true;
  }
  return false;
}

// Reads the first value of a variable that no kernel has used yet. It must be the same on all members.
void read_first_value(Device* device, const Places& places, uint64_t bytes, const char* name, char* value) {
  auto* other = static_cast<char*>(std::malloc(bytes));
  if (other == nullptr) fatal("no memory for a variable of %lu bytes", bytes);
  for (int i = 0; i < device->member_count; ++i) {
    device->members[i]->kind->read(device->members[i], i == 0 ? value : other, places.at[i + 1], bytes);
    if (i == 0 || std::memcmp(value, other, bytes) == 0) continue;
    fatal(
        "the `declare target` variable %s (%lu bytes) begins with another value on each node of the cluster, perhaps "
        "an address: give it its value by a target region, or use --devices=nodes",
        name, bytes);
  }
  std::free(other);
}

// Returns the variable's address in the cluster's memory. `known` is the variable without that address.
uint64_t address_of_variable(Device* device, Variable known, const Places& places, const char* name) {
  uint64_t address, bytes = known.bytes;
  if (find_known(known.host, places, address)) return address;
  auto* value = static_cast<char*>(std::malloc(bytes));
  if (value == nullptr) fatal("no memory for a variable of %lu bytes", bytes);
  read_first_value(device, places, bytes, name, value);
  auto* kept = make_zero<Places>();
  *kept = places;
  address = static_cast<ClusterHead*>(device->state)->add_variable(kept->at, value, bytes);
  std::free(value);
  Guard guard(g_lock);
  g_variables.push({known.host, known.image, bytes, kept, address});
  return address;
}

// Removes a variable of the image from the list. Returns false if there is none left.
bool take_variable(const LoadedImage* image, Variable& to) {
  Guard guard(g_lock);
  for (size_t i = 0; i < g_variables.count(); ++i) {
    if (g_variables[i].image != image) continue;
    to = g_variables[i];
    g_variables.erase(i);
    return true;
  }
  return false;
}

// The size of the module's variable of that name, or 0 if the name is that of a kernel.
size_t bytes_of(const Module& module, const char* name) {
  for (uint32_t i = 0; i < module.count; ++i) {
    if (std::strcmp(module.entries[i].name, name) == 0) return module.entries[i].size;
  }
  return 0;
}

}  // namespace

KernelCodes codes_of(uint64_t kernel) {
  Guard guard(g_lock);
  if (kernel == 0 || kernel > g_kernels.count()) fatal("a cluster has no target region with the number %lu", kernel);
  const Places& places = *g_kernels[kernel - 1];
  return {places.at, static_cast<uint32_t>(places.kinds)};
}

// Runs the constructors of the module's device objects: each member constructs its own objects.
static void construct(Device* member, const Module& module, uint64_t handle) {
  for (uint32_t i = 0; i < module.count; ++i) {
    Entry& entry = module.entries[i];
    if ((entry.flags & kEntryConstructor) == 0 || entry.size != 0) continue;
    uint64_t code = member->kind->find(member, handle, entry.name);
    if (code != 0) run_constructor(member, &entry, code);
  }
}

// Warns that some members get no regions because the module has no image for their kind.
static void warn_of_idle(const Device* device, const Module& module, uint32_t kinds) {
  bool are_gpus = (kinds & bit_of(MemberKind::kGpu)) == 0;
  int count = count_members(device, are_gpus ? MemberKind::kGpu : MemberKind::kProcessor);
  const char* what = are_gpus ? "GPU" : "processor";
  warn(
      "%s has no image for %d %s%s of the cluster, which %s no regions of it: compile it for each kind of device "
      "(-fopenmp-targets)",
      module.is_program ? "the program" : "a library", count, what, count == 1 ? "" : "s", count == 1 ? "gets" : "get");
}

uint64_t load_on_cluster(Device* device, Module* module) {
  auto* image = make_zero<LoadedImage>();
  image->module = module;
  ask_all(device, image->handles, [&](Device* member, NodeNumber) {
    uint64_t loaded = member->kind->load(member, module);
    if (loaded != 0) construct(member, *module, loaded);
    return loaded;
  });
  if (image->handles.kinds == 0) {
    unload_on_cluster(device, reinterpret_cast<uint64_t>(image));
    return 0;
  }
  if (!are_everywhere(device, image->handles)) warn_of_idle(device, *module, image->handles.kinds);
  return reinterpret_cast<uint64_t>(image);
}

// Removes the variables before the image, as nodes compare the bytes of all variables after each kernel.
void unload_on_cluster(Device* device, uint64_t handle) {
  if (device->lost || node_job() == nullptr) return;
  auto* image = reinterpret_cast<LoadedImage*>(handle);
  Variable gone;
  while (take_variable(image, gone)) {
    static_cast<ClusterHead*>(device->state)->remove_variable(gone.address);
    std::free(gone.places);
  }
  for (int i = 0; i < device->member_count; ++i) {
    if (image->handles.at[i + 1] != 0) device->members[i]->kind->unload(device->members[i], image->handles.at[i + 1]);
  }
  std::free(image);
}

uint64_t find_on_cluster(Device* device, uint64_t handle, const char* name) {
  auto* image = reinterpret_cast<LoadedImage*>(handle);
  Places places;
  ask_all(device, places, [&](Device* member, NodeNumber node) {
    uint64_t loaded = image->handles.at[node];
    return loaded != 0 ? member->kind->find(member, loaded, name) : 0;
  });
  if (size_t bytes = bytes_of(*image->module, name); bytes != 0) {
    if (!is_variable(device, places, name, false)) return 0;
    return address_of_variable(device, {nullptr, image, bytes, nullptr, 0}, places, name);
  }
  return places.kinds != 0 ? number_of_kernel(places) : 0;
}

namespace {

// A kernel for whose addresses all members have been asked. The thread that polls the wire gets the answers.
struct FoundKernel {
  struct Answer : Operation {
    FoundKernel* of;
  };
  Entry* kernel;
  Operation* waiter;
  Device* device;
  int left;                    // answers that have not arrived
  Answer answers[kMostNodes];  // entry k is node k's
};

// Called for each answer. The last one completes the search and frees the record.
bool take_answer(Operation* operation) {
  FoundKernel* found = static_cast<FoundKernel::Answer*>(operation)->of;
  if (--found->left != 0) return true;
  Places places;
  ask_all(found->device, places, [&](Device*, NodeNumber node) { return found->answers[node].result; });
  if (places.kinds != 0) found->kernel->code.set(found->device->number, number_of_kernel(places));
  Operation* waiter = found->waiter;
  std::free(found);
  (void)waiter->ended(waiter);
  return true;
}

}  // namespace

void start_find_on_cluster(Device* device, Entry* kernel, Operation* operation) {
  auto* image =
      kernel->module != nullptr ? reinterpret_cast<LoadedImage*>(kernel->module->handles.get(device->number)) : nullptr;
  bool can_be_there = kernel->module != nullptr ? image != nullptr : can_locate_on_nodes(kernel->host);
  if (!can_be_there) return void(operation->ended(operation));
  auto* found = make_zero<FoundKernel>();
  found->kernel = kernel;
  found->waiter = operation;
  found->device = device;
  List<int> asked;
  for (int i = 0; i < device->member_count; ++i) {
    bool is_processor = kind_of_member(device->members[i]) == MemberKind::kProcessor;
    bool may_have = image != nullptr ? image->handles.at[i + 1] != 0 : is_processor;
    if (may_have) asked.push(i);
  }
  found->left = static_cast<int>(asked.count());
  if (asked.is_empty()) {
    std::free(found);
    return void(operation->ended(operation));
  }
  // `found` may be freed by the last answer, so it is not used after the last question.
  for (int i : asked) {
    FoundKernel::Answer& answer = found->answers[i + 1];
    answer.of = found;
    answer.ended = take_answer;
    if (image != nullptr) {
      start_find_on_node(device->members[i], image->handles.at[i + 1], kernel->name, &answer);
    } else {
      start_locate_on_node(device->members[i], kernel->host, &answer);
    }
  }
}

uint64_t locate_on_cluster(Device* device, const void* address, size_t bytes) {
  Places places;
  ask_all(device, places, [&](Device* member, NodeNumber) { return member->kind->locate(member, address, bytes); });
  constexpr const char* kName = "of code of GCC";
  if (bytes == 0) return places.kinds != 0 ? number_of_kernel(places) : 0;
  if (!is_variable(device, places, kName, true)) return 0;
  return address_of_variable(device, {address, nullptr, bytes, nullptr, 0}, places, kName);
}

}  // namespace marline::offload::device
