// SPDX-License-Identifier: Apache-2.0
//
// See the header.
#include "wire/job.hpp"

#include "base/options.hpp"
#include "base/report.hpp"
#include "wire/mpi_loader.hpp"

#include <cstdlib>
#include <cstring>

namespace marline::target {

namespace {

constexpr const char* kJob = "MARLINE_JOB";
constexpr const char* kTaken = "MARLINE_JOB_TAKEN";
constexpr int kMostProcesses = 4096;  // more is a mistake in a variable

[[noreturn]] void refuse(const char* name, const char* expected) {
  const char* value = std::getenv(name);
  if (value == nullptr) fatal("%s is not set, though %s is; it is for `marline run` to set them", name, kJob);
  fatal("%s=%s: expected %s; it is for `marline run` to set it", name, value, expected);
}

int read_number(const char* name, int low, int high, const char* expected) {
  const char* text = std::getenv(name);
  char* end = nullptr;
  long number = text != nullptr ? std::strtol(text, &end, 10) : -1;
  if (text == nullptr || end == text || *end != '\0' || number < low || number > high) refuse(name, expected);
  return static_cast<int>(number);
}

void read_secret(uint64_t (&secret)[2]) {
  const char* text = std::getenv(kJob);
  if (std::strlen(text) != 32 || std::strspn(text, "0123456789abcdef") != 32) refuse(kJob, "32 hexadecimal digits");
  char half[17] = {};
  for (int i = 0; i < 2; ++i) {
    std::memcpy(half, text + 16 * i, 16);
    secret[i] = std::strtoull(half, nullptr, 16);
  }
}

// A copy of the list, with zeros in place of commas, and where its names begin.
const char* const* read_nodes(int count) {
  const char* text = option_value(Option::kNodesAs);
  if (text == nullptr) return nullptr;
  char* words = strdup(text);
  auto** names = static_cast<const char**>(std::calloc(static_cast<size_t>(count), sizeof(char*)));
  if (words == nullptr || names == nullptr) fatal("no memory for MARLINE_NODES_AS");
  int found = 0;
  for (char* at = words; at != nullptr;) {
    char* name = strsep(&at, ",");
    if (*name == '\0' || found == count) refuse_value(Option::kNodesAs, text);
    names[found++] = name;
  }
  if (found != count) fatal("MARLINE_NODES_AS=%s names %d nodes, but the job has %d processes", text, found, count);
  return names;
}

void read_local(JobWords& words) {
  Job& job = words.job;
  words.kind = JobKind::kLocal;
  job.count = read_number("MARLINE_JOB_COUNT", 1, kMostProcesses, "how many processes the job has");
  job.number = read_number("MARLINE_JOB_NUMBER", 0, job.count - 1, "a number below MARLINE_JOB_COUNT");
  read_secret(job.secret);
  job.address = std::getenv("MARLINE_JOB_ADDRESS");
  if (job.address == nullptr) refuse("MARLINE_JOB_ADDRESS", "");
  job.nodes = read_nodes(job.count);
}

JobWords read() {
  JobWords words = {};
  if (std::getenv(kTaken) != nullptr) return words;
  const char* wire = option_value(Option::kWire);
  bool is_mpi = wire != nullptr && std::strcmp(wire, "mpi") == 0;
  if (wire != nullptr && !is_mpi && std::strcmp(wire, "local") != 0) refuse_value(Option::kWire, wire);
  if (std::getenv(kJob) != nullptr && !is_mpi) {
    read_local(words);
  } else if (wire == nullptr || is_mpi) {
    if (launched_by_mpi(words.job.number, words.job.count)) words.kind = JobKind::kMpi;
    if (words.kind == JobKind::kMpi && words.job.count > 0) words.job.nodes = read_nodes(words.job.count);
  }
  return words;
}

}  // namespace

const JobWords& job_words() {
  static const JobWords words = read();
  return words;
}

void take_job_words_away() { setenv(kTaken, "yes", 1); }

}  // namespace marline::target
