/* SPDX-License-Identifier: Apache-2.0
 *
 * Parses, explains and prints the options. Called by the main thread before anything runs. A value is accepted only if
 * all of it was understood and lies in its range.
 */
#include "options.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum Type { kNameType, kLongType, kRealType, kBytesType, kSeedType };

struct Entry {
  const char* name;
  enum Type type;
  size_t offset;
  double low, high;         /* numbers; the seed takes any */
  const char* const* names; /* kNameType */
  int count;
  const char* fallback;
  const char* text;
};

static const struct Entry kEntries[] = {
    {"pattern", kNameType, offsetof(struct Options, graph.pattern), 0, 0, kPatternNames, kPatterns, "stencil_1d",
     "dependences, one of"},
    {"kernel", kNameType, offsetof(struct Options, kernel.kind), 0, 0, kKernelNames, kKernels, "compute",
     "work of a task, one of"},
    {"width", kLongType, offsetof(struct Options, graph.width), 1, 1 << 20, NULL, 0, "8", "tasks in a step"},
    {"steps", kLongType, offsetof(struct Options, graph.steps), 1, 1 << 30, NULL, 0, "1000", "steps"},
    {"iterations", kLongType, offsetof(struct Options, kernel.iterations), 0, 1e15, NULL, 0, "1000",
     "grain: compute, load_imbalance: 64 flop each; memory: 4096 bytes read and written each; busy_wait, sleep: ns"},
    {"output-bytes", kLongType, offsetof(struct Options, output_bytes), 16, 1 << 30, NULL, 0, "64",
     "what a task writes and each of its readers checks; a multiple of 16"},
    {"radix", kLongType, offsetof(struct Options, graph.radix), 0, 1 << 20, NULL, 0, "5",
     "nearest, spread, random_nearest: inputs"},
    {"fraction", kRealType, offsetof(struct Options, graph.fraction), 0, 1, NULL, 0, "0.5",
     "random_nearest: share of inputs kept"},
    {"imbalance", kRealType, offsetof(struct Options, kernel.imbalance), 0, 2, NULL, 0, "1",
     "load_imbalance: iterations x uniform random factor in [1 - IMBALANCE/2, 1 + IMBALANCE/2)"},
    {"seed", kSeedType, offsetof(struct Options, graph.seed), 0, 0, NULL, 0, "1", "random_nearest, load_imbalance"},
    {"scratch-bytes", kBytesType, offsetof(struct Options, kernel.scratch_bytes), kBlockBytes, 1e12, NULL, 0, "262144",
     "memory: what each worker streams over; a multiple of 4096"},
    {"slots", kLongType, offsetof(struct Options, slots), 2, 1 << 20, NULL, 0, "8",
     "steps whose outputs are kept, a power of two (see README.md)"},
    {"workers", kLongType, offsetof(struct Options, workers), 0, 1 << 16, NULL, 0, "0",
     "StarPU: CPU workers (0: one per core; it has a limit); elsewhere OMP_NUM_THREADS and ranks decide: must agree"},
    {"warmup", kLongType, offsetof(struct Options, warmup), 0, 1000, NULL, 0, "1",
     "unmeasured runs of the whole graph before the measured one"},
};

enum { kEntryCount = sizeof kEntries / sizeof kEntries[0] };

static void* field(struct Options* options, const struct Entry* entry) { return (char*)options + entry->offset; }

static int set_name(const struct Entry* entry, const char* value, void* to) {
  for (int k = 0; k < entry->count; ++k) {
    if (strcmp(entry->names[k], value)) continue;
    memcpy(to, &k, sizeof k); /* an enumeration without negative values: as wide as int in both compilers */
    return 1;
  }
  return 0;
}

static int set_value(const struct Entry* entry, const char* value, void* to) {
  if (entry->type == kNameType) return set_name(entry, value, to);
  char* end;
  errno = 0;
  if (entry->type == kSeedType) {
    *(uint64_t*)to = strtoull(value, &end, 10);
    return end != value && !*end && !errno && value[0] != '-';
  }
  if (entry->type == kRealType) {
    double real = *(double*)to = strtod(value, &end);
    return end != value && !*end && !errno && real >= entry->low && real <= entry->high;
  }
  long number = strtol(value, &end, 10);
  if (entry->type == kBytesType)
    *(size_t*)to = (size_t)number;
  else
    *(long*)to = number;
  return end != value && !*end && !errno && (double)number >= entry->low && (double)number <= entry->high;
}

static const struct Entry* find(const char* word) {
  if (strncmp(word, "--", 2)) return NULL;
  for (int k = 0; k < kEntryCount; ++k)
    if (!strcmp(kEntries[k].name, word + 2)) return &kEntries[k];
  return NULL;
}

static void describe_range(const struct Entry* entry, char* text, size_t size) {
  if (entry->type == kNameType)
    snprintf(text, size, "it takes a name that --help lists");
  else if (entry->type == kSeedType)
    snprintf(text, size, "it takes a whole number, 0 or more");
  else
    snprintf(text, size, "it takes %s from %.15g to %.15g", entry->type == kRealType ? "a number" : "a whole number",
             entry->low, entry->high);
}

/* Checks that concern several options at once. */
static const char* check(const struct Options* options) {
  const char* wrong = graph_check(&options->graph);
  if (wrong) return wrong;
  if (options->slots & (options->slots - 1)) return "--slots must be a power of two";
  if (options->output_bytes % 16) return "--output-bytes must be a multiple of 16";
  if (options->kernel.scratch_bytes % kBlockBytes) return "--scratch-bytes must be a multiple of 4096";
  if ((double)options->graph.steps * (double)(options->warmup + 1) > 4e9)
    return "--steps x (--warmup + 1) must be at most 4000000000";
  return NULL;
}

enum Parsed options_parse(int argc, char** argv, struct Options* options, char message[kMessage]) {
  for (int k = 0; k < kEntryCount; ++k) set_value(&kEntries[k], kEntries[k].fallback, field(options, &kEntries[k]));
  for (int a = 1; a < argc; a += 2) {
    if (!strcmp(argv[a], "--help")) return kHelp;
    const struct Entry* entry = find(argv[a]);
    if (!entry) {
      snprintf(message, kMessage, "no option is called %s: --help lists them", argv[a]);
      return kBadOption;
    }
    const char* value = a + 1 < argc ? argv[a + 1] : "";
    if (set_value(entry, value, field(options, entry))) continue;
    char range[kMessage / 2];
    describe_range(entry, range, sizeof range);
    snprintf(message, kMessage, "bad value '%s' for %s: %s", value, argv[a], range);
    return kBadOption;
  }
  options->kernel.seed = options->graph.seed;
  const char* wrong = check(options);
  if (!wrong) return kParsed;
  snprintf(message, kMessage, "%s", wrong);
  return kBadOption;
}

void options_help(const char* program) {
  printf("usage: %s [--OPTION VALUE]...\n", program);
  for (int k = 0; k < kEntryCount; ++k) {
    const struct Entry* entry = &kEntries[k];
    printf("  --%-14s %s", entry->name, entry->text);
    for (int n = 0; n < entry->count; ++n) printf("%s%s", n ? ", " : " ", entry->names[n]);
    printf(" (default: %s)\n", entry->fallback);
  }
}

void options_print(const struct Options* options) {
  for (int k = 0; k < kEntryCount; ++k) {
    const struct Entry* entry = &kEntries[k];
    if (!strcmp(entry->name, "workers")) continue; /* the driver knows how many there are */
    const void* from = (const char*)options + entry->offset;
    printf("# %s ", entry->name);
    switch (entry->type) {
      case kNameType: printf("%s\n", entry->names[*(const int*)from]); break;
      case kRealType: printf("%g\n", *(const double*)from); break;
      case kSeedType: printf("%llu\n", (unsigned long long)*(const uint64_t*)from); break;
      case kBytesType: printf("%zu\n", *(const size_t*)from); break;
      case kLongType: printf("%ld\n", *(const long*)from); break;
    }
  }
}
