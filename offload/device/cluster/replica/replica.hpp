// SPDX-License-Identifier: Apache-2.0
//
// A node's copy of a cluster's buffer: its bytes, their twin, and a stamp for each byte (docs/design/cluster.md). Tasks
// of the node write the bytes meanwhile: kernels, and on node 0 the program's threads.
//
// Any thread may compare, claim, pack and merge, also at the same time. These go from one chunk of the copy to the
// next, each under its lock; what is true of the bytes, twin and stamps of a block is true whenever no one has its
// chunk. Answers, and the copy's life, are under the node's lock.
//
// Where a GPU runs the tasks, they write its memory instead (replica_gpu.cpp), and `data` has what was known of that
// last.
//
// Stamps lie in blocks of 256 bytes: a block whose bytes have one stamp costs 32 bytes, any other one a byte more for
// each of its bytes, and 8 for each stamp that occurs in it. So a copy takes at most about three times its bytes,
// unless many tasks write between each other's bytes.
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

// What tasks have written that may be pointers into the cluster's memory: to whom they are told.
struct PointerSink {
  uint64_t begin, end;  // of that memory
  List<uint64_t> found;
  // Is told of them before any other comparison sees the chunk in which they are; null: they stay in `found`.
  void (*tell)(uint64_t buffer, const List<uint64_t>& words) = nullptr;

  // Arrays of one pointer, as many programs have them, are one entry.
  void take(uint64_t word) {
    if (word - begin < end - begin && (found.is_empty() || found.back() != word)) found.push(word);
  }
};

// Bytes that a task has changed, and the stamp that they had: what the task has seen there.
struct ChangedBytes {
  ClusterRange range;
  uint64_t stamp;
};

// `count` bytes of a buffer, from `first` to in front of `end`.
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
  // The bytes are all 0, and so is their twin. `twin` null: nobody writes but by `claim`. `gpu`: that runs the tasks;
  // what it has at that address is not known yet.
  Replica(uint64_t buffer, char* data, char* twin, uint64_t bytes, const GpuMemory* gpu = nullptr,
          uint64_t gpu_address = 0);
  ~Replica();
  Replica(const Replica&) = delete;
  Replica& operator=(const Replica&) = delete;

  static constexpr uint64_t kNotSole = ~uint64_t{0};  // as a version
  // A scan of its pages costs little then, and whoever waits for it waits shortly.
  static constexpr uint64_t kChunk = 1 << 20;

  // Bytes that differ from their twin get the stamp, and the twin gets them. What are pointers among them goes to the
  // sink. `version`: of this copy when the inputs of a task had come beside which no task of another node writes; a
  // block that no other node has fetched since then gets the stamp as a whole, without a comparison of bytes
  // (docs/design/cluster.md). `pages`: looks at those only that have been written, and at the range's ends; null: at
  // all.
  void compare(const ClusterRange& range, uint64_t stamp, uint64_t version, PointerSink& sink,
               const WrittenPages* pages = nullptr);
  // In place of `compare`, of a task at the copy's home, with no other node's task beside it: chunks that the range
  // covers are compared by whoever visits them next, who may come much later; `to`: who is told of pointers, and stays.
  // What it leaves to `compare` goes to `left`. Not with pages, and not on a GPU (replica_postponed.cpp).
  void postpone(const ClusterRange& range, uint64_t stamp, uint64_t version, const PointerSink& to,
                List<ClusterRange>& left);
  // So many comparisons of a chunk are not postponed if somebody has visited it, who has made one alone, with others
  // waiting. Tests change it.
  static inline uint32_t most_at_once = 8;
  // All that has been postponed so far is compared.
  void compare_postponed();
  // Before a task that uses the range runs on the GPU, the only one there until it has been compared: gives the GPU
  // what it lacks. And behind it, in place of `compare`; `is_home`: nothing of the range is sent home. By the task,
  // which may be suspended.
  void bring(const ClusterRange& range, bool may_write);
  void compare_on_gpu(const ClusterRange& range, uint64_t stamp, uint64_t version, bool is_home, PointerSink& sink);
  // Adds the bytes of the range that differ from their twin, while no task may write there.
  void count_changes(const ClusterRange& range, FoundBytes& to);
  // For a node that checks (replica_check.cpp), before a task's comparison; not on a GPU. Appends what differs from its
  // twin.
  void list_changes(const ClusterRange& range, List<ChangedBytes>& to);
  // Adds those of these bytes, which lie in the buffer, that another task than the one with that stamp has written
  // here, and that one has not seen.
  void count_newer(const ChangedBytes& seen, uint64_t own, FoundBytes& to);
  // From now on, bytes are noted that a merge takes and a task under way has changed: for `take_overwritten`, behind
  // the task's comparison.
  void watch_merges();
  [[nodiscard]] FoundBytes take_overwritten(const ClusterRange& range);
  // All of these bytes have been written.
  void claim(const ClusterRange& range, uint64_t stamp);

  // Appends the bytes of the range that have changed here behind that version, with their stamps. Returns the version
  // of which nothing is missing to a reader that has all up to that one.
  uint64_t pack(const ClusterRange& range, uint64_t version, BlobWriter& to);
  // The same for another node's copy, behind all answers that this one has had before. `copy`: its number there.
  void answer(NodeNumber node, uint64_t copy, const ClusterRange& range, BlobWriter& to);
  // Takes from such a blob the bytes with a higher stamp than ours. Ends the process if the blob is torn.
  void merge(BlobReader& from);

  // Raised with every change of a stamp of any copy of this node: so a copy that goes and comes again is a newer one.
  [[nodiscard]] static uint64_t version() { return version_.load(std::memory_order_relaxed); }  // leave() says why

  [[nodiscard]] uint64_t buffer() const { return buffer_; }
  [[nodiscard]] char* data() const { return data_; }
  [[nodiscard]] char* twin() const { return twin_; }
  [[nodiscard]] uint64_t bytes() const { return bytes_; }
  // No other copy that this node has had, or will have, has it.
  [[nodiscard]] uint64_t number() const { return number_; }
  [[nodiscard]] uint64_t gpu_address() const { return gpu_address_; }
  // Tasks that may write here, from their start until they have been compared. The node's lock.
  uint32_t writers = 0;

 private:
  static constexpr uint64_t kBlock = GpuMemory::kBlock;   // its stamps, and what is found on a GPU
  static constexpr uint64_t kJustChanged = ~uint64_t{0};  // as a block's version, until the visit leaves its chunk
  struct Dense;
  class Visit;
  // What another node's copy has been sent: the version up to which it lacks nothing in the range.
  struct Sent {
    ClusterRange range;
    uint64_t version;
  };
  struct Reader {
    NodeNumber node;
    uint64_t copy;
    List<Sent> sent;  // at most kMostSent, the newest last: older ones are forgotten, and sent again
  };
  struct Block {
    uint64_t stamp;    // of all bytes, if `dense` is null
    uint64_t version;  // of the last change
    Dense* dense;
    uint64_t sent : 60;       // the version when the bytes have last gone to another node
    uint64_t is_stale : 1;    // the twin is out of date, as no other node has seen the bytes since
    uint64_t has_untold : 1;  // the twin may have pointers of tasks under way, of which no comparison has told
    uint64_t is_on_gpu : 1;   // the GPU has all that has been merged
    uint64_t
        is_sole : 1;  // if it is stale on the GPU: it gets the stamp as a whole (`compare`), if it has changed at all
  };

  // Where the bytes of a block that lie in the range begin and end, from the block's begin on.
  struct Part {
    uint32_t begin, end;
  };
  Part part_of_block(uint64_t block, const ClusterRange& range) const;
  uint32_t length_of(uint64_t block) const;
  void expand(uint64_t block, uint64_t* stamps) const;
  void store(uint64_t block, const uint64_t* stamps);
  void set_uniform(uint64_t block, uint64_t stamp);
  // Some bytes of a block: 1 for each of them, else 0, also behind the buffer's end.
  using Marks = uint8_t[kBlock];
  void restamp(uint64_t block, const Marks& marks, uint64_t stamp);
  void set_entries(uint64_t block, uint8_t* entries, const uint64_t* table, uint32_t count);
  bool merge_few(uint64_t block, Part part, const uint64_t* table, const uint8_t* index, uint32_t count,
                 const char* bytes);
  void take_marked(uint64_t block, const Marks& marks, Part part, const char* bytes);
  bool has_stamps(uint64_t block) const { return blocks_[block].dense != nullptr || blocks_[block].stamp != 0; }
  void compare_in(const ClusterRange& range, uint64_t stamp, uint64_t version, PointerSink& sink);
  uint64_t claim_run(uint64_t block, const ClusterRange& range, uint64_t stamp, const PointerSink& sink);
  void compare_written(const ClusterRange& range, uint64_t stamp, uint64_t version, PointerSink& sink,
                       const WrittenPages& pages);
  void compare_block(uint64_t block, Part part, uint64_t stamp, PointerSink& sink);
  void find_new_pointers(uint64_t block, Part part, const char* before, PointerSink& sink) const;
  void find_all_pointers(uint64_t block, Part part, PointerSink& sink);
  void claim_part(uint64_t block, Part part, uint64_t stamp);
  void freshen(uint64_t block);
  void pack_block(uint64_t block, Part part, BlobWriter& to) const;
  void merge_block(uint64_t block, Part part, uint64_t uniform, const uint64_t* table, const uint8_t* index,
                   uint32_t count, const char* bytes);
  void take(uint64_t block, uint32_t begin, uint32_t end, const char* bytes);
  void tell(PointerSink& sink) const;
  bool covers(uint64_t block, Part part) const { return part.begin == 0 && part.end == length_of(block); }
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
  [[nodiscard]] bool is_changed_here(uint64_t at) const { return overwritten_ != nullptr && data_[at] != twin_[at]; }
  void note_overwritten(uint64_t block, Part part, uint64_t uniform, const uint64_t* table, const uint8_t* index,
                        uint32_t count);
  void count_changes_on_gpu(const ClusterRange& range, FoundBytes& to) const;
  const char* settled() const { return twin_ != nullptr ? twin_ : data_; }

  Reader& reader_of(NodeNumber node, uint64_t copy);

  uint64_t buffer_, bytes_;
  uint64_t number_ = ++last_number_;
  char *data_, *twin_;
  const GpuMemory* gpu_;  // null: tasks write `data_`
  uint64_t gpu_address_;
  uint64_t* left_stamps_ = nullptr;  // of each block that is stale on a GPU: what its bytes get that have changed there
  // Of each chunk, which a chain of tasks leaves on the GPU again and again: where all blocks are stale there, all have
  // this stamp, and left_stamps_ has older ones.
  struct LeftChunk {
    uint64_t stamp;
    bool has_all;
  };
  LeftChunk* left_chunks_ = nullptr;
  Block* blocks_;
  Lock* locks_;  // one for each chunk
  // Of a chunk, under its lock: a comparison that is due before anything else is done to it.
  struct Postponed {
    const PointerSink* to;  // null: none
    uint64_t stamp;         // of the last task whose comparison it is
    uint64_t version;       // of the first one
    uint32_t at_once;       // so many are not postponed
  };
  Postponed* postponed_;
  struct Overwritten {
    Lock lock;
    List<uint64_t> bytes;  // at most those of the task that runs
  };
  Overwritten* overwritten_ = nullptr;
  std::atomic<bool> has_left_{
      false};  // a comparison has left a byte to a younger one, so pages that are clean say nothing
  static inline std::atomic<uint64_t> version_{0};
  static inline uint64_t last_number_ = 0;
  List<Reader> readers_;  // nodes that have asked this copy
  static constexpr size_t kMostSent = 2 * kMostParts;
};

// For the two files of its body alone.
struct Replica::Dense {
  uint8_t index[kBlock];  // of each byte's stamp
  uint32_t count;
  uint64_t stamps[];
};

// Has one chunk at a time, and gives the blocks that it has changed there one version when it leaves.
class Replica::Visit {
 public:
  explicit Visit(Replica& replica) : of_(replica) {}
  Visit(const Visit&) = delete;
  Visit& operator=(const Visit&) = delete;
  ~Visit() { leave(); }

  // Before anything is done to the block.
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

  // What a change's version has to be above: that of each pack that has passed the block before, since that pack's was
  // drawn before it took this lock; and that of each task whose bytes the change contains, which that task has read
  // before it wrote them. So it is drawn here, under the lock and behind all reads of the bytes: release keeps them
  // in front of it. Nothing is read through it, so nothing acquires it.
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
  uint64_t first_ = 0, last_ = 0;  // blocks that it has entered there
};

}  // namespace marline::offload::device
