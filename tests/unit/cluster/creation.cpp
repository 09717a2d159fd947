// SPDX-License-Identifier: Apache-2.0
//
// Creates the program's tasks on the simulated machine, in the order of creation.
#include "machine.hpp"

namespace marline::offload::cluster::simulation {

void Machine::create_next() {
  const Construct& construct = program_.constructs[created_];
  if (construct.waits) head_.barrier();
  if (construct.waits && draw(2) == 0) head_.await_all();
  drain_head();
  if (construct.waits && head_.under_way() != 0) {
    if (events_.empty()) return;  // no event is left: `run` reports that
    schedule({.what = Event::kCreate}, wait_time(latency_));
    return;
  }
  bool is_whole;
  do {
    size_t number = created_++;
    const Construct& created = program_.constructs[number];
    create(number);
    if (created.is_cancelled) schedule({.what = Event::kCancel, .index = number}, wait_time(5 * latency_));
    is_whole = created.loop != 0 && loops_[created.loop].is_whole && !created.ends_iteration;
    if (created.loop != 0) end_iteration(created);
    if (created.loop == 0 && draw(8) == 0) head_.await(last_of_construct_[number]);
  } while (is_whole && created_ < program_.constructs.size());
  if (options_.window != 0 && draw(12) == 0) head_.plan_held();
  drain_head();
  if (created_ < program_.constructs.size()) {
    schedule({.what = Event::kCreate}, wait_time(pace_));
  } else {
    if (open_loop_ != 0) head_.end_iteration(static_cast<GraphNumber>(open_loop_));
    head_.barrier();
    drain_head();
  }
}

TaskNumber Machine::push(NewTask task, size_t construct, Role role, std::vector<Piece> pieces) {
  bool is_in_loop = program_.constructs[construct].loop != 0;
  bool overwrites = role == Role::kUpload && draw(2) == 0;
  for (TaskAccess& access : task.accesses) access.overwrites = overwrites;
  task.may_wait = options_.window == 0 || draw(6) != 0;
  TaskNumber number = is_in_loop ? push_in_loop(std::move(task), construct) : head_.create(std::move(task));
  tasks_[number] = {construct, role, std::move(pieces), overwrites, false, {}};
  in_order_.push_back(number);
  return number;
}

uint64_t address_of(int variable) { return 0x1000 * (static_cast<uint64_t>(variable) + 1); }

void Machine::create(size_t number) {
  const Construct& construct = program_.constructs[number];
  if (construct.begins_iteration) begin_iteration(number);
  NewTask body;
  for (int predecessor : construct.predecessors) {
    body.predecessors.push(last_of_construct_[static_cast<size_t>(predecessor)]);
  }
  last_of_construct_.push_back(0);
  body_of_construct_.push_back(0);
  if (construct.kind == Kind::kKernel) {
    create_kernel(number, std::move(body));
  } else {
    create_data(number, std::move(body));
  }
}

void Machine::create_kernel(size_t number, NewTask body) {
  const Construct& construct = program_.constructs[number];
  NewTask upload, download;
  std::vector<Piece> up, in, down;
  upload.is_on_host = download.is_on_host = true;
  body.kinds = construct.kinds;
  body.pin = construct.pin != 0 ? static_cast<NodeNumber>(construct.pin) : kAnyNode;
  for (TaskNumber predecessor : body.predecessors) upload.predecessors.push(predecessor);
  for (const Use& use : construct.uses) {
    MapItem item = {address_of(use.variable) + use.offset, use.bytes, use.to, use.from, false};
    MapChange change, gone;
    if (map_.enter(item, change) != MapError::kNone) fail("a kernel's map is refused");
    Piece piece = {use.variable, change.range, &use};
    if (change.is_new) {
      buffer_bytes_[change.range.buffer] = use.bytes;
      upload.new_buffers.push({change.range.buffer, use.bytes});
    }
    if (change.is_copied) upload.accesses.push({change.range, true}), up.push_back(piece);
    body.accesses.push({change.range, use.may_write});
    in.push_back(piece);
    if (map_.exit(item, false, gone) != MapError::kNone) fail("the end of a kernel's map is refused");
    if (gone.is_copied) download.accesses.push({gone.range, false}), down.push_back(piece);
    if (change.is_copied != use.is_copied_in || gone.is_copied != use.is_copied_out) {
      fail("a kernel's maps copy otherwise");
    }
    if (gone.is_gone) download.last_of.push(gone.range.buffer);
    check_order(number, change, false);
    check_order(number, gone, true);
  }
  if (!up.empty()) {
    body.predecessors.push(push(std::move(upload), number, Role::kUpload, up));
  } else {
    body.new_buffers.swap(upload.new_buffers);
  }
  if (down.empty()) body.last_of.swap(download.last_of);
  TaskNumber task = push(std::move(body), number, Role::kBody, in);
  body_of_construct_[number] = last_of_construct_[number] = task;
  if (down.empty()) return;
  download.predecessors.push(task);
  last_of_construct_[number] = push(std::move(download), number, Role::kDownload, down);
}

// Checks with constructs in place of tasks that all pairs of tasks that must be ordered are ordered.
void Machine::check_order(size_t number, const MapChange& change, bool out) {
  struct Order {
    Machine* machine;
    bool has_ended(TaskNumber one) const { return machine->head_.has_ended(machine->last_of_construct_[one]); }
    bool is_before(TaskNumber one, TaskNumber other) const {
      return machine->program_.constructs[other].ancestors[one] || has_ended(one);
    }
  };
  MapConflict conflict = map_order_.note(number, change, out, Order{this});
  if (conflict.kind == MapConflictKind::kNone) return;
  char text[200];
  describe_conflict(conflict, text, sizeof text);
  fail(text);
}

void Machine::create_data(size_t number, NewTask body) {
  const Construct& construct = program_.constructs[number];
  const Use& use = construct.uses[0];
  body.is_on_host = true;
  MapItem item = {address_of(use.variable), use.bytes, use.to, use.from, use.always};
  MapChange change;
  MapError error = MapError::kNone;
  Role role = Role::kBody;
  std::vector<Piece> pieces;
  bool is_copied = false;
  if (construct.kind == Kind::kEnter) {
    error = map_.enter(item, change);
    is_copied = change.is_copied;
    role = Role::kUpload;
    if (change.is_new) {
      buffer_bytes_[change.range.buffer] = use.bytes;
      body.new_buffers.push({change.range.buffer, use.bytes});
    }
  } else if (construct.kind == Kind::kExit) {
    error = map_.exit(item, use.must_end, change);
    is_copied = change.is_copied;
    role = Role::kDownload;
    if (change.is_gone) body.last_of.push(change.range.buffer);
  } else if (construct.kind != Kind::kHost) {
    error = map_.find(item, change);
    is_copied = true;
    role = construct.kind == Kind::kUpdateTo ? Role::kUpload : Role::kDownload;
  }
  if (error != MapError::kNone) fail("a data construct is refused");
  if (change.range.bytes != 0) {
    change.is_copied = is_copied;
    check_order(number, change, role == Role::kDownload);
  }
  if (is_copied != (use.is_copied_in || use.is_copied_out)) fail("a data construct copies otherwise");
  if (is_copied) {
    body.accesses.push({change.range, role == Role::kUpload});
    pieces.push_back({use.variable, change.range, &use});
  }
  last_of_construct_[number] = body_of_construct_[number] = push(std::move(body), number, role, pieces);
}

}  // namespace marline::offload::cluster::simulation
