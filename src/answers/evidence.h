// The known facts about a failed job, as their sources give them.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"

namespace answers {

struct Fact {
  std::optional<base::Time> time;
  std::string source;  // "rank 1 (pt-worker-0)", "event of pod pt-worker-0", "kernel's log"
  std::string text;
};

// The source of a stall.
inline constexpr std::string_view kStallSource = "the rank that held up the others";

struct Line {
  std::optional<base::Time> time;
  std::string text;  // without the stamps and prefixes that carriers of the line added (log_line.h)
  size_t order = 0;  // among the lines of one file, whichever rank wrote them
};

// A process or a container, with the end of its log.
struct Rank {
  std::optional<int> rank;  // if a container has several ranks: of its first
  std::string name;         // a pod, or the file that the lines are from
  std::string container;    // of the pod, if it is not the training's
  std::string host;
  int attempt = 0;               // those before it
  std::optional<int> exit_code;  // as containers report it: 128 + a signal
  std::string reason;            // of its end: "OOMKilled", "Evicted"; "" if unknown
  std::string message;           // that came with it
  std::optional<base::Time> ended;
  // its launcher's text about its end: "traceback : Signal 11 (SIGSEGV) received"
  std::string end_words;
  bool was_ended_by_us = false;  // with its job, or because somebody deleted it
  bool has_log = true;
  std::string why_no_log;       // "" if it does not matter
  std::vector<Line> lines;      // the oldest first
  std::vector<Fact> witnesses;  // what its machine reported after its failure (witness_line.h)
};

struct Event {
  std::optional<base::Time> time;
  std::string object, reason, message;
  std::optional<int> index{};  // the rank that the event of a file is about
};

struct Evidence {
  std::vector<Rank> ranks{};
  std::vector<Event> events{};
  std::string job_reason{}, job_message{};  // of the condition that ended the job; "" without one
  // Which rank held the others up last, since when: "stalled rank 1 has not entered all_reduce
  // (train.py:88)" (stall/stall.h).
  std::optional<Fact> stall{};
  std::optional<base::Time> stall_end{};  // nullopt if it lasted until the job ended
  std::string search_path{};              // the job's PATH; "" if it is not known
  // How containers ended before they were restarted in place: "rank 0 (pt-master-0)", "in attempt 1
  // exited with code 1".
  std::vector<Fact> earlier_ends{};
  // the rank that failed first, according to torchrun; used if there are no times
  std::optional<int> first_rank{};
  std::string other_jobs{};  // whose logs were left out: "bert, t5"; "" of none
};

}  // namespace answers
