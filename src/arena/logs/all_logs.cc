#include "arena/logs/all_logs.h"

#include <fmt/format.h>

#include <deque>

#include "api/job/training_summary.h"
#include "api/object.h"
#include "api/pod.h"
#include "arena/logs/log_lines.h"
#include "base/log.h"

namespace arena {
namespace {

using base::Code;
using base::Fail;

// One instance's log, line by line.
class InstanceLog {
 public:
  InstanceLog(std::string instance, std::unique_ptr<net::BodyStream> stream)
      : instance_(std::move(instance)), stream_(std::move(stream)) {}

  // Reads on until there is a line, or no more.
  base::Status Fill() {
    while (lines_.empty() && !is_over_) {
      TRY_ASSIGN(const std::optional<std::string> bytes, stream_->Read());
      is_over_ = !bytes;
      Split(bytes ? whole_lines_.Feed(*bytes) : whole_lines_.End());
    }
    return {};
  }
  bool has_line() const { return !lines_.empty(); }
  const TimedLine& front() const { return lines_.front(); }
  void Pop() { lines_.pop_front(); }
  const std::string& instance() const { return instance_; }

 private:
  void Split(std::string_view text) {
    for (TimedLine& line : SplitTimedLines(text, last_time_)) lines_.push_back(std::move(line));
  }

  const std::string instance_;
  const std::unique_ptr<net::BodyStream> stream_;
  LogLines whole_lines_{true};
  std::deque<TimedLine> lines_;
  std::string last_time_;
  bool is_over_ = false;
};

// The one whose next line is the oldest; nullptr at the end of all.
InstanceLog* Oldest(std::vector<std::unique_ptr<InstanceLog>>& logs) {
  InstanceLog* oldest = nullptr;
  for (const auto& log : logs) {
    if (!log->has_line()) continue;
    if (oldest == nullptr || log->front().time < oldest->front().time) oldest = log.get();
  }
  return oldest;
}

// The last init container that runs or has run; "" when none has.
std::string StartedInitContainer(const text::Json& pod) {
  std::string started;
  for (const api::ContainerStatus& status : api::InitContainerStatuses(pod)) {
    if (status.is_running || status.terminated || status.last_terminated) started = status.name;
  }
  return started;
}

}  // namespace

const std::string& LinePrefixes::Of(const std::string& instance) {
  constexpr int kColours[] = {36, 33, 32, 35, 34, 31};
  std::string& prefix = prefixes_[instance];
  if (prefix.empty()) {
    const size_t place = (prefixes_.size() - 1) % std::size(kColours);
    prefix = has_colours_ ? fmt::format("\x1b[{}m[{}]\x1b[0m ", kColours[place], instance)
                          : fmt::format("[{}] ", instance);
  }
  return prefix;
}

base::Result<std::string> ContainerToRead(const TrainingJob& job, const std::string& instance,
                                          const std::string& wanted) {
  if (!wanted.empty()) return wanted;
  const text::Json* const pod = job.Pod(instance);
  const std::string status = pod == nullptr ? "" : api::PodStatusText(*pod);
  if (status.starts_with("Init:") || status == "PodInitializing") {
    if (const std::string container = StartedInitContainer(*pod); !container.empty()) {
      return container;
    }
  }
  if (pod == nullptr || text::GetString(*pod, {"status", "phase"}) == "Pending") {
    const std::string why = job.summary.reason.empty() ? "" : ": " + job.summary.reason;
    return Fail(Code::kInvalidArgument, fmt::format("instance {} is not running{}", instance, why));
  }
  return std::string();
}

base::Status PrintAllLogs(cluster::Client& client, const AllLogsRequest& request,
                          cli::Output& out) {
  std::vector<std::unique_ptr<InstanceLog>> logs;
  LinePrefixes prefixes(request.has_colours);
  std::optional<base::Error> why_not;
  for (const api::InstanceSummary& instance : request.job.summary.instances) {
    prefixes.Of(instance.name);
    cluster::LogOptions options = request.options;
    options.timestamps = true;
    auto container = ContainerToRead(request.job, instance.name, options.container);
    if (!container) {
      if (why_not) base::LogInfo("{}", why_not->message);
      why_not = std::move(container.error());
      continue;
    }
    options.container = *container;
    if (const text::Json* pod = request.job.Pod(instance.name); request.is_gone && pod != nullptr) {
      options.pod_uid = api::Uid(*pod);
    }
    TRY_ASSIGN(std::unique_ptr<net::BodyStream> stream,
               client.Logs(request.job.summary.namespace_name, instance.name, options));
    logs.push_back(std::make_unique<InstanceLog>(instance.name, std::move(stream)));
    TRY(logs.back()->Fill());
  }
  if (logs.empty() && why_not) return Fail(std::move(*why_not));
  if (why_not) base::LogInfo("{}", why_not->message);
  while (InstanceLog* log = Oldest(logs)) {
    TRY(out.Write(prefixes.Of(log->instance()) + log->front().Text(request.options.timestamps)));
    log->Pop();
    TRY(log->Fill());
  }
  return {};
}

}  // namespace arena
