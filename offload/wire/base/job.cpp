// SPDX-License-Identifier: Apache-2.0
//
// Parses the variables of the job, and the options MARLINE_WIRE and MARLINE_NODES_AS.
#include "wire/base/job.hpp"

#include "../common/environment.h"
#include "../common/options.hpp"
#include "base/options.hpp"
#include "base/report.hpp"

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace marline::offload::wire {

namespace {

constexpr int kMostProcesses = 1 << 16;

const char* variable(const char* name) {
  const char* value = trusted_variable(name);
  return value != nullptr && *value != '\0' ? value : nullptr;
}

// The error message does not show a wrong value, because it is a secret.
void read_secret(const char* text, uint64_t secret[2]) {
  bool good = std::strlen(text) == 32 && std::strspn(text, "0123456789abcdefABCDEF") == 32;
  if (!good)
    end_by_options(
        "MARLINE_JOB is not 32 hexadecimal digits: start the program by its launcher, or without the variable");
  char half[17] = {};
  for (int i = 0; i < 2; ++i) {
    std::memcpy(half, text + 16 * i, 16);
    secret[i] = std::strtoull(half, nullptr, 16);
  }
}

int read_number(const char* name, int least, int most) {
  const char* text = variable(name);
  if (text == nullptr)
    end_by_options("MARLINE_JOB is set, but %s is not: start the program by its launcher, or with neither", name);
  char* end;
  long number = std::strtol(text, &end, 10);
  bool good = *text >= '0' && *text <= '9' && *end == '\0' && number >= least && number <= most;
  if (!good) {
    char accepted[64];
    std::snprintf(accepted, sizeof accepted, "a number from %d to %d", least, most);
    refuse_option(name, text, accepted);
  }
  return static_cast<int>(number);
}

int count_names(const char* text) {
  int count = 1;
  for (; *text != '\0'; ++text) count += *text == ',' ? 1 : 0;
  return count;
}

// Splits `text` at commas. One block holds the list, which ends with a null pointer, and the characters.
const char* const* split_names(const char* text, int count) {
  size_t list = (static_cast<size_t>(count) + 1) * sizeof(char*), bytes = std::strlen(text) + 1;
  auto** names = static_cast<char**>(std::malloc(list + bytes));
  if (names == nullptr) fatal("no memory for MARLINE_NODES_AS");
  char* at = reinterpret_cast<char*>(names) + list;
  std::memcpy(at, text, bytes);
  for (int i = 0; i < count; ++i) {
    names[i] = at;
    at += std::strcspn(at, ",");
    if (at == names[i] || at - names[i] >= static_cast<long>(sizeof Peer::node))
      refuse_value(Option::kNodesAs, text, names[i]);
    *at++ = '\0';
  }
  names[count] = nullptr;
  return names;
}

// `count`: the number of processes; 0 if it is not known yet.
const char* const* read_nodes(int count) {
  const char* text = option_value(Option::kNodesAs);
  if (text == nullptr) return nullptr;
  int names = count_names(text);
  if (count != 0 && names != count) {
    end_by_options("MARLINE_NODES_AS=%s has %d names, but the job has %d processes: name the node of each", text, names,
                   count);
  }
  return split_names(text, names);
}

const CheckedAtLoad g_names_checked(Option::kNodesAs, [] { std::free(const_cast<const char**>(read_nodes(0))); });
const CheckedAtLoad g_wire_checked(Option::kWire, [] { (void)chosen_wire(); });

}  // namespace

WireChoice chosen_wire() {
  static constexpr const char* kWords[] = {"auto", "local", "mpi"};  // by WireChoice
  return option_word<WireChoice>(Option::kWire, kWords);
}

bool read_job(Job& job) {
  job = {};
  const char* secret = variable("MARLINE_JOB");
  if (secret != nullptr) {
    read_secret(secret, job.secret);
    job.count = read_number("MARLINE_JOB_COUNT", 1, kMostProcesses);
    job.number = read_number("MARLINE_JOB_NUMBER", 0, job.count - 1);
    job.address = variable("MARLINE_JOB_ADDRESS");
    if (job.address == nullptr)
      end_by_options("MARLINE_JOB is set, but MARLINE_JOB_ADDRESS is not: start the program by its launcher");
  }
  job.nodes = read_nodes(job.count);
  return secret != nullptr;
}

}  // namespace marline::offload::wire
