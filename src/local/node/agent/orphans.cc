// The part of PodKeeper that handles pods and folders missing from the list of pods.
#include <unistd.h>

#include <set>
#include <utility>

#include "base/folder.h"
#include "base/log.h"
#include "local/node/agent/pods.h"

namespace local::node {

// Handles a pod that is no longer listed, because it was deleted or the store has forgotten it.
void PodKeeper::Miss(const std::string& uid) {
  const Fate fate = FateOf(uid);
  if (fate == Fate::kDeleted) return Gone(uid);
  if (fate == Fate::kStored) return;
  const auto it = pods_.find(uid);
  parts_.gpus.Release(uid);
  if (it->second.shim) parts_.loop.Unwatch(it->second.shim->pidfd());
  LetGo(it);
  SettleOrphan(uid);
}

Fate PodKeeper::FateOf(const std::string& uid) const {
  auto fate = parts_.fate_of(uid);
  if (fate) return *fate;
  base::LogWarn("ask the store for {}: {}", uid, fate.error().message);
  return Fate::kStored;  // changes as little as possible
}

// Handles folders of pods that the first list lacks: deleted while no daemon ran, or unknown to the
// store.
void PodKeeper::SettleOrphans() {
  const std::string& state = parts_.starter.facts().state_directory;
  for (const std::string& uid : base::EntriesOf(state + "/pods")) {
    if (!pods_.contains(uid)) SettleOrphan(uid);
  }
  std::set<std::string> in_use;
  for (const auto& [uid, pod] : pods_) in_use.insert(pod.job_uid);
  for (const std::string& uid : base::EntriesOf(state + "/jobs")) {
    const Fate fate = FateOf(uid);
    if (fate == Fate::kDeleted) gone_jobs_.insert(uid);
    // An unknown pod may be running its job's code.
    if (fate == Fate::kUnknown && unknown_.empty() && !in_use.contains(uid)) {
      SetAside(JobDirectory(parts_.starter.facts(), uid), "job-" + uid);
    }
  }
  const std::set<std::string> gone = gone_jobs_;
  for (const std::string& uid : gone) RemoveJobIfUnused(uid);
}

void PodKeeper::SettleOrphan(const std::string& uid) {
  switch (FateOf(uid)) {
    case Fate::kStored:
      return;
    case Fate::kDeleted:
      return RemoveOrphan(uid);
    case Fate::kUnknown:
      return Quarantine(uid);
  }
}

void PodKeeper::RemoveOrphan(const std::string& uid) {
  Pod& pod = pods_[uid];
  pod.identity.uid = uid;
  pod.is_object_gone = true;
  if (!parts_.shims.WasStarted(DirectoryOf(pod))) return RemovePod(uid);
  auto shim = parts_.shims.Adopt(DirectoryOf(pod));
  if (shim && *shim) {
    pod.object = std::make_shared<const text::Json>(text::Object());
    return Run(pod, std::move(*shim));
  }
  ReadReport(pod);
  if (pod.report && pod.report->is_finished) return RemovePod(uid);
  Lose(pod, ShimLostFailure());
}

void PodKeeper::Quarantine(const std::string& uid) {
  const std::string directory = PodDirectory(parts_.starter.facts(), uid);
  auto shim = parts_.shims.Adopt(directory);
  if (!shim) {
    base::LogWarn("leaving the pod in {} alone: {}", directory, shim.error().message);
    return;
  }
  if (!*shim) return SetAside(directory, "pod-" + uid);
  parts_.lost.Runs(uid, (*shim)->pid(), directory);
  const int pidfd = (*shim)->pidfd();
  unknown_[uid] = std::move(*shim);
  const auto watched = parts_.loop.Watch(pidfd, EPOLLIN, [this, uid, directory, pidfd](uint32_t) {
    parts_.loop.Unwatch(pidfd);
    unknown_.erase(uid);
    parts_.lost.HasEnded(uid);
    SetAside(directory, "pod-" + uid);
  });
  if (!watched) base::LogWarn("watch the pod in {}: {}", directory, watched.error().message);
}

void PodKeeper::SetAside(const std::string& directory, const std::string& name) {
  if (::rmdir(directory.c_str()) == 0) return;  // it was empty
  const auto kept = parts_.lost.Keep(directory, name);
  if (kept) {
    base::LogWarn("{} is unknown to the store: moved it to {}", directory, *kept);
  } else {
    base::LogWarn("{}", kept.error().message);
  }
}

}  // namespace local::node
