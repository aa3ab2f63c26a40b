// For tests: shims without processes. Their reports are files like the real ones'; running pods
// survive the agent.
#pragma once

#include <sys/eventfd.h>
#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/fd.h"
#include "base/file.h"
#include "local/node/agent/shims.h"
#include "text/json.h"

namespace local::node {

class FakeShims : public ShimLauncher {
 public:
  // If set, Start fails with it instead of starting.
  std::optional<base::Error> start_error;

  base::Result<std::unique_ptr<RunningShim>> Start(const PodSpec& spec,
                                                   const std::vector<int>& locks) override {
    const std::lock_guard lock(mutex_);
    if (start_error) return base::Fail(*start_error);
    Shim& shim = shims_[spec.directory];
    ++shim.starts;
    shim.spec = spec;
    shim.is_running = true;
    for (const int fd : locks) shim.locks.emplace_back(::dup(fd));
    shim.ended = base::Fd(::eventfd(0, EFD_CLOEXEC));
    changed_.notify_all();
    return std::make_unique<Handle>(*this, spec.directory, ::dup(shim.ended.get()));
  }
  bool WasStarted(const std::string& directory) override {
    const std::lock_guard lock(mutex_);
    return shims_.contains(directory);
  }
  base::Result<std::unique_ptr<RunningShim>> Adopt(const std::string& directory) override {
    const std::lock_guard lock(mutex_);
    const auto it = shims_.find(directory);
    if (it == shims_.end() || !it->second.is_running) return nullptr;
    return std::make_unique<Handle>(*this, directory, ::dup(it->second.ended.get()));
  }
  bool IsFromEarlierBoot(const std::string&) override {
    const std::lock_guard lock(mutex_);
    return is_rebooted_;
  }
  base::Result<PodReport> ReadReport(const std::string& directory) override {
    TRY_ASSIGN(const std::string file, base::ReadFile(directory + "/status.json"));
    TRY_ASSIGN(const text::Json json, text::ParseJson(file));
    return PodReportFromJson(json);
  }
  base::Status KillStrays(const std::string&, std::string_view pod_uid) override {
    const std::lock_guard lock(mutex_);
    strays_killed_.emplace(pod_uid);
    changed_.notify_all();
    return {};
  }

  // Controls for the test, by pod uid; the waiting ones give up after ten seconds.

  // The specification with which the pod's shim was started.
  std::optional<PodSpec> WaitStarted(const std::string& uid) {
    std::unique_lock lock(mutex_);
    Shim* found = nullptr;
    changed_.wait_for(lock, std::chrono::seconds(10),
                      [&] { return (found = FindShim(uid)) != nullptr; });
    if (found == nullptr) return std::nullopt;
    return found->spec;
  }
  // The grace period in seconds of the first Terminate.
  std::optional<int64_t> WaitTerminated(const std::string& uid, size_t count = 1) {
    std::unique_lock lock(mutex_);
    const bool is_there = changed_.wait_for(lock, std::chrono::seconds(10), [&] {
      Shim* shim = FindShim(uid);
      return shim != nullptr && shim->graces.size() >= count;
    });
    if (!is_there) return std::nullopt;
    return FindShim(uid)->graces[count - 1];
  }
  bool WaitStraysKilled(const std::string& uid) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, std::chrono::seconds(10),
                             [&] { return strays_killed_.contains(uid); });
  }
  int Starts(const std::string& uid) {
    const std::lock_guard lock(mutex_);
    Shim* shim = FindShim(uid);
    return shim == nullptr ? 0 : shim->starts;
  }
  // How often it was asked to end.
  size_t Graces(const std::string& uid) {
    const std::lock_guard lock(mutex_);
    return FindShim(uid)->graces.size();
  }
  size_t Locks(const std::string& uid) {
    const std::lock_guard lock(mutex_);
    return FindShim(uid)->locks.size();
  }
  void Report(const std::string& uid, const PodReport& report) {
    const std::lock_guard lock(mutex_);
    WriteReport(*FindShim(uid), report);
  }
  // The only container runs; ends with that code.
  void ReportRunning(const std::string& uid) {
    PodReport report;
    ContainerReport container;
    container.name = "pytorch";
    container.state.phase = ContainerState::Phase::kRunning;
    report.uid = uid;
    report.containers.push_back(container);
    Report(uid, report);
  }
  void Finish(const std::string& uid, int exit_code) {
    PodReport report;
    ContainerReport container;
    container.name = "pytorch";
    container.state.phase = ContainerState::Phase::kTerminated;
    container.state.exit_code = exit_code;
    container.state.reason = exit_code == 0 ? "Completed" : "Error";
    report.uid = uid;
    report.containers.push_back(container);
    report.is_finished = true;
    report.has_succeeded = exit_code == 0;
    const std::lock_guard lock(mutex_);
    WriteReport(*FindShim(uid), report);
    EndShim(*FindShim(uid));
  }
  // As after SIGKILL: without a report.
  void Lose(const std::string& uid) {
    const std::lock_guard lock(mutex_);
    EndShim(*FindShim(uid));
  }
  void Reboot() {
    const std::lock_guard lock(mutex_);
    is_rebooted_ = true;
    for (auto& [directory, shim] : shims_) EndShim(shim);
  }

 private:
  struct Shim {
    PodSpec spec;
    int starts = 0;
    bool is_running = false;
    base::Fd ended;
    std::vector<base::Fd> locks;
    std::vector<int64_t> graces;
  };
  class Handle : public RunningShim {
   public:
    Handle(FakeShims& shims, std::string directory, int fd)
        : shims_(shims), directory_(std::move(directory)), fd_(fd) {}
    pid_t pid() const override { return 4711; }
    int pidfd() const override { return fd_.get(); }
    base::Status Terminate(std::chrono::seconds grace) override {
      const std::lock_guard lock(shims_.mutex_);
      shims_.shims_[directory_].graces.push_back(grace.count());
      shims_.changed_.notify_all();
      return {};
    }
    base::Status Kill() override {
      const std::lock_guard lock(shims_.mutex_);
      shims_.EndShim(shims_.shims_[directory_]);
      return {};
    }

   private:
    FakeShims& shims_;
    const std::string directory_;
    base::Fd fd_;
  };

  Shim* FindShim(const std::string& uid) {
    for (auto& [directory, shim] : shims_) {
      if (shim.spec.uid == uid) return &shim;
    }
    return nullptr;
  }
  static void WriteReport(const Shim& shim, const PodReport& report) {
    const base::Status written =
        base::WriteFileAtomic(shim.spec.directory + "/status.json", text::ToJson(ToJson(report)),
                              0600, base::Durability::kNone);
    if (!written) std::abort();
  }
  void EndShim(Shim& shim) {
    shim.is_running = false;
    shim.locks.clear();
    if (::eventfd_write(shim.ended.get(), 1) != 0) std::abort();
    changed_.notify_all();
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::string, Shim> shims_;  // by directory
  std::set<std::string> strays_killed_;
  bool is_rebooted_ = false;
};

}  // namespace local::node
