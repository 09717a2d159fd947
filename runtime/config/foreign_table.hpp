// SPDX-License-Identifier: Apache-2.0
//
// The variables of LLVM's and GCC's runtimes that Marline understands, so that job scripts keep working. Each stands
// for options of Marline, and is ignored if one of those options is given. tools/gen_options_doc.py reads the strings
// of foreign_table.cpp. All other KMP_* and GOMP_* variables are ignored, with a message (names.hpp).
#pragma once

#include <span>

#include "config/options.hpp"
#include "config/text.hpp"

namespace marline {

struct ForeignOption {
  const char* name;
  const char* stands_for;  // names of options, with `, ` in between; of two entries for the same, the earlier one holds
  const char* accepted;    // as in Option
  const char* summary;
  bool (*parse)(Cursor& in, Options& to);  // false: not acceptable; the caller throws `to` away
};

std::span<const ForeignOption> foreign_table();

}  // namespace marline
