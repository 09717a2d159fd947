/* SPDX-License-Identifier: Apache-2.0
 *
 * threadprivate variables by the entry points that compilers without thread-local storage call: the original for the
 * main thread, copies of its first value for the others, made by a constructor or copy constructor where there is one.
 *
 * Covers: entry points of other compilers
 */
#include "../check.h"
#include "../kmp.h"
#include <omp.h>
#include <pthread.h>

void* __kmpc_threadprivate(KmpIdent*, int32_t, void* original, size_t bytes);
void* __kmpc_threadprivate_cached(KmpIdent*, int32_t, void* original, size_t bytes, void*** cache);
void __kmpc_threadprivate_register(KmpIdent*, void* original, void* (*construct)(void*), void* (*copy)(void*, void*),
                                   void (*destroy)(void*));
void __kmpc_threadprivate_register_vec(KmpIdent*, void* original, void* (*construct)(void*, size_t),
                                       void* (*copy)(void*, void*, size_t), void (*destroy)(void*, size_t), size_t);

static int plain = 3, constructed = 4, copied = 5, vector[3] = {6, 6, 6}, many[200];
static _Alignas(256) char aligned[300] = "text";
static void **plain_cache, **aligned_cache, **many_cache[200];
static int constructions, copies, destructions;

static void* mine(void* original, size_t bytes) {
  return __kmpc_threadprivate(&kmp_here, __kmpc_global_thread_num(&kmp_here), original, bytes);
}
static void* mine_cached(void* original, size_t bytes, void*** cache) {
  return __kmpc_threadprivate_cached(&kmp_here, __kmpc_global_thread_num(&kmp_here), original, bytes, cache);
}

static void* construct(void* to) {
  __atomic_add_fetch(&constructions, 1, __ATOMIC_RELAXED);
  *(int*)to = 40;
  return to;
}
static void* copy(void* to, void* from) {
  __atomic_add_fetch(&copies, 1, __ATOMIC_RELAXED);
  *(int*)to = *(int*)from;
  return to;
}
static void* construct_vector(void* to, size_t count) {
  for (size_t i = 0; i < count; i++) ((int*)to)[i] = 60 + (int)i;
  return to;
}
static void destroy(void* at) {
  CHECK(at != &constructed);
  __atomic_add_fetch(&destructions, 1, __ATOMIC_RELAXED);
}
static void destroy_vector(void* at, size_t count) {
  CHECK_EQ(count, 3);
  CHECK(at != vector);
  __atomic_add_fetch(&destructions, 1, __ATOMIC_RELAXED);
}

static void check_copies(void) { /* in a thread other than the main one */
  CHECK(mine(&plain, sizeof plain) != &plain);
  CHECK_EQ(*(int*)mine_cached(&plain, sizeof plain, &plain_cache), 3);
  CHECK_EQ(*(int*)mine(&constructed, sizeof constructed), 40);
  CHECK_EQ(*(int*)mine(&copied, sizeof copied), 5);
  int* v = mine(vector, sizeof vector);
  CHECK_EQ(v[0] + v[1] + v[2], 60 + 61 + 62);
  char* text = mine_cached(aligned, sizeof aligned, &aligned_cache);
  CHECK_EQ(strcmp(text, "text"), 0);
  CHECK(text != aligned);
}

static void* use_in_thread(void* unused) {
  check_copies();
  return unused;
}

static void keep_between_regions(void) {
#pragma omp parallel
  {
    int me = omp_get_thread_num();
    if (me != 0) check_copies();
    *(int*)mine(&plain, sizeof plain) = 100 + me;
    *(int*)mine(&copied, sizeof copied) = 200 + me;
    for (int i = 0; i < 200; i++) *(int*)mine_cached(&many[i], sizeof many[i], &many_cache[i]) = 1000 * me + i;
  }
#pragma omp parallel
  {
    int me = omp_get_thread_num();
    CHECK_EQ(*(int*)mine(&plain, sizeof plain), 100 + me);
    CHECK_EQ(*(int*)mine(&copied, sizeof copied), 200 + me);
    for (int i = 0; i < 200; i++) CHECK_EQ(*(int*)mine_cached(&many[i], sizeof many[i], &many_cache[i]), 1000 * me + i);
  }
  CHECK_EQ(plain, 100);
  CHECK_EQ(many[199], 199);
}

int main(void) {
  omp_set_dynamic(0);
  __kmpc_threadprivate_register(&kmp_here, &constructed, construct, NULL, destroy);
  if (!on_stock_runtime()) /* libomp 19 stops if there is a copy constructor */
    __kmpc_threadprivate_register(&kmp_here, &copied, NULL, copy, NULL);
  __kmpc_threadprivate_register_vec(&kmp_here, vector, construct_vector, NULL, destroy_vector, 3);
  /* The main thread has the originals; their first values are what counts. */
  CHECK(mine(&plain, sizeof plain) == &plain);
  CHECK(mine(&constructed, sizeof constructed) == &constructed);
  CHECK(mine(&copied, sizeof copied) == &copied);
  CHECK(mine(vector, sizeof vector) == vector);
  CHECK(mine_cached(aligned, sizeof aligned, &aligned_cache) == aligned);
  CHECK_EQ(constructions, 0);
  plain = constructed = copied = 999;
  strcpy(aligned, "changed");
  keep_between_regions();
  CHECK_EQ(constructions, omp_get_max_threads() - 1);
  CHECK_EQ(destructions, 0);
  for (int i = 1; i <= 5; i++) {
    pthread_t thread;
    CHECK_EQ(pthread_create(&thread, NULL, use_in_thread, NULL), 0);
    CHECK_EQ(pthread_join(thread, NULL), 0);
    if (!on_stock_runtime()) /* libomp 19 leaves it at that */
      CHECK_EQ(destructions, 2 * i);
  }
  CHECK_EQ(copied, 200);
  if (!on_stock_runtime()) CHECK(copies >= omp_get_max_threads() - 1 + 5);
  return 0;
}
