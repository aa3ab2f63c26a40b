// Training jobs as Arena prints them (compat/arena.md 2.3, 2.4, 2.7 and its documents). Pure.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "arena/jobs/gpu_metrics.h"
#include "arena/jobs/jobs.h"
#include "cli/command.h"
#include "text/json.h"

namespace arena {

// One row of `list`; the server's table and our own counting both come to it.
struct ListRow {
  std::string name;
  std::string namespace_name;
  std::string status;
  std::string trainer;
  std::string age;       // since creation
  std::string duration;  // of the training
  std::string requested_gpus;
  std::string allocated_gpus;
  std::string node;
  std::string stall{};  // who holds it up (api/stall.h); "" is nobody
};
ListRow ToListRow(const api::TrainingSummary& summary, base::Time now);

enum class Format { kDocument, kWide, kJson, kYaml };
// "" is kDocument, the columns of Arena's documents; the error is Arena's.
base::Result<Format> ParseFormat(std::string_view text);
// The value of the call's -o; an empty one that was typed is an error, as it is Arena's.
base::Result<Format> FormatOf(const std::string& output, const cli::Invocation& call);
constexpr bool IsForMachines(Format format) {
  return format == Format::kJson || format == Format::kYaml;
}

// How a state is shown: painted where the call's stdout has colours; under Arena's name as it is.
using StatePainter = std::function<std::string(const std::string& state)>;
StatePainter PainterFor(const Context& context, const cli::Invocation& call);
// Prints a table; on a terminal that is narrower stderr says so, but not under Arena's name.
base::Status Print(const Context& context, const cli::Invocation& call, const std::string& table);

std::string RenderList(const std::vector<ListRow>& rows, Format format, bool with_namespace,
                       const StatePainter& painted);
// Those that ask for most first.
void SortByGpus(std::vector<TrainingJob>& jobs);
// In their order.
std::string RenderTopJobs(const std::vector<TrainingJob>& jobs, Format format, bool with_namespace,
                          base::Time now, const StatePainter& painted);
// `metrics`: of any GPUs; the job's are picked out.
std::string RenderTopJob(const TrainingJob& job, const std::vector<GpuMetric>& metrics,
                         const StatePainter& painted);

struct JobEvent {
  std::string source;  // pod/x, pytorchjob/x
  std::string type;
  std::string age;
  std::string message;  // [Reason] text
};

// What get was asked to add.
struct GetExtras {
  std::optional<std::string> tensorboard;
  std::string tensorboard_problem;  // why it does not run; "" is none
  bool gpus = false;
  std::vector<GpuMetric> gpu_metrics;
  bool events = false;
  std::vector<JobEvent> event_rows;
  // When a job that waits will start; "" where nobody can tell.
  std::string starts;
  std::vector<std::string> progress;  // ProgressLines
  // The command that prints the log of the instance that failed first; "" leaves its last lines
  // out.
  std::string logs_command;
};
std::string RenderGet(const TrainingJob& job, Format format, const GetExtras& extras,
                      base::Time now, const StatePainter& painted);

// Arena's keys in its order; then, with kAll, ours, where there is something to say: reason (of a
// job that waits or has failed), and failedInstance, rank and exitCode of what failed first.
enum class Keys { kArenas, kAll };
inline Keys KeysFor(const Context& context) {
  return context.program == "arena" ? Keys::kArenas : Keys::kAll;
}
text::Json JobToJson(const TrainingJob& job, const std::optional<std::string>& tensorboard,
                     const std::vector<GpuMetric>& metrics, Keys keys);
// 4 blanks, no final newline; YAML with the keys in their order, model keys in lower case.
std::string RenderJson(const text::Json& value);
std::string RenderYaml(const text::Json& value);
// As `format` says, one of those for machines, with a line break at its end.
std::string RenderDocument(const text::Json& value, Format format);

}  // namespace arena
