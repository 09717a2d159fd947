/* SPDX-License-Identifier: Apache-2.0
 *
 * What code for LLVM 22 and later calls for interoperability objects: the construct with preferences, and dispatch
 * (LLVM, InteropAPI.h). No compiler here makes these calls, so the program declares and makes them. On a device without
 * a foreign runtime an object is always ready; the objects of dispatch are never released, and there is one a device.
 * Then LLVM's listings of devices and of what is mapped.
 *
 * Covers: entry points of other compilers
 */
#include "../device.h"
#include <stdint.h>
#include <stdio.h>

typedef struct {
  uint32_t version, flags; /* 1: for dispatch; 2: nowait */
  int thread;
} context_t;
typedef struct {
  intptr_t address;
  size_t length;
  uint8_t flags;
} dependence_t;
typedef struct {
  int32_t count;
  dependence_t* list;
  int32_t other_count;
  dependence_t* others;
} dependences_t;
typedef struct {
  int32_t runtime, attributes;
  int64_t own;
} preference_t;

enum { kTarget, kTargetSync, kInOut = 3 };

void* __tgt_interop_get(void*, int32_t, int64_t, int32_t, preference_t*, context_t*, dependences_t*);
int __tgt_interop_use60(void*, void*, context_t*, dependences_t*);
int __tgt_interop_release(void*, void*, context_t*, dependences_t*);
int ompx_interop_add_completion_callback(void*, void (*)(void*, void*), void*);
int __tgt_print_device_info(int64_t);
void ompx_dump_mapping_tables(void);
#pragma weak __tgt_interop_get /* libmarline-target has them, and no other library that programs are linked with */
#pragma weak __tgt_interop_use60
#pragma weak __tgt_interop_release
#pragma weak ompx_interop_add_completion_callback
#pragma weak __tgt_print_device_info
#pragma weak ompx_dump_mapping_tables

static int calls;

static void completed(void* object, void* data) {
  CHECK(object != NULL && data == &calls);
  calls++;
}

static long device_of(omp_interop_t object) {
  int code = 7;
  long device = omp_get_interop_int(object, omp_ipr_device_num, &code);
  CHECK_EQ(code, omp_irc_success);
  return device;
}

static void objects(void) {
  context_t context = {0}, dispatch = {.flags = 1};
  preference_t cuda = {.runtime = 1};
  int x = 0;
  dependence_t after_x = {(intptr_t)&x, sizeof x, kInOut};
  dependences_t dependences = {.count = 1, .list = &after_x};
#pragma omp target nowait map(tofrom : x) depend(inout : x)
  x++;
  omp_interop_t object = __tgt_interop_get(NULL, kTargetSync, 0, 1, &cuda, &context, &dependences);
  CHECK_EQ(x, 1);
  CHECK(object != NULL && device_of(object) == 0);
  CHECK_EQ(ompx_interop_add_completion_callback(object, completed, &calls), omp_irc_success);
#pragma omp target nowait map(tofrom : x) depend(inout : x)
  x++;
  CHECK_EQ(__tgt_interop_use60(NULL, object, &context, &dependences), 0);
  CHECK_EQ(x, 2);
  CHECK_EQ(calls, 1);
  CHECK_EQ(__tgt_interop_release(NULL, object, &context, NULL), 0);
  CHECK_EQ(calls, 1);
  omp_interop_t one = __tgt_interop_get(NULL, kTarget, 0, 0, NULL, &dispatch, NULL);
  CHECK(one != NULL && device_of(one) == 0);
  CHECK(one == __tgt_interop_get(NULL, kTarget, 0, 0, NULL, &dispatch, NULL));
  CHECK_EQ(__tgt_interop_release(NULL, one, &dispatch, NULL), 0);
  CHECK(one == __tgt_interop_get(NULL, kTarget, -1, 0, NULL, &dispatch, NULL) && device_of(one) == 0);
  CHECK(__tgt_interop_get(NULL, kTarget, omp_get_initial_device(), 0, NULL, &context, NULL) == NULL);
  CHECK(__tgt_interop_use60(NULL, NULL, &context, NULL) != 0);
  CHECK(__tgt_interop_release(NULL, NULL, &context, NULL) != 0);
  CHECK(ompx_interop_add_completion_callback(NULL, completed, &calls) != omp_irc_success);
}

/* What a listing writes to the descriptor. */
static void read_listing(int descriptor, char* text, size_t bytes) {
  FILE* written = tmpfile();
  CHECK(written != NULL);
  fflush(NULL);
  int kept = dup(descriptor);
  dup2(fileno(written), descriptor);
  if (descriptor == STDERR_FILENO) ompx_dump_mapping_tables();
  if (descriptor == STDOUT_FILENO) CHECK_EQ(__tgt_print_device_info(0), 1);
  fflush(NULL);
  dup2(kept, descriptor);
  close(kept);
  rewind(written);
  text[fread(text, 1, bytes - 1, written)] = '\0';
  fclose(written);
}

static void listings(void) {
  static int data[100];
  char text[1 << 16], line[100];
#pragma omp target enter data map(to : data)
#pragma omp target enter data map(to : data)
  read_listing(STDERR_FILENO, text, sizeof text);
  snprintf(line, sizeof line, "marline:   host %p, %zu bytes, device 0x", (void*)data, sizeof data);
  const char* found = strstr(text, line);
  CHECK(found != NULL);
  const char* rest = strstr(found, ", references 2\n");
  CHECK(rest != NULL && memchr(found, '\n', (size_t)(rest - found)) == NULL);
#pragma omp target exit data map(delete : data)
  read_listing(STDERR_FILENO, text, sizeof text);
  CHECK(strstr(text, line) == NULL);
  read_listing(STDOUT_FILENO, text, sizeof text);
  CHECK(strstr(text, "Kind") != NULL && strstr(text, "Memory") != NULL);
  CHECK_EQ(__tgt_print_device_info(omp_get_initial_device()), 0);
}

int main(void) {
  CHECK(&__tgt_interop_get != NULL);
  objects();
  listings();
  return 0;
}
