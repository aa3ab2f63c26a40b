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

// One row of `list`, from the server's table or from our own count.
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
  std::string stall{};  // which rank the others wait for (api/stall.h); "" if it does not stall
};
ListRow ToListRow(const api::TrainingSummary& summary, base::Time now);

enum class Format { kDocument, kWide, kJson, kYaml };
// "" means kDocument, the columns of Arena's documents. The error is Arena's.
base::Result<Format> ParseFormat(std::string_view text);
// The value of the call's -o. As in Arena, an empty value on the command line is an error.
base::Result<Format> FormatOf(const std::string& output, const cli::Invocation& call);
// --output, -o of a verb without columns of its own: json or yaml.
void AddDocumentFlag(cli::FlagSet& set, std::string* to);
constexpr bool IsForMachines(Format format) {
  return format == Format::kJson || format == Format::kYaml;
}

// A state as it is printed: coloured if the call's stdout has colours, except under Arena's name.
using StatePainter = std::function<std::string(const std::string& state)>;
StatePainter PainterFor(const Context& context, const cli::Invocation& call);
// Prints a table. If the terminal is narrower, says so on stderr, except under Arena's name.
base::Status Print(const Context& context, const cli::Invocation& call, const std::string& table);

std::string RenderList(const std::vector<ListRow>& rows, Format format, bool with_namespace,
                       const StatePainter& painted);
// Sorted by the GPUs that they ask for, most first.
void SortByGpus(std::vector<TrainingJob>& jobs);
// In the given order.
std::string RenderTopJobs(const std::vector<TrainingJob>& jobs, Format format, bool with_namespace,
                          base::Time now, const StatePainter& painted);
// `metrics` may be of any GPUs; uses the job's.
std::string RenderTopJob(const TrainingJob& job, const std::vector<GpuMetric>& metrics,
                         const StatePainter& painted);

struct JobEvent {
  std::string source;  // pod/x, pytorchjob/x
  std::string type;
  std::string age;
  std::string message;  // [Reason] text
};

// What flags of `get` add.
struct GetExtras {
  std::optional<std::string> tensorboard;
  std::string tensorboard_problem;  // why it does not run; "" for none
  bool gpus = false;
  // Arena prints the job's duration as the age of its instances, and each instance's events as a
  // group with a blank line behind it.
  bool is_arenas_page = false;
  std::vector<GpuMetric> gpu_metrics;
  bool events = false;
  std::vector<JobEvent> event_rows;
  // When a pending job will start; "" if unknown.
  std::string starts;
  std::vector<std::string> progress;  // ProgressLines
  // The command that prints the log of the instance that failed first; "" omits its last lines.
  std::string logs_command;
};
std::string RenderGet(const TrainingJob& job, Format format, const GetExtras& extras,
                      base::Time now, const StatePainter& painted);

// Arena's keys in its order. kAll adds ours if they have a value: reason (of a job that waits or
// has failed), and failedInstance, rank and exitCode of the first failure.
enum class Keys { kArenas, kAll };
inline Keys KeysFor(const Context& context) {
  return context.program == "arena" ? Keys::kArenas : Keys::kAll;
}
text::Json JobToJson(const TrainingJob& job, const std::optional<std::string>& tensorboard,
                     const std::vector<GpuMetric>& metrics, Keys keys);
// Indented by 4, no final newline; YAML keeps the order of keys and has model keys in lower case.
std::string RenderJson(const text::Json& value);
std::string RenderYaml(const text::Json& value);
// In `format`, one of the formats for machines, with a final newline.
std::string RenderDocument(const text::Json& value, Format format);

}  // namespace arena
