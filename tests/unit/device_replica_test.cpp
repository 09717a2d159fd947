// SPDX-License-Identifier: Apache-2.0
//
// A cluster's copies of one buffer: random unordered tasks with bytes that do not overlap, on three nodes. The steps of
// different tasks come in any order. After them the home's copy must have all written bytes, and every pointer must
// have been reported. The same with pages that have been written, with tasks that run on GPUs, and with comparisons
// that are postponed.
#include "device/cluster/replica/replica.hpp"
#include "replica_copies.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <thread>
#include <vector>

namespace {

using namespace marline::offload;
using namespace marline::offload::device;

constexpr size_t kNodes = 3;

// One task: gets its range, writes its bytes in two steps, and compares; and its written bytes come to the home.
struct Task {
  enum class Step { kFetch, kWrite, kWriteRest, kCompare, kArrive, kOver };
  size_t node;
  bool is_sole;
  ClusterRange range;
  bool restores;  // in the end all bytes are as before
  Step step = Step::kFetch;
  uint64_t version = 0;                           // when its inputs had come
  std::vector<std::pair<size_t, char>> writes{};  // offset and value
  std::unique_ptr<Sent> sent = nullptr;           // in flight
};

class Copies {
 public:
  Copies(unsigned seed, size_t most, Run run) : draw_(seed), run_(run), bytes_(1 + below(most)), truth_(bytes_) {
    g_kept.clear();
    g_told.clear();
    for (size_t i = 0; i < kNodes; ++i) {
      Copy& copy = *copies_.emplace_back(std::make_unique<Copy>(bytes_, run));
      if (run != Run::kPages) continue;
      copy.data.watch(copy.pages);
      copy.used_pages = &copy.pages;
    }
  }

  // Runs tasks that are ordered after all earlier tasks, but not among one another.
  void run_tasks() {
    make_tasks();
    give_bytes();
    for (size_t left = tasks_.size(); left != 0;) {
      Task& task = tasks_[below(tasks_.size())];
      if (task.step == Task::Step::kOver || must_wait(task)) continue;
      if (task.step == Task::Step::kFetch && tasks_[0].step == Task::Step::kFetch) {
        advance(tasks_[0]);  // the others get their inputs after this task's
      } else {
        advance(task);
      }
      left -= task.step == Task::Step::kOver;
      if (::testing::Test::HasFatalFailure()) return;
    }
    check();
  }

 private:
  size_t below(size_t end) { return end == 0 ? 0 : draw_() % end; }
  ClusterRange whole() const { return {1, 0, bytes_}; }

  ClusterRange any_range() {
    size_t begin = below(bytes_), end = begin + 1 + below(bytes_ - begin);
    return {1, begin, end - begin};
  }

  // The first task is mostly alone, and its node is the home from then on.
  void make_tasks() {
    tasks_.clear();
    source_ = home_;
    size_t count = 1 + below(4);
    for (size_t i = 0; i < count; ++i) {
      bool is_sole = i == 0 && below(4) != 0;
      size_t node = below(kNodes);
      bool moves = is_sole && node != home_;
      tasks_.push_back({node, is_sole, moves || below(2) == 0 ? whole() : any_range(), below(4) == 0});
      if (moves) home_ = node;
    }
  }

  bool has(const Task& task, size_t at) const { return at >= task.range.offset && at < task.range.end(); }

  void give(Task& task, size_t at, const char* what, size_t count) {
    for (size_t i = 0; i < count; ++i) {
      if (!task.restores) truth_[at + i] = what[i];
      task.writes.emplace_back(at + i, truth_[at + i]);
    }
  }

  // Whole words, pointers among them, or single bytes; many stay as they are.
  void give_bytes() {
    open_.assign(bytes_, false);
    for (size_t word = 0, step = 8; word < bytes_; word += step) {
      if (below(64) == 0) step = below(4) == 0 ? 8 * (1 + below(1000)) : 8;  // over whole pages that stay as they are
      Task& task = tasks_[below(tasks_.size())];
      if (below(2) != 0) continue;
      if (word + 8 <= bytes_ && has(task, word) && has(task, word + 7) && below(2) == 0) {
        uint64_t value = kBegin + 8 * below(1000);
        give(task, word, reinterpret_cast<const char*>(&value), sizeof value);
        continue;
      }
      for (size_t at = word; at < std::min(word + 8, bytes_); ++at) {
        Task& other = tasks_[below(tasks_.size())];
        char value = static_cast<char>(0x81 + 2 * below(3));  // in no pointer
        if (has(other, at)) give(other, at, &value, 1);
      }
    }
    for (const Task& task : tasks_) {
      for (auto [at, value] : task.writes) open_[at] = true;
    }
  }

  void fetch(Task& task) {
    size_t from = &task == &tasks_[0] ? source_ : home_;
    Copy& own = *copies_[task.node];
    if (from != task.node) Sent::answer(task.node, *copies_[from], own, task.range).arrive(own);
    task.version = Replica::version();
    auto data = reinterpret_cast<uint64_t>(own.data.data());
    if (own.used_pages != nullptr && own.writers == 0) {
      own.pages.protect(data + task.range.offset, data + task.range.end());
    }
    ++own.writers;
    if (run_ != Run::kGpu) check_inputs(task);
  }

  void check_inputs(Task& task) {
    const char* data = copies_[task.node]->tasks();
    for (size_t at = task.range.offset; at < task.range.end(); ++at) {
      ASSERT_TRUE(open_[at] || data[at] == truth_[at]) << "a task at node " << task.node << " misses byte " << at;
    }
  }

  // A GPU runs one task at a time.
  bool must_wait(const Task& task) const {
    auto runs = [&](const Task& other) {
      return other.node == task.node && (other.step == Task::Step::kWriteRest || other.step == Task::Step::kCompare);
    };
    return run_ == Run::kGpu && task.step == Task::Step::kWrite && std::any_of(tasks_.begin(), tasks_.end(), runs);
  }

  void start(Task& task) {
    if (run_ != Run::kGpu) return;
    std::vector<char>& gpu = copies_[task.node]->gpu;
    copies_[task.node]->replica.bring(task.range, true);
    g_kept.erase(reinterpret_cast<uint64_t>(gpu.data()));
    if (below(2) == 0) g_kept[reinterpret_cast<uint64_t>(gpu.data())] = gpu;
    check_inputs(task);
  }

  // The bytes that the task writes later may have any value meanwhile.
  void scribble(Task& task, size_t first) {
    for (size_t i = first; i < task.writes.size(); ++i) {
      if (below(4) == 0) copies_[task.node]->tasks()[task.writes[i].first] ^= 0x15;
    }
  }

  void write(Task& task, size_t first, size_t last) {
    for (size_t i = first; i < last; ++i) copies_[task.node]->tasks()[task.writes[i].first] = task.writes[i].second;
  }

  void end(Task& task) {
    PointerSink sink = {kBegin, kEnd, {}};
    Replica& own = copies_[task.node]->replica;
    uint64_t version = task.is_sole ? task.version : Replica::kNotSole;
    if (run_ == Run::kGpu) {
      own.compare_on_gpu(task.range, ++clock_, version, task.node == home_, sink);
    } else if (run_ == Run::kPostponed && task.is_sole && task.node == home_ && below(8) != 0) {
      List<ClusterRange> left;
      uint64_t stamp = ++clock_;
      own.postpone(task.range, stamp, version, kPostponedSink, left);
      for (const ClusterRange& range : left) own.compare(range, stamp, version, sink);
    } else {
      own.compare(task.range, ++clock_, version, sink, copies_[task.node]->used_pages);
    }
    --copies_[task.node]->writers;
    for (uint64_t word : sink.found) told_.insert(word);
    if (task.node == home_) return;
    task.sent.reset(new Sent(Sent::delta(*copies_[task.node], task.range, task.version)));
  }

  void advance(Task& task) {
    size_t half = task.writes.size() / 2;
    switch (task.step) {
      case Task::Step::kFetch: fetch(task); break;
      case Task::Step::kWrite:
        start(task);
        write(task, 0, half);
        scribble(task, half);
        break;
      case Task::Step::kWriteRest: write(task, half, task.writes.size()); break;
      case Task::Step::kCompare: end(task); break;
      case Task::Step::kArrive:
        if (task.sent != nullptr) task.sent->arrive(*copies_[home_]);
        break;
      case Task::Step::kOver: return;
    }
    task.step = static_cast<Task::Step>(static_cast<int>(task.step) + 1);
  }

  void check() {
    Copy& home = *copies_[home_];
    if (run_ == Run::kGpu) home.replica.bring(whole(), false);
    bool is_complete = run_ != Run::kPostponed || below(3) == 0;
    for (auto& copy : copies_) {
      if (run_ == Run::kPostponed && is_complete) copy->replica.compare_postponed();
    }
    told_.insert(g_told.begin(), g_told.end());
    for (size_t at = 0; at < bytes_; ++at) {
      ASSERT_EQ(home.tasks()[at], truth_[at]) << "byte " << at << " of the home, node " << home_;
    }
    for (size_t word = 0; is_complete && word + 8 <= bytes_; word += 8) {
      uint64_t value;
      std::memcpy(&value, &truth_[word], sizeof value);
      bool is_pointer = value >= kBegin && value < kEnd && value % 8 == 0;
      ASSERT_TRUE(!is_pointer || told_.count(value) != 0) << "nobody was told of the pointer at byte " << word;
    }
  }

  std::minstd_rand draw_;
  Run run_;
  size_t bytes_;
  std::vector<char> truth_;  // as if the tasks ran one by one
  std::vector<bool> open_;   // bytes that the present tasks write
  std::vector<std::unique_ptr<Copy>> copies_;
  std::vector<Task> tasks_;
  std::set<uint64_t> told_;
  size_t home_ = 0, source_ = 0;  // `source_`: the home before
  uint64_t clock_ = 0;
};

// With one thread, in which ThreadSanitizer can find nothing, but takes ten times as long.
void run_seeds(unsigned last, size_t most, Run run) {
#ifdef __SANITIZE_THREAD__
  GTEST_SKIP() << "one thread";
#endif
  for (unsigned seed = 1; seed <= last; ++seed) {
    SCOPED_TRACE(seed);
    Copies copies(seed, most, run);
    for (int i = 0; i < 12 && !::testing::Test::HasFatalFailure(); ++i) copies.run_tasks();
    if (::testing::Test::HasFatalFailure()) return;
  }
}

TEST(Replica, CopiesHaveWhatTasksHaveWritten) { run_seeds(400, 1500, Run::kDiff); }

TEST(Replica, CopiesHaveWhatTasksHaveWrittenIntoPages) {
  if (WrittenPages::find_refusal() != nullptr) GTEST_SKIP() << "this system cannot watch pages";
  run_seeds(30, 60000, Run::kPages);
}

TEST(Replica, CopiesHaveWhatTasksHaveWrittenThoughComparisonsArePostponed) {
  for (uint32_t at_once : {0, 1}) {
    Replica::most_at_once = at_once;
    run_seeds(1000, 1500, Run::kPostponed);
  }
  run_seeds(3, 3'000'000, Run::kPostponed);
}

TEST(Replica, CopiesHaveWhatTasksHaveWrittenOnGpus) {
  run_seeds(400, 1500, Run::kGpu);
  run_seeds(3, 3'000'000, Run::kGpu);
}

// The threads of one copy: each writes and compares its own part, mostly in a chunk of its own, while another node
// fetches the whole copy again and again.
TEST(Replica, ComparisonsAndFetchesOfThreadsDoNotDisturbOneAnother) {
  constexpr size_t kThreads = 4, kPart = 600'000, kRounds = 4;
  Copy home(kThreads * kPart), other(kThreads * kPart);
  ClusterRange whole = {1, 0, kThreads * kPart};
  std::atomic<size_t> running{kThreads};
  std::atomic<uint64_t> clock{0};
  auto work = [&](size_t thread) {
    ClusterRange part = {1, thread * kPart, kPart};
    for (size_t round = 1; round <= kRounds; ++round) {
      PointerSink sink = {kBegin, kEnd, {}};
      for (size_t i = 0; i < kPart; i += round) home.data[part.offset + i] = static_cast<char>(0x80 + thread + round);
      home.replica.compare(part, ++clock, Replica::kNotSole, sink);
    }
    --running;
  };
  std::vector<std::thread> threads;
  for (size_t i = 0; i < kThreads; ++i) threads.emplace_back(work, i);
  for (bool is_last = false; !is_last;) {
    is_last = running.load() == 0;
    Sent::answer(1, home, other, whole).arrive(other);
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(std::memcmp(home.data.data(), other.data.data(), whole.bytes), 0);
}

// A fetch with an answer in flight also serves later fetches, but not a new copy that has replaced the copy that asked.
TEST(Replica, WhatIsOnItsWayIsNotSentAgain) {
  constexpr uint64_t kBytes = 100'000;
  Copy home(kBytes);
  auto other = std::make_unique<Copy>(kBytes);
  ClusterRange whole = {1, 0, kBytes}, part = {1, 1000, 5000};
  home.replica.claim(whole, 1);
  std::memset(home.data.data(), 1, kBytes);
  std::memset(home.twin.data(), 1, kBytes);
  Sent first = Sent::answer(1, home, *other, whole), second = Sent::answer(1, home, *other, part);
  EXPECT_GT(first.count(), kBytes);
  EXPECT_EQ(second.count(), 0u);
  home.replica.claim({1, 2000, 1}, 2);
  Sent third = Sent::answer(1, home, *other, part);
  EXPECT_TRUE(third.count() > 0 && third.count() < 1000) << third.count();
  EXPECT_GT(Sent::answer(2, home, *other, whole).count(), kBytes) << "another node";
  for (const Sent* sent : {&first, &second, &third}) sent->arrive(*other);
  EXPECT_EQ(std::memcmp(home.data.data(), other->data.data(), kBytes), 0);
  other = std::make_unique<Copy>(kBytes);
  Sent replay_next = Sent::answer(1, home, *other, whole);
  EXPECT_GT(replay_next.count(), kBytes) << "the copy is a new one";
}

// A task's pointer gets into the twin by the transfer of a block of which no comparison has been made.
TEST(Replica, PointersOfARunningTaskAreToldAfterATransfer) {
  Copy copy(64);
  PointerSink sink = {kBegin, kEnd, {}};
  ClusterRange whole = {1, 0, 64};
  copy.data[0] = 1;
  copy.replica.compare(whole, 1, Replica::version(), sink);
  uint64_t pointer = kBegin + 8, ready = Replica::version();
  std::memcpy(&copy.data[8], &pointer, sizeof pointer);
  BlobWriter blob;
  copy.replica.pack(whole, 0, blob);
  copy.replica.compare(whole, 2, ready, sink);
  ASSERT_EQ(sink.found.count(), 1U);
  EXPECT_EQ(sink.found[0], pointer);
}

// A chain on one GPU moves nothing but the blocks in which there may be pointers.
TEST(Replica, ChainsStayOnAGpu) {
  static uint64_t moved;
  static GpuMemory counting;
  counting = kTestGpu;
  counting.write = [](uint64_t to, const char* from, const List<ByteRun>& runs) {
    for (const ByteRun& run : runs) moved += run.bytes;
    kTestGpu.write(to, from, runs);
  };
  counting.read = [](char* to, uint64_t from, const List<ByteRun>& runs) {
    for (const ByteRun& run : runs) moved += run.bytes;
    kTestGpu.read(to, from, runs);
  };
  counting.read_now = [](char* to, uint64_t from, uint64_t bytes) {
    moved += bytes;
    kTestGpu.read_now(to, from, bytes);
  };
  constexpr size_t kBytes = 5000;
  Copy other(kBytes);
  std::vector<char> data(kBytes), twin(kBytes);
  std::vector<uint64_t> gpu(kBytes / 8);
  Replica replica(1, data.data(), twin.data(), kBytes, &counting, reinterpret_cast<uint64_t>(gpu.data()));
  ClusterRange whole = {1, 0, kBytes};
  PointerSink sink = {kBegin, kEnd, {}};
  for (uint64_t round = 1; round <= 10; ++round) {
    replica.bring(whole, true);
    for (uint64_t& word : gpu) word += round;
    replica.compare_on_gpu(whole, round, Replica::kNotSole, true, sink);
  }
  EXPECT_EQ(moved, 0U);
  gpu[100] = kBegin;
  replica.compare_on_gpu(whole, 11, Replica::kNotSole, true, sink);
  EXPECT_EQ(moved, 256U);
  ASSERT_EQ(sink.found.count(), 1U);
  BlobWriter blob;
  replica.pack(whole, 0, blob);
  EXPECT_EQ(moved, kBytes);
  size_t bytes = blob.bytes();
  char* sent = blob.take();
  BlobReader reader(sent, bytes);
  other.replica.merge(reader);
  std::free(sent);
  EXPECT_EQ(std::memcmp(other.data.data(), gpu.data(), kBytes), 0);
}

// Another node fetches a block that has been left on the GPU before the GPU has said that a pointer is there.
TEST(Replica, PointersOnAGpuAreToldThoughTheBlockHasGone) {
  static Replica* fetched;
  GpuMemory fetching = kTestGpu;
  fetching.find_words = [](uint64_t at, uint64_t bytes, uint64_t begin, uint64_t end, List<uint64_t>& blocks) {
    BlobWriter blob;
    fetched->pack({1, 0, bytes}, 0, blob);
    return kTestGpu.find_words(at, bytes, begin, end, blocks);
  };
  constexpr size_t kBytes = 1024;
  std::vector<char> data(kBytes), twin(kBytes);
  std::vector<uint64_t> gpu(kBytes / 8);
  Replica replica(1, data.data(), twin.data(), kBytes, &fetching, reinterpret_cast<uint64_t>(gpu.data()));
  fetched = &replica;
  ClusterRange whole = {1, 0, kBytes};
  PointerSink sink = {kBegin, kEnd, {}};
  replica.bring(whole, true);
  gpu[70] = kBegin + 8;
  replica.compare_on_gpu(whole, 1, Replica::kNotSole, true, sink);
  ASSERT_EQ(sink.found.count(), 1U);
  EXPECT_EQ(sink.found[0], kBegin + 8);
}

// The second comparison finds a byte half written. The first comparison, which comes to the byte later, must not hide
// from the writer's own comparison that the byte has changed since: other nodes have the half-written byte with the
// second comparison's stamp.
TEST(Replica, AnOlderComparisonLeavesWhatAYoungerOneHasFoundHalfWritten) {
  for (auto run : {Run::kDiff, Run::kPages}) {
    constexpr size_t kBytes = 1 << 16;
    Copy copy(kBytes, run), other(kBytes);
    if (run == Run::kPages) {
      if (WrittenPages::find_refusal() != nullptr) continue;
      copy.data.watch(copy.pages);
      copy.used_pages = &copy.pages;
    }
    ClusterRange whole = {1, 0, kBytes};
    PointerSink sink = {kBegin, kEnd, {}};
    auto compare = [&](uint64_t stamp) {
      copy.replica.compare(whole, stamp, Replica::kNotSole, sink, copy.used_pages);
    };
    auto send = [&] {
      BlobWriter blob;
      copy.replica.pack(whole, 0, blob);
      size_t bytes = blob.bytes();
      char* sent = blob.take();
      BlobReader reader(sent, bytes);
      other.replica.merge(reader);
      std::free(sent);
    };
    copy.data[20000] = 1;
    compare(2);
    send();
    copy.data[20000] = 2;
    compare(1);
    compare(3);
    send();
    EXPECT_EQ(other.data[20000], 2);
  }
}

// A thread stores a pointer while another task's comparison is in that block.
TEST(Replica, PointersStoredBesideAComparisonAreTold) {
#ifdef __SANITIZE_THREAD__
  GTEST_SKIP() << "kernels and comparisons have no order between them";
#endif
  constexpr uint64_t kRounds = 150;
  Copy copy(256);
  auto* word = reinterpret_cast<std::atomic<uint64_t>*>(copy.data.data());
  ClusterRange whole = {1, 0, 256};
  std::atomic<uint64_t> asked{0}, stored{0};
  std::thread task([&] {
    for (uint64_t round = 1; round <= kRounds; ++round) {
      while (asked.load() < round) std::this_thread::yield();
      word->store(kBegin + round * 8);
      stored.store(round);
    }
  });
  uint64_t missed = 0;
  for (uint64_t round = 1; round <= kRounds; ++round) {
    PointerSink sink = {kBegin, kEnd, {}};
    asked.store(round);
    do {
      copy.data[255] = static_cast<char>(copy.data[255] + 1);
      copy.replica.compare(whole, round, Replica::kNotSole, sink);
    } while (stored.load() < round);
    copy.replica.compare(whole, round, Replica::kNotSole, sink);
    missed += std::find(sink.found.begin(), sink.found.end(), kBegin + round * 8) == sink.found.end();
  }
  task.join();
  EXPECT_EQ(missed, 0U);
}

}  // namespace
