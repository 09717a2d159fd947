// SPDX-License-Identifier: Apache-2.0
//
// The slow half of DependenceBuffer: lists longer than the one on the stack (iterators).
#include "construct/task/dependence_buffer.hpp"

#include "base/check.hpp"

#include <cstdlib>
#include <cstring>

namespace marline {

DependenceBuffer::~DependenceBuffer() {
  if (list_ != inline_) std::free(list_);
}

void DependenceBuffer::grow() {
  size_t bytes = 2 * capacity_ * sizeof(Dependence);
  auto* grown = static_cast<Dependence*>(std::malloc(bytes));
  if (grown == nullptr) fatal("no memory for a depend clause of more than %zu locators", capacity_);
  std::memcpy(grown, list_, count_ * sizeof(Dependence));
  if (list_ != inline_) std::free(list_);
  list_ = grown;
  capacity_ *= 2;
}

}  // namespace marline
