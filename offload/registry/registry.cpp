// SPDX-License-Identifier: Apache-2.0
//
// Makes the list of the program's devices, and prepares devices. The list is made once, at the first question about
// devices, and is constant from then on.
#include "registry/registry.hpp"

#include "../common/environment.h"
#include "../common/options.hpp"
#include "base/list.hpp"
#include "base/forks.hpp"
#include "base/options.hpp"
#include "base/report.hpp"
#include "base/selection.hpp"
#include "base/reported_construct.hpp"
#include "device/contract/capture.hpp"
#include "device/contract/delegate.hpp"
#include "device/contract/rank_place.hpp"
#include "device/contract/tool_reports.hpp"
#include "device/contract/wait.hpp"
#include "device/cluster/head/cluster.hpp"
#include "device/contract/pending_constructs.hpp"
#include "device/libomptarget/libomptarget.hpp"
#include "device/remote/job/membership.hpp"
#include "device/remote/program/remote_device.hpp"
#include "device/remote/worker/worker_devices.hpp"
#include "device/remote/job/ranks.hpp"
#include "device/process/process.hpp"
#include "image/images.hpp"
#include "image/requires.hpp"
#include "registry/device_list.hpp"
#include "data/data_environment.hpp"

#include <sched.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>

extern "C" {
int __kmpc_get_target_offload();
int omp_get_default_device();
int omp_is_initial_device();
int __kmpc_global_thread_num(void* ident);
int __kmpc_omp_taskyield(void* ident, int thread, int end);
}

namespace marline::offload::registry {

using namespace data;
using namespace image;
using namespace items;

namespace {

constexpr int kOffloadMandatory = 2;  // kmp_target_offload_kind
constexpr int kHostFallback = -1, kInvalidDevice = -2;

Device g_devices[kMostDevices];
DeviceFacts g_facts[kMostDevices];
int g_count = 0;
int g_default = 0;                  // the default device if neither the program nor the user names one
std::atomic<bool> g_listed{false};  // stored with release by the thread that makes the list
Lock g_list_lock;                   // held once, while the list is made
SuspendingLock g_prepare_lock;      // one device is started at a time; no module is loaded under this lock

// How long a thread waits for another thread that loads a module, in nanoseconds: longer than loading takes. A thread
// that has registered a library holds the loader's lock if the library's constructors run regions, so it waits only
// briefly.
constexpr uint64_t kPatience = 200'000'000, kPatienceInLoader = 200'000;
thread_local bool t_registers = false;

void add_device(const Candidate& candidate) {
  Device& device = g_devices[g_count];
  void* memory = std::malloc(sizeof(DataEnvironment));
  if (memory == nullptr) fatal("no memory for device %d", g_count);
  device.kind = candidate.kind;
  device.number = g_count;
  device.index = candidate.index;
  device.mapping = new (memory) DataEnvironment(&device);
  g_facts[g_count++] = candidate.facts;
}

Device* find_cluster() {
  for (int i = 0; i < g_count; ++i) {
    if (g_devices[i].kind->job_part == JobPart::kCluster) return &g_devices[i];
  }
  return nullptr;
}

// Puts into a member's name which node of the cluster it is, for lists of devices.
void name_member(DeviceFacts& facts, int node) {
  char product[sizeof facts.name];
  std::memcpy(product, facts.name, sizeof product);
  std::snprintf(facts.name, sizeof facts.name, "node %d of the cluster, %.60s", node, product);
}

bool is_gpu_of_worker(const Device& device) { return device.kind->job_part == JobPart::kGpu; }

bool is_member(const Device& device) {
  bool is_gpu = is_gpu_of_worker(device);
  return (is_gpu || device.kind->job_part == JobPart::kProcessor) && is_cluster_member(is_gpu);
}

// Finds the members of the cluster, which are the processors of workers, or their GPUs. They are ordered by number, in
// whatever order the user has put them.
void list_members() {
  Device* cluster = find_cluster();
  if (cluster == nullptr) return;
  static Device* members[kMostDevices];
  int count = 0;
  for (int i = 0; i < g_count; ++i) {
    if (is_member(g_devices[i])) members[count++] = &g_devices[i];
  }
  auto number = [](const Device* device) { return node_device_at(device->index, is_gpu_of_worker(*device)); };
  std::sort(members, members + count, [&](const Device* a, const Device* b) { return number(a) < number(b); });
  for (int i = 0; i < count; ++i) {
    members[i]->cluster = cluster;
    members[i]->node = i + 1;
    name_member(g_facts[members[i]->number], i + 1);
  }
  cluster->members = members;
  cluster->member_count = count;
}

Device* with_data_of(Device* device) { return device->cluster != nullptr ? device->cluster : device; }

// The default device of this rank. Of several ranks on a node, each gets a GPU of its own as far as there are enough. 0
// if the user has given out the GPUs.
int share_of_this_rank() {
  static constexpr const char* kGivenOut[] = {"CUDA_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES"};
  for (const char* name : kGivenOut) {
    if (trusted_variable(name) != nullptr) return 0;
  }
  if (g_count == 0 || !g_facts[0].is_gpu || find_cluster() != nullptr) return 0;
  if (trusted_variable("OMP_DEFAULT_DEVICE") != nullptr) return 0;
  RankPlace place = read_rank_place();
  int share = share_of(place, g_facts, g_count);
  if (share < 0) return 0;
  bool near = place.domain >= 0 && g_facts[share].numa_domain == place.domain;
  note("rank %d of %d on this node has device %d (%s) as its default device%s", place.rank, place.ranks, share,
       g_facts[share].uid, near ? ", which is near its CPUs" : "");
  return share;
}

bool is_of_workers(const Device& device) { return device.kind->job_part != JobPart::kNone; }

// If another thread was making the list or preparing a device, the child does that again. On devices of this process,
// the child has its own copy of all mapped data.
void after_fork_in_child() {
  if (!g_listed.load(std::memory_order_relaxed)) g_count = 0;
  new (&g_list_lock) Lock;
  new (&g_prepare_lock) SuspendingLock;
  forget_claims();
  forget_processes();
  forget_nodes();
  forget_submission();
  llvm_forget_operations();
  for (int i = 0; i < g_count; ++i) {
    g_devices[i].mapping->drop_in_flight();
    if (!is_of_workers(g_devices[i])) continue;
    g_devices[i].lost = true;  // also if it is not started: the job belongs to the program
    g_devices[i].started.store(false, std::memory_order_relaxed);  // so that `prepare` checks whether it is lost
  }
}

void make_list() {
  static bool forks_handled = false;
  // Called without the lock: a runtime that begins with this call looks for a tool, for which it needs the loader.
  (void)__kmpc_get_target_offload();
  Guard guard(g_list_lock);
  if (g_listed.load(std::memory_order_relaxed)) return;
  if (!forks_handled) handle_forks(after_fork_in_child);
  forks_handled = true;
  static Candidate found[kMostDevices];  // too large for the stack of a task
  int count = list_devices(found);
  for (int i = 0; i < count; ++i) add_device(found[i]);
  list_members();
  g_default = share_of_this_rank();
  g_listed.store(true, std::memory_order_release);  // pairs with the load in `listed`
}

// Lets the device use the host's addresses, or ends the program if it cannot.
void share_memory(Device& device) {
  if (device.kind->delegate != nullptr) return;  // its runtime has seen the requirement, too
  if (!device.kind->shares_memory) {
    fatal(
        "requires unified_shared_memory: device %d (%s) has an address space of its own; leave it out of "
        "MARLINE_DEVICES",
        device.number, device.kind->name);
  }
  if (device.mapping->is_shared()) return;
  if (device.started.load(std::memory_order_relaxed)) {
    fatal(
        "requires unified_shared_memory: it came with a library that was loaded when device %d (%s) had already been "
        "used with copies; load it before, or build the program with the clause, too",
        device.number, device.kind->name);
  }
  device.mapping->share();
}

// Does not return in a worker: its first thread here serves, and its other threads that come here wait until the
// process ends.
void serve_if_worker() {
  static Lock serves;
  NamedKinds named = named_kinds();
  if (!named.nodes || !is_worker()) return;
  serves.take();
  if (named.cluster) serve_cluster();
  serve_node();
}

// The processes of a job meet before main. But if the code for devices comes with a library that the program opens,
// main also runs in the workers, up to its first question about devices, and all processes meet there. A question in a
// target region is answered without that: a worker has no devices.
void meet_late() {
  if (marline_main_has_begun() == 0 || omp_is_initial_device() == 0) return;
  serve_if_worker();
  if (named_kinds().nodes && worker_count() > 0 && !is_serving_rank()) start_nodes();
}

void listed() {
  if (g_listed.load(std::memory_order_acquire)) return;  // pairs with the store in make_list
  meet_late();
  make_list();
}

size_t number_of(const Device* device) { return static_cast<size_t>(device->number); }

void remove_globals(Device* device, Module* module) {
  Guard guard(images_lock());
  for (uint32_t i = 0; i < module->count; ++i) {
    Entry& entry = module->entries[i];
    if (entry.mapped.test(number_of(device))) device->mapping->remove_global(entry.host);
    entry.mapped.reset(number_of(device));
  }
}

// Whether the entry is a pointer X_decl_tgt_ref_ptr. If the host's variable X is to be used, the image and the host
// both have such a pointer in place of X, and the host's pointer says where X is (Clang, CGOpenMPRuntime.cpp,
// getAddrOfDeclareTargetVar).
bool is_reference(const Entry& entry) {
  constexpr size_t kLength = sizeof "_decl_tgt_ref_ptr" - 1;
  size_t length = std::strlen(entry.name);
  return is_variable(entry) && entry.size == sizeof(void*) && length > kLength &&
         std::memcmp(entry.name + length - kLength, "_decl_tgt_ref_ptr", kLength) == 0;
}

// Sets these pointers in one copy of the module's image, before other threads see the copy. Used with shared memory,
// where no map would set them.
void set_references(Device* device, Module* module, uint64_t handle) {
  for (uint32_t i = 0; i < module->count; ++i) {
    if (!is_reference(module->entries[i])) continue;
    uint64_t address = device->kind->find(device, handle, module->entries[i].name);
    if (address != 0) device->kind->write(device, address, module->entries[i].host, sizeof(void*));
  }
}

// Runs the constructors of one copy of the module's image, before other threads see the copy.
void run_constructors(Device* device, Module* module, uint64_t handle) {
  for (uint32_t i = 0; i < module->count; ++i) {
    Entry& entry = module->entries[i];
    if ((entry.flags & kEntryConstructor) == 0 || entry.size != 0) continue;
    uint64_t code = device->kind->find(device, handle, entry.name);
    if (code != 0) run_constructor(device, &entry, code);
  }
}

// Makes the loaded copy the module's copy on this device, and maps its variables. `addresses` are in the order of the
// entries. False: the copy does not count (settle_module).
bool settle(Device* device, const Claim& claim, uint64_t handle, const uint64_t* addresses) {
  Module* module = claim.module;
  Guard guard(images_lock());
  if (!settle_module(claim, device->number, handle)) return false;
  for (uint32_t i = 0; handle != 0 && i < module->count; ++i) {
    Entry& entry = module->entries[i];
    if (!is_variable(entry)) continue;
    uint64_t address = *addresses++;
    if (address == 0) continue;
    if (device->mapping->add_global(entry.host, entry.size, address)) entry.mapped.set(number_of(device));
  }
  return true;
}

void load_module(Device* device, const Claim& claim) {
  Module* module = claim.module;
  uint64_t handle = device->kind->load(device, module);
  List<uint64_t, 16> addresses;
  if (handle != 0) {
    if (device->mapping->is_shared()) set_references(device, module, handle);
    // The members of a cluster have run them.
    if (device->members == nullptr) run_constructors(device, module, handle);
    for (uint32_t i = 0; i < module->count; ++i) {
      if (is_variable(module->entries[i])) addresses.push(device->kind->find(device, handle, module->entries[i].name));
    }
  }
  bool is_first = settle(device, claim, handle, addresses.begin());
  if (handle == 0) return;
  if (!is_first) {
    device->kind->unload(device, handle);
  } else if (is_reported(MARLINE_ON_DEVICE)) {
    marline_device_load(device->number, module->native.begin, module->native.bytes, module->number);
  }
}

// Loads new modules, without a lock: loading needs the loader's lock, and a thread that holds that lock may run a
// region in a library's constructor. If another thread is loading a module, this thread waits for it for a while: it
// knows neither whether the other thread waits for the loader's lock, nor whether it holds that lock itself. Then it
// loads a copy of its own.
void load_new(Device* device) {
  uint64_t end = 0;
  for (;;) {
    Claim claim = claim_module(device->number);
    if (claim.module == nullptr) return;
    if (!claim.others) {
      load_module(device, claim);
      continue;
    }
    if (end == 0) end = now() + (t_registers ? kPatienceInLoader : kPatience);
    if (now() >= end) {
      load_module(device, claim);
      continue;
    }
    device->kind->progress(device);
    __kmpc_omp_taskyield(nullptr, __kmpc_global_thread_num(nullptr), 0);
    sched_yield();
  }
}

void unload_gone(Device* device) {
  uint64_t handle;
  uint32_t number;
  while (take_gone_image(device->number, handle, number)) {
    device->kind->unload(device, handle);
    if (is_reported(MARLINE_ON_DEVICE)) marline_device_unload(device->number, number);
  }
}

}  // namespace

int device_count() {
  listed();
  return g_count;
}

// A worker need not have devices: target constructs inside of regions, and regions in the worker's constructors, may
// run on the host.
bool is_mandatory() { return !is_worker() && __kmpc_get_target_offload() == kOffloadMandatory; }

Destination destination_of(int64_t number) {
  listed();
  if (number == -1 && (number = omp_get_default_device()) == kInvalidDevice) {
    end_by_options(
        "there is no default device: OMP_DEFAULT_DEVICE names none that is here (`marline devices` lists them), or the "
        "program has set omp_invalid_device");
  }
  if (number >= 0 && number < g_count) {
    Device* named = &g_devices[number];
    return {with_data_of(named), named->number, named->node};
  }
  bool is_host = number == g_count || number == kHostFallback;
  if (number == kInvalidDevice || (!is_host && is_mandatory())) {
    if (g_count == 0) {
      fatal("a construct for device %ld, but there is no device: see MARLINE_DEVICES; the host is 0",
            static_cast<long>(number));
    }
    fatal("a construct for device %ld, but the devices are 0 to %d and the host %d: see MARLINE_DEVICES",
          static_cast<long>(number), g_count - 1, g_count);
  }
  if (is_mandatory() && g_count == 0) {
    end_by_options(
        "OMP_TARGET_OFFLOAD=mandatory, and there is no device: build with -fopenmp-targets=, or see MARLINE_DEVICES");
  }
  return {nullptr};
}

int cluster_nodes() {
  listed();
  const Device* cluster = find_cluster();
  return cluster != nullptr ? cluster->member_count : 0;
}

int default_device(const char* wish) {
  listed();
  if (wish == nullptr || is_worker()) return g_default;  // the wish is the program's, not a worker's
  int chosen;
  const char* wrong = choose_device(wish, g_facts, g_count, chosen);
  if (wrong != nullptr) {
    refuse_option("OMP_DEFAULT_DEVICE", wish, "a list of numbers, initial, invalid and traits such as kind(gpu)",
                  wrong);
  }
  return chosen;
}

Device* device_for_routine(int number, bool& exists) {
  listed();
  exists = number >= kHostFallback && number <= g_count;
  return number >= 0 && number < g_count ? with_data_of(&g_devices[number]) : nullptr;
}

const DeviceFacts* device_facts(int number) {
  listed();
  return number >= 0 && number < g_count ? &g_facts[number] : nullptr;
}

const char* device_kind(int number) { return g_devices[number].kind->name; }

// The type of a device for tools. For a device on a node it is the uid, which says where the device is.
static const char* reported_type(const Device* device) {
  return is_of_workers(*device) ? g_facts[device->number].uid : device->kind->name;
}

// Reports the begin of a device to tools, and that of a cluster's members, which run its kernels and may have been
// started for it.
static void report_begun(Device* device) {
  if (!is_reported(MARLINE_ON_ANYTHING)) return;
  if (!device->is_reported) marline_device_begin(device->number, reported_type(device), g_count);
  device->is_reported = true;
  for (int i = 0; i < device->member_count; ++i) report_begun(device->members[i]);
}

bool is_prepared(const Device* device) {
  bool started = device->started.load(std::memory_order_acquire);  // these two loads pair with the stores in prepare
  return started && device->modules.load(std::memory_order_acquire) == module_changes();
}

void prepare(Device* device) {
  if (is_prepared(device)) return;
  refuse_if_lost(device);
  g_prepare_lock.take();
  if (is_memory_shared()) share_memory(*device);
  if (!device->started.load(std::memory_order_relaxed)) {
    device->kind->start(device);
    show_pending();
    report_begun(device);
    device->started.store(true, std::memory_order_release);  // pairs with the load in is_prepared
  }
  g_prepare_lock.release();
  uint32_t known = module_changes();  // later changes are for the next call, whether they are seen here or not
  unload_gone(device);
  load_new(device);
  device->modules.store(known, std::memory_order_release);  // pairs with the load in is_prepared
}

void note_registration(const Module* module) { t_registers = t_registers || !module->is_program; }

void start_early() {
  NamedKinds named = named_kinds();
  if (named.nodes && worker_count() > 0) {
    // In all processes of `marline devices`.
    if (trusted_variable("MARLINE_JOB_SERVE") != nullptr) assume_code_for_all();
    serve_if_worker();
    if (is_serving_rank()) {
      start_launcher(serve_node);
      take_membership();
    } else {
      start_nodes();
      listed();  // after the workers have described their devices
    }
  }
  if (!named.processes) return;
  listed();
  for (int i = 0; i < g_count; ++i) {
    if (g_devices[i].kind->is_forked) g_devices[i].kind->start(&g_devices[i]);
  }
}

void forget_module(Module* module) {
  for (int i = 0; g_listed.load(std::memory_order_acquire) && i < g_count; ++i) {  // pairs with the store in make_list
    if (g_devices[i].lost) continue;
    const Delegate* delegate = g_devices[i].kind->delegate;
    if (delegate == nullptr) {
      remove_globals(&g_devices[i], module);
    } else if (g_devices[i].started.load(std::memory_order_acquire)) {  // pairs with the store in prepare
      delegate->forget(&g_devices[i], module);
    }
  }
  llvm_forget(module);
}

void stop_all() {
  for (int i = 0; i < g_count; ++i) {
    if (g_devices[i].lost) continue;
    marline_device_end(i);
    g_devices[i].kind->stop(&g_devices[i]);
  }
  end_nodes();
  end_cluster_check();
}

}  // namespace marline::offload::registry
