#include "local/daemon/ranks/stall_keeper.h"

#include <fmt/format.h>
#include <signal.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "api/last_collectives.h"
#include "api/names.h"
#include "api/object.h"
#include "api/pod.h"
#include "api/resources.h"
#include "api/stall.h"
#include "base/file.h"
#include "base/log.h"
#include "local/node/devices/gpu.h"
#include "local/node/pod/shim_client.h"
#include "local/node/pod/shim_files.h"
#include "process/pidfd.h"
#include "witness/recorder.h"

namespace local::daemon {
namespace {

constexpr std::chrono::seconds kLook{1};
// A pod whose Python has not come by then has none.
constexpr std::chrono::seconds kSilent{5};
constexpr std::chrono::milliseconds kSoonest{200};  // after a look, when a pod has ended
constexpr std::chrono::milliseconds kHear{400};     // between looks: it asks nobody
constexpr std::chrono::milliseconds kLongestAnswer{300};

using Phase = StallPod::Phase;
using Testimony = answers::StallWatch::Testimony;

// All at once. `asked`: pids by folder.
Testimony Ask(const witness::PidsByFolder& asked, const std::vector<answers::RankLook>& looks,
              process::ProcessTree& tree) {
  Testimony testimony;
  testimony.with_work = witness::RanksWithWork(looks, tree);
  witness::Question stacks(asked);
  witness::RecorderQuestion recorders(asked);
  const auto put = [&looks](std::map<pid_t, std::string> answers,
                            std::map<int, std::string>& by_rank) {
    for (const answers::RankLook& look : looks) {
      const auto answer = answers.find(look.pid);
      if (!look.has_ended && answer != answers.end())
        by_rank[look.rank] = std::move(answer->second);
    }
  };
  put(stacks.Await(kLongestAnswer), testimony.dumps);
  put(recorders.Await(kLongestAnswer), testimony.traces);
  testimony.lacks_traces = recorders.LacksAnswers();
  const std::vector<pid_t> mute = recorders.Mute();
  for (const answers::RankLook& look : looks) {
    if (std::find(mute.begin(), mute.end(), look.pid) != mute.end())
      testimony.mute.insert(look.rank);
  }
  return testimony;
}

// Kills a rank of the pod that writes to that folder, unless another process has its pid by now.
base::Status KillRank(const std::string& folder, pid_t pid) {
  TRY_ASSIGN(const base::Fd pidfd, process::OpenPidfd(pid));
  if (witness::FolderOf(pid) != folder) return base::Fail(base::Code::kNotFound, "it has ended");
  return process::SendSignal(pidfd.get(), SIGKILL);
}

}  // namespace

std::optional<StallPod> ReadStallPod(const text::Json& pod, const std::string& state_directory) {
  const std::string_view phase = text::GetString(pod, {"status", "phase"});
  const std::string_view name = api::Label(pod, api::kJobNameLabel);
  StallPod read;
  if (name.empty() || phase == "Failed") return std::nullopt;
  read.phase = phase == "Running"     ? Phase::kRunning
               : phase == "Succeeded" ? Phase::kSucceeded
                                      : Phase::kPending;
  read.uid = api::Uid(pod);
  read.job_uid = api::ControllerUid(pod);
  read.job_name = name;
  read.namespace_name = api::Namespace(pod);
  read.folder = witness::FolderOfPod(state_directory, api::Uid(pod));
  if (read.job_uid.empty()) return std::nullopt;
  for (const api::ContainerStatus& container : api::ContainerStatuses(pod)) {
    if (container.name == api::kContainerName && container.running_since) {
      read.began = *container.running_since;
    }
  }
  read.policy = api::StallPolicyOf(pod);
  read.gpu_units = node::ParseUnits(api::Annotation(pod, api::kGpusAnnotation));
  return read;
}

StallKeeper::StallKeeper(cluster::Client& client, base::Clock& clock, std::string state_directory,
                         RankFiles& files, ProgressFiles& progress, const LastLines& lines,
                         gpu::Places gpus)
    : client_(client),
      clock_(clock),
      events_(client, clock, "muster-stalls"),
      state_directory_(std::move(state_directory)),
      progress_(progress),
      meetings_(progress),
      meter_(files, lines),
      gpus_(std::move(gpus)) {
  thread_ = std::thread([this] { Run(); });
}

StallKeeper::~StallKeeper() {
  {
    const std::lock_guard lock(mutex_);
    is_stopped_ = true;
    wake_.notify_one();
  }
  thread_.join();
}

void StallKeeper::OnPod(std::string_view uid, const text::Json* pod) {
  auto read = pod == nullptr ? std::nullopt : ReadStallPod(*pod, state_directory_);
  if (pod != nullptr && api::IsPodFinished(*pod)) {
    meetings_.SeeLast(std::string(api::ControllerUid(*pod)),
                      witness::FolderOfPod(state_directory_, uid));
  }
  const std::lock_guard lock(mutex_);
  const bool was_of_running = Remove(uid);
  const bool is_of_running = read && Add(*std::move(read));
  // Users ask right away why a job has failed, so that its ranks' last calls are noted at once.
  has_end_ = has_end_ || (was_of_running && !is_of_running);
  if (was_of_running || is_of_running) wake_.notify_one();
}

bool StallKeeper::Add(StallPod pod) {
  std::string uid = pod.uid;
  const StallPod& kept = pods_.insert_or_assign(std::move(uid), std::move(pod)).first->second;
  Peers& peers = peers_[kept.job_uid];
  peers.pods.push_back(&kept);
  if (kept.phase == Phase::kRunning && ++peers.running == 1) running_.insert(kept.job_uid);
  return peers.running > 0;
}

bool StallKeeper::Remove(std::string_view uid) {
  const auto pod = pods_.find(uid);
  if (pod == pods_.end()) return false;
  const auto peers = peers_.find(pod->second.job_uid);
  const bool was_running = peers->second.running > 0;
  std::erase(peers->second.pods, &pod->second);
  if (pod->second.phase == Phase::kRunning && --peers->second.running == 0) {
    running_.erase(peers->first);
  }
  if (peers->second.pods.empty()) peers_.erase(peers);
  pods_.erase(pod);
  return was_running;
}

void StallKeeper::Run() {
  std::unique_lock lock(mutex_);
  while (!is_stopped_) {
    const std::set<std::string> running = running_;
    std::map<std::string, std::vector<StallPod>> jobs;
    for (const std::string& uid : running) {
      for (const StallPod* const pod : peers_.at(uid).pods) jobs[uid].push_back(*pod);
    }
    std::set<std::string> succeeded;  // folders, of jobs that have just ended
    for (const auto& [uid, job] : jobs_) {
      const auto peers = peers_.find(uid);
      if (running.contains(uid) || peers == peers_.end()) continue;
      for (const StallPod* const pod : peers->second.pods) {
        if (pod->phase == Phase::kSucceeded) succeeded.insert(pod->folder);
      }
    }
    if (jobs.empty() && jobs_.empty()) {
      meter_.KeepOpen({});
      wake_.wait(lock);
      continue;
    }
    lock.unlock();
    Forget(running, succeeded);
    native_.See(clock_.Steady(), std::exchange(silent_, {}));
    process::ProcessTree tree;
    for (const auto& [uid, pods] : jobs) Look(uid, pods, tree);
    meter_.KeepOpen(running);
    lock.lock();
    wake_.wait_for(lock, kSoonest, [this] { return is_stopped_; });
    for (auto waited = kSoonest; waited < kLook && !is_stopped_ && !has_end_; waited += kHear) {
      lock.unlock();
      for (auto& [uid, job] : jobs_) Hear(job);
      lock.lock();
      wake_.wait_for(lock, kHear, [this] { return is_stopped_ || has_end_; });
    }
    has_end_ = false;
  }
}

void StallKeeper::Look(const std::string& uid, const std::vector<StallPod>& pods,
                       process::ProcessTree& tree) {
  const bool is_new = !jobs_.contains(uid);
  Job& job = jobs_[uid];
  if (is_new) {
    job.name = pods[0].job_name;
    job.namespace_name = pods[0].namespace_name;
    // What an earlier daemon, or an earlier attempt, left there.
    const auto stored = client_.Get(api::kPyTorchJobs, job.namespace_name, job.name);
    if (stored) {
      job.noted = api::Annotation(*stored, api::kStallAnnotation);
      job.past = api::Annotation(*stored, api::kStallsAnnotation);
    }
  }
  job.policy = pods[0].policy;
  job.most_pods = std::max(job.most_pods, pods.size());
  std::vector<answers::RankLook> looks;
  std::map<std::string, std::vector<pid_t>> asked;
  std::map<std::string, bool> has_succeeded;
  std::set<std::string> busy;  // folders in which a rank still runs
  std::set<int> silent;        // ranks that run no Python that can be asked
  std::map<int, std::pair<std::string, pid_t>> now;
  std::vector<MeteredRank> metered;
  std::vector<SampledRank> sampled;
  const int world_before = std::exchange(job.world, 0);
  for (const StallPod& pod : pods) {
    if (pod.phase == Phase::kPending) continue;
    has_succeeded[pod.folder] = pod.phase == Phase::kSucceeded;
    if (pod.phase == Phase::kSucceeded) continue;
    meetings_.See(uid, pod.folder);
    const bool has_met = witness::HasMet(pod.folder, pod.began);
    for (const auto& [rank, process] : witness::RanksAmong(witness::ProcessesIn(pod.folder))) {
      job.world = std::max(job.world, process.world);
      now[rank] = {pod.folder, process.pid};
      busy.insert(pod.folder);
      asked[pod.folder].push_back(process.pid);
      looks.push_back(
          {rank, process.pid, false, !has_met, witness::ActivityOf(pod.folder, process.pid, tree)});
      metered.push_back({rank, process.pid, pod.uid, looks.back().activity.ticks, RoleOf(job, rank),
                         pod.gpu_units, job.world / static_cast<int>(pods.size())});
      sampled.push_back({rank, process.pid, pod.folder, looks.back().activity.ticks});
    }
    if (busy.contains(pod.folder) || clock_.Now() - pod.began < kSilent) continue;
    if (job.policy.action == api::StallPolicy::Action::kOff) continue;
    silent_.insert(pod.folder);
    for (const witness::NativeRank& native : native_.In(pod.folder)) {
      const auto stat = process::ReadStat(native.pid);
      if (!stat || stat->state == 'Z') continue;
      job.world = std::max(job.world, native.world);
      now[native.rank] = {pod.folder, native.pid};
      silent.insert(native.rank);
      looks.push_back(
          {native.rank, native.pid, false, false, witness::NativeActivityOf(native.pid, tree)});
    }
  }
  if (job.world == 0) job.world = world_before;
  // An elastic job has begun again with fewer or more ranks.
  if (job.world != world_before) {
    job.watch.reset();
    job.stall.reset();
  }
  const bool has_gpus = std::any_of(pods.begin(), pods.end(), [](const StallPod& pod) {
    return pod.phase == Phase::kRunning && !pod.gpu_units.empty();
  });
  meter_.See(uid, metered, clock_.Now(), has_gpus ? gpus_.Look() : gpu::BusyUnits());
  Sample(uid, job, sampled);
  // A single rank waits for nobody.
  if (job.world < 2 || now.empty()) return;
  const auto failed = std::find_if(job.ranks.begin(), job.ranks.end(), [&](const auto& known) {
    return !now.contains(known.first) && !has_succeeded.contains(known.second.first);
  });
  if (failed != job.ranks.end()) {
    // Usually the job ends with it: the reason for the stall until then stays recorded, for
    // `explain`.
    job.ranks.erase(failed);
    NoteLast(job);
    return;
  }
  for (const auto& [rank, place] : job.ranks) {
    const auto& [folder, pid] = place;
    // It is one of several in its pod, or its pod still runs.
    if (now.contains(rank) || !has_succeeded.contains(folder)) continue;
    if (!has_succeeded[folder] && !busy.contains(folder)) continue;
    looks.push_back({rank, pid, true, false, {}});
    now[rank] = place;
  }
  job.ranks = std::move(now);
  if (Hear(job) || job.policy.action == api::StallPolicy::Action::kOff) return;
  if (!job.watch) job.watch.emplace(job.policy.after, true, job.world);
  const bool is_judged = job.watch->See(clock_.Steady(), looks);
  job.stall = job.watch->stall();
  if (is_judged) {
    Testimony testimony = Ask(asked, looks, tree);
    for (const answers::RankLook& look : looks) {
      if (!silent.contains(look.rank) || look.has_ended) continue;
      if (auto sleep = witness::KernelSleepOf(look.pid, tree)) testimony.kernel[look.rank] = *sleep;
    }
    testimony.has_silent_pods = std::any_of(pods.begin(), pods.end(), [&busy](const StallPod& pod) {
      return pod.phase == Phase::kRunning && !busy.contains(pod.folder);
    });
    // One that has failed is missing until it is created again.
    testimony.awaits_pods = pods.size() < job.most_pods ||
                            std::any_of(
                                pods.begin(), pods.end(),
                                [](const StallPod& pod) { return pod.phase == Phase::kPending; });
    job.watch->Judge(clock_.Steady(), testimony, witness::SourceLine);
    job.stall = job.watch->stall();
    LogStacks(job, testimony.dumps);  // before anything ends the job
  }
  Note(job);
  if (is_judged) KillMissing(job);
}

runs::StallRole StallKeeper::RoleOf(const Job& job, int rank) {
  if (!job.stall) return runs::StallRole::kNone;
  const auto is_in = [rank](const std::vector<int>& ranks) {
    return std::find(ranks.begin(), ranks.end(), rank) != ranks.end();
  };
  if (is_in(job.stall->missing)) return runs::StallRole::kLate;
  return is_in(job.stall->waiting) ? runs::StallRole::kWaits : runs::StallRole::kNone;
}

// A job that stands still is asked only by the watch, less and less often.
void StallKeeper::Sample(const std::string& uid, Job& job, const std::vector<SampledRank>& ranks) {
  if (!job.sampler) job.sampler.emplace(clock_.Steady());
  const auto wait = job.sampler->See(clock_.Steady(), clock_.Now(),
                                     job.stall ? std::vector<SampledRank>() : ranks);
  if (wait) progress_.NoteWait(uid, *wait);
}

// The jobs that are not in `jobs` have ended, maybe because of a rank that ended badly since the
// last look.
void StallKeeper::Forget(const std::set<std::string>& jobs,
                         const std::set<std::string>& succeeded) {
  for (auto known = jobs_.begin(); known != jobs_.end();) {
    if (jobs.contains(known->first)) {
      ++known;
      continue;
    }
    Job& job = known->second;
    const bool has_failed = std::any_of(
        job.ranks.begin(), job.ranks.end(),
        [&succeeded](const auto& rank) { return !succeeded.contains(rank.second.first); });
    if (has_failed && job.sampler) {
      job.sampler->See(clock_.Steady(), clock_.Now(), {});
      NoteLast(job);
    }
    known = jobs_.erase(known);
  }
}

void StallKeeper::NoteLast(const Job& job) {
  const auto last =
      job.sampler ? job.sampler->LastCollectives() : std::vector<api::LastCollective>();
  if (last.empty()) return;
  const auto patched = client_.Patch(
      api::kPyTorchJobs, job.namespace_name, job.name, cluster::PatchType::kMerge,
      text::Object{{"metadata", text::Object{{"annotations",
                                              text::Object{{api::kLastCollectivesAnnotation,
                                                            api::FormatLastCollectives(last)}}}}}});
  if (!patched && patched.error().code != base::Code::kNotFound) {
    base::LogWarn("job {}: {}", job.name, patched.error().message);
  }
}

// Returns whether a launcher watches all ranks of the job, so that nobody else has to.
bool StallKeeper::Hear(Job& job) {
  if (job.ranks.empty() || job.most_pods != 1) return false;
  const auto& [folder, pid] = job.ranks.begin()->second;
  auto word = witness::HearStall(folder, pid, clock_);
  if (!word) return false;
  job.watch.reset();
  job.stall = std::move(word->stall);
  Note(job);
  return true;
}

std::string StallKeeper::NoteOf(const Job& job) const {
  if (const auto& stall = job.stall) {
    // In this order: a moment between the two readings may not date it before its last rank began.
    const auto age = std::chrono::duration_cast<base::Duration>(clock_.Steady() - stall->since);
    return api::StallNote(answers::NameOf(stall->kind), clock_.Now() - age, stall->text);
  }
  const auto& late = job.sampler->late();
  return late ? api::StallNote(api::kSlowed, late->since, late->text) : "";
}

void StallKeeper::Note(Job& job) {
  std::string note = NoteOf(job);
  // The time of a note is not updated while its text stays the same.
  if (api::TextOfStall(note) == api::TextOfStall(job.noted)) return;
  text::Object annotations{
      {api::kStallAnnotation, note.empty() ? text::Json(nullptr) : text::Json(note)}};
  std::string past = job.past;
  const auto& stall = job.stall;
  const bool is_same = stall && job.noted_since == stall->since;  // the watch knows more about it
  if (!job.noted.empty() && !is_same) past = api::WithPastStall(past, job.noted, clock_.Now());
  if (past != job.past) {
    annotations[api::kStallsAnnotation] = past;
    annotations[api::kLastStallAnnotation] = job.noted;
  }
  const auto patched = client_.Patch(
      api::kPyTorchJobs, job.namespace_name, job.name, cluster::PatchType::kMerge,
      text::Object{{"metadata", text::Object{{"annotations", std::move(annotations)}}}});
  if (!patched) return base::LogWarn("job {}: {}", job.name, patched.error().message);
  job.noted = std::move(note);
  job.noted_since.reset();
  if (stall) job.noted_since = stall->since;
  job.past = std::move(past);
}

// As the launcher does where one pod runs all ranks: once for each stall, into the log of the
// lowest rank.
void StallKeeper::LogStacks(Job& job, const std::map<int, std::string>& dumps) const {
  using Action = api::StallPolicy::Action;
  const auto& stall = job.stall;
  const bool is_new = stall && (!job.logged || job.logged->kind != stall->kind ||
                                job.logged->missing != stall->missing);
  job.logged = stall;
  if (!is_new || dumps.empty() || job.policy.action == Action::kReport || job.most_pods < 2) return;
  const auto added =
      node::AddToLog(base::DirectoryOf(job.ranks.begin()->second.first),
                     fmt::format("muster: {}\nmuster: {}", answers::Say(*stall, clock_.Steady()),
                                 answers::RenderStacks(job.watch->looks(), dumps)));
  if (!added) base::LogWarn("job {}: {}", job.name, added.error().message);
}

// With --on-stall=restart: the job goes on as after any other failure of that rank. Once in a
// stall, which may have been "waiting" before; and not without the job that the event is about, or
// nobody would know who has killed the rank.
void StallKeeper::KillMissing(Job& job) {
  const auto& stall = job.stall;
  if (job.policy.action != api::StallPolicy::Action::kRestart || job.most_pods < 2) return;
  if (!stall || stall->kind != answers::Stall::Kind::kStalled) return;
  const auto rank = answers::RankToKill(*stall, job.watch->looks());
  const std::pair about(stall->since, rank ? job.ranks.at(*rank).second : 0);
  if (job.acted_on == about) return;
  const auto stored = client_.Get(api::kPyTorchJobs, job.namespace_name, job.name);
  if (!stored) return base::LogWarn("job {}: {}", job.name, stored.error().message);
  job.acted_on = about;
  const auto say = [&](const std::string& who) {
    events_.Record(*stored,
                   {true, "Stalled", fmt::format("{} (--on-stall=restart): {}", who, stall->text)});
  };
  if (!rank) return say("no rank is killed, because one that is missing does not run");
  const auto& [folder, pid] = job.ranks.at(*rank);
  // Where several ranks share a pod, its launcher outlives the kill.
  const bool is_alone = std::count_if(job.ranks.begin(), job.ranks.end(), [&](const auto& other) {
                          return other.second.first == folder;
                        }) == 1;
  std::map<std::string, std::string> notes;  // for the shim, and for a launcher in the pod
  if (is_alone) {
    notes[fmt::format("{}/{}", base::DirectoryOf(folder), node::kStallKillFile)] =
        fmt::format("rank {} held up the others (--on-stall=restart)", *rank);
  }
  notes[witness::StallKillFileOf(folder, pid)] = answers::Say(*stall, clock_.Steady());
  for (const auto& [path, text] : notes) {
    const auto written = base::WriteFileAtomic(path, text, 0600, base::Durability::kNone);
    if (!written) base::LogWarn("job {}: {}", job.name, written.error().message);
  }
  if (const auto killed = KillRank(folder, pid); !killed) {
    std::error_code ignored;
    for (const auto& [path, text] : notes) std::filesystem::remove(path, ignored);
    return base::LogWarn("job {}: kill rank {}: {}", job.name, *rank, killed.error().message);
  }
  base::LogInfo("job {}: rank {} is killed (--on-stall=restart)", job.name, *rank);
  say(fmt::format("rank {} is killed", *rank));
}

}  // namespace local::daemon
