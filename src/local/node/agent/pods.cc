#include "local/node/agent/pods.h"

#include <sys/inotify.h>

#include <algorithm>
#include <utility>

#include "api/names.h"
#include "api/object.h"
#include "api/pod.h"
#include "base/file.h"
#include "base/log.h"
#include "local/node/logs/record.h"
#include "text/same.h"

namespace local::node {

namespace {

constexpr std::chrono::seconds kSoon{2};
constexpr std::string_view kReportName = "status.json";

int64_t GraceOf(const text::Json& pod) {
  return text::GetInt(pod, {"spec", "terminationGracePeriodSeconds"}).value_or(30);
}

}  // namespace

PodKeeper::PodKeeper(Parts parts) : parts_(std::move(parts)) {}

base::Status PodKeeper::Start() {
  TRY_ASSIGN(inotify_, process::Inotify::Create());
  return parts_.loop.Watch(inotify_->fd(), EPOLLIN, [this](uint32_t) { OnReports(); });
}

PodKeeper::Pod* PodKeeper::Find(const std::string& uid) {
  const auto it = pods_.find(uid);
  return it == pods_.end() ? nullptr : &it->second;
}

std::string PodKeeper::DirectoryOf(const Pod& pod) const {
  return PodDirectory(parts_.starter.facts(), pod.identity.uid);
}

void PodKeeper::Replace(std::vector<text::Json> pods) {
  std::set<std::string, std::less<>> present;
  for (const text::Json& pod : pods) present.emplace(api::Uid(pod));
  std::vector<std::string> gone;
  for (const auto& [uid, pod] : pods_) {
    if (!present.contains(uid)) gone.push_back(uid);
  }
  for (const std::string& uid : gone) Miss(uid);
  for (text::Json& pod : pods) Put(std::move(pod));
  if (!std::exchange(has_listed_, true)) SettleOrphans();
}

void PodKeeper::Put(text::Json object) {
  const std::string uid(api::Uid(object));
  const auto [it, is_new] = pods_.try_emplace(uid);
  Pod& pod = it->second;
  const bool is_deleting = api::IsDeleting(object);
  if (is_new) {
    pod.identity = {uid, std::string(api::Namespace(object)), std::string(api::Name(object))};
    pod.job_uid = JobUidOf(object);
    pod.start_time = api::GetTime(object, {"status", "startTime"});
    if (api::IsPodFinished(object)) pod.stage = Stage::kEnded;
  }
  if (pod.stage == Stage::kEnded) {
    if (is_deleting && !std::exchange(pod.is_deleting, true)) Delete(pod);
    return;
  }
  pod.object = std::make_shared<const text::Json>(std::move(object));
  if (is_new) Begin(pod);
  EndIfAsked(pod);
  if (!is_deleting) return;
  pod.is_deleting = true;
  Delete(pod);
}

void PodKeeper::Gone(const std::string& uid) {
  Pod* pod = Find(uid);
  if (pod == nullptr) return;
  pod->is_object_gone = true;
  parts_.gpus.Release(uid);
  switch (pod->stage) {
    case Stage::kWaiting:
    case Stage::kEnded:
      return RemovePod(uid);
    case Stage::kRunning:
      // No grace period: the deletion was forced, or nobody could have asked for one.
      return Terminate(*pod, 0);
    case Stage::kStarting:
    case Stage::kEnding:
      return;  // handled when that has finished
  }
}

// Handles a pod that is new to this agent: a new one, or one of an earlier daemon.
void PodKeeper::Begin(Pod& pod) {
  if (parts_.shims.WasStarted(DirectoryOf(pod))) return Recover(pod);
  if (HasEverStarted(*pod.object)) {
    Lose(pod, {kShimLost, "the pod has run, but its directory on this machine is gone"});
    return;
  }
  if (!api::IsDeleting(*pod.object)) Launch(pod);
}

void PodKeeper::Launch(Pod& pod) {
  parts_.loop.Cancel(std::exchange(pod.retry_timer, 0));
  pod.stage = Stage::kStarting;
  pod.appeared.clear();
  if (!pod.start_time) pod.start_time = parts_.clock.Now();
  if (auto made = base::MakeDirs(DirectoryOf(pod)); !made) {
    return Wait(pod, {"CreateContainerError", made.error().message, {}, NotReady::Retry::kLater});
  }
  WatchDirectory(pod);
  parts_.pool.Run([this, uid = pod.identity.uid, object = pod.object] {
    auto result =
        std::make_shared<OrNotReady<std::unique_ptr<RunningShim>>>(parts_.starter.Start(*object));
    parts_.loop.Post([this, uid, result] { OnLaunched(uid, std::move(*result)); });
  });
}

void PodKeeper::OnLaunched(const std::string& uid,
                           OrNotReady<std::unique_ptr<RunningShim>> result) {
  Pod* pod = Find(uid);
  if (pod == nullptr) return;
  if (!result) {
    if (parts_.shims.WasStarted(DirectoryOf(*pod))) return Recover(*pod);
    return Wait(*pod, std::move(result.error()));
  }
  Run(*pod, std::move(*result));
}

// Records why the pod cannot start, and schedules the next attempt.
void PodKeeper::Wait(Pod& pod, NotReady not_ready) {
  pod.stage = Stage::kWaiting;
  if (pod.is_object_gone) return RemovePod(std::string(pod.identity.uid));
  if (pod.is_deleting) return Delete(pod);
  if (EndIfAsked(pod)) return;
  base::LogDebug("pod {}/{} waits: {}: {}", pod.identity.namespace_name, pod.identity.name,
                 not_ready.reason, not_ready.message);
  const auto& missing = not_ready.missing;
  const bool has_appeared = std::any_of(missing.begin(), missing.end(), [&pod](const auto& each) {
    return pod.appeared.contains(each);
  });
  if (has_appeared) return Launch(pod);  // after the start had looked for it
  const std::string uid = pod.identity.uid;
  if (not_ready.retry != NotReady::Retry::kNever) {
    const base::Duration wait =
        not_ready.retry == NotReady::Retry::kSoon ? base::Duration(kSoon) : pod.backoff.Next();
    pod.retry_timer = parts_.loop.After(wait, [this, uid] {
      Pod* waiting = Find(uid);
      if (waiting != nullptr && waiting->stage == Stage::kWaiting) Launch(*waiting);
    });
  }
  std::set<const api::Resource*> kinds;
  for (const Reference& reference : not_ready.missing) kinds.insert(reference.resource);
  pod.not_ready = std::move(not_ready);
  Publish(pod);
  for (const api::Resource* kind : kinds) parts_.watch_for(*kind);
}

void PodKeeper::ObjectAppeared(const Reference& reference, std::string_view namespace_name) {
  for (auto& [uid, pod] : pods_) {
    if (pod.identity.namespace_name != namespace_name) continue;
    if (pod.stage == Stage::kStarting) pod.appeared.insert(reference);
    if (pod.stage != Stage::kWaiting || !pod.not_ready) continue;
    const auto& missing = pod.not_ready->missing;
    if (std::find(missing.begin(), missing.end(), reference) != missing.end()) Launch(pod);
  }
}

void PodKeeper::GpusAppeared() {
  for (auto& [uid, pod] : pods_) {
    const bool waits = pod.stage == Stage::kWaiting && pod.not_ready &&
                       pod.not_ready->retry == NotReady::Retry::kSoon;
    if (waits) Launch(pod);
  }
}

// An earlier daemon started it, or a start whose outcome is not known.
void PodKeeper::Recover(Pod& pod) {
  const std::string directory = DirectoryOf(pod);
  WatchDirectory(pod);
  auto shim = parts_.shims.Adopt(directory);
  if (!shim) {
    // It may be running: starting it again would be worse than asking again.
    base::LogWarn("adopt pod {}/{}: {}", pod.identity.namespace_name, pod.identity.name,
                  shim.error().message);
    pod.stage = Stage::kStarting;
    parts_.loop.After(pod.backoff.Next(), [this, uid = pod.identity.uid] {
      if (Pod* again = Find(uid)) Recover(*again);
    });
    return;
  }
  if (*shim) return Run(pod, std::move(*shim));
  ReadReport(pod);
  if (pod.report && pod.report->is_finished) return End(pod);
  Lose(pod, parts_.shims.IsFromEarlierBoot(directory) ? NodeRebootedFailure() : ShimLostFailure());
}

void PodKeeper::Run(Pod& pod, std::unique_ptr<RunningShim> shim) {
  pod.stage = Stage::kRunning;
  pod.shim = std::move(shim);
  pod.not_ready.reset();
  if (!pod.start_time) pod.start_time = parts_.clock.Now();
  const std::string uid = pod.identity.uid;
  if (auto watched =
          parts_.loop.Watch(pod.shim->pidfd(), EPOLLIN, [this, uid](uint32_t) { OnShimEnd(uid); });
      !watched) {
    base::LogError("watch the shim of pod {}/{}: {}", pod.identity.namespace_name,
                   pod.identity.name, watched.error().message);
  }
  ArmDeadline(pod);
  ReadReport(pod);
  if (pod.is_object_gone) return Terminate(pod, 0);
  if (pod.report) Publish(pod);
  EndIfAsked(pod);
  if (pod.is_deleting) Delete(pod);
}

void PodKeeper::WatchDirectory(Pod& pod) {
  if (pod.watch >= 0) return;
  auto watch = inotify_->Watch(DirectoryOf(pod), IN_MOVED_TO | IN_ONLYDIR);
  if (!watch) {
    // Its end is noticed all the same; only changes before it are not.
    base::LogWarn("watch the reports of pod {}/{}: {}", pod.identity.namespace_name,
                  pod.identity.name, watch.error().message);
    return;
  }
  pod.watch = *watch;
  watched_[*watch] = pod.identity.uid;
}

void PodKeeper::OnReports() {
  std::set<std::string> changed;
  for (const process::Inotify::Event& event : inotify_->Read()) {
    if ((event.mask & IN_Q_OVERFLOW) != 0) {
      for (const auto& [watch, uid] : watched_) changed.insert(uid);
    } else if (event.name == kReportName) {
      const auto it = watched_.find(event.watch);
      if (it != watched_.end()) changed.insert(it->second);
    }
  }
  for (const std::string& uid : changed) {
    Pod* pod = Find(uid);
    if (pod == nullptr || pod->stage != Stage::kRunning) continue;
    ReadReport(*pod);
    // The last report is published when the shim has ended, because its locks are free then.
    if (pod->report && !pod->report->is_finished) Publish(*pod);
  }
}

void PodKeeper::ReadReport(Pod& pod) {
  auto report = parts_.shims.ReadReport(DirectoryOf(pod));
  if (report) {
    pod.report = std::move(*report);
  } else if (report.error().code != base::Code::kNotFound) {
    base::LogWarn("report of pod {}/{}: {}", pod.identity.namespace_name, pod.identity.name,
                  report.error().message);
  }
}

void PodKeeper::OnShimEnd(const std::string& uid) {
  Pod* pod = Find(uid);
  if (pod == nullptr || !pod->shim) return;
  parts_.loop.Unwatch(pod->shim->pidfd());
  parts_.loop.Cancel(std::exchange(pod->kill_timer, 0));
  pod->shim.reset();
  ReadReport(*pod);
  if (pod->report && pod->report->is_finished) return End(*pod);
  Lose(*pod, ShimLostFailure());
}

// The shim is gone without a final report: its programs are ended now.
void PodKeeper::Lose(Pod& pod, PodFailure failure) {
  pod.stage = Stage::kEnding;
  if (!pod.failure) pod.failure = std::move(failure);
  parts_.pool.Run([this, uid = pod.identity.uid, directory = DirectoryOf(pod)] {
    if (auto killed = parts_.shims.KillStrays(directory, uid); !killed) {
      base::LogError("end the processes of pod {}: {}", uid, killed.error().message);
    }
    parts_.loop.Post([this, uid] {
      if (Pod* lost = Find(uid)) End(*lost);
    });
  });
}

// No process of the pod is left.
void PodKeeper::End(Pod& pod) {
  pod.stage = Stage::kEnded;
  parts_.loop.Cancel(std::exchange(pod.deadline_timer, 0));
  parts_.loop.Cancel(std::exchange(pod.retry_timer, 0));
  parts_.gpus.Release(pod.identity.uid);
  if (pod.watch >= 0) {
    inotify_->Unwatch(pod.watch);
    watched_.erase(std::exchange(pod.watch, -1));
  }
  if (pod.is_object_gone) return RemovePod(std::string(pod.identity.uid));
  Publish(pod);
  pod.object.reset();
  pod.report.reset();
  pod.status = nullptr;
  if (pod.is_deleting) Delete(pod);
}

void PodKeeper::Publish(Pod& pod) {
  if (pod.is_object_gone) return;
  StatusInput input{*pod.object};
  if (pod.report) input.report = &*pod.report;
  if (pod.not_ready) input.not_ready = &*pod.not_ready;
  if (pod.failure && pod.stage == Stage::kEnded) input.failure = &*pod.failure;
  input.has_ended = pod.stage == Stage::kEnded;
  input.start_time = pod.start_time;
  if (!pod.status.is_null()) input.previous_status = &pod.status;
  text::Json status = MakeStatus(input, parts_.clock.Now());
  if (text::IsSame(status, pod.status)) return;
  pod.status = std::move(status);
  parts_.writer.PutStatus(pod.identity, pod.status);
}

// Ends the processes while the object stays. Returns whether that was requested. A pod that is
// starting or ending is handled afterwards.
bool PodKeeper::EndIfAsked(Pod& pod) {
  if (pod.stage != Stage::kWaiting && pod.stage != Stage::kRunning) return false;
  const std::string_view why = api::Annotation(*pod.object, api::kEndAnnotation);
  if (why.empty()) return false;
  if (!pod.failure) pod.failure = JobEndedFailure(std::string(why));
  if (pod.stage == Stage::kWaiting) {
    End(pod);
  } else {
    Terminate(pod, GraceOf(*pod.object));
  }
  return true;
}

// Ends the processes, after which the object is deleted.
void PodKeeper::Delete(Pod& pod) {
  switch (pod.stage) {
    case Stage::kWaiting:
      parts_.loop.Cancel(std::exchange(pod.retry_timer, 0));
      parts_.gpus.Release(pod.identity.uid);
      return parts_.writer.DeletePod(pod.identity);
    case Stage::kEnded:
      return parts_.writer.DeletePod(pod.identity);
    case Stage::kRunning: {
      const auto grace = text::GetInt(*pod.object, {"metadata", "deletionGracePeriodSeconds"});
      return Terminate(pod, grace.value_or(GraceOf(*pod.object)));
    }
    case Stage::kStarting:
    case Stage::kEnding:
      return;  // handled when that has finished
  }
}

void PodKeeper::Terminate(Pod& pod, int64_t grace_seconds) {
  if (!pod.shim || (pod.grace_sent && *pod.grace_sent <= grace_seconds)) return;
  pod.grace_sent = grace_seconds;
  auto sent = pod.shim->Terminate(std::chrono::seconds(std::max<int64_t>(0, grace_seconds)));
  if (!sent && sent.error().code != base::Code::kNotFound) {
    base::LogError("end pod {}/{}: {}", pod.identity.namespace_name, pod.identity.name,
                   sent.error().message);
  }
  ArmKill(pod, std::chrono::seconds(std::max<int64_t>(0, grace_seconds)));
}

// The shim sends SIGKILL at the end of the grace period. A shim that does not (stopped, traced,
// blocked by its disk) must not keep the pod, so it is killed itself together with its programs.
void PodKeeper::ArmKill(Pod& pod, std::chrono::seconds grace) {
  parts_.loop.Cancel(pod.kill_timer);
  const base::Duration wait = grace + parts_.starter.facts().shim_answer;
  pod.kill_timer = parts_.loop.After(wait, [this, uid = pod.identity.uid] {
    Pod* const late = Find(uid);
    if (late == nullptr || !late->shim) return;
    late->kill_timer = 0;
    ReadReport(*late);
    // No process of it runs any more; podman's container is being removed.
    if (late->report && late->report->is_finished) return;
    base::LogWarn("the shim of pod {}/{} does not answer; killing it",
                  late->identity.namespace_name, late->identity.name);
    if (auto killed = late->shim->Kill(); !killed) {
      base::LogError("kill the shim of pod {}/{}: {}", late->identity.namespace_name,
                     late->identity.name, killed.error().message);
    }
  });
}

void PodKeeper::ArmDeadline(Pod& pod) {
  const auto seconds = text::GetInt(*pod.object, {"spec", "activeDeadlineSeconds"});
  if (!seconds) return;
  const base::Duration left = *pod.start_time + std::chrono::seconds(*seconds) - parts_.clock.Now();
  pod.deadline_timer =
      parts_.loop.After(std::max(left, base::Duration::zero()), [this, uid = pod.identity.uid] {
        Pod* late = Find(uid);
        if (late == nullptr || late->stage != Stage::kRunning) return;
        late->failure = DeadlineFailure();
        Terminate(*late, GraceOf(*late->object));
      });
}

void PodKeeper::LetGo(std::map<std::string, Pod>::iterator pod) {
  parts_.loop.Cancel(pod->second.retry_timer);
  parts_.loop.Cancel(pod->second.deadline_timer);
  if (pod->second.watch >= 0) {
    inotify_->Unwatch(pod->second.watch);
    watched_.erase(pod->second.watch);
  }
  pods_.erase(pod);
}

void PodKeeper::RemovePod(const std::string& uid) {
  const auto it = pods_.find(uid);
  if (it == pods_.end()) return;
  const std::string directory = DirectoryOf(it->second);
  const std::string job_uid = it->second.job_uid;
  LetGo(it);
  const std::string record = RecordDirectory(parts_.starter.facts().state_directory, uid);
  parts_.pool.Run([directory, record] {
    if (auto kept = KeepRecord(directory, record); !kept) {
      base::LogWarn("keep the record of {}: {}", directory, kept.error().message);
    }
    if (auto removed = base::RemoveTree(directory); !removed) {
      base::LogWarn("{}", removed.error().message);
    }
  });
  RemoveJobIfUnused(job_uid);
}

void PodKeeper::JobGone(const std::string& job_uid) {
  gone_jobs_.insert(job_uid);
  RemoveJobIfUnused(job_uid);
}

void PodKeeper::RemoveJobIfUnused(const std::string& job_uid) {
  if (!has_listed_ || !gone_jobs_.contains(job_uid)) return;
  for (const auto& [uid, pod] : pods_) {
    if (pod.job_uid == job_uid) return;
  }
  gone_jobs_.erase(job_uid);
  const std::string directory = JobDirectory(parts_.starter.facts(), job_uid);
  parts_.pool.Run([directory] {
    if (auto removed = base::RemoveTree(directory); !removed) {
      base::LogWarn("{}", removed.error().message);
    }
  });
}

}  // namespace local::node
