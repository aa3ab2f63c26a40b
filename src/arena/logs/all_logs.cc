#include "arena/logs/all_logs.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <utility>
#include <vector>

#include "answers/files/recovery.h"
#include "answers/finding.h"
#include "api/job/training_summary.h"
#include "api/object.h"
#include "api/pod.h"
#include "arena/jobs/jobs.h"
#include "arena/logs/log_lines.h"
#include "arena/logs/pod_log.h"
#include "base/log.h"
#include "base/strings.h"

namespace arena {
namespace {

using base::Code;
using base::Fail;

constexpr size_t kWrittenAtOnce = 64 << 10;
constexpr size_t kMostUnsearched = 1 << 20;

// Reads the log of one instance, line by line.
class InstanceLog {
 public:
  // Lines without `grep` are not needed, but may come; "" means that all are. `stop` ends a Fill.
  InstanceLog(std::string instance, std::unique_ptr<net::BodyStream> stream, std::string grep,
              std::stop_token stop)
      : instance_(std::move(instance)),
        stream_(std::move(stream)),
        grep_(std::move(grep)),
        stop_(std::move(stop)) {}

  // Reads until there is a line, or until the log ends.
  base::Status Fill() {
    while (lines_.empty() && !is_over_) {
      if (stop_.stop_requested()) return Fail(Code::kCancelled, "nobody reads any more");
      TRY_ASSIGN(std::optional<std::string> bytes, stream_->Read());
      is_over_ = !bytes;
      if (bytes) {
        Split(whole_lines_.Feed(Wanted(*std::move(bytes))));
      } else {
        Split(whole_lines_.Feed(std::exchange(unsearched_, "")) + whole_lines_.End());
      }
    }
    return {};
  }
  bool has_line() const { return !lines_.empty(); }
  const TimedLine& front() const { return lines_.front(); }
  void Pop() { lines_.pop_front(); }
  const std::string& instance() const { return instance_; }

 private:
  // Returns the whole lines among the bytes, or nothing if no line contains `grep_`: most of a
  // large log need not be split.
  std::string Wanted(std::string bytes) {
    if (grep_.empty()) return bytes;
    unsearched_ += bytes;
    const size_t end = unsearched_.rfind('\n');
    if (end == std::string::npos && unsearched_.size() <= kMostUnsearched) return "";
    if (end == std::string::npos) {  // it is a very long line: from here on nothing is searched
      grep_.clear();
      return std::exchange(unsearched_, "");
    }
    std::string lines = std::exchange(unsearched_, unsearched_.substr(end + 1));
    lines.resize(end + 1);
    return lines.find(grep_) == std::string::npos ? "" : lines;
  }

  void Split(std::string_view text) {
    for (TimedLine& line : SplitTimedLines(text, last_time_)) lines_.push_back(std::move(line));
  }

  const std::string instance_;
  const std::unique_ptr<net::BodyStream> stream_;
  std::string grep_;
  const std::stop_token stop_;
  std::string unsearched_;
  LogLines whole_lines_{true};
  std::deque<TimedLine> lines_;
  std::string last_time_;
  bool is_over_ = false;
};

// Returns the log whose next line is the oldest, or nullptr if all have ended.
InstanceLog* Oldest(std::vector<std::unique_ptr<InstanceLog>>& logs) {
  InstanceLog* oldest = nullptr;
  for (const auto& log : logs) {
    if (!log->has_line()) continue;
    if (oldest == nullptr || log->front().time < oldest->front().time) oldest = log.get();
  }
  return oldest;
}

// Lines and their instances, by time.
using LinesByTime = std::multimap<std::string, std::pair<const std::string*, const TimedLine*>>;

void AddAll(const LinesByTime& found, MergedLines& lines) {
  for (const auto& [time, line] : found) lines.Add(*line.first, *line.second, {});
}

// Finds the lines around the first error of each rank, in the last attempt that had any.
class FirstErrors {
 public:
  explicit FirstErrors(const AllLogsRequest& request)
      : summary_(request.job.summary),
        ranks_(request.choice.ranks),
        map_(RankMap::Of(request.job.job)) {}

  void Look(const std::string& instance, const TimedLine& line) {
    std::string_view text = line.text;
    const std::optional<int> rank = RankOf(map_, instance, text);
    while (text.ends_with('\n')) text.remove_suffix(1);
    if (answers::IsRestart(text)) return EndAttempt(instance);
    if (!ranks_.empty() && !(rank && Contains(ranks_, *rank))) return;
    writers_[instance][rank].Add(line, text);
  }

  // Adds the lines that were found to `lines`, in the order of their times.
  void AddTo(MergedLines& lines) {
    LinesByTime by_time;
    while (!writers_.empty()) EndAttempt(std::string(writers_.begin()->first));
    for (const auto& [instance, found] : found_) {
      for (const TimedLine& line : found) by_time.emplace(line.time, std::pair(&instance, &line));
    }
    if (by_time.empty() && ranks_.empty() && summary_.status == "FAILED") {
      base::LogInfo("no line of these logs is known to be an error; `muster explain {}` says more",
                    summary_.name);
    } else if (by_time.empty()) {
      base::LogInfo("there is no error in these logs");
    }
    AddAll(by_time, lines);
  }

 private:
  static constexpr size_t kMostLines = 200'000;  // kept of each rank
  static constexpr ptrdiff_t kMostOfAnError = 1000;
  static constexpr size_t kBefore = 3, kAfter = 3;  // lines shown around an error

  struct Writer {
    std::vector<TimedLine> lines;
    std::vector<answers::Line> read;
    bool has_found = false;

    void Add(const TimedLine& line, std::string_view text) {
      if (has_found) return;
      if (lines.size() == kMostLines) {
        has_found = answers::FirstError(read).has_value();
        if (has_found) return;
        // An error may have begun in the last of these.
        lines.erase(lines.begin(), lines.end() - kMostOfAnError);
        read.erase(read.begin(), read.end() - kMostOfAnError);
      }
      lines.push_back(line);
      read.push_back({std::nullopt, std::string(text), read.empty() ? 0 : read.back().order + 1});
    }

    std::pair<size_t, size_t> Around() const {
      const auto error = answers::FirstError(read);
      if (!error) return {0, 0};
      const auto [begin, end] = *error;
      return {begin - std::min(begin, kBefore), std::min(end + kAfter, lines.size())};
    }
  };

  void EndAttempt(const std::string& instance) {
    std::vector<TimedLine> found;
    for (const auto& [rank, writer] : writers_[instance]) {
      const auto [begin, end] = writer.Around();
      for (size_t i = begin; i < end; ++i) found.push_back(writer.lines[i]);
    }
    if (!found.empty()) found_[instance] = std::move(found);
    writers_.erase(instance);
  }

  const api::TrainingSummary& summary_;
  const Ranks& ranks_;  // empty: all
  const RankMap map_;
  std::map<std::string, std::map<std::optional<int>, Writer>> writers_;  // by instance and rank
  std::map<std::string, std::vector<TimedLine>> found_;                  // by instance
};

// The last of the chosen lines of each rank: a server knows only the last of all.
class LastChosen {
 public:
  LastChosen(const AllLogsRequest& request, size_t count)
      : choice_(request.choice), map_(RankMap::Of(request.job.job)), count_(count) {}

  void Look(const std::string& instance, const TimedLine& line) {
    if (!choice_.Wants(instance, line.text)) return;
    std::string_view text = line.text;
    std::deque<TimedLine>& kept = kept_[{instance, RankOf(map_, instance, text)}];
    kept.push_back(line);
    if (kept.size() > count_) kept.pop_front();
  }

  // Into `lines`, in the order of their times.
  void AddTo(MergedLines& lines) const {
    LinesByTime all;
    for (const auto& [who, kept] : kept_) {
      for (const TimedLine& line : kept) all.emplace(line.time, std::pair(&who.first, &line));
    }
    AddAll(all, lines);
  }

 private:
  const LineChoice& choice_;
  const RankMap map_;
  const size_t count_;
  std::map<std::pair<std::string, std::optional<int>>, std::deque<TimedLine>> kept_;
};

// Returns the last init container that runs or has run; "" if there is none.
std::string StartedInitContainer(const text::Json& pod) {
  std::string started;
  for (const api::ContainerStatus& status : api::InitContainerStatuses(pod)) {
    if (status.is_running || status.terminated || status.last_terminated) started = status.name;
  }
  return started;
}

}  // namespace

MergedLines::MergedLines(const AllLogsRequest& request)
    : choice_(request.choice),
      has_stamps_(request.options.timestamps),
      has_colours_(request.has_colours),
      has_reports_(request.has_reports),
      map_(RankMap::Of(request.job.job)) {
  if (!request.is_raw) {
    fold_.emplace(LogFold::Style{map_.size(), has_stamps_, has_colours_});
  }
}

void MergedLines::Add(const std::string& instance, TimedLine line, Moment arrival) {
  if (auto bar = TakeBar(map_, instance, line.text)) {
    bars_[bar->rank] = std::move(bar->text);
    return;
  }
  if (!bars_.empty()) {
    std::string_view text = line.text;
    if (const auto rank = RankOf(map_, instance, text)) bars_.erase(*rank);
  }
  if (!choice_.Wants(instance, line.text)) return;
  std::string_view text = line.text;
  const std::optional<int> rank = RankOf(map_, instance, text);
  if (!has_reports_ && !rank && reports_[instance].Contains(text)) return;
  if (!fold_) {
    ready_ += PrefixOf(instance) + line.Text(has_stamps_);
    return;
  }
  line.text = std::string(text);
  fold_->Add(rank, instance, std::move(line), arrival);
}

std::vector<std::string> MergedLines::Bars(const std::map<std::string, std::string>& open) const {
  LogFold fold({map_.size(), false, false});
  for (const auto& [instance, line] : open) {
    std::string_view text = line;
    const std::optional<int> rank = RankOf(map_, instance, text);
    if (base::Trim(text).empty() || !choice_.Wants(instance, line)) continue;
    fold.Add(rank, instance, {"", "", std::string(text)}, {});
  }
  for (const auto& [rank, text] : bars_) {
    if (choice_.ranks.empty() || Contains(choice_.ranks, rank)) {
      fold.Add(rank, "", {"", "", text}, {});
    }
  }
  std::vector<std::string> bars = base::Split(fold.TakeAll(), '\n');
  std::erase(bars, "");
  return bars;
}

std::string MergedLines::Take(std::optional<Moment> now) {
  if (!fold_) return std::exchange(ready_, "");
  return now ? fold_->Take(*now) : fold_->TakeAll();
}

const std::string& MergedLines::PrefixOf(const std::string& instance) {
  std::string& prefix = prefixes_[instance];
  if (prefix.empty()) {
    const std::string name = fmt::format("[{}]", instance);
    prefix =
        (has_colours_ ? ColouredRank(static_cast<int>(prefixes_.size()) - 1, name) : name) + " ";
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
    const std::string why = job.summary.reason.empty() ? "" : ": " + ReasonToShow(job.summary);
    return Fail(Code::kInvalidArgument, fmt::format("instance {} is not running{}", instance, why));
  }
  return ContainerOfLog(*pod);
}

base::Status PrintAllLogs(cluster::Client& client, const AllLogsRequest& request,
                          cli::Output& out) {
  std::vector<std::unique_ptr<InstanceLog>> logs;
  MergedLines lines(request);
  FirstErrors errors(request);
  std::optional<LastChosen> last;
  const bool chooses = !request.choice.ranks.empty() || !request.choice.grep.empty();
  if (chooses && request.options.tail_lines && !request.only_errors) {
    last.emplace(request, static_cast<size_t>(*request.options.tail_lines));
  }
  std::optional<base::Error> why_not;
  for (const api::InstanceSummary& instance : request.job.summary.instances) {
    lines.Introduce(instance.name);
    cluster::LogOptions options = request.options;
    options.timestamps = true;
    if (last) options.tail_lines.reset();
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
    logs.push_back(std::make_unique<InstanceLog>(instance.name, std::move(stream),
                                                 request.only_errors ? "" : request.choice.grep,
                                                 request.stop));
    TRY(logs.back()->Fill());
  }
  if (logs.empty() && why_not) return Fail(std::move(*why_not));
  if (why_not) base::LogInfo("{}", why_not->message);
  // Existing lines are merged by their own times alone; the clock does not matter.
  constexpr MergedLines::Moment kNow{};
  std::string text;
  while (InstanceLog* log = Oldest(logs)) {
    if (request.stop.stop_requested()) return Fail(Code::kCancelled, "nobody reads any more");
    if (request.only_errors) {
      errors.Look(log->instance(), log->front());
    } else if (last) {
      last->Look(log->instance(), log->front());
    } else {
      lines.Add(log->instance(), log->front(), kNow);
      text += lines.Take(kNow);
      if (text.size() > kWrittenAtOnce) TRY(out.Write(std::exchange(text, "")));
    }
    log->Pop();
    TRY(log->Fill());
  }
  if (request.only_errors) errors.AddTo(lines);
  if (last) last->AddTo(lines);
  return out.Write(text + lines.Take(std::nullopt));
}

}  // namespace arena
