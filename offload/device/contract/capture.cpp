// SPDX-License-Identifier: Apache-2.0
//
// The way from a device to early submission, which is a layer above devices.
#include "device/contract/capture.hpp"

#include "device/contract/named.hpp"

#include <cstdlib>

namespace marline::offload::device {

namespace {

const SubmissionLayer* g_layer = nullptr;  // constant once the library is loaded

}  // namespace

void free_captured(CapturedTask* task) {
  std::free(task->reduced);
  std::free(task);
}

void set_submission_layer(const SubmissionLayer* layer) { g_layer = layer; }
void start_submission() { g_layer->start(); }
void forget_submission() { g_layer->forget(); }

void capture_names() {
  keep_names();
  g_layer->start_names();
}

}  // namespace marline::offload::device
