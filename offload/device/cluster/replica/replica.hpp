// SPDX-License-Identifier: Apache-2.0
//
// A node's replica of a cluster's buffer: its bytes, their twin, and a stamp for each byte
// (docs/design/cluster-replicas.md). Tasks of the node (kernels, and on node 0 the program's threads) write the bytes
// at any time, without a lock.
//
// Any thread may call compare, claim, pack and merge, also at the same time. They visit the replica chunk by chunk;
// each chunk has its own lock. The invariants of a block's bytes, twin and stamps hold whenever no thread has its
// chunk's lock. `answer` and the lifetime of the replica are under the node's lock.
//
// If a GPU runs the tasks, they write the GPU's memory instead (replica_gpu.cpp), and `data` has the bytes that the GPU
// had when they were last read.
//
// Stamps are kept for blocks of 256 bytes. A block with one stamp for all bytes costs 32 bytes. Any other block costs
// one more byte for each of its bytes, and 8 for each different stamp. So a replica takes at most about three times its
// bytes, unless the bytes of a block have many different stamps.
#pragma once

#include "base/lock.hpp"
#include "cluster/base/message.hpp"
#include "device/cluster/protocol/blob.hpp"
#include "device/cluster/replica/gpu_memory.hpp"
#include "device/cluster/replica/written_pages.hpp"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace marline::offload::device {

using namespace cluster;

// Collects the words that tasks have written and that may be pointers into the cluster's memory.
struct PointerSink {
  uint64_t begin, end;  // of the cluster's memory
  List<uint64_t> found;
  // Called with the found words before any other comparison of their chunk. If it is null, the words stay in `found`.
  void (*report)(uint64_t buffer, const List<uint64_t>& words) = nullptr;

  // Equal words that follow each other become one entry: many programs have arrays that repeat one pointer.
  void take(uint64_t word) {
    if (word - begin < end - begin && (found.is_empty() || found.back() != word)) found.push(word);
  }
};

// Bytes that a task has changed, and the stamp that they had before: it names the write that the task has seen there.
struct ChangedBytes {
  ClusterRange range;
  uint64_t stamp;
};

// `count` bytes of a buffer, all in [first, end).
struct FoundBytes {
  uint64_t first = 0, end = 0, count = 0;

  void add(uint64_t at) {
    if (count++ == 0) first = at;
    first = std::min(first, at);
    end = std::max(end, at + 1);
  }
};

class Replica {
 public:
  // The bytes and their twin must be equal; in the cluster's memory all are 0. If `twin` is null, all writes are
  // recorded by `claim`. `gpu`: the GPU that runs the tasks, or null; the bytes that it has at `gpu_address` are not
  // known yet.
  Replica(uint64_t buffer, char* data, char* twin, uint64_t bytes, const GpuMemory* gpu = nullptr,
          uint64_t gpu_address = 0);
  ~Replica();
  Replica(const Replica&) = delete;
  Replica& operator=(const Replica&) = delete;

  // Instead of a version: tasks of other nodes may write the range at the same time (`compare`).
  static constexpr uint64_t kNotSole = ~uint64_t{0};
  // The size of a chunk. It is small, so that a scan of its pages is cheap and a thread waits only shortly for its
  // lock.
  static constexpr uint64_t kChunk = 1 << 20;

  // Gives the stamp to all bytes of the range that differ from their twin, and copies them to the twin. Adds words
  // among them that may be pointers to the sink.
  //
  // `version`: kNotSole, or, if no task of another node writes the range at the same time, the version of this replica
  // when the task's inputs had come. In that case a block that no other node has fetched since then gets the stamp as a
  // whole, without a comparison of bytes (docs/design/cluster-replicas.md). `pages`: compare only pages that have been
  // written, and the parts of pages at the range's begin and end. Null: compare all bytes.
  void compare(const ClusterRange& range, uint64_t stamp, uint64_t version, PointerSink& sink,
               const WrittenPages* pages = nullptr);
  // May be called instead of `compare` for a task at the range's home node if no other node's task writes the range at
  // the same time. It postpones the comparisons of the chunks that lie in the range as a whole: the next thread that
  // visits such a chunk, perhaps much later, makes the chunk's comparison and reports pointers to `to`, which must stay
  // valid. Ranges that must be compared at once are added to `left`. Not used with pages, nor with a GPU
  // (replica_postponed.cpp).
  void postpone(const ClusterRange& range, uint64_t stamp, uint64_t version, const PointerSink& to,
                List<ClusterRange>& left);
  // A postponed comparison is made by one thread alone, while other threads may wait for it. After that, this many of
  // the chunk's next comparisons are not postponed. Tests change the number.
  static inline uint32_t most_at_once = 8;
  // Makes all comparisons that have been postponed so far.
  void compare_postponed();
  // `bring` must be called before a task that uses the range runs on the GPU: it copies to the GPU the bytes that are
  // missing there. `compare_on_gpu` must be called after the task, instead of `compare`. No other task runs on the GPU
  // in between. `is_home`: this node is the range's home, so no bytes of it have to be sent to another node. Both are
  // called by the task, which may be suspended.
  void bring(const ClusterRange& range, bool may_write);
  void compare_on_gpu(const ClusterRange& range, uint64_t stamp, uint64_t version, bool is_home, PointerSink& sink);
  // Adds to `to` the bytes of the range that differ from their twin. No task may write there meanwhile.
  void count_changes(const ClusterRange& range, FoundBytes& to);
  // For a checking node (replica_check.cpp), before a task's comparison: appends the ranges of bytes that differ from
  // their twin, with their stamps. Does nothing on a GPU.
  void list_changes(const ClusterRange& range, List<ChangedBytes>& to);
  // `seen`: bytes that a task has changed on another node. `own`: that task's stamp. Adds to `to` the bytes of `seen`
  // that another task has written here, if the first task has not seen this write. `seen` must lie in the buffer.
  void count_newer(const ChangedBytes& seen, uint64_t own, FoundBytes& to);
  // `watch_merges`: from now on records the bytes that a merge overwrites although a task in flight has changed them.
  // `take_overwritten`: returns such bytes in the range, and forgets them. Called after the task's comparison.
  void watch_merges();
  [[nodiscard]] FoundBytes take_overwritten(const ClusterRange& range);
  // Gives the stamp to all bytes of the range.
  void claim(const ClusterRange& range, uint64_t stamp);

  // Appends the bytes of the range that have changed here since that version, with their stamps. Returns a version: a
  // reader that had all bytes up to `version`, and merges the appended ones, has all bytes up to the returned version.
  uint64_t pack(const ClusterRange& range, uint64_t version, BlobWriter& to);
  // As `pack`, for the replica of another node, which gets all answers in the order in which they are packed here.
  // Leaves out bytes that earlier answers are known to contain. `copy`: the number of that replica at its node.
  void answer(NodeNumber node, uint64_t copy, const ClusterRange& range, BlobWriter& to);
  // Reads a blob that `pack` or `answer` has written, and copies the bytes that have a higher stamp than the bytes
  // here. Ends the process if the blob is torn.
  void merge(BlobReader& from);

  // The version rises whenever a stamp of any replica of this node changes. So a replica that is dropped and made again
  // has higher versions than before.
  [[nodiscard]] static uint64_t version() { return version_.load(std::memory_order_relaxed); }  // Visit::leave says why

  [[nodiscard]] uint64_t buffer() const { return buffer_; }
  [[nodiscard]] char* data() const { return data_; }
  [[nodiscard]] char* twin() const { return twin_; }
  [[nodiscard]] uint64_t bytes() const { return bytes_; }
  // Differs from the number of every other replica that this node has or has had.
  [[nodiscard]] uint64_t number() const { return number_; }
  [[nodiscard]] uint64_t gpu_address() const { return gpu_address_; }
  // The number of tasks that may write here: from a task's start until it has been compared. Under the node's lock.
  uint32_t writers = 0;

 private:
  // The size of a block. A GPU also finds words and changes by blocks of this size.
  static constexpr uint64_t kBlock = GpuMemory::kBlock;
  // A block's version from its change until the Visit leaves the block's chunk.
  static constexpr uint64_t kJustChanged = ~uint64_t{0};
  struct Dense;
  class Visit;
  // Another node's replica has been sent all changes in the range up to this version.
  struct Sent {
    ClusterRange range;
    uint64_t version;
  };
  // A replica of another node that has fetched from this one.
  struct Reader {
    NodeNumber node;
    uint64_t copy;
    // At most kMostSent entries, the newest last. Older ones are forgotten, and their bytes are sent again.
    List<Sent> sent;
  };
  struct Block {
    uint64_t stamp;    // of all bytes, if `dense` is null
    uint64_t version;  // of the last change
    Dense* dense;
    uint64_t sent : 60;  // the version when the bytes were last sent to another node
    // The twin is out of date, because no other node has seen the bytes since they were written.
    uint64_t is_stale : 1;
    // The twin may have pointers of tasks in flight that no comparison has reported.
    uint64_t has_unreported : 1;
    uint64_t is_on_gpu : 1;  // the GPU has all bytes that the twin has
    // Of a block that is stale on the GPU: if any byte has changed, all bytes get the stamp (`compare`).
    uint64_t is_sole : 1;
  };

  // The bytes of a block that lie in a range, as offsets from the block's begin.
  struct Part {
    uint32_t begin, end;
  };
  Part part_of_block(uint64_t block, const ClusterRange& range) const;
  uint32_t length_of(uint64_t block) const;
  // Writes the stamp of each byte of the block to `stamps`.
  void expand(uint64_t block, uint64_t* stamps) const;
  void store(uint64_t block, const uint64_t* stamps);
  void set_uniform(uint64_t block, uint64_t stamp);
  // Marks bytes of a block by 1; all others are 0, also the ones after the buffer's end.
  using Marks = uint8_t[kBlock];
  void restamp(uint64_t block, const Marks& marks, uint64_t stamp);
  void set_entries(uint64_t block, uint8_t* entries, const uint64_t* table, uint32_t count);
  bool merge_few(uint64_t block, Part part, const uint64_t* table, const uint8_t* index, uint32_t count,
                 const char* bytes);
  void take_marked(uint64_t block, const Marks& marks, Part part, const char* bytes);
  bool has_stamps(uint64_t block) const { return blocks_[block].dense != nullptr || blocks_[block].stamp != 0; }

  // Comparison (replica.cpp).
  void compare_in(const ClusterRange& range, uint64_t stamp, uint64_t version, PointerSink& sink);
  uint64_t claim_run(uint64_t block, const ClusterRange& range, uint64_t stamp, const PointerSink& sink);
  void compare_written(const ClusterRange& range, uint64_t stamp, uint64_t version, PointerSink& sink,
                       const WrittenPages& pages);
  void compare_block(uint64_t block, Part part, uint64_t stamp, PointerSink& sink);
  void find_new_pointers(uint64_t block, Part part, const char* before, PointerSink& sink) const;
  void find_all_pointers(uint64_t block, Part part, PointerSink& sink);
  void claim_part(uint64_t block, Part part, uint64_t stamp);
  void freshen(uint64_t block);
  void report(PointerSink& sink) const;

  // Packing and merging (replica.cpp). `uniform`, or `table` and `index`: the stamps of the received bytes.
  const char* settled() const { return twin_ != nullptr ? twin_ : data_; }  // the bytes that other nodes get
  Reader& reader_of(NodeNumber node, uint64_t copy);
  void pack_block(uint64_t block, Part part, BlobWriter& to) const;
  void merge_block(uint64_t block, Part part, uint64_t uniform, const uint64_t* table, const uint8_t* index,
                   uint32_t count, const char* bytes);
  void take(uint64_t block, uint32_t begin, uint32_t end, const char* bytes);

  bool covers(uint64_t block, Part part) const { return part.begin == 0 && part.end == length_of(block); }

  // Postponed comparisons (replica_postponed.cpp) and GPUs (replica_gpu.cpp).
  ClusterRange part_in_chunk(uint64_t begin, const ClusterRange& range) const;
  bool covers_chunk(const ClusterRange& part) const;
  void compare_now(uint64_t chunk);
  uint64_t first_block(uint64_t chunk) const { return chunk * (kChunk / kBlock); }
  uint64_t last_block(uint64_t chunk) const {
    return std::min(first_block(chunk + 1), (bytes_ + kBlock - 1) / kBlock) - 1;
  }
  void divide_left(uint64_t chunk);
  void bring_part(Visit& visit, const ClusterRange& range, bool may_write, List<ByteRun>& sent, List<ByteRun>& cleared);
  bool is_soles(uint64_t block, Part part, uint64_t version) const;
  void leave_on_gpu(const ClusterRange& range, uint64_t stamp, uint64_t version, bool is_home, List<ByteRun>& left,
                    List<ByteRun>& read);
  void compare_read(const ByteRun* runs, size_t count, uint64_t stamp, uint64_t version, PointerSink& sink);
  void compare_with_mirror(uint64_t block, Part part, bool is_sole, const char* now, uint64_t stamp, PointerSink* sink);
  void find_left_pointers(const List<ByteRun>& left, PointerSink& sink);
  void bring_home(const ClusterRange& range);
  void bring_home(Visit& visit, uint64_t block);
  void bring_home(uint64_t first, uint64_t last, PointerSink* sink);

  // Checks (replica_check.cpp). is_changed_here: a task in flight has changed the byte.
  [[nodiscard]] bool is_changed_here(uint64_t at) const { return overwritten_ != nullptr && data_[at] != twin_[at]; }
  void note_overwritten(uint64_t block, Part part, uint64_t uniform, const uint64_t* table, const uint8_t* index,
                        uint32_t count);
  void count_changes_on_gpu(const ClusterRange& range, FoundBytes& to) const;

  uint64_t buffer_, bytes_;
  uint64_t number_ = ++last_number_;
  char *data_, *twin_;
  const GpuMemory* gpu_;  // null: tasks write `data_`
  uint64_t gpu_address_;
  // For each block that is stale on a GPU: the stamp for the bytes that have changed there.
  uint64_t* left_stamps_ = nullptr;
  // One stamp for a whole chunk, which is cheap to change: each task of a chain often leaves the same chunk on the GPU.
  // If `has_all`, all blocks of the chunk are stale, this is the stamp for their changed bytes, and their entries in
  // left_stamps_ are out of date.
  struct LeftChunk {
    uint64_t stamp;
    bool has_all;
  };
  LeftChunk* left_chunks_ = nullptr;
  Block* blocks_;
  Lock* locks_;  // one for each chunk
  // A chunk's postponed comparison, which must be made before anything else is done to the chunk. Under the chunk's
  // lock.
  struct Postponed {
    const PointerSink* to;  // null: no comparison is postponed
    uint64_t stamp;         // of the last task that this comparison is for
    uint64_t version;       // of the first such task
    uint32_t at_once;       // how many of the chunk's next comparisons are not postponed
  };
  Postponed* postponed_;
  struct Overwritten {
    Lock lock;
    List<uint64_t> bytes;  // offsets of bytes; at most all bytes that the running task has changed
  };
  Overwritten* overwritten_ = nullptr;
  // A comparison has left a changed byte to a later comparison (compare_block), so from now on a clean page may contain
  // bytes that must be compared.
  std::atomic<bool> has_left_{false};
  static inline std::atomic<uint64_t> version_{0};
  static inline uint64_t last_number_ = 0;
  List<Reader> readers_;  // replicas on other nodes that have fetched from this one
  static constexpr size_t kMostSent = 2 * kMostParts;
};

// The stamps of a block that has more than one. Only the .cpp files of Replica use it.
struct Replica::Dense {
  uint8_t index[kBlock];  // of each byte's stamp
  uint32_t count;
  uint64_t stamps[];
};

// Holds the lock of one chunk at a time. When the visit leaves a chunk, it gives all blocks that have been changed
// there one new version.
class Replica::Visit {
 public:
  explicit Visit(Replica& replica) : of_(replica) {}
  Visit(const Visit&) = delete;
  Visit& operator=(const Visit&) = delete;
  ~Visit() { leave(); }

  // Must be called before anything is done to the block.
  void enter(uint64_t block) {
    Lock* lock = &of_.locks_[block / (kChunk / kBlock)];
    if (lock != lock_) {
      leave();
      lock_ = lock;
      lock_->take();
      first_ = last_ = block;
      uint64_t chunk = block / (kChunk / kBlock);
      if (of_.postponed_[chunk].to != nullptr) {
        first_ = of_.first_block(chunk);
        last_ = of_.last_block(chunk);
        of_.compare_now(chunk);
      }
    }
    first_ = std::min(first_, block);
    last_ = std::max(last_, block);
  }

  // Draws the version of the changed blocks. A change's version must be higher than two others. First, higher than the
  // version of each pack that has passed the block before: that one was drawn before the pack took this lock. Second,
  // higher than the version at which a task had its inputs if the change contains bytes of that task: the task read the
  // version before it wrote the bytes. So the version is drawn here, under the lock and after all reads of the bytes.
  // release keeps these reads before it. Nothing acquires it, as nothing is read through it.
  void leave() {
    if (lock_ == nullptr) return;
    uint64_t version = 0;
    for (uint64_t block = first_; block <= last_; ++block) {
      if (of_.blocks_[block].version != kJustChanged) continue;
      if (version == 0) version = version_.fetch_add(1, std::memory_order_release) + 1;
      of_.blocks_[block].version = version;
    }
    lock_->release();
    lock_ = nullptr;
  }

 private:
  Replica& of_;
  Lock* lock_ = nullptr;
  // The first and the last block that the visit has entered in this chunk.
  uint64_t first_ = 0, last_ = 0;
};

}  // namespace marline::offload::device
