// Finds the rank that makes the others of a running job wait at each collective, from the flight
// recorders of all ranks (recorder.h). Pure.
//
// Healthy ranks are late in turns. The collectives of one step do not count one by one, because a
// rank that is late at the first of them is mostly late at the last: a round is one step, which is
// recognised by its collectives' names and sizes, which repeat.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "answers/stall/recorder.h"

namespace answers {

struct Straggler {
  int rank = 0;
  int last = 0;                     // the number of steps in which it made the others wait longest
  int of = 0;                       // of this many steps
  std::chrono::nanoseconds late{};  // the median time after the first rank
  std::chrono::nanoseconds step{};  // the median time of a step
};

// For one attempt of a job. Used by one thread.
class StragglerWatch {
 public:
  // The recorders of the ranks that have answered, by rank; call it every few seconds, so that the
  // collectives of one call continue those of the previous one. Compares clocks: the ranks are on
  // one machine.
  void See(const std::map<int, Trace>& traces);

  // The rank for which the others waited longest in nine tenths of the last 50 steps (of those of
  // the last 20 s if they are more), by at least 5 ms and a tenth of a step. Nullopt if there is
  // none.
  std::optional<Straggler> straggler() const;

 private:
  // A collective that all members of its group have entered.
  struct Meeting {
    int64_t number = 0;
    size_t kind = 0;  // of its name, sizes and types
    int64_t first_ns = 0;
    int last = 0;  // rank
    int64_t late_ns = 0;
  };
  struct Group {
    size_t members = 0;
    std::map<int64_t, std::map<int, int64_t>> open;  // arrivals by number
    std::map<int64_t, size_t> kinds;                 // of the open ones
    std::deque<Meeting> meetings;                    // by number, ascending
    int64_t done = 0;                                // the number of the last meeting
  };

  static void Add(int rank, const GroupTrace& trace, Group& group);
  static void Close(Group& group);
  static std::optional<Straggler> StragglerOf(const std::deque<Meeting>& all);
  static bool IsSuspect(const std::deque<Meeting>& all, int rank);
  static size_t CycleOf(const std::deque<Meeting>& all);

  std::map<std::string, Group> groups_;
};

// "rank 1 is late at collectives: the last in 48 of 50 steps, by 140 ms of 900 ms each"
std::string Say(const Straggler& straggler);

// Where a rank is while it does not wait for others, counted over samples of its stack.
class Places {
 public:
  // Adds a dump of its stacks (stack.h). One in which it waits for others does not count.
  void See(const std::string& dump);
  // "mostly at loader.py:31, in get (queue.py:113)": the most frequent place of the user's code in
  // at least three samples; "" before that, or if no place has half of them.
  std::string Say() const;

 private:
  std::deque<std::string> seen_;
};

// "had entered all_reduce #412 and finished #411", for the group whose collective it entered last;
// "" if it has entered none.
std::string LastCollectiveOf(const Trace& trace);

}  // namespace answers
