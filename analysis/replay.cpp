// SPDX-License-Identifier: Apache-2.0
//
// The model of a run: a thread works on one task after another, and a task that waits gives its thread away, as in
// runtime/sched/queue.cpp and runtime/exec/worker. One Run is one simulation; nothing outlives it. Events of one time
// happen in the order in which they were planned, so the result depends on the arguments alone.
#include "replay.h"

#include <new>

#include "replay_parts.hpp"

namespace {

using marline::analysis::Heap;
using marline::analysis::kNone;
using marline::analysis::Link;
using marline::analysis::List;
using marline::analysis::Table;

constexpr int64_t kMost = INT32_MAX;  // points and edges: what is looked at for each of them lies close together

struct Outgoing {
  int64_t delay;
  int32_t sink, edge;
};

constexpr int32_t kReached = -1;  // instead of how many edges are missing
constexpr int64_t kEnds = -1;     // instead of the work after the last point of a task

// `time`: when what the point waits for is there, as far as it is known, and later when the point was reached. `work`:
// until the task's next point. `cause`: the edge that came last, and later the cause, as MarlineReplay's result.
// `missing`: how many edges have not come. `before`: only where the cause is a thread, or work. All of it is used at
// once, and in no order of the points: so it lies together, two points in a line of the cache.
struct Point {
  int64_t time = 0, work = kEnds;
  int32_t cause = kMarlineBegan, missing = 0, task = -1, before = -1;
};

enum class Happens : int32_t {
  kArrives,  // the task on the thread has worked to the point
  kBegins,   // a thread has turned to the task that stands at the point
  kGoesOn,   // the same; the task has left the point already
  kReady,    // what the point waits for is there
  kLooks,    // a thread that was woken looks for work
};

struct Event {
  int64_t time, order, point;
  int32_t thread;
  Happens what;
  bool is_before(const Event& other) const { return time != other.time ? time < other.time : order < other.order; }
};

struct Urgent {
  int64_t priority, order, task;
  bool is_before(const Urgent& other) const {
    return priority != other.priority ? priority > other.priority : order > other.order;  // the newest first
  }
};

enum class State : int32_t { kNew, kRuns, kWaits, kKeepsThread, kInterrupted, kEnded };

struct TaskState {
  int64_t at = 0;  // the point where it waits; of an interrupted one, the last that it has passed
  int32_t thread = -1;
  State state = State::kNew;
};

struct Thread {
  int64_t rank = 0;
  List own, resumed;
  Heap<Urgent> urgent;
  int64_t next = kNone;  // the task that it runs as soon as it is free
  int64_t last = kNone;  // the last point of what it ran before
  bool is_idle = false;
};

struct Rank {
  int64_t first_thread = 0, threads = 0;
  List injected, idle;
};

class Run {
 public:
  explicit Run(const MarlineReplay& run)
      : run_(run),
        thread_count_(count_threads(run)),
        out_first_(run.points + 2),
        out_(run.edges),
        points_(run.points),
        tasks_(run.tasks),
        task_links_(run.tasks),
        threads_(thread_count_),
        thread_links_(thread_count_),
        ranks_(run.ranks) {}

  ~Run() {
    if (!has_all() || !is_set_up_) return;
    for (int64_t thread = 0; thread < thread_count_; ++thread) threads_[thread].~Thread();
  }
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  bool has_all() const {
    return out_first_.has_all() && out_.has_all() && points_.has_all() && tasks_.has_all() && task_links_.has_all() &&
           threads_.has_all() && thread_links_.has_all() && ranks_.has_all();
  }

  // Returns how many tasks are left, -1 if there is no memory.
  int64_t simulate() {
    set_up();
    while (has_memory_ && (has_next_ || !events_.empty())) {
      const Event event = take_event();
      now_ = event.time;
      handle(event);
    }
    return has_memory_ ? left_ : -1;
  }

  void report(int64_t* time, int32_t* cause, int32_t* before) const {
    for (int64_t at = 0; at < run_.points; ++at) {
      const Point& point = points_[at];
      const bool is_reached = point.missing == kReached;
      time[at] = is_reached ? point.time : kNone;
      cause[at] = is_reached ? point.cause : static_cast<int32_t>(kMarlineBegan);
      const bool is_edge = is_reached && point.cause >= 0;
      before[at] = is_edge ? static_cast<int32_t>(run_.source[point.cause]) : point.before;
    }
  }

 private:
  static int64_t count_threads(const MarlineReplay& run) {
    int64_t count = 0;
    for (int64_t rank = 0; rank < run.ranks; ++rank) count += run.threads[rank];
    return count;
  }

  void set_up() {
    for (int64_t point = 0; point < run_.points; ++point) new (&points_[point]) Point;
    sort_edges();
    int64_t thread = 0;
    for (int64_t rank = 0; rank < run_.ranks; ++rank) {
      new (&ranks_[rank]) Rank;
      ranks_[rank].first_thread = thread, ranks_[rank].threads = run_.threads[rank];
      for (int64_t end = thread + run_.threads[rank]; thread < end; ++thread) {
        (new (&threads_[thread]) Thread)->rank = rank;
        make_idle(thread);
      }
    }
    is_set_up_ = true;
    left_ = run_.tasks;
    for (int64_t task = 0; task < run_.tasks; ++task) {
      new (&tasks_[task]) TaskState;
      for (int64_t point = run_.first[task]; point < run_.first[task + 1]; ++point) {
        points_[point].task = static_cast<int32_t>(task);
        if (point + 1 < run_.first[task + 1]) points_[point].work = run_.work[point];
      }
      const int64_t first = run_.first[task];
      if (points_[first].missing > 0) continue;
      points_[first].time = run_.begins[task];
      plan(run_.begins[task], Happens::kReady, kNone, first);
    }
    for (int64_t point = 0; point < run_.first[0]; ++point)
      if (points_[point].missing == 0) plan(0, Happens::kReady, kNone, point);
  }

  // By source, in the order of the edges.
  void sort_edges() {
    for (int64_t edge = 0; edge < run_.edges; ++edge) {
      ++out_first_[run_.source[edge] + 2];
      ++points_[run_.sink[edge]].missing;
    }
    for (int64_t point = 2; point < run_.points + 2; ++point) out_first_[point] += out_first_[point - 1];
    for (int64_t edge = 0; edge < run_.edges; ++edge)
      out_[out_first_[run_.source[edge] + 1]++] = {run_.delay[edge], static_cast<int32_t>(run_.sink[edge]),
                                                   static_cast<int32_t>(edge)};
  }

  // The event that is planned last is often the next one: it is kept beside the heap.
  void plan(int64_t time, Happens what, int64_t thread, int64_t point) {
    const Event event{time, ++order_, point, static_cast<int32_t>(thread), what};
    if (!has_next_) {
      next_ = event, has_next_ = true;
    } else if (event.is_before(next_)) {
      has_memory_ &= events_.push(next_);
      next_ = event;
    } else {
      has_memory_ &= events_.push(event);
    }
  }

  Event take_event() {
    if (has_next_ && (events_.empty() || next_.is_before(events_.top()))) {
      has_next_ = false;
      return next_;
    }
    return events_.pop();
  }

  void handle(const Event& event) {
    switch (event.what) {
      case Happens::kArrives: return arrive(event.thread, event.point);
      case Happens::kBegins: return reach(event.thread, event.point);
      case Happens::kGoesOn: return go_on(event.thread, event.point);
      case Happens::kReady: return become_ready(event.point, kNone);
      case Happens::kLooks: return look(event.thread, true);
    }
  }

  void explain(int64_t point, int32_t cause, int64_t before) {
    points_[point].cause = cause, points_[point].before = static_cast<int32_t>(before);
    points_[point].missing = kReached;
  }

  void explain_by_edge(int64_t point) { points_[point].missing = kReached; }

  void arrive(int64_t thread, int64_t point) {
    if (points_[point].missing == 0 && points_[point].time <= now_) {
      explain(point, kMarlineWorked, point - 1);
      return reach(thread, point);
    }
    TaskState& task = tasks_[points_[point].task];
    task.at = point;
    if ((run_.waits[point] & kMarlineKeepsThread) != 0) {
      task.state = State::kKeepsThread;
    } else {
      task.state = State::kWaits;
      leave(thread, point - 1);
    }
  }

  void reach(int64_t thread, int64_t point) {
    points_[point].time = now_;
    is_end_ = points_[point].work == kEnds;
    satisfy_all(thread, point);
    go_on(thread, point);
    fetch_next(point);
  }

  // Most time would be spent waiting for memory: brings what the next points will need. The edges of point + 1 have
  // been brought before, by turn_to() or from an earlier point.
  void fetch_next(int64_t point) const {
    const int64_t later = point + 3 < run_.points ? point + 3 : run_.points;
    __builtin_prefetch(&out_[out_first_[later]]);
    for (int64_t at = out_first_[point + 1]; at < out_first_[point + 2]; ++at)
      __builtin_prefetch(&points_[out_[at].sink]);
  }

  void go_on(int64_t thread, int64_t point) {
    const int64_t task = points_[point].task;
    const int64_t work = points_[point].work;
    if (work == kEnds) {
      tasks_[task].state = State::kEnded;
      --left_;
      return leave(thread, point);
    }
    if (at_once_ == kNone) return plan(now_ + work, Happens::kArrives, thread, point + 1);
    tasks_[task].state = State::kInterrupted;
    tasks_[task].at = point;
    threads_[thread].resumed.push_front(task_links_, task);
    threads_[thread].last = point;
    const int64_t created = at_once_;
    at_once_ = kNone;
    turn_to(thread, created, false);
  }

  void satisfy_all(int64_t thread, int64_t point) {
    for (int64_t at = out_first_[point]; at < out_first_[point + 1]; ++at) {
      const Outgoing& edge = out_[at];
      Point& sink = points_[edge.sink];
      const int64_t time = now_ + edge.delay;
      if (time >= sink.time) sink.time = time, sink.cause = edge.edge;
      if (--sink.missing > 0) continue;
      if (sink.time > now_ || edge.sink < run_.first[0]) {
        plan(sink.time, Happens::kReady, kNone, edge.sink);
      } else {
        become_ready(edge.sink, thread);
      }
    }
  }

  // `thread`: where that was done which the point waited for last, or kNone.
  void become_ready(int64_t point, int64_t thread) {
    if (point < run_.first[0]) {
      points_[point].time = now_;
      explain_by_edge(point);
      return satisfy_all(kNone, point);
    }
    const int64_t number = points_[point].task;
    TaskState& task = tasks_[number];
    if (point == run_.first[number]) {
      task.at = point;
      queue_new(number, thread);
    } else if (task.state == State::kWaits && task.at == point) {
      if ((run_.traits[number] & kMarlineTied) != 0 || run_.thread[number] >= 0) {
        queue_at_home(number, task.thread);
      } else {
        queue(number, thread);
      }
    } else if (task.state == State::kKeepsThread && task.at == point) {
      task.state = State::kRuns;
      explain_by_edge(point);
      plan(now_, Happens::kBegins, task.thread, point);
    }
  }

  void queue_new(int64_t task, int64_t thread) {
    const Rank& rank = ranks_[run_.rank[task]];
    if (run_.thread[task] >= 0) return queue_at_home(task, rank.first_thread + run_.thread[task] % rank.threads);
    if (thread == kNone || threads_[thread].rank != run_.rank[task]) return queue(task, kNone);
    Thread& here = threads_[thread];
    const bool is_next = is_end_ ? run_.priority[task] == 0 : (run_.traits[task] & kMarlineUndeferred) != 0;
    if (is_next && here.next == kNone) {
      here.next = task;
      return;
    }
    const bool has_plenty = here.own.count >= run_.most_queued && run_.priority[task] == 0;
    if (!is_end_ && at_once_ == kNone && (has_plenty || (run_.traits[task] & kMarlineAtOnce) != 0)) {
      at_once_ = task;
      return;
    }
    queue(task, thread);
  }

  void queue_at_home(int64_t task, int64_t thread) {
    threads_[thread].resumed.push_back(task_links_, task);
    if (!threads_[thread].is_idle) return;
    const bool is_paid = (run_.waits[tasks_[task].at] & kMarlineNoWakeUp) != 0;
    wake(thread, is_paid ? 0 : run_.wake_up[threads_[thread].rank]);
  }

  void queue(int64_t task, int64_t thread) {
    Rank& rank = ranks_[run_.rank[task]];
    const bool is_here = thread != kNone && threads_[thread].rank == run_.rank[task];
    if (run_.priority[task] > 0) {
      Thread& owner = threads_[is_here ? thread : rank.first_thread];
      has_memory_ &= owner.urgent.push({run_.priority[task], ++order_, task});
    } else if (is_here) {
      threads_[thread].own.push_back(task_links_, task);
    } else {
      rank.injected.push_back(task_links_, task);
    }
    if (rank.idle.back != kNone) wake(rank.idle.back, run_.wake_up[run_.rank[task]]);
  }

  void make_idle(int64_t thread) {
    threads_[thread].is_idle = true;
    ranks_[threads_[thread].rank].idle.push_back(thread_links_, thread);
  }

  void wake(int64_t thread, int64_t cost) {
    threads_[thread].is_idle = false;
    ranks_[threads_[thread].rank].idle.remove(thread_links_, thread);
    plan(now_ + cost, Happens::kLooks, thread, kNone);
  }

  void leave(int64_t thread, int64_t point) {
    threads_[thread].last = point;
    look(thread, false);
  }

  void look(int64_t thread, bool was_idle) {
    const int64_t task = find(thread);
    if (task == kNone) return make_idle(thread);
    turn_to(thread, task, was_idle);
  }

  // As find_next() in runtime/sched/queue.cpp.
  int64_t find(int64_t thread) {
    Thread& here = threads_[thread];
    Rank& rank = ranks_[here.rank];
    int64_t task = here.next;
    here.next = kNone;
    if (task == kNone) task = here.resumed.pop_front(task_links_);
    for (int64_t step = 0; task == kNone && step < rank.threads; ++step) {
      Thread& other = threads_[victim(rank, thread, step)];
      if (!other.urgent.empty()) task = other.urgent.pop().task;
    }
    if (task == kNone) task = here.own.pop_back(task_links_);
    if (task == kNone) task = rank.injected.pop_front(task_links_);
    for (int64_t step = 1; task == kNone && step < rank.threads; ++step)
      task = threads_[victim(rank, thread, step)].own.pop_front(task_links_);
    return task;
  }

  static int64_t victim(const Rank& rank, int64_t thread, int64_t step) {
    return rank.first_thread + (thread - rank.first_thread + step) % rank.threads;
  }

  void turn_to(int64_t thread, int64_t number, bool was_idle) {
    TaskState& task = tasks_[number];
    __builtin_prefetch(&out_[out_first_[task.at + 1]]);
    const int64_t time = now_ + (was_idle ? 0 : run_.dispatch[threads_[thread].rank]);
    const bool is_interrupted = task.state == State::kInterrupted;
    task.state = State::kRuns;
    task.thread = static_cast<int32_t>(thread);
    if (is_interrupted) return plan(time, Happens::kGoesOn, thread, task.at);
    if (was_idle || points_[task.at].time >= now_ || threads_[thread].last == kNone) {
      explain_by_edge(task.at);
    } else {
      explain(task.at, kMarlineThread, threads_[thread].last);
    }
    plan(time, Happens::kBegins, thread, task.at);
  }

  const MarlineReplay& run_;
  const int64_t thread_count_;
  Table<int32_t> out_first_;  // the edges that leave point p: out_[out_first_[p]] to out_[out_first_[p + 1] - 1]
  Table<Outgoing> out_;
  Table<Point> points_;
  Table<TaskState> tasks_;
  Table<Link> task_links_;
  Table<Thread> threads_;
  Table<Link> thread_links_;
  Table<Rank> ranks_;
  Heap<Event> events_;
  Event next_{};
  bool has_next_ = false, has_memory_ = true, is_set_up_ = false;
  bool is_end_ = false;      // of the point that is reached now: whether its task ends there
  int64_t at_once_ = kNone;  // the task that its creator's thread runs before it goes on with the creator
  int64_t now_ = 0, order_ = 0, left_ = 0;
};

bool is_in(int64_t value, int64_t end) { return value >= 0 && value < end; }

bool has_valid_tasks(const MarlineReplay& run) {
  if (run.points > kMost || run.edges > kMost) return false;
  for (int64_t rank = 0; rank < run.ranks; ++rank)
    if (!is_in(run.threads[rank] - 1, INT32_MAX) || run.dispatch[rank] < 0 || run.wake_up[rank] < 0) return false;
  if (run.first[0] < 0 || run.first[run.tasks] != run.points) return false;
  for (int64_t task = 0; task < run.tasks; ++task)
    if (run.first[task + 1] <= run.first[task] || !is_in(run.rank[task], run.ranks) || run.begins[task] < 0)
      return false;
  return true;
}

bool has_valid_edges(const MarlineReplay& run) {
  for (int64_t point = 0; point < run.points; ++point)
    if (run.work[point] < 0) return false;
  for (int64_t edge = 0; edge < run.edges; ++edge)
    if (!is_in(run.source[edge], run.points) || !is_in(run.sink[edge], run.points) || run.delay[edge] < 0) return false;
  return true;
}

}  // namespace

int64_t marline_replay(const MarlineReplay* run, int64_t* time, int32_t* cause, int32_t* before) {
  if (!has_valid_tasks(*run) || !has_valid_edges(*run)) return -2;
  Run model(*run);
  if (!model.has_all()) return -1;
  const int64_t left = model.simulate();
  model.report(time, cause, before);
  return left;
}

int64_t marline_replay_chain(const int32_t* before, int64_t points, int64_t from, int64_t* path) {
  int64_t length = 0;
  for (int64_t point = from; is_in(point, points) && length < points; point = before[point]) path[length++] = point;
  return length;
}
