// SPDX-License-Identifier: Apache-2.0
//
// Target regions on devices of libomptarget whose data goes through pinned memory. A driver that copies memory that is
// not pinned holds the calling thread: until the copy has ended, and for a copy back until the kernel has ended
// (NVIDIA, CUDA Driver API, "API synchronization behavior"). So a variable that the region alone maps is copied to a
// pinned block, libomptarget maps that block in its place, and when the region has ended the block is copied back.
// libomptarget and the driver see pinned memory only, and return at once.
//
// What makes that invisible, all under one lock per device:
//  - A variable that is mapped already is not staged: regions share the device's copy.
//  - While it is staged, a region that maps the very same bytes shares the block, and so the device's copy.
//  - Every other construct that maps one of its bytes waits until it is not staged any more.
//  - A construct that is in libomptarget just now, perhaps about to map it, keeps it from being staged.
// Only plain variables and sections are staged: no members, attached pointers, mappers, or `always`.
//
// Data constructs on NVIDIA's GPUs are copied by address instead (copies.hpp), and libomptarget gets them without the
// copies. Every other construct on one of the bytes waits meanwhile, but for an update, which changes no mapping.
//  - What `target enter data` maps anew is allocated by libomptarget, then filled.
//  - What `target exit data` brings back is copied to a block before, and goes to the host if libomptarget has unmapped
//  it
//    then. libomptarget does not tell its reference counts; ours say only whether the copy is worth while. A region on
//    it that is under way keeps it from being staged: its own end may bring the data back.
//  - libomptarget keeps attached pointers out of copies. So memory in which one has ever been attached is left to it.
#pragma once

#include "base/array.hpp"
#include "items/items.hpp"
#include "device/contract/device.hpp"

namespace marline::offload::device {

using namespace items;

struct StagedRange;

enum class Staging { kRegion, kEnter, kExit, kUpdate };

class StagedConstruct {
 public:
  // Nothing is staged unless `may_stage`. May suspend; until begun() is called, other constructs on the same data wait.
  StagedConstruct(Device* device, const Items& items, Staging staging, bool may_stage);

  // Of a construct that will be finished somewhere else: takes over what finish() needs. The other one may still be
  // asked for addresses, and tells begun().
  enum PiecesOnly { kPieces };
  StagedConstruct(StagedConstruct& other, PiecesOnly);

  // How many bytes finish() will copy at the most.
  [[nodiscard]] size_t bytes_back() const { return bytes_back_; }
  [[nodiscard]] bool is_staged() const { return staged_.count() != 0; }

  // Of a data construct that is staged: its copies before libomptarget gets it, and behind that. False: one has failed.
  // May suspend.
  [[nodiscard]] bool copy_before();
  [[nodiscard]] bool copy_behind();

  // Whether nothing is left for libomptarget.
  [[nodiscard]] bool is_done() const;

  // What libomptarget is to get.
  [[nodiscard]] const uint64_t* types() { return types_.count() != 0 ? types_.begin() : items_.types; }
  [[nodiscard]] void** bases() { return bases_.count() != 0 ? bases_.begin() : items_.bases; }
  [[nodiscard]] void** begins() { return begins_.count() != 0 ? begins_.begin() : items_.begins; }

  // libomptarget has taken up the construct, which may go on.
  void begun();

  // It has ended; `ran`: on the device. Copies back. From any thread, also in a progress hook.
  void finish(bool ran);

 private:
  struct Piece {
    StagedRange* range;  // null: of an update
    int item;
    bool is_new;  // made by this construct, which fills it
    bool back;    // to be copied back
  };
  struct Bytes {
    uintptr_t begin, end;
  };

  void choose_candidates();
  [[nodiscard]] bool is_plain(int item) const;
  [[nodiscard]] bool is_apart(int item) const;
  void enter();
  [[nodiscard]] StagedRange* conflict();
  void take_up(int item);
  void take_up_data(int item);
  void make_range(int item, bool filled);
  void note_attachments();
  void note_counts();
  [[nodiscard]] bool is_staged_by_type(int item) const;
  [[nodiscard]] bool is_under_way(uintptr_t begin, uintptr_t end);
  void take_blocks();
  void release();
  void link();
  void unlink();
  void wait_for_shared();
  void fill();
  void substitute();
  [[nodiscard]] bool maps_directly(uintptr_t begin, uintptr_t end);

  Device* device_;
  Items items_;
  Staging staging_;
  Array<int> candidates_;
  Array<Bytes> direct_;         // what it maps itself
  bool maps_anything_ = false;  // by mappers
  Array<Piece> staged_;
  Array<void*> bases_, begins_;
  Array<uint64_t> types_;
  size_t bytes_back_ = 0;
  StagedConstruct* next_ = nullptr;   // of those that are in libomptarget
  bool has_moved_ = false;            // finish() is another one's
  StagedConstruct* later_ = nullptr;  // of the regions that are under way
  StagedConstruct** link_ = nullptr;  // that points to it; null: it is not there
};

}  // namespace marline::offload::device
