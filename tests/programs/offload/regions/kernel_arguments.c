/* SPDX-License-Identifier: Apache-2.0
 *
 * How kernels are called, for each version of the arguments that Clang's code passes: 2 (Clang 16) the words; 3 (17 to
 * 22) a null pointer before them; 4 the null pointer after them; 5 (23) one array of pointers to words and null
 * pointer. The tables are written by hand, and the image is this file, built with IMAGE.
 *
 * Covers: entry points of other compilers
 */
#ifndef IMAGE
#include "../device.h"
#include "../load/clang_tables.h"
#endif
#include <stdint.h>

typedef struct {
  long* sums;
  int64_t count;
  int64_t factor;
} Given;

#ifdef IMAGE
static void work(int version, Given given, const void* null) {
  for (int64_t i = 0; i < given.count; i++) given.sums[i] = null != 0 ? -1 : given.sums[i] * given.factor + version;
}

void kernel_2(long* sums, int64_t count, int64_t factor) { work(2, (Given){sums, count, factor}, 0); }
void kernel_3(void* null, long* sums, int64_t count, int64_t factor) { work(3, (Given){sums, count, factor}, null); }
void kernel_4(long* sums, int64_t count, int64_t factor, void* null) { work(4, (Given){sums, count, factor}, null); }
void kernel_5(void** given) {
  work(5, (Given){*(long**)given[0], *(int64_t*)given[1], *(int64_t*)given[2]}, *(void**)given[3]);
}
#else
enum { kFirst = 2, kLast = 5, kVersions = kLast - kFirst + 1, kCount = 100 };

static char ids[kVersions];
static Entry entries[kVersions] = {
    {0, 1, 1, 0, &ids[0], "kernel_2", 0, 0, NULL},
    {0, 1, 1, 0, &ids[1], "kernel_3", 0, 0, NULL},
    {0, 1, 1, 0, &ids[2], "kernel_4", 0, 0, NULL},
    {0, 1, 1, 0, &ids[3], "kernel_5", 0, 0, NULL},
};

static void register_image(const char* path) {
  FILE* file = fopen(path, "rb");
  CHECK(file != NULL && fseek(file, 0, SEEK_END) == 0);
  long bytes = ftell(file);
  char* code = malloc((size_t)bytes);
  rewind(file);
  CHECK(bytes > 0 && code != NULL && fread(code, 1, (size_t)bytes, file) == (size_t)bytes);
  fclose(file);
  static Image image;
  static Descriptor descriptor;
  image = (Image){code, code + bytes, entries, entries + kVersions};
  descriptor = (Descriptor){1, &image, entries, entries + kVersions};
  __tgt_register_lib(&descriptor);
}

static void run(uint32_t version, long* sums, int64_t factor) {
  void* items[] = {sums, (void*)(intptr_t)kCount, (void*)(intptr_t)factor, NULL};
  int64_t sizes[] = {kCount * sizeof *sums, 8, 8, 0};
  int64_t types[] = {0x23, 0x120, 0x120, 0x120}; /* tofrom, and values; all are parameters */
  Arguments arguments = {.version = version,
                         .count = version < 4 ? 3 : 4,
                         .bases = items,
                         .begins = items,
                         .sizes = sizes,
                         .types = types};
  CHECK_EQ(__tgt_target_kernel(NULL, -1, -1, 0, &ids[version - kFirst], &arguments), 0);
}

int main(int argc, char** argv) {
  CHECK(argc == 2);
  register_image(argv[1]);
  long sums[kCount];
  for (int round = 0; round < 3; round++) {
    for (uint32_t version = kFirst; version <= kLast; version++) {
      for (int i = 0; i < kCount; i++) sums[i] = i;
      run(version, sums, 7 + round);
      for (int i = 0; i < kCount; i++) CHECK_EQ(sums[i], i * (7 + round) + (long)version);
    }
  }
  return 0;
}
#endif
