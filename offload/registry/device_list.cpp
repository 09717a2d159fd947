// SPDX-License-Identifier: Apache-2.0
//
// Makes the list of the program's devices from MARLINE_DEVICES, the images and OMP_AVAILABLE_DEVICES.
#include "registry/device_list.hpp"

#include "base/options.hpp"
#include "base/report.hpp"
#include "base/selection.hpp"
#include "device/contract/kinds.hpp"
#include "device/cluster/head/cluster.hpp"
#include "device/libomptarget/cuda/cuda_driver.hpp"
#include "device/libomptarget/libomptarget.hpp"
#include "device/remote/job/membership.hpp"
#include "device/remote/program/remote_device.hpp"
#include "image/images.hpp"
#include "image/stub_images.hpp"

#include <cstdlib>
#include <cstring>

extern "C" int __kmpc_get_target_offload();

namespace marline::offload::registry {

using namespace image;

namespace {

constexpr int kOffloadDisabled = 0;  // kmp_target_offload_kind
constexpr int kDefaultHosts = 4;     // as many as LLVM's libomptarget makes of the processor
constexpr char kNone[] = "none", kNodes[] = "nodes";

bool g_code_for_all = false;
const char* g_why_no_gpus = "";

struct List {
  Candidate* devices;
  int count = 0;

  void add(const DeviceKind* kind, int how_many) {
    int index = 0;
    for (int i = 0; i < count; ++i) index += devices[i].kind == kind;
    for (; how_many > 0; --how_many) {
      if (count == kMostDevices) end_by_options("MARLINE_DEVICES: more than %d devices; name fewer", kMostDevices);
      devices[count++] = {kind, index++, {}};
    }
  }

  // Adds the devices of the job's workers. A program that the program starts has its MARLINE_DEVICES, but no workers. A
  // worker has no workers either, though it may ask for them: its regions may have target constructs, and its
  // constructors may run some before it serves. `word`: the word of MARLINE_DEVICES.
  void add_nodes(const char* word) {
    if (is_worker()) return;
    int workers = worker_count();
    if (workers == 0 && !is_started_by_a_job()) {
      end_by_options(
          "MARLINE_DEVICES names %s, but this process has no workers: start the program by `marline run -n N "
          "--devices=%s`, or by mpirun or srun with two processes or more",
          word, word);
    }
    for (int i = 0; i < count; ++i) {
      if (devices[i].kind != &kNodeKind && devices[i].kind != &kNodeGpuKind) continue;
      end_by_options("MARLINE_DEVICES names nodes twice; each worker is there once");
    }
    for (int i = 0, all = workers != 0 ? node_device_count() : 0; i < all; ++i) {
      add(node_device_is_gpu(i) ? &kNodeGpuKind : &kNodeKind, 1);
    }
  }

  // Adds the workers, or their GPUs, as one device, and after it each of them as a device of its own.
  void add_cluster() {
    if (is_worker()) return;
    if (is_serving_rank()) {
      end_by_options(
          "MARLINE_DEVICES=cluster: the ranks of an MPI program are no cluster; start it by `marline run "
          "--devices=cluster:K`, which gives each rank K nodes of its own");
    }
    for (int i = 0; i < count; ++i) {
      if (devices[i].kind == &kClusterKind) end_by_options("MARLINE_DEVICES names cluster twice; all workers are one");
    }
    take_cluster_frames();
    if (worker_count() > 0) add(&kClusterKind, 1);
    add_nodes(kClusterKind.name);
  }

  // Adds all devices of LLVM's libomptarget, and returns how many these are. `must`: it is an error if there are none.
  int add_llvm(bool must) {
    const char* why = "";
    int found = llvm_device_count(&why);
    if (found <= 0)
      g_why_no_gpus = cuda_gpu_count() >= 0 || found < 0
                          ? why
                          : "NVIDIA's driver (libcuda.so) is not here, and no other GPU is found";
    if (found <= 0 && must && !g_code_for_all) end_by_options("MARLINE_DEVICES names libomptarget: %s", why);
    if (found < 0 && !g_code_for_all) warn("the program has code for other devices, which nothing can drive: %s", why);
    add(&kLlvmKind, found);
    return found;
  }
};

// One element of MARLINE_DEVICES.
struct Element {
  enum class What { kAllGpus, kAllNodes, kAllAsOne, kCounted } what;
  const DeviceKind* kind = nullptr;  // of kCounted
  int count = 1;
};

// Parses the element at `at`, which ends at a comma or at the end of the text. Returns where the next element begins.
const char* read_element(const char* text, const char* at, Element& element) {
  const size_t length = std::strcspn(at, ",");
  const char* next = at[length] == ',' ? at + length + 1 : at + length;
  auto is = [at, length](const char* word) { return std::strlen(word) == length && !std::strncmp(at, word, length); };
  if (is(kLlvmKind.name)) return element = {Element::What::kAllGpus}, next;
  if (is(kNodes)) return element = {Element::What::kAllNodes}, next;
  for (const char* cluster : {kClusterKind.name, "cluster:gpu", "cluster:all"}) {
    if (is(cluster)) return element = {Element::What::kAllAsOne}, next;
  }
  for (const DeviceKind* kind : {&kHostKind, &kProcessKind}) {
    if (std::strncmp(at, kind->name, std::strlen(kind->name)) != 0) continue;
    const char* after = at + std::strlen(kind->name);
    long count = 1;
    if (*after == ':') {
      char* end;
      count = std::strtol(after + 1, &end, 10);
      if (end == after + 1 || count < 1 || count > kMostDevices) refuse_value(Option::kDevices, text);
      after = end;
    }
    if (after != at + length) refuse_value(Option::kDevices, text);
    return element = {Element::What::kCounted, kind, static_cast<int>(count)}, next;
  }
  refuse_value(Option::kDevices, text);
}

const CheckedAtLoad g_devices_checked(Option::kDevices, [] {
  const char* text = option_value(Option::kDevices);
  Element element;
  for (const char* at = text; *at != '\0' && std::strcmp(text, kNone) != 0;) at = read_element(text, at, element);
});

void add_element(List& list, const Element& element) {
  switch (element.what) {
    case Element::What::kAllGpus: list.add_llvm(!is_worker()); break;  // nodes may differ: a worker has its node's GPUs
    case Element::What::kAllNodes: list.add_nodes(kNodes); break;
    case Element::What::kAllAsOne: list.add_cluster(); break;
    case Element::What::kCounted: list.add(element.kind, element.count); break;
  }
}

// Adds the devices that MARLINE_DEVICES names, before the selection.
void add_all(List& list) {
  const char* text = option_value(Option::kDevices);
  if (__kmpc_get_target_offload() == kOffloadDisabled) {
    g_why_no_gpus = "OMP_TARGET_OFFLOAD=disabled";
  } else if (text == nullptr) {
    int others = g_code_for_all || have_foreign_image() ? list.add_llvm(false) : 0;
    if (others <= 0 && (g_code_for_all || have_native_image())) list.add(&kHostKind, kDefaultHosts);
  } else if (std::strcmp(text, kNone) != 0) {
    Element element;
    for (const char* at = text; *at != '\0';) {
      at = read_element(text, at, element);
      add_element(list, element);
    }
  }
}

// Keeps the devices that OMP_AVAILABLE_DEVICES names, in its order. The variable is about the program's devices. A
// worker keeps all its own devices, for target constructs inside of the program's regions.
int select(Candidate* devices, int count) {
  const char* text = option_value(Option::kAvailable);
  if (text == nullptr || is_worker()) return count;
  static DeviceFacts facts[kMostDevices];  // these are too large for the stack of a task
  static Candidate all[kMostDevices];
  for (int i = 0; i < count; ++i) {
    facts[i] = devices[i].facts;
    all[i] = devices[i];
  }
  int chosen[kMostDevices], chosen_count;
  const char* wrong = select_devices(text, facts, count, chosen, chosen_count);
  if (wrong != nullptr) refuse_value(Option::kAvailable, text, wrong);
  for (int i = 0; i < chosen_count; ++i) devices[i] = all[chosen[i]];
  return chosen_count;
}

const CheckedAtLoad g_available_checked(Option::kAvailable, [] {
  const char* text = option_value(Option::kAvailable);
  int count;
  const char* wrong = select_devices(text, nullptr, 0, nullptr, count);
  if (wrong != nullptr) refuse_value(Option::kAvailable, text, wrong);
});

}  // namespace

int list_devices(Candidate (&devices)[kMostDevices]) {
  List list = {devices};
  add_all(list);
  for (int i = 0; i < list.count; ++i) devices[i].kind->describe(devices[i].index, devices[i].facts);
  return select(devices, list.count);
}

NamedKinds named_kinds() {
  const char* text = option_value(Option::kDevices);
  if (text == nullptr) return {};
  auto has = [text](const DeviceKind& kind) { return std::strstr(text, kind.name) != nullptr; };
  return {has(kNodeKind) || has(kClusterKind), has(kClusterKind), has(kProcessKind)};
}

void assume_code_for_all() {
  if (g_code_for_all) return;
  int known[16], count = 0;
  for (int gpu = 0; gpu < cuda_gpu_count(); ++gpu) {
    int capability = cuda_capability(gpu);
    bool is_new = true;
    for (int i = 0; i < count; ++i) is_new = is_new && known[i] != capability;
    if (is_new && count < 16) known[count++] = capability;
  }
  register_stub_images(known, count);
  g_code_for_all = true;
}

const char* why_no_gpus() { return g_why_no_gpus; }

}  // namespace marline::offload::registry
