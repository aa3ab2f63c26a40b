#include "local/daemon/progress/progress_keeper.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "api/names.h"
#include "api/object.h"
#include "api/pod.h"
#include "api/rank_label.h"
#include "base/log.h"
#include "base/strings.h"
#include "local/daemon/progress/job_file.h"
#include "local/node/plan/volumes.h"
#include "runs/progress/history.h"
#include "runs/progress/log_reading.h"

namespace local::daemon {
namespace {

constexpr std::chrono::seconds kWriteEvery{1};
// At an ended job whose logs are not read to their end.
constexpr int kMostLooks = 30;
constexpr size_t kLongestLine = 64 << 10;
constexpr size_t kLongestStamp = 40;
constexpr std::string_view kRunVariable = "MUSTER_RUN_DIR";  // <folder of the run>/files

}  // namespace

std::optional<ProgressPod> ReadProgressPod(const text::Json& pod) {
  ProgressPod read;
  read.is_over = api::IsPodFinished(pod);
  if (api::Phase(pod) != "Running" && !read.is_over) return std::nullopt;
  if (api::Label(pod, api::kJobNameLabel).empty()) return std::nullopt;
  read.job_uid = api::ControllerUid(pod);
  read.name = api::Name(pod);
  read.uid = api::Uid(pod);
  read.shared_logdir = node::CleanPath(api::Annotation(pod, api::kLogdirAnnotation)).value_or("");
  if (const auto at = base::ParseRfc3339(text::GetString(pod, {"status", "startTime"}))) {
    read.started = runs::ToMillis(*at);
  }
  const text::Json* const container = api::MainContainer(pod);
  if (read.job_uid.empty() || container == nullptr) return std::nullopt;
  read.container = text::GetString(*container, {"name"});
  if (const text::Json* const run = text::ItemNamed(*container, {"env"}, kRunVariable)) {
    const std::string_view files = text::GetString(*run, {"value"});
    if (files.starts_with('/')) read.run_folder = files.substr(0, files.rfind('/'));
  }
  const text::Array* volumes = text::FindArray(pod, {"spec", "volumes"});
  for (size_t i = 0; volumes != nullptr && i < volumes->size(); ++i) {
    const std::string_view path = text::GetString((*volumes)[i], {"hostPath", "path"});
    const bool is_plain = path.find("..") == std::string_view::npos;
    if (path.starts_with(node::kArenaLogs) && is_plain) read.logs_path = path;
  }
  return read;
}

// The lines of one log, of the lowest rank that reports progress. On the follower's thread.
class ProgressKeeper::Reading {
 public:
  Reading(ProgressFiles& files, LastLines& lines, const ProgressPod& pod)
      : files_(files),
        lines_(lines),
        job_(pod.job_uid),
        pod_(pod.uid),
        source_(runs::SourceOfLog(pod.name)) {}

  void Take(std::string_view chunk) {
    while (!chunk.empty()) {
      const size_t end = chunk.find('\n');
      const std::string_view piece = chunk.substr(0, end);
      if (rest_.size() + piece.size() <= kLongestLine) rest_ += piece;
      if (end == std::string_view::npos) return;
      See(rest_);
      rest_.clear();
      chunk.remove_prefix(end + 1);
    }
  }

 private:
  void See(std::string_view line) {
    const size_t blank = line.find(' ');
    if (blank == std::string_view::npos || blank > kLongestStamp) return;
    const auto time = base::ParseRfc3339(line.substr(0, blank));
    if (!time) return;
    line.remove_prefix(blank + 1);
    const int64_t second =
        std::chrono::floor<std::chrono::seconds>(*time).time_since_epoch().count();
    const auto read = api::ReadRankLabel(line);
    const std::string_view label = read ? read->name : "";
    if (second != noted_ || label != label_) {  // the first of many lines in a second is enough
      lines_.Note(pod_, label, second);
      noted_ = second;
      label_ = label;
    }
    if (read) line = read->text;
    const runs::Millis at = runs::ToMillis(*time);
    const auto found = log_.See(at, label, line);
    if (found.checkpoint) files_.NoteCheckpoint(job_, *found.checkpoint);
    if (found.progress) files_.Note(job_, source_, at, *found.progress, std::nullopt);
  }

  ProgressFiles& files_;
  LastLines& lines_;
  const std::string job_, pod_, source_;
  int64_t noted_ = 0;  // second and label of the line that was noted last
  std::string label_;
  std::string rest_;
  runs::LogReading log_;
};

base::Result<std::unique_ptr<ProgressKeeper>> ProgressKeeper::Start(ProgressFiles& files,
                                                                    ProgressNews& news,
                                                                    LastLines& lines,
                                                                    std::string state_directory,
                                                                    int64_t first_version) {
  TRY_ASSIGN(auto follower, node::LogFollower::Create());
  return std::unique_ptr<ProgressKeeper>(new ProgressKeeper(
      files, news, lines, std::move(state_directory), first_version, std::move(follower)));
}

ProgressKeeper::ProgressKeeper(ProgressFiles& files, ProgressNews& news, LastLines& lines,
                               std::string state_directory, int64_t first_version,
                               std::unique_ptr<node::LogFollower> follower)
    : files_(files),
      news_(news),
      lines_(lines),
      state_directory_(std::move(state_directory)),
      first_version_(first_version),
      events_(files),
      follower_(std::move(follower)) {
  thread_ = std::thread([this] { Run(); });
}

ProgressKeeper::~ProgressKeeper() {
  {
    const std::lock_guard lock(mutex_);
    is_stopped_ = true;
    wake_.notify_one();
  }
  thread_.join();
}

void ProgressKeeper::OnPod(std::string_view pod_uid, const text::Json* pod) {
  const auto read = pod == nullptr ? std::nullopt : ReadProgressPod(*pod);
  const std::string uid(pod_uid);
  {
    const std::lock_guard lock(mutex_);
    const std::string_view phase = pod == nullptr ? "" : api::Phase(*pod);
    if (pod != nullptr && (phase.empty() || phase == "Pending")) waiting_.insert(uid);
    const bool was_waiting = read && waiting_.erase(uid) > 0;
    if (pod == nullptr) {
      waiting_.erase(uid);
      done_.erase(uid);
    }
    if (!read || read->is_over) {
      const auto known = pods_.find(uid);
      if (known != pods_.end()) {
        const std::string job = known->second;
        pods_.erase(known);
        followed_.erase(uid);
        if (pod != nullptr) done_.insert(uid);
        lines_.Forget(uid);
        const bool goes_on = std::any_of(pods_.begin(), pods_.end(),
                                         [&job](const auto& one) { return one.second == job; });
        if (!goes_on) ended_[job] = 0;
        wake_.notify_one();
        return;
      }
      // A short one, whose end was reported together with its start, or one that ended while no
      // daemon ran.
      if (!was_waiting && !(read && IsUnread(uid, *pod))) return;
      done_.insert(uid);
      ended_[read->job_uid] = 0;
    } else {
      pods_[uid] = read->job_uid;
      ended_.erase(read->job_uid);
      if (!followed_.insert(uid).second) return;
    }
    ++reading_[read->job_uid];
    wake_.notify_one();
  }
  FollowEvents(*read);
  Follow(*read);
}

bool ProgressKeeper::IsUnread(const std::string& uid, const text::Json& pod) const {
  const auto version = base::ParseInt(api::ResourceVersion(pod));
  return version && *version > first_version_ && !done_.contains(uid);
}

void ProgressKeeper::FollowEvents(const ProgressPod& pod) {
  if (!IsUid(pod.job_uid)) return;
  std::string folder = pod.run_folder;
  if (folder.empty() && !pod.logs_path.empty()) {
    folder = fmt::format("{}/jobs/{}{}", state_directory_, pod.job_uid, pod.logs_path);
  }
  if (folder.empty()) folder = pod.shared_logdir;
  if (folder.empty()) return;
  // What the previous daemon has read is in the file.
  const auto last = files_.LastOf(pod.job_uid, kEventFilesSource);
  events_.Follow(pod.job_uid, folder, last ? std::max(*last + 1, pod.started) : pod.started);
}

void ProgressKeeper::Follow(const ProgressPod& pod) {
  node::LogQuery query;
  query.follow = !pod.is_over;
  query.has_timestamps = true;
  // What the previous daemon has read is in the file.
  if (const auto last = files_.LastOf(pod.job_uid, runs::SourceOfLog(pod.name))) {
    query.since = base::Time(std::chrono::milliseconds(*last + 1));
  }
  const auto reading = std::make_shared<Reading>(files_, lines_, pod);
  node::LogReceiver receiver;
  receiver.write = [reading](const std::string& chunk) {
    reading->Take(chunk);
    return true;
  };
  receiver.finish = [this, job = pod.job_uid, uid = pod.uid](const base::Status&) {
    const std::lock_guard lock(mutex_);
    if (!pods_.contains(uid)) lines_.Forget(uid);
    if (--reading_[job] == 0) reading_.erase(job);
  };
  follower_->Open(fmt::format("{}/pods/{}", state_directory_, pod.uid), pod.container,
                  std::move(query), std::move(receiver));
}

void ProgressKeeper::Run() {
  std::unique_lock lock(mutex_);
  while (!is_stopped_) {
    if (pods_.empty() && ended_.empty()) {
      wake_.wait(lock);
      continue;
    }
    const std::map<std::string, int> ended = std::exchange(ended_, {});
    wake_.wait_for(lock, kWriteEvery, [this] { return is_stopped_; });
    lock.unlock();
    files_.Write();
    news_.Publish();
    events_.Check();
    lock.lock();
    for (const auto& [job, looks] : ended) {
      const bool goes_on = std::any_of(pods_.begin(), pods_.end(),
                                       [&job](const auto& one) { return one.second == job; });
      if (goes_on) continue;
      // On a busy machine a log's last lines come seconds after the news of its pod's end.
      if (reading_.contains(job) && looks < kMostLooks) {
        ended_.try_emplace(job, looks + 1);
        continue;
      }
      events_.Leave(job);
      files_.Close(job);
    }
    if (!ended.empty()) news_.Publish();
  }
}

}  // namespace local::daemon
