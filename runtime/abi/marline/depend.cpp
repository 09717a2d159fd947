// SPDX-License-Identifier: Apache-2.0
//
// The entry points of include/marline/marline.h for dependences. Called by the thread that runs the generating task.
// Any thread may make and destroy depend objects.
#include "marline/marline.h"

#include "base/check.hpp"
#include "construct/task/next_task.hpp"
#include "graph/dependences.hpp"

#include <iterator>

#define MARLINE_EXPORT extern "C" [[gnu::visibility("default")]]

namespace marline {

namespace {

// By marline_depend_type_t, from 1 on.
constexpr Access kAccess[] = {Access::kIn, Access::kOut, Access::kOut, Access::kMutexinoutset, Access::kInoutset};
static_assert(MARLINE_IN == 1 && MARLINE_INOUTSET == std::size(kAccess));

void decode(DependenceBuffer& buffer, const char* function, const marline_dependence_t* list, size_t count) {
  if (list == nullptr && count != 0) fatal("%s: a null list of %zu dependences", function, count);
  Dependence* end = buffer.room(count);
  for (size_t i = 0; i < count; ++i) {
    unsigned type = static_cast<unsigned>(list[i].type) - 1;
    if (type >= std::size(kAccess)) {
      fatal("%s: entry %zu of the list has the type %d, which is none of marline_depend_type_t", function, i,
            static_cast<int>(list[i].type));
    }
    *end = {list[i].address, kAccess[type]};
    if (list[i].address != nullptr || kAccess[type] == Access::kOut) ++end;
  }
  buffer.add_until(end);
}

}  // namespace

}  // namespace marline

MARLINE_EXPORT void marline_task_depend(const marline_dependence_t* list, size_t n) {
  marline::decode(marline::next_task(marline::this_worker())->buffer(), "marline_task_depend", list, n);
}

MARLINE_EXPORT marline_depend_object_t* marline_depend_create(const marline_dependence_t* list, size_t n) {
  marline::DependenceBuffer buffer;
  marline::decode(buffer, "marline_depend_create", list, n);
  return reinterpret_cast<marline_depend_object_t*>(marline::depend_object_create(buffer.list(), buffer.count()));
}

MARLINE_EXPORT void marline_depend_destroy(marline_depend_object_t* object) {
  marline::depend_object_destroy(reinterpret_cast<marline::DependObject*>(object));
}

MARLINE_EXPORT void marline_task_depend_object(const marline_depend_object_t* object) {
  if (object == nullptr) marline::fatal("marline_task_depend_object: no object; make one with marline_depend_create");
  marline::next_task(marline::this_worker())->add_object(reinterpret_cast<const marline::DependObject*>(object));
}

MARLINE_EXPORT void marline_taskloop_depend(marline_chunk_depend_fn depend, void* arg) {
  if (depend == nullptr) marline::fatal("marline_taskloop_depend: no function");
  marline::Worker* worker = marline::this_worker();
  worker->pushed.chunk_depend = {depend, arg, worker->task};
}

MARLINE_EXPORT void marline_depend_share() {
  marline::Worker* worker = marline::this_worker();
  marline::share_table(worker, worker->task);
}
