// SPDX-License-Identifier: Apache-2.0
//
// An observer of target tasks as they are created (offload/submission/observe/capture.hpp), in a libmarline-target of
// the test's own. It notes what it is shown. In one mode it also takes the tasks and does what they say, from that
// alone, on a thread of its own when they are ready: so what was captured is all that the task was.
#include "capture.h"
#include "submission/observe/capture.hpp"
#include "registry/registry.hpp"
#include "data/data_environment.hpp"
#include "registry/region.hpp"

#include <pthread.h>

#include <cstdlib>

namespace marline::offload::submission {

using namespace data;
using namespace device;
using namespace image;
using namespace items;
using namespace registry;

namespace {

constexpr int kMost = 4096;

struct Taken {
  CapturedTask* task;
  Taken* next;
};

pthread_mutex_t g_lock = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t g_changed = PTHREAD_COND_INITIALIZER;
captured_t g_captured[kMost];
int g_count = 0, g_mode = CAPTURE_LOOK, g_taken = 0;
Taken* g_ready = nullptr;
bool g_has_thread = false;

void note(const CapturedTask& task) {
  if (g_count == kMost) std::abort();
  captured_t& to = g_captured[g_count++];
  to = {};
  to.kind = static_cast<int>(task.kind);
  to.has_kernel = task.kernel != nullptr ? 1 : 0;
  to.device = task.device;
  to.count = task.items.count;
  to.dependences = static_cast<int>(task.dependence_count);
  if (to.dependences != 0) {
    to.dependence = task.dependences[0].address;
    to.dependence_type = task.dependences[0].type;
  }
  for (int i = 0; i < to.count && i < CAPTURE_ITEMS; ++i) {
    to.begins[i] = task.items.begins[i];
    to.sizes[i] = task.items.sizes[i];
    to.types[i] = task.items.types[i];
  }
}

void run(const CapturedTask& task) {
  Device* device = device_for_construct(task.device);
  prepare(device);
  if (task.kind == ConstructKind::kEnterData) return device->mapping->begin(task.items);
  if (task.kind == ConstructKind::kExitData) return device->mapping->end(task.items);
  if (task.kind == ConstructKind::kUpdate) return device->mapping->update(task.items);
  if (!has_kernel(device, task.kernel)) std::abort();
  ReportScope scope(ConstructKind::kTarget, false, device->number, task.code);
  Region region = region_of(task);
  region.scope = &scope;
  run_region(device, region);
}

void* run_all(void*) {
  pthread_mutex_lock(&g_lock);
  for (;;) {
    while (g_ready == nullptr) pthread_cond_wait(&g_changed, &g_lock);
    Taken* taken = g_ready;
    g_ready = taken->next;
    ++g_taken;
    pthread_mutex_unlock(&g_lock);
    marline_claimed_t* handle = taken->task->handle;
    if (marline_claimed_is_cancelled(handle) == 0) run(*taken->task);
    free_captured(taken->task);
    std::free(taken);
    marline_claimed_end(handle);
    pthread_mutex_lock(&g_lock);
  }
}

void start_thread() {
  pthread_t thread;
  if (!g_has_thread && pthread_create(&thread, nullptr, run_all, nullptr) != 0) std::abort();
  g_has_thread = true;
}

void* created(const marline_target_task_t* created_task) {
  CapturedTask* task = capture_task(*created_task);
  if (task == nullptr) return nullptr;
  if (task->reduced_count != 0) {  // a task of a reduction runs as if there were no observer
    free_captured(task);
    return nullptr;
  }
  pthread_mutex_lock(&g_lock);
  note(*task);
  Taken* taken = nullptr;
  if (g_mode == CAPTURE_TAKE) {
    start_thread();
    taken = static_cast<Taken*>(std::malloc(sizeof(Taken)));
    *taken = {task, nullptr};
  }
  pthread_mutex_unlock(&g_lock);
  if (taken == nullptr) free_captured(task);
  return taken;
}

void ready(void* data) {
  auto* taken = static_cast<Taken*>(data);
  pthread_mutex_lock(&g_lock);
  taken->next = g_ready;
  g_ready = taken;
  pthread_cond_signal(&g_changed);
  pthread_mutex_unlock(&g_lock);
}

constexpr marline_target_observer_t kObserver = [] {
  marline_target_observer_t observer = {};
  observer.bytes = sizeof observer;
  observer.created = created;
  observer.ready = ready;
  observer.reduces = record_reduction;
  return observer;
}();

[[gnu::constructor]] void begin() {
  if (marline_target_tasks_observe(&kObserver) != 0) std::abort();
}

}  // namespace

}  // namespace marline::offload::submission

#define EXPORT extern "C" [[gnu::visibility("default")]]

using namespace marline::offload::submission;

EXPORT void marline_device_capture_mode(int mode) {
  pthread_mutex_lock(&g_lock);
  g_mode = mode;
  pthread_mutex_unlock(&g_lock);
}

EXPORT int marline_device_captured(int index, captured_t* captured) {
  pthread_mutex_lock(&g_lock);
  if (index >= 0 && index < g_count) *captured = g_captured[index];
  int count = g_count;
  pthread_mutex_unlock(&g_lock);
  return count;
}

EXPORT int marline_device_capture_taken(void) {
  pthread_mutex_lock(&g_lock);
  int taken = g_taken;
  pthread_mutex_unlock(&g_lock);
  return taken;
}
