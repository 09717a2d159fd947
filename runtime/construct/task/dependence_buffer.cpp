// SPDX-License-Identifier: Apache-2.0
//
// The slow part of DependenceBuffer: lists longer than the one on the stack (iterators).
#include "construct/task/dependence_buffer.hpp"

#include "base/memory/shared_pool.hpp"

#include <cstring>

namespace marline {

DependenceBuffer::~DependenceBuffer() {
  if (list_ != inline_) shared_release(list_);
}

void DependenceBuffer::grow() {
  size_t bytes = 2 * capacity_ * sizeof(Dependence);
  auto* grown = static_cast<Dependence*>(shared_allocate(bytes));
  std::memcpy(grown, list_, count_ * sizeof(Dependence));
  if (list_ != inline_) shared_release(list_);
  list_ = grown;
  capacity_ *= 2;
}

}  // namespace marline
