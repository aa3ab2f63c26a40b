#include "local/daemon/progress/rank_files.h"

#include <sys/stat.h>
#include <unistd.h>

#include <utility>

#include "base/file.h"
#include "base/folder.h"
#include "base/log.h"
#include "local/daemon/progress/job_file.h"

namespace local::daemon {
namespace {

constexpr size_t kWriteAfter = 4 << 10;
constexpr size_t kThinAfter = 1 << 20;  // bytes appended
constexpr size_t kMostRankFile = 64 << 20;

}  // namespace

RankFiles::RankFiles(const std::string& state_directory) : folder_(state_directory + "/ranks") {
  ::mkdir(folder_.c_str(), 0700);
}

RankFiles::~RankFiles() { KeepOpen({}); }

std::string RankFiles::PathOf(const std::string& job_uid) const { return folder_ + "/" + job_uid; }

bool RankFiles::IsDue(const std::string& job_uid, size_t ranks, int64_t now) {
  if (!IsUid(job_uid) || ranks == 0) return false;
  const std::lock_guard lock(mutex_);
  const auto known = open_.find(job_uid);
  // A clock that has gone back counts from there.
  return known == open_.end() || now < known->second.looked ||
         now - known->second.looked >= runs::SecondsBetweenLooks(ranks);
}

void RankFiles::Note(const std::string& job_uid, const std::vector<runs::RankSample>& samples) {
  if (!IsUid(job_uid) || samples.empty()) return;
  const std::lock_guard lock(mutex_);
  const auto [at, is_new] = open_.try_emplace(job_uid);
  Job& job = at->second;
  struct stat info{};
  if (is_new && ::stat(PathOf(job_uid).c_str(), &info) == 0) {
    job.appended = static_cast<size_t>(info.st_size);
  }
  job.looked = samples.front().at;
  looked_[job_uid] = runs::MeanOf(samples);
  if (std::exchange(job.hour, job.looked / 3600) != job.looked / 3600) job.bytes_of_hour = 0;
  if (job.bytes_of_hour >= runs::kMostRankBytesOfAnHour) return;
  const std::string lines = runs::RankLines(samples);
  job.bytes_of_hour += lines.size();
  job.pending += lines;
  if (job.pending.size() >= kWriteAfter) Write(job_uid, job);
}

// Under the mutex.
void RankFiles::Write(const std::string& job_uid, Job& job) {
  if (job.pending.empty()) return;
  const std::string path = PathOf(job_uid);
  job.appended += job.pending.size();
  base::Status written = AppendToFile(path, job.pending);
  job.pending.clear();
  if (written && job.appended >= kThinAfter) {
    job.appended = 0;
    if (const auto text = base::ReadFile(path, kMostRankFile)) {
      const std::string thinned = runs::RankLines(runs::Thinned(runs::ReadRankLines(*text)));
      written = base::WriteFileAtomic(path, thinned, 0600, base::Durability::kNone);
    }
  }
  if (!written) base::LogWarn("ranks of job {}: {}", job_uid, written.error().message);
}

void RankFiles::KeepOpen(const std::set<std::string>& jobs) {
  const std::lock_guard lock(mutex_);
  for (auto& [uid, job] : open_) {
    if (!jobs.contains(uid)) Write(uid, job);
  }
  std::erase_if(open_, [&jobs](const auto& job) { return !jobs.contains(job.first); });
}

void RankFiles::ForgetUnless(const std::function<bool(const std::string& job_uid)>& is_known) {
  for (const std::string& uid : base::EntriesOf(folder_)) {
    if (!IsUid(uid) || is_known(uid)) continue;
    const std::lock_guard lock(mutex_);
    open_.erase(uid);
    ::unlink(PathOf(uid).c_str());
  }
}

std::map<std::string, runs::MeanUse> RankFiles::TakeLooked() {
  const std::lock_guard lock(mutex_);
  return std::exchange(looked_, {});
}

text::Json RankFiles::Of(const std::string& job_uid, int64_t columns) {
  std::string lines;
  if (IsUid(job_uid)) {
    const std::lock_guard lock(mutex_);
    if (auto text = base::ReadFile(PathOf(job_uid), kMostRankFile)) lines = *std::move(text);
    if (const auto known = open_.find(job_uid); known != open_.end())
      lines += known->second.pending;
  }
  text::Json json = runs::RankGrid(runs::ReadRankLines(lines), columns);
  json.as_object()["uid"] = job_uid;
  return json;
}

}  // namespace local::daemon
