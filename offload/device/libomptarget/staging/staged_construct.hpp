// SPDX-License-Identifier: Apache-2.0
//
// Target regions on devices of libomptarget whose data goes through pinned memory. If the memory of a copy is not
// pinned, the driver blocks the calling thread until the copy has ended, and for a copy back until the kernel has ended
// (NVIDIA, CUDA Driver API, "API synchronization behavior"). So a variable that only the region maps is copied to a
// pinned block, and libomptarget maps that block in its place. When the region has ended, the block is copied back. So
// libomptarget and the driver see only pinned memory, and return at once.
//
// The program does not notice the blocks because of these rules, which hold under one lock per device:
// - A variable that is mapped already is not staged: regions share the device's copy.
// - While a variable is staged, a region that maps exactly the same bytes shares the block, and so the device's copy.
// - Every other construct that maps one of its bytes waits until the variable is not staged any more.
// - A construct that is in libomptarget at the moment, and perhaps about to map the variable, prevents staging.
// Only plain variables and sections are staged: no members, attached pointers, mappers, or `always`.
//
// Data of data constructs on NVIDIA's GPUs is copied by address instead (copies.hpp), and libomptarget gets these
// constructs without the copies. Every other construct on one of the bytes waits meanwhile. But no construct waits for
// an update, since it changes no mapping.
// - For `target enter data`, libomptarget allocates the new map entries, then they are filled.
// - For `target exit data`, the data is first copied to a block. It is copied to the host if libomptarget has then
//   unmapped it. libomptarget does not give its reference counts; ours say only whether the copy is worth while. A
//   region in flight on the data prevents staging, because its own end may copy the data back.
// - libomptarget leaves attached pointers out of copies. So memory in which a pointer has ever been attached is left to
//   libomptarget.
#pragma once

#include "base/list.hpp"
#include "items/items.hpp"
#include "device/contract/device.hpp"

namespace marline::offload::device {

using namespace items;

struct StagedRange;

enum class Staging { kRegion, kEnter, kExit, kUpdate };

class StagedConstruct {
 public:
  // Nothing is staged unless `may_stage`. May suspend. Until begun() is called, other constructs on the same data wait.
  StagedConstruct(Device* device, const Items& items, Staging staging, bool may_stage);

  // Takes over from `other` all that finish() needs, so that another thread can finish the construct. `other` may still
  // be asked for addresses, and begun() is called on it.
  enum PiecesOnly { kPieces };
  StagedConstruct(StagedConstruct& other, PiecesOnly);

  // How many bytes finish() copies at most.
  [[nodiscard]] size_t bytes_back() const { return bytes_back_; }
  [[nodiscard]] bool is_staged() const { return staged_.count() != 0; }

  // For a staged data construct: the copies before and after libomptarget gets the construct. False: a copy has failed.
  // May suspend.
  [[nodiscard]] bool copy_before();
  [[nodiscard]] bool copy_after();

  // Whether nothing is left for libomptarget to do.
  [[nodiscard]] bool is_done() const;

  // The arguments for libomptarget.
  [[nodiscard]] const uint64_t* types() { return types_.count() != 0 ? types_.begin() : items_.types; }
  [[nodiscard]] void** bases() { return bases_.count() != 0 ? bases_.begin() : items_.bases; }
  [[nodiscard]] void** begins() { return begins_.count() != 0 ? begins_.begin() : items_.begins; }

  // libomptarget has accepted the construct, which may continue.
  void begun();

  // The construct has ended; `ran`: it ran on the device. Copies data back. Any thread may call this, also in a
  // progress hook.
  void finish(bool ran);

  // In the list of constructs that are in libomptarget, then in that of regions in flight.
  StagedConstruct *next = nullptr, *previous = nullptr;

 private:
  struct Piece {
    StagedRange* range;  // null for an update
    int item;
    bool is_new;  // this construct made the range and fills it
    bool back;    // it must be copied back
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
  List<int, 8> candidates_;
  List<Bytes, 8> direct_;       // the bytes that the construct maps without staging
  bool maps_anything_ = false;  // it has mappers, which may map anything
  List<Piece, 8> staged_;
  List<void*, 8> bases_, begins_;
  List<uint64_t, 8> types_;
  size_t bytes_back_ = 0;
  bool has_moved_ = false;     // another object calls finish()
  bool is_in_flight_ = false;  // it is in the list of regions in flight
};

}  // namespace marline::offload::device
