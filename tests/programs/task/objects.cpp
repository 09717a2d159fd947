// SPDX-License-Identifier: Apache-2.0
//
// firstprivate C++ objects: each task gets its own copy, made when the task is created and destroyed after it ran, once
// each, under every way in which a task can run (deferred, undeferred, with dependences, as a taskloop chunk).
//
// Covers: task(if, final, firstprivate, depend:inout), taskloop(grainsize, firstprivate)
#include "../check.h"
#include <atomic>
#include <omp.h>
#include <string>
#include <vector>

namespace {

std::atomic<long> live{0}, copies{0};

class Counted {
 public:
  explicit Counted(int value) : value_(value), self_(this), text_(100, static_cast<char>('a' + value % 26)) { live++; }
  Counted(const Counted& other) : value_(other.value_), self_(this), text_(other.text_) {
    CHECK(other.self_ == &other);
    live++;
    copies++;
  }
  Counted& operator=(const Counted&) = delete;
  ~Counted() {
    CHECK(self_ == this);  // destroyed where it was built: it was not moved by memcpy
    self_ = nullptr;
    live--;
  }
  void check(int value) const {
    CHECK_EQ(value_, value);
    CHECK(self_ == this);
    CHECK_EQ(text_.size(), 100);
    CHECK_EQ(text_[99], 'a' + value % 26);
  }

 private:
  int value_;
  const Counted* self_;
  std::string text_;
};

void all_destroyed(long copies_at_least) {
  CHECK_EQ(live.load(), 0);
  CHECK(copies.load() >= copies_at_least);
  copies = 0;
}

void plain_tasks(bool deferred) {
#pragma omp parallel
#pragma omp single
  for (int t = 0; t < 100; t++) {
    Counted object(t);
    std::vector<int> values(50, t);
#pragma omp task firstprivate(object, values, t) if (deferred)
    {
      object.check(t);
      CHECK_EQ(values[49], t);
    }
  }
  all_destroyed(100);
}

void dependent_tasks() {
  int x = 0;
#pragma omp parallel
#pragma omp single
  for (int t = 0; t < 100; t++) {
    Counted object(t);
#pragma omp task firstprivate(object, t) depend(inout : x)
    {
      object.check(t);
      CHECK_EQ(x, t);
      x++;
    }
  }
  CHECK_EQ(x, 100);
  all_destroyed(100);
}

void final_tasks() {
#pragma omp parallel
#pragma omp single
  {
    Counted object(7);
#pragma omp task firstprivate(object) final(true)
    {
#pragma omp task firstprivate(object)
      object.check(7);
    }
  }
  all_destroyed(2);
}

void taskloops() {
  std::atomic<int> ran{0};
#pragma omp parallel
#pragma omp single
  {
    Counted object(3);
#pragma omp taskloop firstprivate(object) grainsize(5)
    for (int i = 0; i < 200; i++) {
      object.check(3);
      ran++;
    }
  }
  CHECK_EQ(ran.load(), 200);
  all_destroyed(1);
}

void lambdas_and_references() {
  std::vector<std::string> words(64);
  auto fill = [&words](int i) { words[i] = std::to_string(i); };
#pragma omp parallel
#pragma omp single
  for (int i = 0; i < 64; i++) {
#pragma omp task firstprivate(i) shared(fill)
    fill(i);
  }
  for (int i = 0; i < 64; i++) CHECK_EQ(std::stoi(words[i]), i);
}

}  // namespace

int main() {
  for (int round = 0; round < 5; round++) {
    plain_tasks(true);
    plain_tasks(false);
    dependent_tasks();
    final_tasks();
    taskloops();
    lambdas_and_references();
  }
  return 0;
}
