// SPDX-License-Identifier: Apache-2.0
//
// A node's copy of a cluster's buffer: its bytes, their twin, and a stamp for each byte (docs/design/cluster.md). The
// lock is the node's. Tasks of the node write the bytes meanwhile: kernels, and on node 0 the program's threads.
//
// Stamps lie in blocks of 256 bytes: a block whose bytes have one stamp costs 32 bytes, any other one a byte more for
// each of its bytes, and 8 for each stamp that occurs in it. So a copy takes at most about three times its bytes,
// unless many tasks write between each other's bytes.
#pragma once

#include "cluster/core/base/message.hpp"
#include "device/cluster/blob.hpp"

#include <cstddef>
#include <cstdint>

namespace marline::target {

// What tasks have written that may be pointers into the cluster's memory: to whom they are told.
struct PointerSink {
  uint64_t begin, end;  // of that memory
  List<uint64_t> found;

  // Arrays of one pointer, as many programs have them, are one entry.
  void take(uint64_t word) {
    if (word - begin < end - begin && (found.is_empty() || found.back() != word)) found.push(word);
  }
};

class Replica {
 public:
  // The bytes are all 0, and so is their twin. `twin` null: nobody writes but by `claim`.
  Replica(uint64_t buffer, char* data, char* twin, uint64_t bytes);
  ~Replica();
  Replica(const Replica&) = delete;
  Replica& operator=(const Replica&) = delete;

  // Bytes that differ from their twin get the stamp, and the twin gets them. What are pointers among them goes to the
  // sink.
  void compare(const ClusterRange& range, uint64_t stamp, PointerSink& sink);
  // For a task beside which no task of another node writes. `version`: of this copy when the task's inputs had come. A
  // block that no other node has fetched since then gets the stamp as a whole, without a comparison of bytes.
  // docs/design/cluster.md.
  void compare_sole(const ClusterRange& range, uint64_t stamp, uint64_t version, PointerSink& sink);
  // All of these bytes have been written.
  void claim(const ClusterRange& range, uint64_t stamp);

  // Appends the bytes of the range that have changed here behind that version, with their stamps.
  void pack(const ClusterRange& range, uint64_t version, BlobWriter& to);
  // Takes from such a blob the bytes with a higher stamp than ours; returns the version of the copy they come from, in
  // which nothing is missing here then. Ends the process if the blob is torn.
  uint64_t merge(BlobReader& from);

  // Raised with every change of a stamp of any copy of this node: so a copy that goes and comes again is a newer one.
  [[nodiscard]] static uint64_t version() { return version_; }

  [[nodiscard]] uint64_t buffer() const { return buffer_; }
  [[nodiscard]] char* data() const { return data_; }
  [[nodiscard]] char* twin() const { return twin_; }
  [[nodiscard]] uint64_t bytes() const { return bytes_; }

  // What has come from another copy: the version up to which nothing is missing.
  struct Seen {
    NodeNumber node;
    ClusterRange range;
    uint64_t version;
  };
  [[nodiscard]] uint64_t seen_version(NodeNumber node, const ClusterRange& range) const;
  void note_seen(NodeNumber node, const ClusterRange& range, uint64_t version);

 private:
  static constexpr uint64_t kBlock = 256;
  static constexpr uint64_t kNotSole = ~uint64_t{0};  // as a version
  struct Dense;
  struct Block {
    uint64_t stamp;    // of all bytes, if `dense` is null
    uint64_t version;  // of the last change
    Dense* dense;
    uint64_t sent : 62;       // the version when the bytes have last gone to another node
    uint64_t is_stale : 1;    // the twin is out of date, as no other node has seen the bytes since
    uint64_t has_untold : 1;  // the twin may have pointers of tasks under way, of which no comparison has told
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
  bool has_stamps(uint64_t block) const { return blocks_[block].dense != nullptr || blocks_[block].stamp != 0; }
  void compare_block(uint64_t block, Part part, uint64_t stamp, PointerSink& sink);
  void find_new_pointers(uint64_t block, Part part, const char* before, PointerSink& sink) const;
  void find_all_pointers(uint64_t block, Part part, PointerSink& sink);
  void claim_part(uint64_t block, Part part, uint64_t stamp);
  void freshen(uint64_t block);
  void pack_block(uint64_t block, Part part, BlobWriter& to) const;
  void merge_block(uint64_t block, Part part, uint64_t uniform, const uint64_t* table, const uint8_t* index,
                   uint32_t count, const char* bytes);
  void take(uint64_t block, uint32_t begin, uint32_t end, const char* bytes);
  const char* settled() const { return twin_ != nullptr ? twin_ : data_; }

  uint64_t buffer_, bytes_;
  char *data_, *twin_;
  Block* blocks_;
  static inline uint64_t version_ = 0;
  // At most kMostSeen, the newest last: of an array whose home is split over more nodes and ranges than that, older
  // ones are forgotten, and fetched again as a whole.
  List<Seen> seen_;
  static constexpr size_t kMostSeen = 16;
};

}  // namespace marline::target
