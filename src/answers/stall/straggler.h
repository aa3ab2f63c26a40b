// Finds the rank that makes the others of a running job wait at each collective, from the flight
// recorders of all ranks (recorder.h). Pure.
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
  std::chrono::nanoseconds period{};  // the median time between two collectives of its group
};

// The rank that was last at four fifths of at least 20 collectives, by at least 5 ms and a tenth of
// the time between two collectives. Nullopt if there is none.
std::optional<Straggler> StragglerOf(const std::map<int, Trace>& traces);

// "rank 1 is late at collectives: the last at 97 of 100, by 140 ms of 900 ms"
std::string Say(const Straggler& straggler);

// "had entered all_reduce #412 and finished #411", for the group whose collective it entered last;
// "" if it has entered none.
std::string LastCollectiveOf(const Trace& trace);

}  // namespace answers
