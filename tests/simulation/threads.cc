#undef _FORTIFY_SOURCE  // its longjmp refuses to change stacks
#include "threads.h"

#include <cxxabi.h>
#include <fmt/format.h>
#include <setjmp.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "thread_table.h"

namespace simulation {
namespace {

constexpr size_t kStackBytes = 512 << 10;
// Stacks begin at so many different distances from the begin of their memory: at the same one their
// tops would take each other's place in the processor's caches.
constexpr size_t kPlaces = 61;
constexpr size_t kPlaceBytes = 1088;
// A life that takes more choices does not come to an end.
constexpr uint64_t kMostChoices = 3'000'000;
// What a choice takes at most: so that two moments are seldom the same.
constexpr uint64_t kChoiceNanos = 20'000;

// Of the exceptions that a thread is handling (Itanium C++ ABI: __cxa_eh_globals).
using CaughtExceptions = std::array<void*, 2>;

// Memory that threads run on, one after another.
struct Stack {
  void* memory = nullptr;
  bool is_begun = false;
  jmp_buf begin{};  // in RunThread, where the next thread starts
};

struct Thread {
  // What ChooseThread and WakeAll look at, of all threads: in one line of the processor's caches.
  Wait wait = Wait::kNone;
  bool is_over = false;
  bool was_woken = false;
  const void* on = nullptr;
  Nanos deadline = kNever;
  uint64_t asked_at = 0;  // the count of descriptors' changes
  const std::function<bool()>* is_ready = nullptr;
  int id = 0;

  bool is_begun = false;
  bool is_detached = false;
  std::string name;
  Process* process = nullptr;
  void* (*run)(void*) = nullptr;
  void* argument = nullptr;
  void* result = nullptr;
  uint64_t waits_at_once = 0;

  jmp_buf context{};
  std::unique_ptr<Stack> stack;
  int kept_errno = 0;
  CaughtExceptions exceptions{};
};

struct World {
  bool is_live = false;
  bool is_traced = false;
  uint64_t seed = 0;
  std::array<uint64_t, 2> dice{};
  Nanos now = 0;
  Nanos wall = 0;
  unsigned rate = 16;  // how seldom threads change where they need not
  uint64_t choices = 0;
  uint64_t hash = 0;
  uint64_t descriptors = 1;
  int last_thread = 0;
  size_t last_stack = 0;
  bool has_ended = false;  // a thread that has not been forgotten
  std::vector<std::unique_ptr<Thread>> threads;
  std::vector<std::unique_ptr<Stack>> stacks;  // not in use
  Thread* current = nullptr;
  Process driver{"driver"};
  ucontext_t first{};
};

World* the_world = nullptr;  // made by the first who asks, which is before all that main does

[[gnu::always_inline]] inline World& world() {
  if (the_world == nullptr) [[unlikely]]
    the_world = new World;
  return *the_world;
}

uint64_t RotateLeft(uint64_t value, int by) { return (value << by) | (value >> (64 - by)); }

void* Exceptions() {
  static void* const globals = abi::__cxa_get_globals();  // there is one thread
  return globals;
}
void KeepExceptions(Thread& thread) {
  std::memcpy(thread.exceptions.data(), Exceptions(), sizeof thread.exceptions);
}
void GiveBackExceptions(const Thread& thread) {
  std::memcpy(Exceptions(), thread.exceptions.data(), sizeof thread.exceptions);
}

[[noreturn]] void RunThread() {
  World& w = world();
  (void)_setjmp(w.current->stack->begin);
  Thread* const self = w.current;
  errno = 0;
  GiveBackExceptions(*self);
  self->result = self->run(self->argument);
  self->is_over = true;
  w.has_ended = true;
  WakeAll(Wait::kJoin, self);
  Block(Wait::kJoin, nullptr, kNever);  // for ever: its stack is taken by who runs next
  __builtin_unreachable();
}

void Enter(Thread& next) {
  if (next.is_begun) _longjmp(next.context, 1);
  World& w = world();
  next.is_begun = true;
  if (w.stacks.empty()) {
    next.stack = std::make_unique<Stack>();
    next.stack->memory = ::mmap(nullptr, kStackBytes, PROT_READ | PROT_WRITE,
                                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
  } else {
    next.stack = std::move(w.stacks.back());
    w.stacks.pop_back();
  }
  if (std::exchange(next.stack->is_begun, true)) _longjmp(next.stack->begin, 1);
  ::getcontext(&w.first);
  w.first.uc_stack.ss_sp = next.stack->memory;
  w.first.uc_stack.ss_size = kStackBytes - w.last_stack++ % kPlaces * kPlaceBytes;
  w.first.uc_link = nullptr;
  ::makecontext(&w.first, reinterpret_cast<void (*)()>(RunThread), 0);
  ::setcontext(&w.first);
}

// Those that are over and that nobody will join.
void ForgetEnded() {
  World& w = world();
  if (!std::exchange(w.has_ended, false)) return;
  std::erase_if(w.threads, [&w](const std::unique_ptr<Thread>& thread) {
    if (!thread->is_over) return false;
    if (thread.get() == w.current) {
      w.has_ended = true;
      return false;
    }
    if (thread->stack) w.stacks.push_back(std::move(thread->stack));
    return thread->is_detached;
  });
}

void SwitchTo(Thread* next) {
  World& w = world();
  Thread* const from = w.current;
  if (next == from) return;
  from->kept_errno = errno;
  KeepExceptions(*from);
  w.current = next;
  if (_setjmp(from->context) == 0) Enter(*next);
  GiveBackExceptions(*from);
  errno = from->kept_errno;
}

bool CanRun(World& w, Thread& thread) {
  if (thread.is_over) return false;
  if (thread.wait == Wait::kNone) return true;
  if (thread.deadline <= w.now) {
    thread.wait = Wait::kNone;
    thread.was_woken = false;
    return true;
  }
  if (thread.wait != Wait::kDescriptor || thread.asked_at == w.descriptors) return false;
  thread.asked_at = w.descriptors;
  if (!(*thread.is_ready)()) return false;
  thread.wait = Wait::kNone;
  thread.was_woken = true;
  return true;
}

Thread* ChooseThread() {
  World& w = world();
  if (++w.choices > kMostChoices) {
    GoneWrong("it does not come to an end\n" + DescribeThreads());
  }
  w.now += static_cast<Nanos>(Below(kChoiceNanos));
  thread_local std::vector<Thread*> ready;
  while (true) {
    ready.clear();
    Nanos next = kNever;
    for (const auto& thread : w.threads) {
      if (CanRun(w, *thread)) {
        ready.push_back(thread.get());
      } else if (!thread->is_over) {
        next = std::min(next, thread->deadline);
      }
    }
    if (!ready.empty()) break;
    if (next == kNever) GoneWrong("everybody waits for somebody else\n" + DescribeThreads());
    w.now = next;
  }
  Thread* const chosen = ready.size() == 1 ? ready.front() : ready[Below(ready.size())];
  Mix(static_cast<uint64_t>(chosen->id));
  return chosen;
}

Thread& Current() { return *world().current; }

}  // namespace

uint64_t Random() {  // xoroshiro128+ (Blackman and Vigna)
  auto& [a, b] = world().dice;
  const uint64_t sum = a + b;
  const uint64_t mixed = a ^ b;
  a = RotateLeft(a, 24) ^ mixed ^ (mixed << 16);
  b = RotateLeft(mixed, 37);
  return sum;
}
uint64_t Below(uint64_t limit) {
  __extension__ using Product = unsigned __int128;
  return static_cast<uint64_t>(static_cast<Product>(Random()) * limit >> 64);
}
bool Chance(unsigned per_thousand) { return Below(1000) < per_thousand; }

Nanos Now() { return world().now; }
void ShiftWallClock(Nanos by) { world().wall += by; }
Nanos WallShift() { return world().wall; }
void SleepFor(Nanos time) { Block(Wait::kSleep, nullptr, Now() + time); }

void Pause() {
  SwitchTo(ChooseThread());
  ForgetEnded();
}

void Step(unsigned odds) {
  World& w = world();
  Process& process = *w.current->process;
  if (process.kill_after >= 0 && !process.is_dead && process.kill_after-- == 0) Kill(process);
  if (Below(uint64_t{odds} * w.rate / 16 + 1) == 0) Pause();
}

Process& ThisProcess() { return *Current().process; }

void Kill(Process& process) {
  if (process.is_dead) return;
  Trace("killed: " + process.name);
  process.is_dead = true;
  process.kill_after = -1;
  if (process.on_death) process.on_death();
}

size_t ThreadsOf(const Process& process) {
  size_t count = 0;
  for (const auto& thread : world().threads) {
    count += thread->process == &process && !thread->is_over ? 1 : 0;
  }
  return count;
}

void AwaitEnd(const Process& process) {
  while (ThreadsOf(process) > 0) SleepFor(1'000'000);
}

namespace {
struct Start {
  std::function<void()> run;
};
void* RunStart(void* argument) {
  const std::unique_ptr<Start> start(static_cast<Start*>(argument));
  start->run();
  return nullptr;
}
}  // namespace

void Spawn(Process& process, std::string name, std::function<void()> run) {
  const int id = StartThread(RunStart, new Start{std::move(run)});
  for (const auto& thread : world().threads) {
    if (thread->id != id) continue;
    thread->process = &process;
    thread->name = std::move(name);
    thread->is_detached = true;
  }
}

void BeginLife(uint64_t seed, bool is_traced) {
  World& w = world();
  w.seed = seed;
  w.is_traced = is_traced;
  // splitmix64: near seeds are to give far dice.
  uint64_t state = seed;
  for (uint64_t& die : w.dice) {
    state += 0x9e3779b97f4a7c15;
    uint64_t z = state;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    die = z ^ (z >> 31);
  }
  w.now = 0;
  w.wall = 0;
  w.choices = 0;
  w.hash = 0xcbf29ce484222325;
  constexpr std::array<unsigned, 4> kRates = {4, 16, 64, 256};
  w.rate = kRates[Below(kRates.size())];
  w.last_thread = 1;
  w.threads.clear();
  auto driver = std::make_unique<Thread>();
  driver->id = 1;
  driver->name = "driver";
  driver->process = &w.driver;
  driver->is_begun = true;
  w.current = driver.get();
  w.threads.push_back(std::move(driver));
  w.is_live = true;
}

void EndLife() {
  World& w = world();
  ForgetEnded();
  for (const auto& thread : w.threads) {
    if (thread.get() != w.current && !thread->is_over) {
      GoneWrong("threads are left\n" + DescribeThreads());
    }
  }
  w.is_live = false;
  w.threads.clear();
}

bool IsLive() { return world().is_live; }

uint64_t TraceHash() { return world().hash; }
void Mix(uint64_t value) {
  World& w = world();
  w.hash = (w.hash ^ value) * 0x100000001b3;
}
bool IsTraced() { return world().is_traced; }
void Trace(const std::string& what) {
  World& w = world();
  for (const char c : what) Mix(static_cast<unsigned char>(c));
  if (!w.is_traced) return;
  w.is_live = false;
  std::fprintf(stdout, "%12.6f %3d %s\n", static_cast<double>(w.now) / 1e9,
               w.current == nullptr ? 0 : w.current->id, what.c_str());
  w.is_live = true;
}

std::string DescribeThreads() {
  constexpr std::array<const char*, 8> kWaits = {"runs",       "mutex", "condition", "futex",
                                                 "descriptor", "sleep", "join",      "once"};
  std::string text;
  for (const auto& thread : world().threads) {
    if (thread->is_over) continue;
    text += fmt::format("  {} {} of {}{}: {} {} until {}\n", thread->id, thread->name,
                        thread->process->name, thread->process->is_dead ? " (dead)" : "",
                        kWaits[static_cast<size_t>(thread->wait)], fmt::ptr(thread->on),
                        thread->deadline == kNever ? -1 : thread->deadline / 1'000'000);
  }
  return text;
}

void GoneWrong(const std::string& what) {
  World& w = world();
  w.is_live = false;
  std::fprintf(stdout, "seed %llu went wrong: %s\n", static_cast<unsigned long long>(w.seed),
               what.c_str());
  std::fflush(stdout);
  ::_exit(kGoneWrong);
}

bool Block(Wait wait, const void* on, Nanos deadline) {
  Thread& self = Current();
  self.wait = wait;
  self.on = on;
  self.deadline = deadline;
  self.was_woken = false;
  Pause();
  self.deadline = kNever;
  return self.was_woken;
}

void WakeOne(Wait wait, const void* on) {
  thread_local std::vector<Thread*> waiting;
  waiting.clear();
  for (const auto& thread : world().threads) {
    if (thread->wait == wait && thread->on == on && !thread->is_over) {
      waiting.push_back(thread.get());
    }
  }
  if (waiting.empty()) return;
  Thread* const one = waiting[Below(waiting.size())];
  one->wait = Wait::kNone;
  one->was_woken = true;
}

void WakeAll(Wait wait, const void* on) {
  for (const auto& thread : world().threads) {
    if (thread->wait != wait || thread->on != on || thread->is_over) continue;
    thread->wait = Wait::kNone;
    thread->was_woken = true;
  }
}

bool BlockOnDescriptor(const std::function<bool()>& is_ready, Nanos deadline) {
  if (is_ready()) return true;
  Thread& self = Current();
  self.is_ready = &is_ready;
  self.asked_at = world().descriptors;
  return Block(Wait::kDescriptor, &is_ready, deadline);
}

void DescriptorsChanged() { ++world().descriptors; }

int ThisThread() {
  const Thread* const current = world().current;
  return current == nullptr ? 1 : current->id;
}

uint64_t& WaitsAtOnce() { return Current().waits_at_once; }

int StartThread(void* (*run)(void*), void* argument) {
  World& w = world();
  auto thread = std::make_unique<Thread>();
  thread->id = ++w.last_thread;
  thread->name = w.current->name;
  thread->process = w.current->process;
  thread->run = run;
  thread->argument = argument;
  const int id = thread->id;
  w.threads.push_back(std::move(thread));
  return id;
}

void* JoinThread(int id) {
  World& w = world();
  const auto find = [&w, id]() -> Thread* {
    for (const auto& thread : w.threads) {
      if (thread->id == id) return thread.get();
    }
    return nullptr;
  };
  Thread* thread = find();
  if (thread == nullptr) return nullptr;
  while (!thread->is_over) Block(Wait::kJoin, thread, kNever);
  thread->is_detached = w.has_ended = true;
  return thread->result;
}

void DetachThread(int id) {
  for (const auto& thread : world().threads) {
    if (thread->id == id) thread->is_detached = world().has_ended = true;
  }
}

}  // namespace simulation
