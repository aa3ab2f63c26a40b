// The state of `watch`, and how keys change it. Pure.
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
  std::string reason;  // why it waits or failed, or which rank stalls it
  std::string ranks;   // "2/4": ranks that run or have succeeded, of all
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
  std::string gpu;                       // "35%"; "" for none
  std::optional<base::Duration> late{};  // by how much it usually comes last to collectives
  // Processors that it used since the job began, in stretches of the same length; nullopt where it
  // did not run.
  std::vector<std::optional<double>> used{};
  int restarts = 0;                 // of its instance
  std::string last_end{}, waits{};  // as in api::InstanceSummary
};

inline constexpr size_t kPastColumns = 20;  // of RankRow::used, at most

// The job that is shown in detail.
struct JobView {
  std::string namespace_name, name;
  bool is_gone = false;
  JobRow row;
  std::vector<RankRow> ranks;
  std::vector<std::string> progress;  // lines
  std::string curve_name;             // "loss"
  std::vector<double> curve;          // its values by time
  std::deque<std::string> log;
};
inline constexpr size_t kMostLogLines = 2000;

enum class Sort { kNewest, kName, kStatus, kProgress };
std::string_view NameOf(Sort sort);

// Whether the row may change although its job does not: its pods show what it waits for, or its
// reason counts seconds.
bool ChangesWithoutNews(const JobRow& row);

// A request by a key that the state alone cannot fulfil.
struct Wish {
  enum class Kind {
    kNone,
    kQuit,
    kOpen,
    kClose,
    kLogs,
    kShell,
    kStacks,
    kExplain,
    kReport,
    kStop,
    kResume
  };
  Kind kind = Kind::kNone;
  std::string namespace_name, name;  // of the job
};

struct State {
  std::vector<JobRow> jobs;
  std::optional<JobView> view;  // nullopt: the list
  std::string problem;          // why nothing new comes; "" for none
  std::string said;             // the result of the last key
  bool has_listed = false;
  Sort sort = Sort::kNewest;
  std::string filter;
  std::string log_filter;     // of the job that is shown
  bool is_filtering = false;  // typed characters go to the filter of what is shown
  bool is_helping = false;
  std::optional<Wish> asked;  // what is to be confirmed: that a job is to stop, or to run again
  bool is_alone = false;      // the user asked for one job, so there is no list
  std::string selected;       // uid
  size_t top = 0;             // index of the first visible row
  size_t rank_top = 0;        // the same for ranks
  size_t log_back = 0;        // how many lines the log is scrolled back
};

// The rows that match the filter, sorted as the user chose.
std::vector<const JobRow*> ShownRows(const State& state);
// The job that keys apply to; nullopt if there is none.
std::optional<JobRow> JobAtHand(const State& state);

// The job's lines that match the filter of its log.
std::vector<const std::string*> ShownLog(const State& state);
// A scrolled log does not move.
void AddToLog(State& state, std::string line);
inline constexpr std::string_view kSuspended = "SUSPENDED";

// `page`: how many rows fit on the screen.
Wish OnKey(State& state, const Key& key, size_t page);

}  // namespace watch
