// Whether the ranks of a job still go on, and who holds them up: pure. It is told once a second
// what the kernel knows of every rank, and asks where they stand only when somebody stands still.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "answers/stall/stack.h"

namespace answers {

// Of one process, summed over its threads unless it says otherwise.
struct Activity {
  char state = '?';        // of the main thread: R, S, D, T, t
  uint64_t ticks = 0;      // CPU time used, with its children's, in clock ticks
  uint64_t switches = 0;   // how often the main thread gave its CPU away
  uint64_t transfers = 0;  // calls of the main thread that read and wrote
  uint64_t told = 0;       // bytes that it has written about its stacks, whoever asked
};

struct RankLook {
  int rank = 0;
  int pid = 0;
  bool has_ended = false;  // with exit code 0; one that failed ends the job
  Activity activity{};
};

struct Stall {
  enum class Kind {
    kStalled,  // who is waited for does nothing at all
    kWaiting,  // who is waited for does something: slow is not hung
  };
  Kind kind = Kind::kStalled;
  std::chrono::steady_clock::time_point since;
  std::vector<int> waiting, missing;  // ranks, ascending
  // "rank 1 has not entered all_reduce (train.py:88); it is at loader.py:31: time.sleep(60)"
  std::string text;
};

// "stalled", "waiting".
std::string_view NameOf(Stall::Kind kind);

// "stalled 34 s: rank 1 ..."
std::string Say(const Stall& stall, std::chrono::steady_clock::time_point now);

// One thread. Of one attempt of a job.
class StallWatch {
 public:
  using Instant = std::chrono::steady_clock::time_point;
  // `after`: how long a rank stands still before it is asked. `is_whole`: all ranks of the job are
  // looked at; else those of one machine, and who is missing may be elsewhere. `world`: how many
  // ranks there are.
  StallWatch(std::chrono::milliseconds after, bool is_whole, int world);

  // Once a second. True when the dumps of all ranks are wanted, for Judge.
  bool See(Instant now, const std::vector<RankLook>& looks);

  // By rank, of the ranks that gave one.
  struct Testimony {
    std::map<int, std::string> dumps;   // of their stacks (stack.h)
    std::map<int, std::string> traces;  // of their collectives (recorder.h)
  };
  // `line_of`: the text of a line of a source file, "" when that cannot be read.
  using LineOf = std::string (*)(std::string_view file, int line);
  void Judge(Instant now, const Testimony& told, LineOf line_of);

  // What holds now.
  const std::optional<Stall>& stall() const { return stall_; }
  // The last.
  std::vector<RankLook> looks() const;

 private:
  struct Known {
    RankLook look;
    Instant still_since;  // nothing of it has changed since
    Instant idle_since;   // nothing but a look now and then at whether something has come
    int disturbed = 0;    // looks at which only work counts: being asked has woken it up
  };

  std::chrono::milliseconds after_;
  bool is_whole_;
  int world_;
  std::map<int, Known> ranks_;
  std::optional<Stall> stall_;
  std::optional<Instant> asked_;
  std::chrono::milliseconds next_ask_;
};

}  // namespace answers
