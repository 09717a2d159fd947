/* SPDX-License-Identifier: Apache-2.0
 *
 * How kernels are called, for each version of the arguments that Clang's code passes: 1 (Clang 15, whose structure is
 * shorter, and which has an entry point for nowait) and 2 (Clang 16 and 17) the words; 2 (Clang 18) and 3 (19 to 22) a
 * null pointer before them; 4 the null pointer after them; 5 (23) one array of pointers to words and null pointer. The
 * tables are written by hand, and the images are this file, built with IMAGE and with CLANG_18.
 *
 * Covers: entry points of other compilers
 */
#ifndef IMAGE
#include "../device.h"
#include "../load/clang_tables.h"
#endif
#include <stddef.h>
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

void kernel_1(long* sums, int64_t count, int64_t factor) { work(1, (Given){sums, count, factor}, 0); }
#ifdef CLANG_18
__asm__(".ident \"clang version 18.1.8\"");
void kernel_2(void* null, long* sums, int64_t count, int64_t factor) { work(2, (Given){sums, count, factor}, null); }
#else
void kernel_2(long* sums, int64_t count, int64_t factor) { work(2, (Given){sums, count, factor}, 0); }
#endif
void kernel_3(void* null, long* sums, int64_t count, int64_t factor) { work(3, (Given){sums, count, factor}, null); }
void kernel_4(long* sums, int64_t count, int64_t factor, void* null) { work(4, (Given){sums, count, factor}, null); }
void kernel_5(void** given) {
  work(5, (Given){*(long**)given[0], *(int64_t*)given[1], *(int64_t*)given[2]}, *(void**)given[3]);
}
#else
enum { kFirst = 1, kLast = 5, kVersions = kLast - kFirst + 1, kImages = 2, kCount = 100 };

int __tgt_target_kernel_nowait(void* ident, int64_t device, int32_t teams, int32_t threads, void* id,
                               Arguments* arguments, int32_t count, void* list, int32_t other_count, void* other_list);

static char ids[kImages][kVersions];
static Entry entries[kImages][kVersions];

static void register_image(int number, const char* path) {
  static const char* const names[kVersions] = {"kernel_1", "kernel_2", "kernel_3", "kernel_4", "kernel_5"};
  for (int i = 0; i < kVersions; i++)
    entries[number][i] = (Entry){0, 1, 1, 0, &ids[number][i], (char*)names[i], 0, 0, NULL};
  FILE* file = fopen(path, "rb");
  CHECK(file != NULL && fseek(file, 0, SEEK_END) == 0);
  long bytes = ftell(file);
  char* code = malloc((size_t)bytes);
  rewind(file);
  CHECK(bytes > 0 && code != NULL && fread(code, 1, (size_t)bytes, file) == (size_t)bytes);
  fclose(file);
  static Image images[kImages];
  static Descriptor descriptors[kImages];
  Entry* first = entries[number];
  images[number] = (Image){code, code + bytes, first, first + kVersions};
  descriptors[number] = (Descriptor){1, &images[number], first, first + kVersions};
  __tgt_register_lib(&descriptors[number]);
}

static void run(int image, uint32_t version, long* sums, int64_t factor) {
  void* items[] = {sums, (void*)(intptr_t)kCount, (void*)(intptr_t)factor, NULL};
  int64_t sizes[] = {kCount * sizeof *sums, 8, 8, 0};
  int64_t types[] = {0x23, 0x120, 0x120, 0x120}; /* tofrom, and values; all are parameters */
  Arguments arguments = {.version = version,
                         .count = version < 4 ? 3 : 4,
                         .bases = items,
                         .begins = items,
                         .sizes = sizes,
                         .types = types};
  void* id = &ids[image][version - kFirst];
  if (version == 1) /* what stands beyond Clang 15's structure */
    memset(&arguments.flags, 0xff, sizeof arguments - offsetof(Arguments, flags));
  if (version == 1 && factor % 2 == 0) {
#pragma omp task default(shared)
    CHECK_EQ(__tgt_target_kernel_nowait(NULL, -1, -1, 0, id, &arguments, 0, NULL, 0, NULL), 0);
#pragma omp taskwait
  } else {
    CHECK_EQ(__tgt_target_kernel(NULL, -1, -1, 0, id, &arguments), 0);
  }
}

int main(int argc, char** argv) {
  CHECK(argc == 1 + kImages);
  for (int image = 0; image < kImages; image++) register_image(image, argv[1 + image]);
  long sums[kCount];
  for (int round = 0; round < 3; round++) {
    for (int image = 0; image < kImages; image++) {
      for (uint32_t version = image == 0 ? kFirst : 2; version <= kLast; version++) {
        for (int i = 0; i < kCount; i++) sums[i] = i;
        run(image, version, sums, 7 + round);
        for (int i = 0; i < kCount; i++) CHECK_EQ(sums[i], i * (7 + round) + (long)version);
      }
    }
  }
  return 0;
}
#endif
