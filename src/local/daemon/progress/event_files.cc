#include "local/daemon/progress/event_files.h"

#include <condition_variable>
#include <map>
#include <mutex>
#include <thread>

#include "local/daemon/progress/event_folder.h"

namespace local::daemon {
namespace {

constexpr std::chrono::seconds kLookEvery{5};
constexpr const char* kSource = "event files";

}  // namespace

struct EventFiles::Shared {
  explicit Shared(ProgressFiles& to) : files(to) {}

  std::mutex mutex;
  std::condition_variable wake;
  bool is_stopped = false;                      // `files` is gone
  ProgressFiles& files;                         // used under the mutex, unless stopped
  std::map<std::string, std::string> folders;   // by job; under the mutex
  std::map<std::string, EventFolder> readings;  // the thread's own
};

EventFiles::EventFiles(ProgressFiles& files) : shared_(std::make_shared<Shared>(files)) {
  std::thread([shared = shared_] { Run(shared); }).detach();
}

EventFiles::~EventFiles() {
  const std::lock_guard lock(shared_->mutex);
  shared_->is_stopped = true;
  shared_->wake.notify_one();
}

void EventFiles::Follow(const std::string& job_uid, const std::string& folder) {
  const std::lock_guard lock(shared_->mutex);
  shared_->folders[job_uid] = folder;
  shared_->wake.notify_one();
}

void EventFiles::Leave(const std::string& job_uid) {
  const std::lock_guard lock(shared_->mutex);
  shared_->folders.erase(job_uid);
}

void EventFiles::Run(const std::shared_ptr<Shared>& shared) {
  std::unique_lock lock(shared->mutex);
  while (!shared->is_stopped) {
    if (shared->folders.empty()) {
      shared->readings.clear();
      shared->wake.wait(lock);
      continue;
    }
    const std::map<std::string, std::string> folders = shared->folders;
    lock.unlock();
    std::erase_if(shared->readings, [&](const auto& one) { return !folders.contains(one.first); });
    for (const auto& [job, folder] : folders) {
      EventFolder& reading = shared->readings.try_emplace(job, folder).first->second;
      reading.Look([&, &uid = job](const std::string&, const runs::ScalarEvent& event) {
        runs::LineProgress progress;
        progress.step = event.step;
        progress.scalars = event.scalars;
        const std::lock_guard again(shared->mutex);
        if (!shared->is_stopped) shared->files.Note(uid, kSource, event.at, progress, std::nullopt);
      });
    }
    lock.lock();
    shared->wake.wait_for(lock, kLookEvery, [&shared] { return shared->is_stopped; });
  }
}

}  // namespace local::daemon
