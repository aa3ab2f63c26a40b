// What `watch` shows, and what keys make of it. Pure.
#pragma once

#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "watch/keys.h"

namespace watch {

struct JobRow {
  std::string namespace_name, name, uid;
  std::string status;
  std::string reason;  // why it waits or failed, or who holds it up
  std::string ranks;   // "2/4": instances that are up, of how many
  std::string progress;
  std::optional<int64_t> percent;
  std::string gpus;
  base::Time created{};
};

struct RankRow {
  int rank = 0;
  std::string instance, state, step;
  std::optional<base::Duration> quiet;
  std::optional<double> cpu;             // processors
  std::optional<int64_t> memory;         // bytes
  std::string gpu;                       // "35%", "" is none
  std::optional<base::Duration> late{};  // by how much it usually comes last to collectives
};

// A job that is looked at.
struct JobView {
  std::string namespace_name, name;
  bool is_gone = false;
  JobRow row;
  std::vector<RankRow> ranks;
  std::vector<std::string> progress;  // lines
  std::string curve_name;             // "loss"
  std::vector<double> curve;          // its values, in the order of time
  std::deque<std::string> log;
};
inline constexpr size_t kMostLogLines = 2000;

enum class Sort { kNewest, kName, kStatus, kProgress };
std::string_view NameOf(Sort sort);

// What a key asks for beyond another look of the screen.
struct Wish {
  enum class Kind { kNone, kQuit, kOpen, kClose, kLogs, kShell, kStacks, kExplain, kReport, kStop };
  Kind kind = Kind::kNone;
  std::string namespace_name, name;  // of the job
};

struct State {
  std::vector<JobRow> jobs;
  std::optional<JobView> view;  // nullopt: the list
  std::string problem;          // why nothing new comes; "" is none
  std::string said;             // what came of the last key
  bool has_listed = false;
  Sort sort = Sort::kNewest;
  std::string filter;
  bool is_filtering = false;  // what is typed goes there
  bool is_helping = false;
  bool is_sure = false;   // asks whether to stop the job
  bool is_alone = false;  // one job was asked for: there is no list to go back to
  std::string selected;   // uid
  size_t top = 0;         // of the rows, the first that is shown
  size_t rank_top = 0;    // the same of ranks
  size_t log_back = 0;    // lines that are scrolled back
};

// Rows that match the filter, in the order that was asked for.
std::vector<const JobRow*> ShownRows(const State& state);
// The job that keys are about; nullopt when there is none.
std::optional<JobRow> JobAtHand(const State& state);

// `page`: rows that a screen has.
Wish OnKey(State& state, const Key& key, size_t page);

}  // namespace watch
