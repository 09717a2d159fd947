// SPDX-License-Identifier: Apache-2.0
//
// Draws random programs and keeps them free of races.
#include "program.hpp"

#include <algorithm>

namespace marline::offload::cluster::simulation {

namespace {

using Set = std::bitset<kMostConstructs>;

// The dependences of OpenMP on one address. The members of a mutexinoutset run in the order of creation, which is one
// of the allowed orders.
struct Address {
  Depend kind = Depend::kInOut;
  std::vector<int> base, writers, readers;

  void add(int task, Depend depend, std::vector<int>& predecessors) {
    auto wait_for = [&](const std::vector<int>& tasks) {
      predecessors.insert(predecessors.end(), tasks.begin(), tasks.end());
    };
    if (depend == Depend::kIn) {
      wait_for(writers);
      readers.push_back(task);
      return;
    }
    bool is_set = depend != Depend::kInOut;
    if (!is_set || kind != depend || !readers.empty()) {
      base = writers;
      base.insert(base.end(), readers.begin(), readers.end());
      writers.clear();
      readers.clear();
    }
    kind = depend;
    wait_for(base);
    if (depend == Depend::kMutexInOutSet && !writers.empty()) predecessors.push_back(writers.back());
    writers.push_back(task);
  }
};

// The constructs that have read and written a byte of a variable or of the device's copy.
struct Byte {
  Set readers, writers;
};

struct Variable {
  int references = 0;
  Set users;  // of the current mapping, including the construct that has made it
  int made_by = -1;
  std::vector<Byte> host, device;
};

class Maker {
 public:
  Maker(unsigned seed, int most) : random_(seed), most_(std::min(most, static_cast<int>(kMostConstructs) - 10)) {}

  Program make() {
    program_.nodes = 1 + draw(16);
    for (int i = 0; i < program_.nodes; ++i) program_.member_kinds.push_back(static_cast<uint32_t>(draw(2)));
    int variables = 1 + draw(6);
    for (int i = 0; i < variables; ++i) {
      program_.sizes.push_back(1 + draw(16));
      Variable& variable = variables_.emplace_back();
      variable.host.resize(program_.sizes.back());
      variable.device.resize(program_.sizes.back());
    }
    addresses_.resize(1 + draw(10));
    kernel_share_ = 40 + draw(60);
    int loops = chance(50) ? 2 + draw(20) : 0;
    int count = 1 + draw(chance(30) ? 300 : 80) + (loops != 0 ? draw(100) : 0);
    limit_ = std::min(count, most_);
    while (!is_full()) {
      if (chance(loops)) {
        add_loop();
      } else {
        add_construct();
      }
    }
    for (int v = 0; v < variables; ++v) {
      if (variables_[v].references > 0) add_exit(v, true);
    }
    return std::move(program_);
  }

 private:
  int draw(int below) { return static_cast<int>(random_() % static_cast<unsigned>(below)); }
  bool chance(int percent) { return draw(100) < percent; }

  bool is_full() const { return number() >= limit_; }

  // A task of a persistent graph; each iteration has it.
  struct Item {
    bool is_host = false;
    int variable = 0;  // of a host task
    int pin = 0;
    unsigned kinds = ~0u;
    double work = 1;
    uint64_t constant = 0;
    std::vector<std::pair<int, Depend>> depends;
    std::vector<Use> uses;
  };
  struct Loop {
    int number;
    bool waits, changes;  // its tasks have other firstprivate data in each iteration
    std::vector<Item> items;
  };

  // One graph, or two with iterations that take turns. Some iterations differ, and some tasks between them do not
  // belong to a graph.
  void add_loop() {
    for (int i = draw(3); i >= 0 && !is_full(); --i) {
      int v = draw(static_cast<int>(variables_.size()));
      if (variables_[static_cast<size_t>(v)].references == 0) add_enter(v);
    }
    std::vector<Loop> loops;
    bool waits = chance(50);
    for (int i = chance(25) ? 2 : 1; i > 0; --i) {
      loops.push_back({++loops_, waits, chance(70), {}});
      for (int item = 1 + draw(8); item > 0; --item) loops.back().items.push_back(draw_item());
    }
    int iterations = 3 + draw(8), trouble = chance(50) ? 0 : 10;
    for (int i = 0; i < iterations; ++i) {
      for (Loop& loop : loops) {
        auto item = static_cast<size_t>(draw(static_cast<int>(loop.items.size())));
        if (chance(2 * trouble)) loop.items[item].constant = random_();
        add_iteration(loop, chance(trouble), i + 1 == iterations);
      }
      if (chance(trouble) && !is_full()) add_outside();
      if (chance(trouble / 3)) map_again();
    }
  }

  void add_enter(int v) {
    Construct construct{};
    construct.kind = Kind::kEnter;
    construct.work = 0.1;
    make_data(construct, v, true, false);
  }

  void map_again() {
    int v = draw(static_cast<int>(variables_.size()));
    if (variables_[static_cast<size_t>(v)].references == 0 || is_full()) return;
    add_exit(v, true);
    if (!is_full()) add_enter(v);
  }

  // Some kernels have an image for members of one kind only.
  unsigned draw_kinds(int pin) {
    if (!chance(25)) return ~0u;
    int node = pin != 0 ? pin : 1 + draw(program_.nodes);
    return 1u << program_.member_kinds[static_cast<size_t>(node - 1)];
  }

  Item draw_item() {
    Item item;
    item.is_host = chance(15);
    item.work = std::exponential_distribution<double>(0.5)(random_) + 0.1;
    item.constant = random_();
    item.variable = draw(static_cast<int>(variables_.size()));
    if (chance(10)) item.pin = 1 + draw(program_.nodes);
    item.kinds = draw_kinds(item.pin);
    for (int address = 0; address < static_cast<int>(addresses_.size()); ++address) {
      if (chance(30)) item.depends.emplace_back(address, static_cast<Depend>(draw(10) < 7 ? draw(2) : draw(4)));
    }
    for (int v = 0; v < static_cast<int>(variables_.size()); ++v) {
      if (!chance(50)) continue;
      Use use{};
      use.variable = v;
      use.offset = chance(50) ? 0 : static_cast<uint64_t>(draw(static_cast<int>(program_.sizes[v])));
      use.bytes = program_.sizes[v] - use.offset;
      if (chance(50)) use.bytes = 1 + static_cast<uint64_t>(draw(static_cast<int>(use.bytes)));
      use.to = use.from = true;
      use.may_write = chance(60);
      item.uses.push_back(use);
    }
    return item;
  }

  void add_iteration(Loop& loop, bool differs, bool is_last) {
    size_t count = loop.items.size(), at = static_cast<size_t>(draw(static_cast<int>(count)));
    int how = differs ? draw(5) : -1;
    bool waits = loop.waits != (differs && chance(30));
    Item other = !differs ? Item() : chance(50) ? draw_item() : vary(loop.items[at]);
    size_t end = how == 0 ? at + 1 : count + (how == 1 ? 1 : 0);
    for (size_t i = 0; i < end && !is_full(); ++i) {
      if (how == 2 && i == at && i != 0) add_outside();
      if (is_full()) return;
      bool is_other = i == count || (how == 3 && i == at);
      Construct construct{};
      construct.loop = loop.number;
      construct.waits_for_iterations = waits;
      construct.begins_iteration = i == 0;
      construct.waits = construct.begins_iteration && waits;
      construct.ends_iteration = i + 1 == end;
      construct.ends_loop = construct.ends_iteration && is_last;
      make_item(construct, is_other ? other : loop.items[i], loop.changes);
    }
    if (how == 3 && chance(50)) loop.items[at] = other;  // for good
  }

  // The same task with some of its uses changed (written or not, fewer bytes), and perhaps without its dependences.
  Item vary(Item item) {
    for (Use& use : item.uses) {
      if (chance(30)) use.may_write = !use.may_write;
      if (chance(30)) use.bytes = 1 + static_cast<uint64_t>(draw(static_cast<int>(use.bytes)));
    }
    if (chance(50)) item.depends.clear();
    return item;
  }

  void make_item(Construct construct, const Item& item, bool changes) {
    construct.kind = item.is_host ? Kind::kHost : Kind::kKernel;
    construct.work = item.work;
    construct.pin = item.is_host ? 0 : item.pin;
    construct.kinds = item.kinds;
    construct.words = {changes ? static_cast<uint64_t>(number()) : 0, item.constant, chance(80) || !changes ? 1u : 2u};
    construct.is_cancelled = chance(2);
    for (auto [address, kind] : item.depends) {
      addresses_[static_cast<size_t>(address)].add(number(), kind, construct.predecessors);
    }
    std::vector<const Use*> chosen;
    for (const Use& use : item.uses) {
      Variable& variable = variables_[static_cast<size_t>(use.variable)];
      if (item.is_host || variable.references == 0) continue;
      wait_for(construct, Set().set(static_cast<size_t>(variable.made_by)));
      chosen.push_back(&use);
    }
    Set ancestors = close(construct);
    if (item.is_host) {
      construct.is_cancelled = false;
      Use use{};
      use.variable = item.variable;
      draw_accesses(use, variables_[item.variable].host, ancestors, 0, program_.sizes[item.variable]);
      construct.uses.push_back(use);
    }
    for (const Use* of : chosen) {
      Use use = *of;
      Variable& variable = variables_[static_cast<size_t>(use.variable)];
      variable.users.set(static_cast<size_t>(number()));
      draw_accesses(use, variable.device, ancestors, use.offset, use.offset + use.bytes, use.may_write);
      construct.uses.push_back(use);
    }
    push(construct, ancestors);
  }

  // A task that belongs to no graph and leaves nothing mapped.
  void add_outside() {
    Construct construct{};
    construct.work = std::exponential_distribution<double>(0.5)(random_) + 0.1;
    int v = draw(static_cast<int>(variables_.size()));
    bool is_mapped = variables_[static_cast<size_t>(v)].references > 0;
    int choice = draw(4);
    is_outside_ = true;
    if (choice == 0 && is_mapped) {
      construct.kind = chance(50) ? Kind::kUpdateTo : Kind::kUpdateFrom;
      make_data(construct, v, construct.kind == Kind::kUpdateTo, construct.kind == Kind::kUpdateFrom);
    } else if (choice == 1) {
      construct.kind = Kind::kHost;
      make_host(construct, v);
    } else {
      construct.kind = Kind::kKernel;
      make_kernel(construct);
    }
    is_outside_ = false;
  }

  void add_construct() {
    Construct construct{};
    construct.work = std::exponential_distribution<double>(0.5)(random_) + 0.1;
    if (chance(kernel_share_)) {
      construct.kind = Kind::kKernel;
      make_kernel(construct);
      return;
    }
    int v = draw(static_cast<int>(variables_.size()));
    bool is_mapped = variables_[v].references > 0;
    int choice = draw(5);
    if (choice == 0 || !is_mapped) {
      construct.kind = Kind::kEnter;
      make_data(construct, v, true, false);
    } else if (choice == 1) {
      add_exit(v, chance(30));
    } else if (choice == 2) {
      construct.kind = Kind::kUpdateTo;
      make_data(construct, v, true, false);
    } else if (choice == 3) {
      construct.kind = Kind::kUpdateFrom;
      make_data(construct, v, false, true);
    } else {
      construct.kind = Kind::kHost;
      make_host(construct, v);
    }
  }

  void depend(Construct& construct) {
    construct.waits = chance(is_outside_ ? 25 : 2);
    for (int i = draw(4); i > 0; --i) {
      auto kind = static_cast<Depend>(draw(4));
      auto& address = addresses_[static_cast<size_t>(draw(static_cast<int>(addresses_.size())))];
      if (!address.writers.empty() && address.writers.back() == number()) continue;
      if (!address.readers.empty() && address.readers.back() == number()) continue;
      address.add(number(), kind, construct.predecessors);
    }
  }

  int number() const { return static_cast<int>(program_.constructs.size()); }

  void wait_for(Construct& construct, const Set& tasks) {
    for (int i = 0; i < number(); ++i) {
      if (tasks[i]) construct.predecessors.push_back(i);
    }
  }

  Set close(Construct& construct) {
    auto& list = construct.predecessors;
    std::sort(list.begin(), list.end());
    list.erase(std::unique(list.begin(), list.end()), list.end());
    if (construct.waits) {
      for (int i = 0; i < number(); ++i) waited_.set(i);
    }
    Set ancestors = waited_;
    for (int i : list) {
      ancestors |= ancestors_[static_cast<size_t>(i)];
      ancestors.set(i);
    }
    return ancestors;
  }

  static bool is_subset(const Set& tasks, const Set& of) { return (tasks & ~of).none(); }
  static bool may_read(const Byte& byte, const Set& before) { return is_subset(byte.writers, before); }
  static bool may_write(const Byte& byte, const Set& before) {
    return may_read(byte, before) && is_subset(byte.readers, before);
  }

  void push(Construct& construct, const Set& ancestors) {
    ancestors_.push_back(ancestors);
    construct.ancestors = ancestors;
    program_.constructs.push_back(std::move(construct));
  }

  // For enter and update: the copy must be ordered with all other users of its bytes. If it is not, the construct waits
  // for all users.
  void make_data(Construct& construct, int v, bool to, bool from) {
    Variable& variable = variables_[v];
    Use use{};
    use.variable = v;
    use.bytes = program_.sizes[v];
    depend(construct);
    bool is_enter = construct.kind == Kind::kEnter, is_new = is_enter && variable.references == 0;
    bool is_copied = !is_enter || (is_new && chance(80)) || (!is_new && chance(20));
    use.to = to && is_copied;
    use.from = from;
    use.always = is_enter && is_copied && !is_new;
    use.is_copied_in = to && is_copied;
    use.is_copied_out = from;
    if (!is_new) wait_for(construct, Set().set(variable.made_by));
    if (is_copied) order_copy(construct, variable, to);
    if (is_enter) ++variable.references;
    if (is_new) {
      variable.made_by = number();
      variable.users.reset();
      for (Byte& byte : variable.device) byte = Byte();
    }
    variable.users.set(number());
    if (is_copied) note_copy(variable, to);
    Set ancestors = close(construct);
    construct.uses.push_back(use);
    push(construct, ancestors);
  }

  void order_copy(Construct& construct, Variable& variable, bool to) {
    for (size_t i = 0; i < variable.host.size(); ++i) {
      Byte &read = to ? variable.host[i] : variable.device[i], &written = to ? variable.device[i] : variable.host[i];
      wait_for(construct, read.writers | written.writers | written.readers);
    }
  }

  void note_copy(Variable& variable, bool to) {
    for (size_t i = 0; i < variable.host.size(); ++i) {
      (to ? variable.host[i] : variable.device[i]).readers.set(number());
      (to ? variable.device[i] : variable.host[i]).writers.set(number());
    }
  }

  void add_exit(int v, bool must_end) {
    Construct construct{};
    construct.kind = Kind::kExit;
    construct.work = 0.1;
    Variable& variable = variables_[v];
    Use use{};
    use.variable = v;
    use.bytes = program_.sizes[v];
    use.must_end = must_end;
    use.from = chance(60);
    depend(construct);
    bool is_gone = must_end || variable.references == 1;
    wait_for(construct, is_gone ? variable.users : Set().set(variable.made_by));
    use.is_copied_out = is_gone && use.from;
    if (is_gone && use.from) order_copy(construct, variable, false);
    variable.references = is_gone ? 0 : variable.references - 1;
    variable.users.set(number());
    if (is_gone && use.from) note_copy(variable, false);
    Set ancestors = close(construct);
    construct.uses.push_back(use);
    push(construct, ancestors);
  }

  void make_host(Construct& construct, int v) {
    depend(construct);
    Use use{};
    use.variable = v;
    Set ancestors = close(construct);
    draw_accesses(use, variables_[v].host, ancestors, 0, program_.sizes[v]);
    construct.uses.push_back(use);
    push(construct, ancestors);
  }

  void draw_accesses(Use& use, std::vector<Byte>& bytes, const Set& before, uint64_t begin, uint64_t end,
                     bool writes_any = true) {
    int reads = draw(100), writes = writes_any ? draw(100) : 0;
    for (uint64_t i = begin; i < end; ++i) {
      bool can_write = may_write(bytes[i], before);
      if (chance(reads) && may_read(bytes[i], before)) {
        use.reads.push_back(i);
        bytes[i].readers.set(number());
      }
      if (chance(writes) && can_write) {
        use.writes.push_back(i);
        bytes[i].writers.set(number());
      }
    }
  }

  void make_kernel(Construct& construct) {
    depend(construct);
    construct.is_cancelled = chance(4);
    if (chance(10)) construct.pin = 1 + draw(program_.nodes);
    construct.kinds = draw_kinds(construct.pin);
    std::vector<int> chosen;
    for (int v = 0; v < static_cast<int>(variables_.size()); ++v) {
      if (!chance(40)) continue;
      if (variables_[v].references > 0) wait_for(construct, Set().set(variables_[v].made_by));
      if (variables_[v].references == 0 && chance(50)) continue;
      chosen.push_back(v);
    }
    Set ancestors = close(construct);
    for (int v : chosen) use_in_kernel(construct, v, ancestors);
    push(construct, ancestors);
  }

  // A variable that is not mapped is mapped for this kernel, if that is no race on the variable.
  void use_in_kernel(Construct& construct, int v, const Set& before) {
    Variable& variable = variables_[v];
    uint64_t size = program_.sizes[v];
    bool is_new = variable.references == 0, to = true, from = true;
    if (is_new) {
      for (const Byte& byte : variable.host) {
        to = to && may_read(byte, before);
        from = from && may_write(byte, before);
      }
      to = to && chance(80);
      from = from && chance(80);
      variable.device.assign(size, Byte());
      for (Byte& byte : variable.host) {
        if (to) byte.readers.set(number());
        if (from) byte.writers.set(number());
      }
    } else {
      variable.users.set(number());
    }
    // Clauses may name a part, or two parts, of what is mapped.
    uint64_t begin = is_new || chance(50) ? 0 : draw(static_cast<int>(size)), end = size;
    if (!is_new && chance(50)) end = begin + 1 + draw(static_cast<int>(size - begin));
    uint64_t middle = !is_new && chance(20) ? begin + draw(static_cast<int>(end - begin)) : begin;
    for (auto [first, last] : {std::pair{begin, middle}, std::pair{middle, end}}) {
      if (first == last) continue;
      Use use{};
      use.variable = v;
      use.to = to;
      use.from = from;
      use.is_copied_in = is_new && to;
      use.is_copied_out = is_new && from;
      use.offset = first;
      use.bytes = last - first;
      draw_accesses(use, variable.device, before, first, last);
      use.may_write = !use.writes.empty() || chance(50);
      construct.uses.push_back(use);
    }
  }

  std::mt19937 random_;
  int most_, limit_ = 0;
  int kernel_share_ = 0, loops_ = 0;
  bool is_outside_ = false;  // the task belongs to no graph but is created between a graph's tasks: it waits more often
  Program program_;
  std::vector<Variable> variables_;
  std::vector<Address> addresses_;
  std::vector<Set> ancestors_;
  Set waited_;
};

}  // namespace

Program make_program(unsigned seed, int most) { return Maker(seed, most).make(); }

}  // namespace marline::offload::cluster::simulation
