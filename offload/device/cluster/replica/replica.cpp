// SPDX-License-Identifier: Apache-2.0
//
// Compares, packs and merges the bytes of a replica. A packed blob contains for each changed block: the block's number;
// the part of the block that lies in the range; the number of its stamps (0: one stamp for all bytes); the stamps; if
// there are several, the index of each byte's stamp; and the bytes.
#include "device/cluster/replica/replica.hpp"

#include "device/cluster/replica/marks.hpp"

#include <new>

namespace marline::offload::device {

namespace {

[[noreturn]] void refuse_torn(uint64_t buffer) {
  fatal("data for buffer %lu of the cluster is torn: its sender is no Marline of this version", buffer);
}

[[noreturn]] void refuse_memory(uint64_t bytes) {
  fatal("no memory for the stamps of a cluster's buffer of %lu bytes", bytes);
}

// Compiles a function also for AVX2, with which it compares four words at a time. Not with sanitizers: they are not
// initialised yet when the dynamic linker chooses the variant.
#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)
#define MARLINE_FOR_EACH_PROCESSOR __attribute__((target_clones("avx2", "default")))
#else
#define MARLINE_FOR_EACH_PROCESSOR
#endif

// Whether one of these words is in [begin, begin + size). `bytes`: a multiple of the size of a block.
MARLINE_FOR_EACH_PROCESSOR bool has_pointer(const char* at, uint64_t bytes, uint64_t begin, uint64_t size) {
  using Words = uint64_t __attribute__((vector_size(32)));
  const Words from = {begin, begin, begin, begin}, most = {size, size, size, size};
  Words hits = {};
  for (uint64_t i = 0; i + sizeof(Words) <= bytes; i += sizeof(Words)) {
    Words words;
    std::memcpy(&words, at + i, sizeof words);
    hits |= reinterpret_cast<Words>(words - from < most);
  }
  return (hits[0] | hits[1] | hits[2] | hits[3]) != 0;
}

}  // namespace

Replica::Replica(uint64_t buffer, char* data, char* twin, uint64_t bytes, const GpuMemory* gpu, uint64_t gpu_address)
    : buffer_(buffer),
      bytes_(bytes),
      data_(data),
      twin_(twin),
      gpu_(gpu),
      gpu_address_(gpu_address),
      blocks_(static_cast<Block*>(std::calloc((bytes + kBlock - 1) / kBlock, sizeof(Block)))),
      locks_(static_cast<Lock*>(std::malloc((bytes + kChunk - 1) / kChunk * sizeof(Lock)))),
      postponed_(static_cast<Postponed*>(std::calloc((bytes + kChunk - 1) / kChunk, sizeof(Postponed)))) {
  if (gpu != nullptr) {
    left_stamps_ = static_cast<uint64_t*>(std::calloc((bytes + kBlock - 1) / kBlock, sizeof(uint64_t)));
    left_chunks_ = static_cast<LeftChunk*>(std::calloc((bytes + kChunk - 1) / kChunk, sizeof(LeftChunk)));
  }
  bool has_left = left_stamps_ != nullptr && left_chunks_ != nullptr;
  bool has_all = blocks_ != nullptr && locks_ != nullptr && postponed_ != nullptr && (gpu == nullptr || has_left);
  if (!has_all && bytes != 0) refuse_memory(bytes);
  for (uint64_t i = 0; i * kChunk < bytes; ++i) new (&locks_[i]) Lock;
}

Replica::~Replica() {
  for (uint64_t i = 0; i * kBlock < bytes_; ++i) std::free(blocks_[i].dense);
  std::free(blocks_);
  std::free(left_stamps_);
  std::free(left_chunks_);
  if (overwritten_ != nullptr) overwritten_->~Overwritten();
  std::free(overwritten_);
  std::free(locks_);
  std::free(postponed_);
}

uint32_t Replica::length_of(uint64_t block) const {
  return static_cast<uint32_t>(std::min(kBlock, bytes_ - block * kBlock));
}

Replica::Part Replica::part_of_block(uint64_t block, const ClusterRange& range) const {
  uint64_t begin = block * kBlock, end = begin + length_of(block);
  return {static_cast<uint32_t>(std::max(begin, range.offset) - begin),
          static_cast<uint32_t>(std::min(end, range.end()) - begin)};
}

void Replica::expand(uint64_t block, uint64_t* stamps) const {
  const Block& from = blocks_[block];
  for (uint64_t i = 0; i < kBlock; ++i) {
    stamps[i] = from.dense != nullptr ? from.dense->stamps[from.dense->index[i]] : from.stamp;
  }
}

void Replica::set_uniform(uint64_t block, uint64_t stamp) {
  Block& to = blocks_[block];
  if (to.dense != nullptr) std::free(to.dense);
  to.stamp = stamp;
  to.version = kJustChanged;
  to.dense = nullptr;
}

// Stores a stamp for each byte of the block. Stamps of bytes after the buffer's end do not matter.
void Replica::store(uint64_t block, const uint64_t* stamps) {
  uint8_t index[kBlock] = {};
  uint64_t table[kBlock];
  uint32_t count = 0, last = 0, length = length_of(block);
  for (uint32_t i = 0; i < length; ++i) {
    if (count == 0 || stamps[i] != table[last]) {
      for (last = 0; last < count && table[last] != stamps[i];) ++last;
      if (last == count) table[count++] = stamps[i];
    }
    index[i] = static_cast<uint8_t>(last);
  }
  if (count == 1) return set_uniform(block, table[0]);
  Block& to = blocks_[block];
  auto* dense = static_cast<Dense*>(std::realloc(to.dense, sizeof(Dense) + count * sizeof(uint64_t)));
  if (dense == nullptr) refuse_memory(bytes_);
  std::memcpy(dense->index, index, sizeof index);
  dense->count = count;
  std::memcpy(dense->stamps, table, count * sizeof(uint64_t));
  to.version = kJustChanged;
  to.dense = dense;
}

// Stores each byte's stamp as an index into the table. Entries of the table that no byte uses are left out. Bytes after
// the buffer's end may have any entry.
void Replica::set_entries(uint64_t block, uint8_t* entries, const uint64_t* table, uint32_t count) {
  uint64_t kept[kBlock];
  uint8_t moved[kBlock] = {};
  uint32_t used = 0;
  for (uint32_t i = length_of(block); i < kBlock; ++i) entries[i] = entries[0];
  for (uint32_t i = 0; i < count; ++i) {
    if (std::memchr(entries, static_cast<int>(i), kBlock) == nullptr) continue;
    moved[i] = static_cast<uint8_t>(used);
    kept[used++] = table[i];
  }
  if (used == 1) return set_uniform(block, kept[0]);
  Block& to = blocks_[block];
  bool fits = to.dense != nullptr && to.dense->count == used;
  auto* dense = fits ? to.dense : static_cast<Dense*>(std::realloc(to.dense, sizeof(Dense) + used * sizeof(uint64_t)));
  if (dense == nullptr) refuse_memory(bytes_);
  if (used == count) std::memcpy(dense->index, entries, sizeof dense->index);
  for (uint64_t i = 0; i < kBlock && used != count; ++i) dense->index[i] = moved[entries[i]];
  dense->count = used;
  std::memcpy(dense->stamps, kept, used * sizeof(uint64_t));
  to.version = kJustChanged;
  to.dense = dense;
}

// Gives the stamp to the marked bytes. At least one byte must be marked.
void Replica::restamp(uint64_t block, const Marks& marks, uint64_t stamp) {
  const Block& own = blocks_[block];
  if (std::memchr(marks, 0, length_of(block)) == nullptr) return set_uniform(block, stamp);
  uint32_t count = own.dense != nullptr ? own.dense->count : 1;
  uint64_t table[kBlock + 1];
  table[0] = own.stamp;
  Marks entries = {};
  if (own.dense != nullptr) {
    std::memcpy(table, own.dense->stamps, count * sizeof(uint64_t));
    std::memcpy(entries, own.dense->index, sizeof entries);
  }
  uint32_t entry = 0;
  while (entry < count && table[entry] != stamp) ++entry;
  // Each byte has a stamp of its own, so the table is full. A marked byte loses its old stamp: reuse that entry.
  if (entry == kBlock) {
    for (entry = 0; marks[entry] == 0;) ++entry;
    entry = entries[entry];
  }
  table[entry] = stamp;
  Marks wanted;
  std::memset(wanted, static_cast<int>(entry), sizeof wanted);
  (void)put_marked(entries, wanted, marks, kBlock);
  set_entries(block, entries, table, std::max(count, entry + 1));
}

void Replica::claim_part(uint64_t block, Part part, uint64_t stamp) {
  if (part.begin == 0 && part.end == length_of(block)) return set_uniform(block, stamp);
  uint64_t stamps[kBlock];
  expand(block, stamps);
  std::fill(stamps + part.begin, stamps + part.end, stamp);
  store(block, stamps);
}

void Replica::claim(const ClusterRange& range, uint64_t stamp) {
  Visit visit(*this);
  for (uint64_t block = range.offset / kBlock; block * kBlock < range.end(); ++block) {
    visit.enter(block);
    claim_part(block, part_of_block(block, range), stamp);
  }
}

// Brings a stale twin up to date, before other nodes see its bytes. They may contain pointers of tasks in flight, which
// comparisons will not find as changes from now on: has_unreported notes that.
void Replica::freshen(uint64_t block) {
  Block& own = blocks_[block];
  if (own.is_stale == 0) return;
  if (gpu_ != nullptr) return bring_home(block, block + 1, nullptr);
  std::memcpy(twin_ + block * kBlock, data_ + block * kBlock, length_of(block));
  own.is_stale = 0;
  own.has_unreported = 1;
}

// Passes all words of the part to the sink, whichever task has written them: of the twin, or of the replica's bytes if
// the twin is stale.
void Replica::find_all_pointers(uint64_t block, Part part, PointerSink& sink) {
  Block& own = blocks_[block];
  const char* at = (own.is_stale != 0 ? data_ : twin_) + block * kBlock;
  uint32_t length = length_of(block);
  uint64_t bytes = sink.end - sink.begin;
  bool has_any = false;
  for (uint32_t i = part.begin & ~7U; i + 8 <= length && i < part.end; i += 8) {
    uint64_t word;
    std::memcpy(&word, at + i, sizeof word);
    has_any |= word - sink.begin < bytes;
  }
  for (uint32_t i = part.begin & ~7U; has_any && i + 8 <= length && i < part.end; i += 8) {
    uint64_t word;
    std::memcpy(&word, at + i, sizeof word);
    sink.take(word);
  }
  if (part.begin == 0 && part.end == length) own.has_unreported = 0;
}

// Passes the words of the twin that have changed to the sink. `before`: the twin before the change.
void Replica::find_new_pointers(uint64_t block, Part part, const char* before, PointerSink& sink) const {
  const char* now = twin_ + block * kBlock;
  uint32_t length = length_of(block);
  for (uint32_t i = part.begin & ~7U; i + 8 <= length && i < part.end; i += 8) {
    uint64_t word, old;
    std::memcpy(&word, now + i, sizeof word);
    std::memcpy(&old, before + i, sizeof old);
    if (word != old) sink.take(word);
  }
}

// Compares a block byte by byte. Other tasks may write other bytes of the block meanwhile. So each byte is read only
// once. This comparison also searches the words that it copies to the twin for pointers, as later comparisons do not
// see them as changes. A changed byte may have a higher stamp than `stamp`: a comparison with that stamp has copied the
// byte, and then a later task has changed it again. That task has not been compared yet. Its comparison has an even
// higher stamp, so the byte is left to that comparison.
void Replica::compare_block(uint64_t block, Part part, uint64_t stamp, PointerSink& sink) {
  char *now = data_ + block * kBlock, *twin = twin_ + block * kBlock;
  char before[kBlock];
  std::memcpy(before, twin, length_of(block));
  uint64_t stamps[kBlock];
  expand(block, stamps);
  for (uint32_t i = part.begin; i < part.end; ++i) {
    char byte = *static_cast<volatile char*>(now + i);
    if (byte == before[i]) continue;
    if (stamps[i] > stamp) {
      has_left_.store(true, std::memory_order_relaxed);  // ordered by the chunk's lock
      continue;
    }
    twin[i] = byte;
    stamps[i] = stamp;
  }
  store(block, stamps);
  if (blocks_[block].has_unreported != 0) return find_all_pointers(block, part, sink);
  find_new_pointers(block, part, before, sink);
}

// Claims several stale blocks at once, from `block` on, if they contain no pointers: at most as many as fit into the
// first-level cache. Returns the block after the last claimed one, or `block` if none was claimed.
uint64_t Replica::claim_run(uint64_t block, const ClusterRange& range, uint64_t stamp, const PointerSink& sink) {
  constexpr uint64_t kMost = 64;
  uint64_t end = block, last = std::min(range.end() / kBlock, block + kMost);
  while (end < last && blocks_[end].is_stale != 0) ++end;
  if (block * kBlock < range.offset || end == block) return block;
  if (has_pointer(data_ + block * kBlock, (end - block) * kBlock, sink.begin, sink.end - sink.begin)) return block;
  for (uint64_t i = block; i < end; ++i) {
    blocks_[i].has_unreported = 0;
    set_uniform(i, stamp);
  }
  return end;
}

// Compares a range that lies in one chunk. The caller has the lock of the chunk. A block that is known to be unchanged
// keeps its stamps, so it is not sent to other nodes again.
void Replica::compare_in(const ClusterRange& range, uint64_t stamp, uint64_t version, PointerSink& sink) {
  for (uint64_t block = range.offset / kBlock; block * kBlock < range.end(); ++block) {
    uint64_t claimed = claim_run(block, range, stamp, sink);
    if (claimed != block) {
      block = claimed - 1;
      continue;
    }
    Part part = part_of_block(block, range);
    Block& own = blocks_[block];
    uint64_t at = block * kBlock + part.begin;
    if (own.is_stale == 0 && std::memcmp(data_ + at, twin_ + at, part.end - part.begin) == 0) {
      if (own.has_unreported != 0) find_all_pointers(block, part, sink);
      continue;
    }
    bool is_whole = covers(block, part);
    if (is_whole && version != kNotSole && own.sent <= version) own.is_stale = 1;
    if (own.is_stale == 0) {
      compare_block(block, part, stamp, sink);
      continue;
    }
    find_all_pointers(block, part, sink);
    claim_part(block, part, stamp);
  }
}

// Compares only the written pages of a range. Pages that lie in the range as a whole are scanned. The bytes before and
// after these pages are always compared: their pages are not scanned, as a scan marks a page as clean, which is right
// only if all of the page is compared. Compared ranges
// are widened to whole blocks within the range, because only a whole block can be claimed without a comparison of
// bytes.
void Replica::compare_written(const ClusterRange& range, uint64_t stamp, uint64_t version, PointerSink& sink,
                              const WrittenPages& pages) {
  auto data = reinterpret_cast<uint64_t>(data_);
  uint64_t first = WrittenPages::first_whole(data + range.offset), last = WrittenPages::last_whole(data + range.end());
  if (first >= last || has_left_.load(std::memory_order_relaxed)) return compare_in(range, stamp, version, sink);
  static_assert(kChunk == WrittenPages::kMostPages * WrittenPages::kPage);
  WrittenPages::Run runs[WrittenPages::kMostRuns + 2];
  runs[0] = {data + range.offset, first};
  uint64_t count = 1 + pages.take(first, last, runs + 1);
  runs[count++] = {last, data + range.end()};
  uint64_t done = range.offset;
  for (uint64_t i = 0; i < count; ++i) {
    uint64_t begin = std::max(done, (runs[i].begin - data) & ~(kBlock - 1));
    uint64_t end = std::min(range.end(), (runs[i].end - data + kBlock - 1) & ~(kBlock - 1));
    if (runs[i].begin == runs[i].end || begin >= end) continue;
    compare_in({range.buffer, begin, end - begin}, stamp, version, sink);
    done = end;
  }
}

void Replica::compare(const ClusterRange& range, uint64_t stamp, uint64_t version, PointerSink& sink,
                      const WrittenPages* pages) {
  for (uint64_t begin = range.offset; begin < range.end();) {
    uint64_t end = std::min(range.end(), (begin / kChunk + 1) * kChunk);
    ClusterRange part = {range.buffer, begin, end - begin};
    Visit visit(*this);
    visit.enter(begin / kBlock);
    visit.enter((end - 1) / kBlock);
    if (pages != nullptr) {
      compare_written(part, stamp, version, sink, *pages);
    } else {
      compare_in(part, stamp, version, sink);
    }
    report(sink);
    begin = end;
  }
}

void Replica::report(PointerSink& sink) const {
  if (sink.report == nullptr || sink.found.is_empty()) return;
  sink.report(buffer_, sink.found);
  sink.found.clear();
}

void Replica::pack_block(uint64_t block, Part part, BlobWriter& to) const {
  const Block& from = blocks_[block];
  uint32_t count = from.dense != nullptr ? from.dense->count : 0;
  to.put(block);
  to.put(part.begin | uint64_t{part.end} << 16 | uint64_t{count} << 32);
  if (count == 0) {
    to.put(from.stamp);
  } else {
    to.put_bytes(from.dense->stamps, count * sizeof(uint64_t));
    to.put_bytes(from.dense->index + part.begin, part.end - part.begin);
  }
  to.put_bytes(settled() + block * kBlock + part.begin, part.end - part.begin);
}

// Appends only blocks that have changed since `version`, but notes for all blocks of the range that another node has
// seen their bytes.
uint64_t Replica::pack(const ClusterRange& range, uint64_t version, BlobWriter& to) {
  constexpr size_t kHead = 3 * sizeof(uint64_t);
  // Before `own` is drawn, as the blocks that bring_home changes must not get higher versions than `own`.
  if (gpu_ != nullptr) bring_home(range);
  uint64_t first = range.offset / kBlock, changed = 0;
  Visit visit(*this);
  for (uint64_t block = first; block * kBlock < range.end(); ++block) {
    visit.enter(block);
    changed += blocks_[block].version > version;
  }
  visit.leave();
  to.reserve(changed * (kBlock + kHead));
  // Drawn before the first lock is taken: Visit::leave says why.
  uint64_t own = version_.fetch_add(1, std::memory_order_relaxed) + 1;
  for (uint64_t block = first; block * kBlock < range.end(); ++block) {
    visit.enter(block);
    freshen(block);
    blocks_[block].sent = own;
    if (has_stamps(block) && blocks_[block].version > version) pack_block(block, part_of_block(block, range), to);
  }
  return own;
}

// Copies bytes that a blob brings for [begin, end) of the block.
void Replica::take(uint64_t block, uint32_t begin, uint32_t end, const char* bytes) {
  uint64_t at = block * kBlock + begin;
  if (gpu_ != nullptr) {
    if (std::memcmp(twin_ + at, bytes, end - begin) != 0) blocks_[block].is_on_gpu = 0;
  } else if (std::memcmp(data_ + at, bytes, end - begin) != 0) {
    // Written only if the bytes differ: a constant may lie in memory that cannot be written.
    std::memcpy(data_ + at, bytes, end - begin);
  }
  if (twin_ != nullptr) std::memcpy(twin_ + at, bytes, end - begin);
}

// Copies the marked bytes that a blob brings for the part.
void Replica::take_marked(uint64_t block, const Marks& marks, Part part, const char* bytes) {
  uint64_t at = block * kBlock + part.begin;
  uint32_t count = part.end - part.begin;
  if (gpu_ == nullptr) put_where_different(data_ + at, bytes, marks + part.begin, count);
  if (twin_ != nullptr && put_marked(twin_ + at, bytes, marks + part.begin, count)) blocks_[block].is_on_gpu = 0;
}

// Merges a block if both sides have few stamps, as nearly all blocks have. Returns false if they have more; then it has
// done nothing. If `index` is null, all bytes have the table's only stamp.
bool Replica::merge_few(uint64_t block, Part part, const uint64_t* table, const uint8_t* index, uint32_t count,
                        const char* bytes) {
  constexpr uint32_t kFew = 8;
  const Block& own = blocks_[block];
  uint32_t own_count = own.dense != nullptr ? own.dense->count : 1;
  if (count > kFew || own_count > kFew) return false;
  uint64_t all[2 * kFew] = {own.stamp};  // our stamps, then the sender's
  if (own.dense != nullptr) std::memcpy(all, own.dense->stamps, own_count * sizeof(uint64_t));
  std::memcpy(all + own_count, table, count * sizeof(uint64_t));
  Marks ours = {}, theirs, entries, marks = {};
  if (own.dense != nullptr) std::memcpy(ours, own.dense->index, sizeof ours);
  std::memcpy(entries, ours, sizeof entries);
  std::memset(theirs, 0xff, sizeof theirs);  // a value that is no entry
  for (uint32_t i = part.begin; i < part.end && index == nullptr; ++i) theirs[i] = 0;
  if (index != nullptr) std::memcpy(theirs + part.begin, index, part.end - part.begin);
  for (uint32_t entry = 0; entry < count; ++entry) {
    auto value = static_cast<uint32_t>(std::find(all, all + own_count + entry, table[entry]) - all);
    for (uint32_t older = 0; older < own_count; ++older) {
      if (table[entry] > all[older]) mark_both(theirs, entry, ours, older, entries, value, marks);
    }
  }
  if (std::memchr(marks, 1, sizeof marks) == nullptr) return true;
  take_marked(block, marks, part, bytes);
  set_entries(block, entries, all, own_count + count);
  return true;
}

// Merges the bytes that a blob brings for a part of a block. `count`: the number of stamps in `table`; 0: all bytes
// have the stamp `uniform`.
void Replica::merge_block(uint64_t block, Part part, uint64_t uniform, const uint64_t* table, const uint8_t* index,
                          uint32_t count, const char* bytes) {
  Block& own = blocks_[block];
  bool is_whole = covers(block, part);
  if (own.dense == nullptr && count == 0) {
    if (uniform <= own.stamp) return;
    if (is_whole) {
      take(block, part.begin, part.end, bytes);
      return set_uniform(block, uniform);
    }
  }
  bool is_uniform = count == 0;
  if (merge_few(block, part, is_uniform ? &uniform : table, is_uniform ? nullptr : index, is_uniform ? 1 : count,
                bytes)) {
    return;
  }
  uint64_t stamps[kBlock];
  expand(block, stamps);
  bool is_changed = false;
  for (uint32_t i = part.begin, run; i < part.end; i = run) {
    auto stamp_at = [&](uint32_t at) {
      uint8_t entry = count == 0 ? 0 : index[at - part.begin];
      return count == 0 ? uniform : entry < count ? table[entry] : 0;  // a wrong entry names no stamp
    };
    for (run = i; run < part.end && stamp_at(run) > stamps[run]; ++run) stamps[run] = stamp_at(run);
    if (run != i) {
      take(block, i, run, bytes + (i - part.begin));
      is_changed = true;
    } else {
      ++run;
    }
  }
  if (is_changed) store(block, stamps);
}

void Replica::merge(BlobReader& from) {
  Visit visit(*this);
  while (from.left() != 0) {
    uint64_t block = from.get(), shape = from.get(), uniform = 0;
    Part part = {static_cast<uint32_t>(shape & 0xffff), static_cast<uint32_t>(shape >> 16 & 0xffff)};
    auto count = static_cast<uint32_t>(shape >> 32);
    if (block >= (bytes_ + kBlock - 1) / kBlock || part.begin > part.end || part.end > length_of(block) ||
        count > kBlock) {
      refuse_torn(buffer_);
    }
    uint64_t table[kBlock];
    const uint8_t* index = nullptr;
    if (count == 0) {
      uniform = from.get();
    } else {
      const char* stamps = from.get_bytes(count * sizeof(uint64_t));
      if (stamps != nullptr) std::memcpy(table, stamps, count * sizeof(uint64_t));
      index = reinterpret_cast<const uint8_t*>(from.get_bytes(part.end - part.begin));
    }
    const char* bytes = from.get_bytes(part.end - part.begin);
    if (!from.is_good()) refuse_torn(buffer_);
    visit.enter(block);
    gpu_ != nullptr ? bring_home(visit, block) : freshen(block);
    if (overwritten_ != nullptr) note_overwritten(block, part, uniform, table, index, count);
    merge_block(block, part, uniform, table, index, count, bytes);
  }
}

// Returns the record of what this replica has sent to the node's replica. It is empty if the node has dropped that
// replica and made a new one, which has none of the bytes that the older one was sent.
Replica::Reader& Replica::reader_of(NodeNumber node, uint64_t copy) {
  for (Reader& reader : readers_) {
    if (reader.node != node) continue;
    if (reader.copy != copy) reader.sent.clear();
    reader.copy = copy;
    return reader;
  }
  return readers_.push({node, copy, {}});
}

// Messages between two nodes keep their order. So the reader has merged all earlier answers when it merges this one,
// even if they have not arrived yet.
void Replica::answer(NodeNumber node, uint64_t copy, const ClusterRange& range, BlobWriter& to) {
  List<Sent>& sent = reader_of(node, copy).sent;
  uint64_t version = 0;
  for (const Sent& one : sent) {
    bool covers = one.range.offset <= range.offset && range.end() <= one.range.end();
    if (covers) version = std::max(version, one.version);
  }
  version = pack(range, version, to);
  for (size_t i = sent.count(); i-- > 0;) {
    if (range.offset <= sent[i].range.offset && sent[i].range.end() <= range.end()) sent.erase(i);
  }
  if (sent.count() == kMostSent) sent.erase(0);
  sent.push({range, version});
}

}  // namespace marline::offload::device
