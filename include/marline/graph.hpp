/* SPDX-License-Identifier: Apache-2.0
 *
 * Persistent graphs for C++17: a range with the iterations of a graph (marline.h says what that is).
 *
 *     for (int i : marline::graph_loop(n, MARLINE_GRAPH_BARRIER)) { ... tasks ... }
 *
 * `break`, `return` and exceptions end the graph: its destructor waits for the graph's tasks. With MARLINE_GRAPH_REPLAY
 * the body does not see the iterations that are replayed. Used only by the task that made it. */
#ifndef MARLINE_GRAPH_HPP
#define MARLINE_GRAPH_HPP

#include <marline/marline.h>

namespace marline {

class graph_loop {
 public:
  explicit graph_loop(int count, int mode = MARLINE_GRAPH_BARRIER) : graph_(marline_graph_begin(mode)), count_(count) {}
  ~graph_loop() { marline_graph_end(graph_); }
  graph_loop(const graph_loop&) = delete;
  graph_loop& operator=(const graph_loop&) = delete;

  /* invalidate: the next iteration is recorded anew. drop_task: the task that comes next in the record is no longer
   * created. */
  void invalidate() { marline_graph_invalidate(graph_); }
  void drop_task() { marline_graph_drop_task(graph_); }

  struct sentinel {};

  class iterator {
   public:
    explicit iterator(graph_loop& loop) : loop_(&loop) {}
    int operator*() const { return index_; }
    iterator& operator++() {
      ++index_;
      return *this;
    }
    /* Begins the iteration. Returns whether there is an iteration with a body to run. */
    bool operator!=(sentinel) {
      while (index_ < loop_->count_ && !marline_graph_iterate(loop_->graph_)) ++index_;
      return index_ < loop_->count_;
    }

   private:
    graph_loop* loop_;
    int index_ = 0;
  };

  iterator begin() { return iterator(*this); }
  sentinel end() { return {}; }

 private:
  marline_graph_t* graph_;
  int count_;
};

}  // namespace marline

#endif
