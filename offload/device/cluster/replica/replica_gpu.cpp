// SPDX-License-Identifier: Apache-2.0
//
// Replicas for tasks that run on a GPU, one at a time. Each byte exists three times: on the GPU, where kernels write
// it; in the mirror, `data`, which has the GPU's bytes as they were when they were last read; and in the twin, which is
// what other nodes see. A kernel has written the bytes in which the GPU and the mirror differ. A merge writes only the
// twin, so it does not disturb a running kernel; the merged block is copied to the GPU before the next kernel that uses
// it (docs/design/cluster-replicas.md has the proof).
//
// Invariants of a block, whenever no thread has its chunk's lock:
// - If it `is_on_gpu`, the GPU has all bytes that the twin has.
// - If it `is_stale`, it is on the GPU, which has newer bytes than the mirror and the twin, and no other node has seen
//   these bytes. When the block is copied back to the worker's memory (`bring_home`), the bytes that have changed on
//   the GPU get the block's stamp in left_stamps_. If it `is_sole`, the whole block gets that stamp.
#include "device/cluster/replica/marks.hpp"
#include "device/cluster/replica/replica.hpp"

namespace marline::offload::device {

using namespace cluster;

namespace {

// Adds a run to the list, or lengthens the list's last run if the new one follows it.
void add_run(List<ByteRun>& to, uint64_t begin, uint64_t end) {
  if (!to.is_empty() && to.back().end() == begin) {
    to.back().bytes += end - begin;
  } else {
    to.push({begin, end - begin});
  }
}

// As add_run, but does not make the last run longer than `most`.
void add_piece(List<ByteRun>& to, uint64_t begin, uint64_t end, uint64_t most) {
  if (!to.is_empty() && end - to.back().offset > most) {
    to.push({begin, end - begin});
  } else {
    add_run(to, begin, end);
  }
}

// A buffer for bytes that are read from a GPU.
class Bytes {
 public:
  explicit Bytes(uint64_t count) : memory_(static_cast<char*>(std::malloc(count))) {
    if (memory_ == nullptr) fatal("no memory for %lu bytes of a GPU", count);
  }
  ~Bytes() { std::free(memory_); }
  Bytes(const Bytes&) = delete;
  Bytes& operator=(const Bytes&) = delete;
  [[nodiscard]] char* at(uint64_t offset) const { return memory_ + offset; }

 private:
  char* memory_;
};

}  // namespace

// The part of the range from `begin` on that lies in the chunk of `begin`.
ClusterRange Replica::part_in_chunk(uint64_t begin, const ClusterRange& range) const {
  return {range.buffer, begin, std::min(range.end(), (begin / kChunk + 1) * kChunk) - begin};
}

bool Replica::covers_chunk(const ClusterRange& part) const {
  return part.offset % kChunk == 0 && (part.bytes == kChunk || part.end() == bytes_);
}

// If the chunk's stamp is kept once for all of its blocks, stores it for each block.
void Replica::divide_left(uint64_t chunk) {
  if (!left_chunks_[chunk].has_all) return;
  left_chunks_[chunk].has_all = false;
  uint64_t first = chunk * (kChunk / kBlock), last = std::min(first + kChunk / kBlock, (bytes_ + kBlock - 1) / kBlock);
  std::fill(left_stamps_ + first, left_stamps_ + last, left_chunks_[chunk].stamp);
}

// Copies the bytes to the GPU that are missing there. A stale block has one stamp for all its changed bytes. If the
// task may write only a part of the block, the block would need two. So if it is stale, it is first copied back to the
// worker's memory.
void Replica::bring(const ClusterRange& range, bool may_write) {
  List<ByteRun> sent, cleared;
  {
    Visit visit(*this);
    for (uint64_t at = range.offset; at < range.end();) {
      ClusterRange part = part_in_chunk(at, range);
      at = part.end();
      visit.enter(part.offset / kBlock);
      // All of the chunk is on the GPU already.
      if (covers_chunk(part) && left_chunks_[part.offset / kChunk].has_all) continue;
      bring_part(visit, part, may_write, sent, cleared);
    }
  }
  // The lock is not needed here, as no other thread changes the mirror of these blocks meanwhile.
  if (!cleared.is_empty()) gpu_->clear(gpu_address_, cleared);
  if (!sent.is_empty()) gpu_->write(gpu_address_, data_, sent);
}

void Replica::bring_part(Visit& visit, const ClusterRange& range, bool may_write, List<ByteRun>& sent,
                         List<ByteRun>& cleared) {
  for (uint64_t block = range.offset / kBlock; block * kBlock < range.end(); ++block) {
    visit.enter(block);
    if (may_write && !covers(block, part_of_block(block, range))) freshen(block);
    Block& own = blocks_[block];
    if (own.is_on_gpu != 0) continue;
    own.is_on_gpu = 1;
    uint64_t begin = block * kBlock, length = length_of(block);
    // A block without stamps has never been written: all its bytes are 0.
    bool is_empty = !has_stamps(block);
    if (!is_empty) std::memcpy(data_ + begin, twin_ + begin, length);
    add_run(is_empty ? cleared : sent, begin, begin + length);
  }
}

// The condition under which a block gets the stamp as a whole, as in `compare`.
bool Replica::is_soles(uint64_t block, Part part, uint64_t version) const {
  return covers(block, part) && version != kNotSole && blocks_[block].sent <= version;
}

void Replica::compare_on_gpu(const ClusterRange& range, uint64_t stamp, uint64_t version, bool is_home,
                             PointerSink& sink) {
  List<ByteRun> left, read;
  leave_on_gpu(range, stamp, version, is_home, left, read);
  // Compares several runs in one step if all of them together span at most the size of a chunk.
  for (size_t i = 0, next; i < read.count(); i = next) {
    for (next = i + 1; next < read.count() && read[next].end() - read[i].offset <= kChunk;) ++next;
    compare_read(&read[i], next - i, stamp, version, sink);
  }
  if (!left.is_empty()) find_left_pointers(left, sink);
}

// Decides which blocks stay on the GPU (`left`) and which bytes must be read from it (`read`). If the GPU knows which
// blocks have changed since the kernel began (keep_shared in gpu.cpp), other tasks write in the range, too. The changed
// blocks will then soon be fetched or merged, so they are read. A block that the GPU reports as unchanged is read, too,
// if it was copied back while the kernel ran (has_unreported): mirror and twin then have bytes of the kernel, and the
// kernel may have changed these again.
void Replica::leave_on_gpu(const ClusterRange& range, uint64_t stamp, uint64_t version, bool is_home,
                           List<ByteRun>& left, List<ByteRun>& read) {
  uint64_t first = (range.offset + kBlock - 1) / kBlock, last = range.end() / kBlock;
  List<uint64_t> changed;
  size_t next = 0;
  bool is_known = first < last && gpu_->find_changes(gpu_address_ + first * kBlock, (last - first) * kBlock, changed);
  Visit visit(*this);
  for (uint64_t at = range.offset; at < range.end();) {
    ClusterRange in_chunk = part_in_chunk(at, range);
    at = in_chunk.end();
    visit.enter(in_chunk.offset / kBlock);
    LeftChunk& chunk = left_chunks_[in_chunk.offset / kChunk];
    bool is_whole = covers_chunk(in_chunk), has_all = is_whole;
    if (is_whole && chunk.has_all) {
      chunk.stamp = stamp;
      add_run(left, in_chunk.offset, in_chunk.end());
      continue;
    }
    divide_left(in_chunk.offset / kChunk);
    for (uint64_t block = in_chunk.offset / kBlock; block * kBlock < in_chunk.end(); ++block) {
      Part part = part_of_block(block, range);
      Block& own = blocks_[block];
      while (next < changed.count() && first + changed[next] < block) ++next;
      bool has_changed = next < changed.count() && first + changed[next] == block;
      bool is_same = is_known && block >= first && block < last && !has_changed && own.has_unreported == 0;
      if (own.is_stale != 0 || (is_home && !is_known && own.is_on_gpu != 0 && covers(block, part))) {
        if (own.is_stale == 0) own.is_sole = is_soles(block, part, version) ? 1 : 0;
        own.is_stale = 1;
        left_stamps_[block] = stamp;
        add_run(left, block * kBlock, block * kBlock + length_of(block));
        continue;
      }
      has_all = false;
      if (!is_same) add_piece(read, block * kBlock + part.begin, block * kBlock + part.end, kChunk);
    }
    if (has_all) chunk = {stamp, true};
  }
}

// Reads the runs from the GPU and compares them. The kernel has ended, so the GPU's bytes do not change before this
// task ends.
void Replica::compare_read(const ByteRun* runs, size_t count, uint64_t stamp, uint64_t version, PointerSink& sink) {
  uint64_t first = runs[0].offset;
  Bytes now(runs[count - 1].end() - first);
  List<ByteRun> moved;
  for (size_t i = 0; i < count; ++i) moved.push({runs[i].offset - first, runs[i].bytes});
  gpu_->read(now.at(0), gpu_address_ + first, moved);
  Visit visit(*this);
  for (size_t i = 0; i < count; ++i) {
    ClusterRange range = {buffer_, runs[i].offset, runs[i].bytes};
    for (uint64_t block = range.offset / kBlock; block * kBlock < range.end(); ++block) {
      visit.enter(block);
      Part part = part_of_block(block, range);
      compare_with_mirror(block, part, is_soles(block, part, version), now.at(block * kBlock + part.begin - first),
                          stamp, &sink);
    }
  }
  report(sink);
}

// Compares the GPU's bytes `now` of a part with the mirror, and writes the changed ones to the mirror and the twin.
// `now` does not contain bytes that have been merged since the kernel began. If `sink` is null, a later comparison must
// find the pointers among the bytes (has_unreported).
void Replica::compare_with_mirror(uint64_t block, Part part, bool is_sole, const char* now, uint64_t stamp,
                                  PointerSink* sink) {
  char *mirror = data_ + block * kBlock, *twin = twin_ + block * kBlock;
  bool has_changed = std::memcmp(mirror + part.begin, now, part.end - part.begin) != 0;
  char before[kBlock];
  if (has_changed) {
    std::memcpy(before, twin, length_of(block));
    uint32_t bytes = part.end - part.begin;
    if (is_sole && blocks_[block].is_on_gpu != 0) {
      std::memcpy(twin, now, bytes);
      set_uniform(block, stamp);
    } else {
      // The twin may have bytes that the GPU lacks.
      Marks marks = {};
      mark_different(mirror + part.begin, now, bytes, marks + part.begin);
      (void)put_marked(twin + part.begin, now, marks + part.begin, bytes);
      restamp(block, marks, stamp);
    }
    std::memcpy(mirror + part.begin, now, bytes);
  }
  if (sink == nullptr) {
    blocks_[block].has_unreported = 1;
  } else if (blocks_[block].has_unreported != 0) {
    find_all_pointers(block, part, *sink);
  } else if (has_changed) {
    find_new_pointers(block, part, before, *sink);
  }
}

// Reports the pointers in blocks that stay on the GPU. The GPU finds the blocks that may have pointers, and these are
// copied back. A block that another node has fetched meanwhile has been copied back already, and has_unreported is set.
void Replica::find_left_pointers(const List<ByteRun>& left, PointerSink& sink) {
  for (const ByteRun& run : left) {
    List<uint64_t> found;
    if (!gpu_->find_words(gpu_address_ + run.offset, run.bytes, sink.begin, sink.end, found)) {
      for (uint64_t at = 0; at < run.bytes; at += kBlock) found.push(at / kBlock);
    }
    for (size_t i = 0; i < found.count();) {
      uint64_t first = run.offset / kBlock + found[i], last = first;
      Visit visit(*this);
      do {
        visit.enter(last++);
        ++i;
      } while (i < found.count() && run.offset / kBlock + found[i] == last && last % (kChunk / kBlock) != 0);
      bring_home(first, last, &sink);
      report(sink);
    }
  }
}

// Copies a block back to the worker's memory before bytes are merged into it. Also copies its neighbours, as merges
// into these usually follow.
void Replica::bring_home(Visit& visit, uint64_t block) {
  constexpr uint64_t kAtOnce = (64 << 10) / kBlock;
  if (blocks_[block].is_stale == 0) return;
  uint64_t first = block / kAtOnce * kAtOnce, last = std::min(first + kAtOnce, (bytes_ + kBlock - 1) / kBlock);
  visit.enter(first);
  visit.enter(last - 1);
  bring_home(first, last, nullptr);
}

void Replica::bring_home(const ClusterRange& range) {
  for (uint64_t begin = range.offset; begin < range.end();) {
    uint64_t end = std::min(range.end(), (begin / kChunk + 1) * kChunk);
    Visit visit(*this);
    visit.enter(begin / kBlock);
    visit.enter((end - 1) / kBlock);
    bring_home(begin / kBlock, (end - 1) / kBlock + 1, nullptr);
    begin = end;
  }
}

// Copies stale blocks back. All blocks must be in one chunk, whose lock the caller has. A task in flight may have
// written some of the bytes; its own comparison finds what it writes later.
void Replica::bring_home(uint64_t first, uint64_t last, PointerSink* sink) {
  divide_left(first / (kChunk / kBlock));
  for (uint64_t block = first; block < last;) {
    if (blocks_[block].is_stale == 0) {
      if (sink != nullptr && blocks_[block].has_unreported != 0) find_all_pointers(block, {0, length_of(block)}, *sink);
      ++block;
      continue;
    }
    uint64_t end = block;
    while (end < last && blocks_[end].is_stale != 0) ++end;
    uint64_t begin = block * kBlock;
    Bytes now((end - block) * kBlock);
    gpu_->read_now(now.at(0), gpu_address_ + begin, (end - 1) * kBlock + length_of(end - 1) - begin);
    for (; block < end; ++block) {
      blocks_[block].is_stale = 0;
      Part all = {0, length_of(block)};
      compare_with_mirror(block, all, blocks_[block].is_sole != 0, now.at(block * kBlock - begin), left_stamps_[block],
                          sink);
    }
  }
}

// No block is stale on the GPU when writes are checked, as all of them are compared.
void Replica::count_changes_on_gpu(const ClusterRange& range, FoundBytes& to) const {
  for (uint64_t begin = range.offset; begin < range.end();) {
    uint64_t bytes = std::min(range.end() - begin, kChunk);
    Bytes now(bytes);
    List<ByteRun> all;
    all.push({0, bytes});
    gpu_->read(now.at(0), gpu_address_ + begin, all);
    for (uint64_t i = 0; i < bytes; ++i) {
      if (*now.at(i) != data_[begin + i]) to.add(begin + i);
    }
    begin += bytes;
  }
}

}  // namespace marline::offload::device
