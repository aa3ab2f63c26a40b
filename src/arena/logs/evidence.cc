#include "arena/logs/evidence.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <set>

#include "answers/files/read_log.h"
#include "answers/log/error_file.h"
#include "answers/log/failure_report.h"
#include "answers/log/json_record.h"
#include "answers/log/pods/described_pod.h"
#include "answers/loss_watch.h"
#include "answers/stall/recorder.h"
#include "api/gpu_troubles.h"
#include "api/job/failure_cause.h"
#include "api/job/pytorch_job.h"
#include "api/job/replica.h"
#include "api/kinds.h"
#include "api/last_collectives.h"
#include "api/names.h"
#include "api/object.h"
#include "api/pod.h"
#include "api/stall.h"
#include "arena/folder/left_out.h"
#include "arena/folder/run_note.h"
#include "arena/logs/all_logs.h"
#include "arena/logs/launcher_lines.h"
#include "arena/logs/pod_log.h"
#include "arena/logs/rank_lines.h"
#include "base/strings.h"
#include "base/utf8.h"
#include "text/projection.h"

namespace arena {
namespace {

namespace fs = std::filesystem;
using base::Code;
using base::Fail;

constexpr int64_t kMostLines = 2000;       // of each log
constexpr int64_t kMostOfSweep = 100'000;  // of the log of all trials
constexpr size_t kMostLogs = 64;           // of pods that failed
constexpr size_t kMostBytes = 16 << 20;    // of each file
constexpr size_t kMostRead = 64 << 20;     // of a pod's log
constexpr int64_t kFewer = 40;             // so many times fewer lines are read if they are longer
constexpr size_t kMostFiles = 4096;
constexpr std::string_view kUnableToRetrieve = "unable to retrieve container logs for ";
constexpr std::string_view kByKubelet = "TerminationByKubelet";
constexpr int kKilled = 128 + SIGKILL;

struct ContainerEnd {
  api::Terminated how;
  std::string container;  // "" if it is the training's, or an init container
};

const std::optional<api::Terminated>& EndOf(const api::ContainerStatus& status) {
  return status.terminated ? status.terminated : status.last_terminated;
}

// Returns how the pod's program ended. An init container that failed counts more, and a sidecar
// that failed only if the program has succeeded: the kubelet ends sidecars after the program, and
// starts them again while it runs.
std::optional<ContainerEnd> EndOf(const text::Json& pod) {
  for (const api::ContainerStatus& status : api::InitContainerStatuses(pod)) {
    const auto& ended = EndOf(status);
    const bool has_failed = ended && ended->exit_code != 0;
    if (has_failed && !api::IsSidecar(pod, status.name)) return ContainerEnd{*ended, ""};
  }
  const auto program = api::StatusOfTraining(pod);
  if (!program || !EndOf(*program)) return std::nullopt;
  if (!program->terminated || program->terminated->exit_code != 0) {
    return ContainerEnd{*EndOf(*program), ""};
  }
  for (const api::ContainerStatus& status : api::ContainerStatuses(pod)) {
    const bool has_failed = status.terminated && status.terminated->exit_code != 0;
    if (has_failed) return ContainerEnd{*status.terminated, std::string(status.name)};
  }
  return ContainerEnd{*program->terminated, ""};
}

// When the pod's program was started the last time; nullopt if it was not, or that is not known.
std::optional<base::Time> LastStartOf(const text::Json& pod) {
  const auto program = api::StatusOfTraining(pod);
  if (!program) return std::nullopt;
  if (program->is_running) return program->running_since;
  return EndOf(*program) ? EndOf(*program)->started : std::nullopt;
}

// Returns the last kMostBytes of a file, in UTF-8.
base::Result<std::string> ReadEnd(const std::string& path) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  if (!file) return Fail(base::Errno(errno, fmt::format("open \"{}\"", path)));
  const auto size = static_cast<size_t>(std::max<std::streamoff>(0, file.tellg()));
  const size_t length = std::min(size, kMostBytes);
  const auto read = [&file](size_t from, size_t bytes) {
    std::string text(bytes, '\0');
    file.seekg(static_cast<std::streamoff>(from));
    file.read(text.data(), static_cast<std::streamsize>(bytes));
    text.resize(static_cast<size_t>(std::max<std::streamsize>(0, file.gcount())));
    return text;
  };
  std::string text = read(size - length, length);
  if (length < size) {
    const std::string mark = read(0, 2);  // of UTF-16, whose characters begin at even places
    if (mark == "\xFF\xFE" || mark == "\xFE\xFF") text.insert(0, mark);
  }
  return base::FromMarkedUtf16(std::move(text));
}

class Gathering {
 public:
  Gathering(cluster::Client& client, const RunRecord& run)
      : client_(client), run_(run), map_(RankMap::Of(run.job.job)) {
    has_master_ = text::Find(run.job.job, {"spec", "pytorchReplicaSpecs", api::kMaster}) != nullptr;
  }

  answers::Evidence Gather() {
    for (const PodOfRun& of : PodsOf(run_)) AddPod(*of.pod, of.is_gone);
    AddJob();
    AddLastCollectives();
    AddEvents();
    return std::move(evidence_);
  }

  answers::Evidence Gather(const EndedTrial& trial) {
    const std::vector<PodOfRun> pods = PodsOf(run_);
    AddTrial(trial, pods.empty() ? nullptr : &pods.back());
    AddJob();
    AddEvents();
    return std::move(evidence_);
  }

 private:
  void AddTrial(const EndedTrial& trial, const PodOfRun* of) {
    answers::Rank rank;
    rank.name = run_.job.summary.chief_name;
    rank.rank = 0;
    rank.exit_code = trial.exit_code;
    rank.ended = trial.ended;
    base::Result<std::string> log = Fail(Code::kNotFound, "its pod is not known");
    if (of != nullptr) {
      uids_.emplace(api::Uid(*of->pod));
      rank.host = api::NodeName(*of->pod);
      AddGpus(*of->pod, rank);
      log = EndOfLog(client_, run_, *of->pod, of->is_gone, kMostOfSweep);
    }
    answers::Evidence read =
        answers::ReadLogs({{rank.name, log.value_or(""), std::nullopt, trial.label}});
    if (!trial.path.empty()) {
      const auto own = ReadEnd(trial.path);
      rank.has_log = own.has_value();
      TakeWitnesses(read, rank);
      read = answers::ReadLogs({{rank.name, own.value_or("")}});
    } else {
      rank.has_log = log.has_value();
    }
    // The trial's own lines are gone, or too far back.
    if (!HasWords(read) && !trial.last_line.empty()) {
      rank.has_log = false;
      TakeWitnesses(read, rank);
      read = answers::ReadLogs({{rank.name, trial.last_line}});
    }
    AddLines(std::move(read), std::move(rank));
  }

  static bool HasWords(const answers::Evidence& read) {
    return std::any_of(read.ranks.begin(), read.ranks.end(), [](const answers::Rank& of) {
      return std::any_of(of.lines.begin(), of.lines.end(),
                         [](const answers::Line& line) { return !line.text.empty(); });
    });
  }

  static void TakeWitnesses(const answers::Evidence& read, answers::Rank& rank) {
    for (const answers::Rank& of : read.ranks) {
      rank.witnesses.insert(rank.witnesses.end(), of.witnesses.begin(), of.witnesses.end());
    }
  }

  void AddPod(const text::Json& pod, bool is_gone) {
    uids_.emplace(api::Uid(pod));
    answers::Rank rank;
    rank.rank = api::NodeRank(pod, has_master_);
    rank.name = api::Name(pod);
    rank.host = api::NodeName(pod);
    rank.attempt = attempts_[rank.name]++;
    rank.reason = text::GetString(pod, {"status", "reason"});
    rank.message = text::GetString(pod, {"status", "message"});
    rank.was_ended_by_us = rank.reason == api::kJobEndedReason;
    // The kubelet gives the same for an eviction and for a shutdown: its own words say more.
    const auto disruption = api::DisruptionOf(pod);
    if (disruption && (rank.reason.empty() || disruption->reason != kByKubelet)) {
      rank.reason = disruption->reason;
      rank.message = disruption->message;
    }
    if (const auto end = EndOf(pod)) {
      rank.container = end->container;
      rank.exit_code = end->how.exit_code;
      rank.ended = end->how.finished;
      const bool is_by_signal =
          end->how.exit_code == 128 + SIGTERM || end->how.exit_code == kKilled;
      if (rank.was_ended_by_us && !is_by_signal) {
        // It had ended by itself, and waited for its restart.
        rank.was_ended_by_us = false;
        rank.reason.clear();
      }
      if (rank.reason.empty()) {
        rank.reason = end->how.reason;
        rank.message = end->how.message;
      }
      AddGpus(pod, rank);
    } else if (is_gone && api::Phase(pod) == "Running") {
      // The pod was killed and removed at once, and nobody recorded its end.
      rank.exit_code = kKilled;
      rank.was_ended_by_us = true;
    } else if (api::Phase(pod) == "Running" && run_.job.summary.status == "FAILED") {
      rank.was_ended_by_us = true;  // it is about to be, and may have said why the job has failed
    } else if (api::Phase(pod) != "Failed" && rank.reason.empty()) {
      AddWaiting(pod);
      if (api::Phase(pod) == "Running") {  // this rank may have held the others up
        rank.has_log = true;
        evidence_.ranks.push_back(std::move(rank));
      }
      return;
    }
    AddEarlierEnd(pod, rank);
    AddLog(pod, is_gone, rank);
  }

  // How the program ended before its last restart in place, of which its log knows nothing.
  void AddEarlierEnd(const text::Json& pod, answers::Rank& rank) {
    const auto program = api::StatusOfTraining(pod);
    if (!program || !program->terminated || !program->last_terminated) return;
    const text::Json* const status =
        text::ItemNamed(pod, {"status", "containerStatuses"}, program->name);
    const text::Json* const last = status == nullptr ? nullptr : text::Find(*status, {"lastState"});
    if (last == nullptr) return;
    rank.attempt += program->restart_count;
    text::Json earlier = pod;
    text::Set(earlier, {"status"},
              text::Object{{"containerStatuses",
                            text::Array{text::Object{{"name", std::string(program->name)},
                                                     {"state", *last}}}}});
    const std::string text = api::FindFirstFailure({&earlier}, has_master_).text;
    const size_t name = text.find(rank.name);  // "rank 0 (pt-master-0) exited with code 1"
    const size_t end = name == std::string::npos ? name : text.find(' ', name);
    if (end == std::string::npos) return;
    evidence_.earlier_ends.push_back(
        {program->last_terminated->finished, text.substr(0, end),
         fmt::format("in attempt {}{}", program->restart_count, text.substr(end))});
  }

  static void AddGpus(const text::Json& pod, answers::Rank& rank) {
    const auto troubles = api::ReadGpuTroubles(api::Annotation(pod, api::kGpuTroublesAnnotation));
    if (!troubles) return;
    for (const std::string& text : troubles->texts) {
      rank.witnesses.push_back({troubles->time, "GPU's driver", text});
    }
  }

  // Adds "ErrImagePull" and similar reasons of a pod that has not failed by itself.
  void AddWaiting(const text::Json& pod) {
    const std::string of_pod = fmt::format("pod {}", api::Name(pod));
    // Its event may be gone, or not for everybody to read.
    const text::Json* const scheduled = api::FindCondition(pod, "PodScheduled");
    if (scheduled != nullptr && text::GetString(*scheduled, {"reason"}) == "Unschedulable") {
      evidence_.events.push_back({std::nullopt, of_pod, "FailedScheduling",
                                  std::string(text::GetString(*scheduled, {"message"}))});
    }
    for (const auto& statuses : {api::InitContainerStatuses(pod), api::ContainerStatuses(pod)}) {
      for (const api::ContainerStatus& status : statuses) {
        if (!status.is_waiting) continue;
        evidence_.events.push_back({std::nullopt, of_pod, std::string(status.waiting_reason),
                                    std::string(status.waiting_message)});
      }
    }
  }

  // The lines of a container with several ranks are assigned to them by their prefixes.
  void AddLog(const text::Json& pod, bool is_gone, answers::Rank& rank) {
    if (rank.exit_code == 0 || logs_++ >= kMostLogs) {
      rank.has_log = rank.exit_code == 0;
      evidence_.ranks.push_back(std::move(rank));
      return;
    }
    const auto read_log = EndOfLog(client_, run_, pod, is_gone, kMostLines, rank.container);
    rank.has_log = read_log.has_value();
    if (!read_log && read_log.error().code == base::Code::kPermissionDenied) {
      rank.why_no_log = "you may not `get` pods/log";
    }
    // If the log is gone, the container's message may still contain its last output. A kubelet
    // whose runtime has lost the container answers with a line of its own.
    const bool is_gone_there =
        read_log && (read_log->empty() || read_log->starts_with(kUnableToRetrieve));
    const std::string log = read_log && !is_gone_there ? *read_log : rank.message;
    std::optional<answers::NodeRanks> ranks;
    const bool are_fixed = text::Find(run_.job.job, {"spec", "elasticPolicy"}) == nullptr;
    const auto first = map_.processes > 1 && are_fixed ? map_.RankAt(rank.name, 0) : std::nullopt;
    if (first) {
      ranks = answers::NodeRanks{*first, *first + map_.processes - 1};
    }
    AddLines(answers::ReadLogs({{rank.name, log, ranks}}), std::move(rank));
  }

  // Adds what `read` contains about the container or trial that `rank` describes as a whole.
  void AddLines(answers::Evidence read, answers::Rank rank) {
    const bool has_ranks = std::any_of(read.ranks.begin(), read.ranks.end(),
                                       [](const answers::Rank& of) { return of.rank.has_value(); });
    TakeWitnesses(read, rank);
    if (read.ranks.empty()) {
      evidence_.ranks.push_back(std::move(rank));
      return;
    }
    // Its launcher outlived the kill, and has said which rank it was.
    const bool is_of_one =
        std::any_of(read.ranks.begin(), read.ranks.end(), [&read](const answers::Rank& of) {
          return of.rank && of.rank == read.first_rank && of.exit_code == kKilled;
        });
    if (has_ranks && rank.reason == api::kOomKilled && !is_of_one) {
      rank.rank.reset();  // the ranks shared the memory, and one kill ended all of them
      evidence_.ranks.push_back(std::move(rank));
      return;
    }
    const bool is_told =
        read.first_rank.has_value() ||
        std::any_of(read.ranks.begin(), read.ranks.end(),
                    [](const answers::Rank& of) { return of.rank && of.exit_code.has_value(); });
    const bool are_marked = AreMarked(read);
    for (const answers::Rank& of : read.ranks) {
      answers::Rank one = rank;
      // Lines that no rank has printed come from the launcher, which mostly repeats the ranks' own
      // words.
      const bool is_killed_one = rank.reason == api::kOomKilled && is_of_one;
      if (!of.rank && (is_killed_one || (are_marked && !Decides(of)))) continue;
      if (has_ranks) one.rank = of.rank;
      one.attempt += of.attempt;
      // The launcher has said how its ranks ended: the container's exit code is another's.
      if (of.exit_code || is_told) one.exit_code = of.exit_code;
      if (rank.reason == api::kOomKilled && of.rank != read.first_rank) {
        one.reason.clear();
        one.message.clear();
      }
      // Its launcher had seen it fail before somebody ended the job.
      if (one.was_ended_by_us && of.rank && of.rank == read.first_rank) {
        one.was_ended_by_us = false;
        one.reason.clear();
      }
      one.lines = of.lines;
      if (of.rank && of.rank == read.first_rank) AddReport(read, one);
      evidence_.ranks.push_back(std::move(one));
    }
    if (read.first_rank) evidence_.first_rank = read.first_rank;
  }

  void AddJob() {
    if (const auto last = api::LastStallOf(run_.job.job)) {
      evidence_.stall = {last->stall.since, std::string(answers::kStallSource),
                         fmt::format("{} {}", last->stall.kind, last->stall.text)};
      evidence_.stall_end = last->end;
    }
    evidence_.search_path = SearchPath();
    if (run_.job.summary.status == kDeletedStatus) evidence_.job_reason = "Deleted";
    const text::Json* const failed = api::TrueCondition(run_.job.job, "Failed");
    if (failed == nullptr) return;
    evidence_.job_reason = text::GetString(*failed, {"reason"});
    evidence_.job_message = text::GetString(*failed, {"message"});
  }

  // Adds the last collective calls of each failed rank and of the other ranks, if they are from the
  // attempt that failed.
  void AddLastCollectives() {
    constexpr std::chrono::minutes kSameAttempt{1};
    const std::vector<api::LastCollective> all =
        api::ReadLastCollectives(api::Annotation(run_.job.job, api::kLastCollectivesAnnotation));
    for (answers::Rank& rank : evidence_.ranks) {
      const auto own = std::find_if(all.begin(), all.end(),
                                    [&rank](const auto& one) { return rank.rank == one.rank; });
      const bool is_asked = own != all.end() && rank.exit_code.value_or(0) != 0 && rank.ended &&
                            *rank.ended - own->time < kSameAttempt;
      if (!is_asked) continue;
      std::map<std::string, std::vector<int>> others;
      for (const api::LastCollective& one : all) {
        if (one.rank != own->rank) others[one.text].push_back(one.rank);
      }
      const auto add = [&rank, own](std::string who, std::string_view words) {
        rank.witnesses.push_back({own->time, "flight recorder", fmt::format("{} {}", who, words)});
      };
      add(fmt::format("rank {}", own->rank), own->text);
      for (const auto& [words, ranks] : others) add(answers::NameRanks(ranks), words);
    }
  }

  // Returns the PATH in which the embedded cluster looks for the job's programs.
  std::string SearchPath() const {
    return api::SubmittedEnvironment(run_.job.job).GetOr("PATH", "");
  }

  struct Starts {
    std::map<std::string_view, std::optional<base::Time>> programs;  // by the uid of the pod
    std::optional<base::Time> last_creation;  // of the job's pods; nullopt while some are missing
  };

  Starts StartsOfPods() const {
    Starts starts;
    for (const text::Json& pod : run_.job.pods) {
      starts.programs.emplace(api::Uid(pod), LastStartOf(pod));
      starts.last_creation = std::max(starts.last_creation, api::CreationTime(pod));
    }
    const auto job = api::ParsePyTorchJob(run_.job.job);
    if (!job || static_cast<int64_t>(run_.job.pods.size()) < job->TotalReplicas()) {
      starts.last_creation.reset();
    }
    return starts;
  }

  // Whether what the event tells of has not kept the job's pods from being created, or the pod from
  // starting its program.
  bool IsOver(const text::Json& event, const Starts& starts) const {
    const std::string_view uid = text::GetString(event, {"involvedObject", "uid"});
    const auto time = api::ReadEvent(event).last;
    if (!time) return false;
    if (const auto of_pod = starts.programs.find(uid); of_pod != starts.programs.end()) {
      return of_pod->second && *time < *of_pod->second;
    }
    return text::GetString(event, {"reason"}) == "FailedCreatePod" &&
           uid == api::Uid(run_.job.job) && starts.last_creation && *time <= *starts.last_creation;
  }

  void AddEvents() {
    if (run_.deleted) return;
    uids_.emplace(api::Uid(run_.job.job));
    cluster::ListOptions options;
    options.namespace_name = api::Namespace(run_.job.job);
    options.read = [this](std::string_view text) -> base::Result<text::Json> {
      static const text::Projection kAbout{{"involvedObject", "uid"}, {"type"}};
      TRY_ASSIGN(const text::Json event, text::ParsePart(text, kAbout));
      const bool is_ours = uids_.contains(text::GetString(event, {"involvedObject", "uid"})) &&
                           text::GetString(event, {"type"}) == "Warning";
      return is_ours ? text::ParseJson(text) : text::Json(nullptr);
    };
    const auto list = client_.List(api::kEvents, options);
    if (!list) return;
    const bool has_place =
        !api::IsWaiting(run_.job.summary.status) &&
        std::any_of(run_.job.pods.begin(), run_.job.pods.end(),
                    [](const text::Json& pod) { return !api::NodeName(pod).empty(); });
    const Starts starts = StartsOfPods();
    for (const text::Json& event : list->items) {
      if (event.is_null()) continue;
      // The pod has a node by now: what kept it waiting is over.
      if (has_place && text::GetString(event, {"reason"}) == "FailedScheduling") continue;
      if (IsOver(event, starts)) continue;
      evidence_.events.push_back(
          {api::GetTime(event, {"lastTimestamp"}),
           fmt::format("{} {}", text::GetString(event, {"involvedObject", "kind"}),
                       text::GetString(event, {"involvedObject", "name"})),
           std::string(text::GetString(event, {"reason"})),
           std::string(text::GetString(event, {"message"}))});
    }
  }

  cluster::Client& client_;
  const RunRecord& run_;
  const RankMap map_;
  bool has_master_ = false;
  answers::Evidence evidence_;
  std::map<std::string, int> attempts_;
  std::set<std::string, std::less<>> uids_;
  size_t logs_ = 0;
};

std::string ReadStdin() {
  std::string text;
  char buffer[65536];
  ssize_t count = 0;
  while ((count = ::read(STDIN_FILENO, buffer, sizeof buffer)) > 0) {
    text.append(buffer, static_cast<size_t>(count));
    if (text.size() > 2 * kMostBytes) text.erase(0, text.size() - kMostBytes);
  }
  return text;
}

// Whether kubectl has printed it with `get pods -o json`, or it has the records of a log.
bool HasPodsOrRecords(const std::string& path) {
  const auto text = ReadEnd(path);
  return text && (answers::IsPodsJson(*text) || answers::AreJsonRecords(*text));
}

bool IsCompressed(std::string_view path) {
  return path.ends_with(".gz") || path.ends_with(".zst") || path.ends_with(".xz") ||
         path.ends_with(".bz2");
}

}  // namespace

answers::Evidence EvidenceOf(cluster::Client& client, const RunRecord& run) {
  return Gathering(client, run).Gather();
}

Judged VerdictOf(cluster::Client& client, const Context& context, const RunRecord& run,
                 const EndedTrial* trial) {
  Judged judged;
  judged.evidence =
      trial == nullptr ? EvidenceOf(client, run) : Gathering(client, run).Gather(*trial);
  judged.verdict = answers::Explain(judged.evidence);
  judged.verdict.file = PathInCode(judged.verdict.file, context.environment);
  constexpr std::array<std::string_view, 3> kMissed = {"file-missing", "checkpoint-missing",
                                                       "import"};
  if (std::find(kMissed.begin(), kMissed.end(), judged.verdict.kind) != kMissed.end()) {
    const std::string folder = RunFolderOf(run.job.job, context.environment);
    std::string advice = AdviceOnLeftOut(folder, judged.verdict.line);
    if (!advice.empty()) judged.verdict.advice_text = std::move(advice);
  }
  return judged;
}

std::string LostLoss(cluster::Client& client, const RunRecord& run) {
  for (const text::Json& pod : run.job.pods) {
    const auto log = EndOfLog(client, run, pod, run.deleted.has_value(), kMostLines);
    for (const answers::Line& line : answers::ReadLines(log.value_or(""), kMostLines)) {
      if (answers::HasLostLoss(line.text)) return fmt::format("{}: {}", api::Name(pod), line.text);
    }
  }
  return "";
}

base::Result<answers::Evidence> EvidenceIn(const std::vector<std::string>& paths) {
  std::vector<std::pair<std::string, std::string>> contents;
  std::vector<std::string> compressed;
  std::string report;  // one that was left out
  const auto add = [&](const std::string& name, const std::string& path) -> base::Status {
    if (IsCompressed(name)) {
      compressed.push_back(name);
      return {};
    }
    if (contents.size() == kMostFiles) {
      return Fail(Code::kInvalidArgument, fmt::format("there are more than {} files", kMostFiles));
    }
    TRY_ASSIGN(std::string text, ReadEnd(path));
    contents.emplace_back(name, std::move(text));
    return {};
  };
  for (const std::string& path : paths) {
    std::error_code failed;
    if (path == "-") {
      contents.emplace_back("stdin", base::FromMarkedUtf16(ReadStdin()));
    } else if (fs::is_directory(path, failed)) {
      std::set<std::string> files;  // sorted by name
      for (auto each = fs::recursive_directory_iterator(path, failed);
           !failed && each != fs::recursive_directory_iterator(); each.increment(failed)) {
        std::error_code unreadable;
        if (each->is_regular_file(unreadable)) files.insert(each->path().string());
      }
      if (failed) return Fail(base::Errno(failed.value(), fmt::format("read \"{}\"", path)));
      for (const std::string& file : files) {
        // Launchers' reports repeat the logs, but error files also contain times, and muster's own
        // report says which rank was first.
        if (file.ends_with(".json") && !answers::IsErrorFile(file) &&
            !answers::IsFailureReport(file) && !HasPodsOrRecords(file)) {
          report = file;
          continue;
        }
        TRY(add(fs::path(file).lexically_relative(path), file));
      }
    } else {
      TRY(add(path, path));
    }
  }
  if (contents.empty() && !compressed.empty()) {
    return Fail(Code::kInvalidArgument,
                fmt::format("{0} is compressed; use: zcat {0} | muster explain --logs -",
                            compressed.front()));
  }
  if (contents.empty() && !report.empty()) {
    return Fail(Code::kInvalidArgument,
                fmt::format("there are only reports in {}; use: muster explain --logs {}",
                            paths.front(), report));
  }
  if (contents.empty()) {
    return Fail(Code::kNotFound, fmt::format("there is no file in {}", paths.front()));
  }
  std::vector<answers::LogFile> files;
  for (const auto& [name, text] : contents) files.push_back({name, text});
  answers::Evidence evidence = answers::ReadLogs(files);
  for (const std::string& name : compressed) {
    answers::Rank& unread = evidence.ranks.emplace_back();
    unread.name = name + ", which is compressed";
    unread.has_log = false;
  }
  return evidence;
}

base::Result<std::string> EndOfLog(cluster::Client& client, const RunRecord& run,
                                   const text::Json& pod, bool is_gone, int64_t lines,
                                   const std::string& wanted) {
  const auto container = ContainerToRead(run.job, std::string(api::Name(pod)), wanted);
  cluster::LogOptions options;
  if (container) options.container = *container;
  options.tail_lines = lines;
  options.timestamps = true;
  if (is_gone) options.pod_uid = api::Uid(pod);
  // The lines may be long: only what was printed last counts.
  base::Result<std::string> text;
  const auto keep_end = [](std::string& log, size_t most) {
    if (log.size() <= most) return;
    const size_t from = log.size() - most;
    const size_t line = log.find('\n', from) + 1;
    const bool is_one_line = line == 0 || line == log.size();
    log.erase(0, is_one_line ? from : line);
  };
  for (const size_t most : {kMostRead, 4 * kMostRead}) {
    size_t left = most;
    std::string read;
    const auto is_read = ReadPodLog(client, pod, options, most, [&](std::string_view bytes) {
      left -= std::min(left, bytes.size());
      read += bytes;
      if (read.size() > 2 * kMostBytes) keep_end(read, kMostBytes);
    });
    if (!is_read && most == kMostRead) text = Fail(is_read.error());
    if (!is_read) break;
    keep_end(read, kMostBytes);
    text = std::move(read);
    if (left > 0) break;
    options.tail_lines = std::max<int64_t>(1, lines / kFewer);
  }
  return text;
}

}  // namespace arena
