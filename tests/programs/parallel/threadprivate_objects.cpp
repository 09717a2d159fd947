// SPDX-License-Identifier: Apache-2.0
//
// threadprivate objects with constructors and destructors: each thread's is constructed once, keeps its value between
// regions, is copied by copyin, and is destroyed when a thread of the program's ends.
//
// Covers: threadprivate, parallel(copyin)
#include "../check.h"
#include <atomic>
#include <omp.h>
#include <pthread.h>

static std::atomic<int> g_constructed{0}, g_destroyed{0};

struct Counter {
  int value;
  int* storage;
  Counter() : value(7), storage(new int[3]{1, 2, 3}) { g_constructed++; }
  Counter(const Counter&) = delete;
  Counter& operator=(const Counter& other) {
    value = other.value;
    for (int i = 0; i < 3; i++) storage[i] = other.storage[i];
    return *this;
  }
  ~Counter() {
    g_destroyed++;
    delete[] storage;
    storage = nullptr;
  }
};

extern Counter counter, pair_of[2];  // GCC wants the directive before the definition, which uses the constructor
extern int plain;
#pragma omp threadprivate(counter, pair_of, plain)
Counter counter, pair_of[2];
int plain = 11;

static void check_fresh() {
  CHECK_EQ(counter.value, 7);
  CHECK_EQ(counter.storage[2], 3);
  CHECK_EQ(pair_of[0].value + pair_of[1].value, 14);
  CHECK_EQ(plain, 11);
}

// The main thread's are the first use: what it changes must not show in other threads' copies.
static void change_main() {
  check_fresh();
  counter.value = 100;
  pair_of[1].value = 100;
  plain = 100;
}

static void regions(int n) {
#pragma omp parallel num_threads(n)
  {
    if (omp_get_thread_num() != 0) check_fresh();
    counter.value = 1000 + omp_get_thread_num();
    counter.storage[1] = omp_get_thread_num();
    pair_of[0].value = 2000 + omp_get_thread_num();
    plain = 3000 + omp_get_thread_num();
  }
#pragma omp parallel num_threads(n)
  {
    CHECK_EQ(counter.value, 1000 + omp_get_thread_num());
    CHECK_EQ(counter.storage[1], omp_get_thread_num());
    CHECK_EQ(pair_of[0].value, 2000 + omp_get_thread_num());
    CHECK_EQ(plain, 3000 + omp_get_thread_num());
  }
  CHECK_EQ(g_constructed, 3 * n);  // once per thread and object
  counter.value = 5;
  plain = 6;
#pragma omp parallel num_threads(n) copyin(counter, plain)
  {
    CHECK_EQ(counter.value, 5);
    CHECK_EQ(plain, 6);
    CHECK_EQ(pair_of[0].value, 2000 + omp_get_thread_num());
  }
  CHECK_EQ(g_constructed, 3 * n);
}

static void* use_in_thread(void*) {
  check_fresh();
  counter.value = -1;
  CHECK_EQ(counter.value, -1);
  return nullptr;
}

static void threads_of_the_program(int rounds) {
  int constructed = g_constructed, destroyed = g_destroyed;
  for (int round = 1; round <= rounds; round++) {
    pthread_t thread;
    CHECK_EQ(pthread_create(&thread, nullptr, use_in_thread, nullptr), 0);
    CHECK_EQ(pthread_join(thread, nullptr), 0);
    CHECK_EQ(g_constructed, constructed + 3 * round);
    CHECK_EQ(g_destroyed, destroyed + 3 * round);
  }
  CHECK_EQ(counter.value, 5);  // the main thread's
}

int main() {
  omp_set_dynamic(0);
  change_main();
  regions(omp_get_max_threads());
  threads_of_the_program(10);
  return 0;
}
