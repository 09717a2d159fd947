// SPDX-License-Identifier: Apache-2.0
//
// C++ exceptions around suspensions. A task suspends inside its catch block, and inside a destructor that unwinding
// runs, while others throw and catch their own: the language runtime keeps that state per thread, Marline per task.
//
// Covers: marline suspension
#include "rendezvous.h"
#include <exception>
#include <omp.h>
#include <stdexcept>
#include <string>

namespace {

constexpr int kTasks = 32;
Rendezvous meetings;

std::string name_of(int task) { return "exception of task " + std::to_string(task); }

void suspend_in_a_catch_block(int self) {
  try {
    throw std::runtime_error(name_of(self));
  } catch (const std::runtime_error& e) {
    rendezvous_meet(&meetings, 0, self);
    CHECK(e.what() == name_of(self));
    std::exception_ptr current = std::current_exception();
    CHECK(current != nullptr);
    try {
      std::rethrow_exception(current);
    } catch (const std::runtime_error& same) {
      rendezvous_meet(&meetings, 1, self);
      CHECK(same.what() == name_of(self));
    }
  }
  CHECK(std::current_exception() == nullptr);
}

void rethrow_after_a_suspension(int self) {
  int caught = 0;
  try {
    try {
      throw self;
    } catch (int) {
      rendezvous_meet(&meetings, 2, self);
      throw;  // the exception that this task is handling, not the last one of the thread
    }
  } catch (int value) {
    CHECK_EQ(value, self);
    caught++;
  }
  CHECK_EQ(caught, 1);
}

struct SuspendsInDestructor {
  int self;
  ~SuspendsInDestructor() {
    CHECK_EQ(std::uncaught_exceptions(), 1);
    rendezvous_meet(&meetings, 3, self);
    CHECK_EQ(std::uncaught_exceptions(), 1);
  }
};

void suspend_while_unwinding(int self) {
  CHECK_EQ(std::uncaught_exceptions(), 0);
  try {
    SuspendsInDestructor guard{self};
    throw std::logic_error(name_of(self));
  } catch (const std::logic_error& e) {
    CHECK_EQ(std::uncaught_exceptions(), 0);
    CHECK(e.what() == name_of(self));
  }
}

void throw_through_resumed_frames(int self, int depth) {
  std::string local = name_of(depth);
  if (depth == 0) {
    rendezvous_meet(&meetings, 4, self);
    throw std::runtime_error(name_of(self));
  }
  throw_through_resumed_frames(self, depth - 1);
  CHECK(local.empty());  // not reached
}

void task_body(int self) {
  suspend_in_a_catch_block(self);
  rethrow_after_a_suspension(self);
  suspend_while_unwinding(self);
  try {
    throw_through_resumed_frames(self, 20);
    CHECK(!"the exception was lost");
  } catch (const std::runtime_error& e) {
    CHECK(e.what() == name_of(self));
  }
}

}  // namespace

int main() {
  for (int round = 0; round < 5; round++) {
    int done = 0;
    rendezvous_init(&meetings, kTasks);
#pragma omp parallel shared(done)
#pragma omp single
    for (int self = 0; self < kTasks; self++) {
#pragma omp task firstprivate(self) shared(done)
      {
        task_body(self);
#pragma omp atomic
        done++;
      }
    }
    CHECK_EQ(done, kTasks);
  }
  return 0;
}
