// Which rank of a job that goes on makes the others wait at each collective, by the recorders of
// all (recorder.h). Pure.
#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <string>

#include "answers/stall/recorder.h"

namespace answers {

struct Straggler {
  int rank = 0;
  Lateness late;
  std::chrono::nanoseconds period{};  // between two collectives of its group, the median
};

// The rank that was the last at four of five collectives, of 20 at least, and by a tenth of the
// time between two, and 5 ms, at least. Nullopt when there is none.
std::optional<Straggler> StragglerOf(const std::map<int, Trace>& traces);

// "rank 1 is late at collectives: the last at 97 of 100, by 140 ms of 900 ms"
std::string Say(const Straggler& straggler);

// "had entered all_reduce #412 and finished #411": of the group in which it entered something last.
// "" of a rank that has entered nothing.
std::string LastCollectiveOf(const Trace& trace);

}  // namespace answers
