// SPDX-License-Identifier: Apache-2.0
//
// The variables of LLVM's and GCC's runtimes that Marline understands, so that job scripts keep working. Each one
// represents options of Marline, and is ignored if one of these options is given. tools/gen_options_doc.py reads the
// strings of foreign_table.cpp. All other KMP_* and GOMP_* variables are ignored, with a message (names.hpp).
#pragma once

#include <span>

#include "config/options.hpp"
#include "../common/text.hpp"

namespace marline {

struct ForeignOption {
  const char* name;
  // Names of options, separated by `, `. If two entries represent the same option, the earlier one applies.
  const char* stands_for;
  const char* accepted;  // the same as in Option
  const char* summary;
  // False: the value is not acceptable; the caller discards `to`.
  bool (*parse)(Cursor& in, Options& to);
};

std::span<const ForeignOption> foreign_table();

}  // namespace marline
