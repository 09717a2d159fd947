// SPDX-License-Identifier: Apache-2.0
//
// The name of a symbol as it is sent to a device's process: in 8-byte words, filled up with zeros. Has one owner.
#pragma once

#include "base/list.hpp"

#include <cstdint>
#include <cstring>

namespace marline::offload::device {

class NameInWords {
 public:
  // As much as a frame of the wire holds (wire/base/wire.hpp, kMostWords). Names of C++ templates have some thousands
  // of characters at most. A longer name ends the program.
  static constexpr size_t kMostBytes = 4096 * sizeof(uint64_t);

  explicit NameInWords(const char* name) {
    size_t bytes = std::strlen(name) + 1;
    if (bytes > kMostBytes)
      fatal("the name of a region has %zu characters, more than %zu: %.200s...", bytes, kMostBytes, name);
    for (size_t done = 0; done < bytes; done += sizeof(uint64_t)) {
      uint64_t word = 0;
      std::memcpy(&word, name + done, bytes - done < sizeof word ? bytes - done : sizeof word);
      words_.push(word);
    }
  }

  [[nodiscard]] const uint64_t* begin() { return words_.begin(); }
  [[nodiscard]] uint32_t count() const { return words_.count(); }

 private:
  List<uint64_t, 32> words_;
};

}  // namespace marline::offload::device
