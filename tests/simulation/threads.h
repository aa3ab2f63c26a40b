// The threads of a simulated life, on one thread of this process: std::thread, mutexes, condition
// variables, futexes, epoll and clocks are the product's own calls, answered here (libc_threads.cc)
// instead of by the C library. At each of them another thread may come to run, by the dice of the
// seed. Time stands still while somebody can run, and then leaps to the next deadline.
//
// Nothing here is thread safe: there is only one.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace simulation {

class Description;

// What is killed together. Its threads run on once it is dead, for their destructors' sake, but
// nothing that they do is seen any more (disk.h).
struct Process {
  std::string name;
  int pid = 1;
  std::string folder = {};  // its current one, where relative paths begin
  bool is_dead = false;
  // Of its operations on files, and of its switches of threads, how many are left until it is
  // killed; below zero: it is not.
  int64_t kill_after = -1;
  std::function<void()> on_death = {};
  // Where its locks and sockets go when they are closed after its death: others find them taken
  // until the kernel has come to them.
  std::vector<std::shared_ptr<Description>>* left_open = nullptr;
};

using Nanos = int64_t;
inline constexpr Nanos kNever = INT64_MAX;
inline constexpr Nanos kMilli = 1'000'000;
inline constexpr Nanos kSecond = 1'000'000'000;

// Dice. All of one life come from one seed.
uint64_t Random();
uint64_t Below(uint64_t limit);  // limit > 0
bool Chance(unsigned per_thousand);

// Since the life began; the same for both clocks but for SetWallClock.
Nanos Now();
// Adds to what CLOCK_REALTIME says.
void ShiftWallClock(Nanos by);
void SleepFor(Nanos time);
// Lets others run, perhaps.
void Pause();
// The same at one of `odds` calls, and here the process may be killed.
void Step(unsigned odds);

Process& ThisProcess();
// Its threads start others of it.
void Spawn(Process& process, std::string name, std::function<void()> run);
void Kill(Process& process);
size_t ThreadsOf(const Process& process);
// Sleeps until no thread of the process is left.
void AwaitEnd(const Process& process);

// A life begins and ends on the main thread, which is its driver.
void BeginLife(uint64_t seed, bool is_traced);
void EndLife();
// Whether one is under way; else everything is the C library's.
bool IsLive();

// Of everything that was chosen and traced so far.
uint64_t TraceHash();
void Mix(uint64_t value);
bool IsTraced();
void Trace(const std::string& what);
// A line about every thread, for what hangs.
std::string DescribeThreads();

// The life has gone wrong: says so, and ends this process.
[[noreturn]] void GoneWrong(const std::string& what);
inline constexpr int kGoneWrong = 3;  // exit status

}  // namespace simulation
