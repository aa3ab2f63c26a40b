// The annotation that says what stalls a job (kStallAnnotation): "stalled 2026-07-30T10:00:00Z
// rank 1 has not entered all_reduce (train.py:88)".
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "text/json.h"

namespace api {

// The kind of a note about a rank that makes the others wait at each step: the job continues, and
// does not count as stalled.
inline constexpr std::string_view kSlowed = "slowed";

// `kind`: "stalled", "waiting" or kSlowed.
std::string StallNote(std::string_view kind, base::Time since, std::string_view text);

// Kind and text of a note, without its time; "" for an empty note.
std::string TextOfStall(std::string_view note);

// "stalled 34 s: rank 1 has not ..." for a note; "" for a malformed one.
std::string SayStall(std::string_view note, base::Time now);

struct Stall {
  std::string kind;  // as in StallNote
  base::Time since{};
  std::string text;
};
// What the job's annotation says; nullopt when the job is not stalled, or the annotation is
// malformed.
std::optional<Stall> CurrentStall(const text::Json& job);

// For display: "stalled 34 s: rank 1 has not ..."; "" when the job is not stalled, or the
// annotation is malformed.
std::string StallOf(const text::Json& job, base::Time now);

// A stall that may have ended the job: `end` is when the ranks moved again, as they also do to
// raise what they waited for in vain; nullopt if they did not.
struct LastStall {
  Stall stall;
  std::optional<base::Time> end;
};
// The present stall, or else the one that ended last; nullopt if there was none, or the annotations
// are malformed.
std::optional<LastStall> LastStallOf(const text::Json& job);

struct PastStall {
  base::Time begin{};
  base::Time end{};
};
inline constexpr size_t kMostPastStalls = 64;

// `past`, a value of kStallsAnnotation, with one more stall, which `note` describes and which ended
// at `end`. Each stall is a "BEGIN/END"; the latest kMostPastStalls are kept. Returns `past`
// unchanged if the note is malformed, or of kSlowed.
std::string WithPastStall(std::string_view past, std::string_view note, base::Time end);

// The periods in which ranks were held up, including the present stall, which lasts until `now`;
// malformed entries are left out.
std::vector<PastStall> StallsOf(const text::Json& job, base::Time now);

}  // namespace api
