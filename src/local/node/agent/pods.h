// The life of the node's pods, from their binding to the removal of what they leave behind.
//
//   bound ──> starting ──> running ──> ended ──> object deleted: directory removed
//     ▲          │            ▲
//     └ waiting ◄┘            └── adopted after a restart of the daemon
//
// A pod is started at most once: if its directory contains the mark of a shim, the pod is adopted,
// or its report is read, or it has failed.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/backoff.h"
#include "base/clock.h"
#include "local/node/agent/lost_and_found.h"
#include "local/node/agent/pool.h"
#include "local/node/agent/starter.h"
#include "local/node/agent/status.h"
#include "local/node/agent/writer.h"
#include "process/event_loop.h"
#include "process/inotify.h"

namespace local::node {

// Used in the loop's thread only.
class PodKeeper {
 public:
  struct Parts {  // borrowed
    process::EventLoop& loop;
    base::Clock& clock;
    ShimLauncher& shims;
    PodStarter& starter;
    GpuAllocator& gpus;
    StatusWriter& writer;
    WorkPool& pool;
    LostAndFound& lost;
    std::function<base::Result<Fate>(const std::string& uid)> fate_of;
    // A pod waits for an object of the kind: call ObjectAppeared from now on.
    std::function<void(const api::Resource&)> watch_for;
  };
  explicit PodKeeper(Parts parts);

  base::Status Start();

  // Takes all pods bound to the node. A pod that is missing has been deleted if the store says so,
  // and is cleaned up; a pod that the store does not know is left alone while it runs, and its
  // files are kept. The first call also examines the folders of the state directory.
  void Replace(std::vector<text::Json> pods);
  void Put(text::Json pod);
  void Gone(const std::string& uid);

  void ObjectAppeared(const Reference& reference, std::string_view namespace_name);
  void GpusAppeared();
  // The code of a job whose object is deleted is removed after its last pod.
  void JobGone(const std::string& job_uid);

 private:
  enum class Stage { kWaiting, kStarting, kRunning, kEnding, kEnded };

  struct Pod {
    PodIdentity identity;
    std::string job_uid;  // "" without a job
    Stage stage = Stage::kWaiting;
    // The latest version; null once the pod has ended, so that thousands of ended pods cost little
    // memory.
    std::shared_ptr<const text::Json> object;
    std::unique_ptr<RunningShim> shim;
    int watch = -1;
    std::optional<base::Time> start_time;
    std::optional<PodReport> report;
    std::optional<PodFailure> failure;
    std::optional<NotReady> not_ready;
    std::set<Reference> appeared;  // of its namespace, since its start began
    process::EventLoop::TimerId retry_timer = 0;
    process::EventLoop::TimerId deadline_timer = 0;
    process::EventLoop::TimerId kill_timer = 0;  // kills its shim, once that was told to end
    base::Backoff backoff{std::chrono::seconds(10), std::chrono::minutes(5)};
    text::Json status;  // the last one written
    bool is_deleting = false;
    bool is_object_gone = false;
    std::optional<int64_t> grace_sent;  // seconds; the shortest grace period sent to Terminate so
                                        // far
  };

  Pod* Find(const std::string& uid);
  std::string DirectoryOf(const Pod& pod) const;
  void Begin(Pod& pod);
  void Launch(Pod& pod);
  void OnLaunched(const std::string& uid, OrNotReady<std::unique_ptr<RunningShim>> result);
  void Wait(Pod& pod, NotReady not_ready);
  void Recover(Pod& pod);
  void Run(Pod& pod, std::unique_ptr<RunningShim> shim);
  void WatchDirectory(Pod& pod);
  void OnReports();
  void ReadReport(Pod& pod);
  void OnShimEnd(const std::string& uid);
  void Lose(Pod& pod, PodFailure failure);
  void End(Pod& pod);
  void Publish(Pod& pod);
  bool EndIfAsked(Pod& pod);
  void Delete(Pod& pod);
  void Terminate(Pod& pod, int64_t grace_seconds);
  void ArmKill(Pod& pod, std::chrono::seconds grace);
  void ArmDeadline(Pod& pod);
  void RemovePod(const std::string& uid);
  void RemoveJobIfUnused(const std::string& job_uid);
  void LetGo(std::map<std::string, Pod>::iterator pod);
  void Miss(const std::string& uid);
  Fate FateOf(const std::string& uid) const;
  void SettleOrphans();
  void SettleOrphan(const std::string& uid);
  void RemoveOrphan(const std::string& uid);
  void Quarantine(const std::string& uid);
  void SetAside(const std::string& directory, const std::string& name);

  Parts parts_;
  std::optional<process::Inotify> inotify_;
  std::map<int, std::string> watched_;  // inotify's watch -> pod uid
  std::map<std::string, Pod> pods_;     // by uid
  std::set<std::string> gone_jobs_;
  std::map<std::string, std::unique_ptr<RunningShim>> unknown_;  // by pod uid
  bool has_listed_ = false;
};

}  // namespace local::node
