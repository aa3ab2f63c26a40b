#include "local/daemon/progress/event_files.h"

#include <algorithm>
#include <condition_variable>
#include <map>
#include <mutex>
#include <set>
#include <thread>
#include <utility>

#include "base/clock.h"
#include "base/log.h"
#include "local/daemon/progress/event_folder.h"

namespace local::daemon {
namespace {

constexpr std::chrono::seconds kLookEvery{5};

}  // namespace

struct EventFiles::Shared {
  Shared(ProgressFiles& to, std::function<void(const std::string&)> before)
      : files(to), before_look(std::move(before)) {}

  std::mutex mutex;  // guards what follows
  std::condition_variable wake;
  bool is_stopped = false;                                       // `files` is gone
  ProgressFiles& files;                                          // used unless stopped
  std::map<std::string, Followed> folders;                       // by job
  std::map<std::string, std::shared_ptr<EventFolder>> readings;  // by job; one thread at a time
  std::set<std::string> held;  // jobs whose folders hold a thread that was replaced
  int thread = 0;              // the number of the thread that reads
  std::string looks_at;        // the job; "" between two reads
  std::chrono::steady_clock::time_point since;
  const std::function<void(const std::string&)> before_look;
};

EventFiles::EventFiles(ProgressFiles& files,
                       std::function<void(const std::string& folder)> before_look)
    : shared_(std::make_shared<Shared>(files, std::move(before_look))) {
  Start(shared_);
}

EventFiles::~EventFiles() {
  const std::lock_guard lock(shared_->mutex);
  shared_->is_stopped = true;
  shared_->wake.notify_all();
}

// With the number that the thread has from now on.
void EventFiles::Start(const std::shared_ptr<Shared>& shared) {
  std::thread([shared, own = shared->thread] { Run(shared, own); }).detach();
}

void EventFiles::Check(std::chrono::steady_clock::duration patience) {
  const std::lock_guard lock(shared_->mutex);
  if (shared_->looks_at.empty()) return;
  if (std::chrono::steady_clock::now() - shared_->since < patience) return;
  const auto followed = shared_->folders.find(shared_->looks_at);
  base::LogWarn("event files: {} does not answer and is skipped",
                followed == shared_->folders.end() ? "the folder of a job that has ended"
                                                   : followed->second.folder);
  shared_->held.insert(std::exchange(shared_->looks_at, ""));
  ++shared_->thread;
  Start(shared_);
}

void EventFiles::Follow(const std::string& job_uid, const std::string& folder, runs::Millis since) {
  const std::lock_guard lock(shared_->mutex);
  const auto [known, is_first] = shared_->folders.try_emplace(job_uid, Followed{folder, since});
  if (!is_first) known->second = {folder, std::min(known->second.since, since)};
  shared_->wake.notify_all();
}

void EventFiles::Leave(const std::string& job_uid) {
  const std::lock_guard lock(shared_->mutex);
  shared_->folders.erase(job_uid);
}

void EventFiles::Run(const std::shared_ptr<Shared>& shared, int own) {
  std::unique_lock lock(shared->mutex);
  while (!shared->is_stopped) {
    if (shared->folders.empty()) {
      shared->readings.clear();
      shared->wake.wait(lock);
      if (shared->thread != own) return;
      continue;
    }
    const std::map<std::string, Followed> folders = shared->folders;
    std::erase_if(shared->readings, [&](const auto& one) { return !folders.contains(one.first); });
    for (const auto& [job, followed] : folders) {
      if (shared->held.contains(job)) continue;
      shared->looks_at = job;
      shared->since = std::chrono::steady_clock::now();
      lock.unlock();
      LookAt(shared, job, followed);
      lock.lock();
      if (shared->thread != own) {  // it was replaced meanwhile
        shared->held.erase(job);
        return;
      }
      shared->looks_at.clear();
    }
    shared->wake.wait_for(lock, kLookEvery, [&] { return shared->is_stopped; });
  }
}

void EventFiles::LookAt(const std::shared_ptr<Shared>& shared, const std::string& job,
                        const Followed& followed) {
  std::shared_ptr<EventFolder> reading;
  {
    const std::lock_guard lock(shared->mutex);
    reading = shared->readings.try_emplace(job).first->second;
    if (!reading)
      shared->readings[job] = reading =
          std::make_shared<EventFolder>(followed.folder, followed.since);
  }
  if (shared->before_look) shared->before_look(followed.folder);
  const runs::Millis now = runs::ToMillis(base::SystemClock().Now());
  reading->Look(now, [&](const std::string&, runs::Millis at, const runs::ScalarEvent& event) {
    runs::LineProgress progress;
    progress.step = event.step;
    progress.scalars = event.scalars;
    const std::lock_guard lock(shared->mutex);
    if (!shared->is_stopped) shared->files.Note(job, kEventFilesSource, at, progress, std::nullopt);
  });
}

}  // namespace local::daemon
