// `run`: runs the caller's folder in the caller's environment, as a job that it follows to its end.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <limits>
#include <memory>
#include <optional>

#include "api/names.h"
#include "api/object.h"
#include "arena/app/complete_names.h"
#include "arena/app/interrupts.h"
#include "arena/app/program_name.h"
#include "arena/folder/local_code.h"
#include "arena/folder/run_folder.h"
#include "arena/folder/run_note.h"
#include "arena/listing/records.h"
#include "arena/listing/seen_runs.h"
#include "arena/logs/all_logs.h"
#include "arena/run/callers_environment.h"
#include "arena/run/defaults.h"
#include "arena/run/interrupted_run.h"
#include "arena/run/notify.h"
#include "arena/run/program.h"
#include "arena/run/program_check.h"
#include "arena/run/run_name.h"
#include "arena/run/run_secrets.h"
#include "arena/run/run_volume.h"
#include "arena/run/sweep_plan.h"
#include "arena/run/sweep_pod.h"
#include "arena/run/sweep_runner.h"
#include "arena/submit/creation.h"
#include "arena/submit/dry_run.h"
#include "arena/submit/job/render_parts.h"
#include "arena/submit/prepare.h"
#include "arena/submit/wait.h"
#include "arena/verbs.h"
#include "base/file.h"
#include "base/log.h"
#include "base/machine/disk.h"
#include "base/quantity.h"
#include "base/strings.h"
#include "base/uid.h"
#include "cli/interrupt_notice.h"

namespace arena {
namespace {

using base::Code;
using base::Fail;

constexpr int64_t kDefaultGrace = 30;
constexpr int64_t kMostRestarts = std::numeric_limits<int32_t>::max();
constexpr size_t kRandomNames = 20;

struct RunFlags {
  std::string directory = ".", module;
  std::vector<std::string> secrets, sweeps;
  std::string resume_from, volume;
  int64_t parallel = 0;
  NotifyFlags notify;
  bool is_detached = false, is_live = false, has_clean_env = false;
};

class RunVerb {
 public:
  RunVerb(Context& context, cli::FlagSet& set) : context_(context), set_(set) {}

  void Declare();
  base::Status Check(cli::Invocation& call);
  base::Result<int> Execute(cli::Invocation& call);

 private:
  void TakeWords(std::vector<std::string> words);
  base::Status CheckTogether() const;
  std::string Command() const;
  base::Status FindCode();
  base::Result<SubmitOptions> Options() const;
  base::Status FindFreeName(cluster::Client& client);
  base::Status MountFilesOf(cluster::Client& client);
  base::Result<RunNote> NoteDown(const SubmitOptions& options) const;
  void AnnotateSweep(SubmitOptions& options) const;
  base::Status PackCode(SubmitOptions& options) const;
  base::Result<snapshot::Snapshot> TakeCode(SubmitOptions& options) const;
  void WarnOfIdleEnvironment() const;
  base::Status BringCode(SubmitOptions& options, bool is_dry);
  base::Status Follow(cluster::Client& client, const SubmitOptions& options, const text::Json& job,
                      const std::atomic<bool>* is_ending, cli::Output& out);
  base::Result<int> Accompany(cluster::Client& client, const SubmitOptions& options,
                              const text::Json& job, cli::Output& out);
  bool takes_snapshot() const { return code_ && !run_.is_live; }

  Context& context_;
  cli::FlagSet& set_;
  SubmitFlags flags_;
  RunFlags run_;
  Program program_;
  std::vector<std::string> args_;
  std::optional<SweepPlan> sweep_;
  std::optional<LocalCode> code_;  // nullopt if the code comes by --sync-mode
  std::optional<RunFolder> run_folder_;
  std::optional<ClaimFolder> resumed_;  // from --resume-from, on another cluster
};

void RunVerb::Declare() {
  set_.BeginGroup("What runs");
  set_.String(&run_.module, "module", "",
              "run a Python `MODULE`, as python -m does; what follows are its arguments")
      .Short('m')
      .EndsFlags();
  set_.String(&run_.directory, "directory", ".", "the `FOLDER` to run in").Short('C');
  set_.Int(&flags_.workers, "nodes", 1,
           "number of replicas; to the program, each looks like a machine of its own");
  set_.Bool(&run_.is_live, "live", false,
            "run in the folder itself, not in a copy; on this machine only");
  set_.Bool(&run_.has_clean_env, "clean-env", false, "do not pass your environment variables on");
  set_.Bool(&run_.is_detached, "detach", false, "return once the job is created").Short('d');
  set_.StringArray(
      &run_.secrets, "secret",
      "pass keys of a secret as variables, `NAME[:KEY[=VARIABLE]]`: all of them or one;\n"
      "repeatable");
  set_.StringArray(
      &run_.sweeps, "sweep",
      "run COMMAND once for each value: `NAME=VALUES` like lr=0.1,0.01 or seed=1..3, or\n"
      "@FILE of JSON objects; {NAME} in COMMAND and the variable SWEEP_NAME are the value;\n"
      "repeatable, all combinations are run");
  set_.Int(&run_.parallel, "parallel", 0,
           "how many trials of a sweep run at a time; 0: one per GPU of the job, else one per CPU");
  set_.Int(&flags_.grace, "grace", kDefaultGrace,
           "seconds between SIGTERM and SIGKILL when the job is stopped");
  set_.Duration(
      &flags_.running_timeout, "timeout", std::chrono::nanoseconds(0),
      "stop the job after it has been active for this long, its wait included: 90s, 2h30m");
  set_.String(&run_.resume_from, "resume-from", "",
              "a `RUN` whose files the job can read in MUSTER_RESUME_DIR");
  set_.String(&run_.volume, "run-volume", "",
              "on another cluster: the `CLAIM` that contains the folder MUSTER_RUN_DIR");
  DeclareNotify(run_.notify, set_);
  set_.BeginGroup("");
  flags_.Declare(set_);
  set_.Find("name")->Required(false);
  set_.Find("data")->Short(0);
  set_.Find("nproc-per-node")->Short('n');
  for (const char* name :
       {"workers", "elastic", "working-dir", "wait", "follow", "running-timeout", "shell"}) {
    set_.Find(name)->Hidden();
  }
}

// The default of --share-memory on this machine: as much as its own /dev/shm, because what fits
// there without muster fits in a replica, too. A limit only: nothing is set aside. At least
// `other`.
std::string SharedMemoryHere(const std::string& other) {
  constexpr uint64_t kMebi = 1 << 20;
  constexpr uint64_t kUnknown = std::numeric_limits<uint64_t>::max();
  const uint64_t here = base::DiskSpaceOf("/dev/shm").total;
  const auto least = base::ParseQuantity(other);
  if (!least || here == kUnknown || here / kMebi <= static_cast<uint64_t>(*least) / kMebi) {
    return other;
  }
  return fmt::format("{}Mi", here / kMebi);
}

// In all other commands -n is the namespace.
base::Status CheckRanks(const std::string& nproc) {
  const bool is_word = !nproc.empty() && std::isalpha(static_cast<unsigned char>(nproc[0])) != 0;
  if (!is_word || nproc == "auto" || nproc == "cpu" || nproc == "gpu") return {};
  return Fail(
      Code::kInvalidArgument,
      fmt::format("-n {0}: -n is the number of ranks here (--nproc-per-node): auto, cpu, gpu "
                  "or a number; a namespace is given as --namespace={0}",
                  nproc));
}

base::Status RunVerb::CheckTogether() const {
  const auto misuse = [](std::string text) {
    return Fail(Code::kInvalidArgument, std::move(text));
  };
  if (flags_.running_timeout.count() < 0)
    return misuse("--timeout is invalid: it must be at least 1s");
  if (flags_.grace < 1) return misuse("--grace is invalid: it must be at least 1 second");
  if (flags_.workers < 1) return misuse("--nodes is invalid: it must be at least 1");
  TRY(CheckNotify(run_.notify));
  if (!run_.volume.empty() && !api::IsObjectName(run_.volume)) {
    return misuse(
        fmt::format("--run-volume \"{}\" is invalid: it must be the name of a claim", run_.volume));
  }
  if (run_.parallel < 0) return misuse("--parallel is invalid: it must be at least 0");
  if (run_.sweeps.empty() && run_.parallel != 0) return misuse("--parallel is for a --sweep");
  if (!run_.sweeps.empty() && flags_.workers > 1) {
    return misuse("--sweep and --nodes contradict each other: a trial runs on one node");
  }
  if (run_.is_live && !flags_.sync_mode.empty()) {
    return misuse("--live and --sync-mode contradict each other: leave out one of them");
  }
  if (!flags_.elastic.empty() || flags_.follow || flags_.wait) {
    return misuse(
        fmt::format("--elastic, --follow and --wait are `{} submit`'s", context_.program));
  }
  return {};
}

base::Status RunVerb::FindCode() {
  if (flags_.sync_mode == "local") {  // the same as without the flag
    if (!flags_.sync_source.empty()) run_.directory = std::exchange(flags_.sync_source, "");
    flags_.sync_mode.clear();
  }
  if (!flags_.sync_mode.empty()) return {};
  auto found = run_.is_live ? LocalCode::InPlace(run_.directory, context_.environment)
                            : LocalCode::Find(run_.directory, flags_.code, context_.environment);
  if (!found) return Fail(found.error().Wrap("--directory"));
  code_ = std::move(*found);
  return {};
}

// Returns the job's command. For a sweep it runs the trials; on another cluster, the program that
// does so travels with the job.
std::string RunVerb::Command() const {
  if (!sweep_) return program_.command;
  if (context_.cluster_is_this_machine) return RunTrialsCommand(run_.parallel);
  return SweepCommand(kCodeFolder, run_.parallel, flags_.gpus);
}

// A single word that contains a blank is a shell line, unless a script has that name.
void RunVerb::TakeWords(std::vector<std::string> words) {
  args_ = std::move(words);
  const bool is_one = run_.module.empty() && args_.size() == 1;
  if (!is_one || !args_[0].ends_with(".py") || args_[0].find(' ') == std::string::npos) return;
  std::error_code failed;
  if (std::filesystem::is_regular_file(std::filesystem::path(run_.directory) / args_[0], failed)) {
    args_.insert(args_.begin(), "python");
  }
}

base::Status RunVerb::Check(cli::Invocation& call) {
  const bool is_blank = call.args.empty() || base::Trim(call.args[0]).empty();
  if (is_blank && run_.module.empty()) {
    TRY(CheckDryRun(flags_));
    return Fail(Code::kInvalidArgument,
                fmt::format("there is nothing to run: `{} run train.py`", context_.program));
  }
  Defaults defaults;
  if (flags_.code.earlier.empty()) {
    TRY_ASSIGN(defaults, ReadDefaults(run_.directory, set_));
  }
  TRY(defaults.Name(CheckTogether()));
  TRY_ASSIGN(const std::vector<RunSecret> secrets, ReadRunSecrets(run_.secrets));
  for (const RunSecret& secret : secrets) {
    flags_.secret_env.push_back(secret.Variables());
  }
  run_.notify.is_on_given = call.command.Changed("notify-on");
  flags_.NoteGiven([&](std::string_view name) { return call.command.Changed(name); });
  flags_.are_workers_given = true;
  TRY(defaults.Name(CheckRanks(flags_.nproc_per_node)));
  // Otherwise the first failure of rank 0's replica would also be the last.
  if (flags_.retry > 0 && flags_.restart_policy.empty()) flags_.restart_policy = "OnFailure";
  TakeWords(call.args);
  const char* const label = flags_.nproc_per_node.empty() ? ""
                            : flags_.workers == 1         ? "rank"
                                                          : "local-rank";
  if (run_.sweeps.empty()) {
    TRY_ASSIGN(program_, ReadProgram(args_, run_.module, label));
    if (const std::string name = UnsweptName(args_); !name.empty()) {
      base::LogWarn("{{{0}}} is passed on as it is: --sweep {0}=VALUES would try values for it",
                    name);
    }
  } else {
    TRY_ASSIGN(sweep_, PlanSweep(run_.sweeps, flags_.code.is_large ? 0 : kMaxTrials, args_,
                                 run_.module, label));
    program_ = sweep_->program;
  }
  TRY(FindCode());
  if (code_) {
    // If the job's PATH may differ from the caller's, it is unknown which programs the job can
    // find.
    const bool has_callers_path =
        flags_.image.empty() && !run_.has_clean_env && flags_.env_files.empty() &&
        std::none_of(flags_.env.begin(), flags_.env.end(),
                     [](const std::string& one) { return one.starts_with("PATH="); });
    TRY(CheckProgram(program_, *code_, run_.is_live,
                     has_callers_path ? context_.environment.GetOr("PATH", "") : ""));
  }
  SubmitFlags named = flags_;
  if (named.name.empty()) named.name = RandomName(program_.stem);
  TRY(CheckSubmit(named, {Command()}, context_.environment));
  return {};
}

base::Result<SubmitOptions> RunVerb::Options() const {
  std::string command = Command();
  if (flags_.sync_mode == "git") {  // the program runs in the clone
    command = fmt::format("cd {} && {}", base::ShellQuote("code/" + GitProject(flags_.sync_source)),
                          command);
  }
  TRY_ASSIGN(SubmitOptions options, CheckSubmit(flags_, {command}, context_.environment));
  // The backoff limit counts the restarts of all replicas, which end and restart together, and is
  // reached by the restart that equals it.
  if (flags_.retry > 0) {
    options.flags.retry = std::min<int64_t>(flags_.retry * flags_.workers + 1, kMostRestarts);
  }
  if (context_.cluster_is_this_machine && !set_.Find("share-memory")->changed()) {
    options.flags.share_memory = SharedMemoryHere(flags_.share_memory);
  }
  if (!context_.cluster_is_this_machine || run_.has_clean_env) return options;
  TRY_ASSIGN(options.callers_env, CallersEnvironment(context_.environment));
  return options;
}

// Tries random names until one is free.
base::Status RunVerb::FindFreeName(cluster::Client& client) {
  for (size_t i = 0; i < kRandomNames; ++i) {
    const auto standing = client.Get(api::kPyTorchJobs, context_.Namespace(), flags_.name);
    if (!standing && standing.error().code == Code::kNotFound) return {};
    if (!standing) return Fail(standing.error());
    flags_.name = RandomName(program_.stem);
  }
  return Fail(Code::kAlreadyExists,
              fmt::format("no name like {} is free: give one by --name, or `{} prune` jobs",
                          flags_.name, context_.program));
}

// Records the command line in a form that can be run again.
base::Result<RunNote> RunVerb::NoteDown(const SubmitOptions& options) const {
  RunNote note;
  note.name = options.flags.name;
  note.command = sweep_ ? sweep_->shown : program_.command;
  if (code_) code_->NoteDown(note);
  note.module = run_.module;
  note.args = args_;
  note.flags = FlagsToRepeat(set_);
  std::map<std::string, std::string> secret = options.private_env;
  secret.insert(options.callers_env.begin(), options.callers_env.end());
  TRY_ASSIGN(note.environment, DigestsOf(secret, context_.environment));
  return note;
}

// Mounts the files of the run that is to be resumed.
base::Status RunVerb::MountFilesOf(cluster::Client& client) {
  const auto found = FindRun(client, context_, run_.resume_from);
  if (!found) {
    return Fail(found.error().Wrap(fmt::format("--resume-from \"{}\"", run_.resume_from)));
  }
  const RunRecord& run = *found;
  if (!context_.cluster_is_this_machine) {
    resumed_ = RunVolumeOf(run.job.job);
    if (resumed_) return {};
    return Fail(Code::kNotFound,
                fmt::format("--resume-from \"{}\" is invalid: that run had no --run-volume",
                            run_.resume_from));
  }
  const std::string files = RunFilesOf(run.job.job, context_.environment);
  if (files.empty()) {
    return Fail(
        Code::kNotFound,
        fmt::format("--resume-from \"{}\" is invalid: that run has no files on this machine",
                    run_.resume_from));
  }
  flags_.data_dirs.push_back(fmt::format("{0}:{0}:ro", files));
  flags_.env.push_back(std::string("MUSTER_RESUME_DIR") + "=" + files);
  return {};
}

void RunVerb::AnnotateSweep(SubmitOptions& options) const {
  options.annotations[std::string(api::kTrialsAnnotation)] = fmt::to_string(sweep_->trials.size());
  options.annotations[std::string(api::kCommandAnnotation)] = sweep_->shown;
}

// On another cluster the folder travels with the job.
base::Status RunVerb::PackCode(SubmitOptions& options) const {
  if (run_.is_live) {
    return Fail(Code::kInvalidArgument,
                "--live is for this machine: the pods of another cluster do not see its folders");
  }
  if (!run_.volume.empty()) {
    AddRunVolume(run_.volume, fmt::format("{}-{}", options.flags.name, base::NewUid().substr(0, 8)),
                 options);
  }
  if (resumed_) AddResumeVolume(*resumed_, options);
  std::map<std::string, std::string> files;
  if (sweep_) {
    files = SweepFiles(sweep_->trials);
    AnnotateSweep(options);
  }
  if (!takes_snapshot() && !sweep_) return {};
  options.code_folder = kCodeFolder;
  if (!takes_snapshot()) {
    TRY_ASSIGN(options.code_archive, PackFiles({}, files, "the sweep", context_.environment));
    return {};
  }
  TRY(code_->CheckForOtherMachine());
  TRY_ASSIGN(const snapshot::Snapshot taken, TakeCode(options));
  TRY_ASSIGN(options.code_archive,
             PackFiles(taken, files, code_->folder().root, context_.environment));
  TRY_ASSIGN(RunNote note, NoteDown(options));
  note.snapshot = taken.hash;
  options.note = ToJson(note);
  if (!note.environment.empty()) {
    options.annotations[std::string(api::kDigestsAnnotation)] = DigestsToText(note.environment);
  }
  options.flags.working_dir = code_->Below(options.code_folder);
  return {};
}

base::Result<snapshot::Snapshot> RunVerb::TakeCode(SubmitOptions& options) const {
  TRY_ASSIGN(snapshot::Snapshot taken, code_->Keep());
  code_->Annotate(taken, options.annotations);
  base::LogInfo("code: {}", code_->Describe(taken));
  return taken;
}

// uv and poetry find .venv by themselves, so that their users need not activate it.
void RunVerb::WarnOfIdleEnvironment() const {
  const base::Environment& mine = context_.environment;
  const bool is_python = program_.program.empty();
  if (!code_ || !is_python || mine.Get("VIRTUAL_ENV") || mine.Get("CONDA_PREFIX")) return;
  const std::string environment = code_->Below(code_->folder().root) + "/.venv";
  if (::access((environment + "/pyvenv.cfg").c_str(), F_OK) != 0) return;
  base::LogWarn("the job does not use {0}, which is not active: `. {0}/bin/activate`", environment);
}

// Keeps the folder, and copies it to where the job works.
base::Status RunVerb::BringCode(SubmitOptions& options, bool is_dry) {
  if (!context_.cluster_is_this_machine) return PackCode(options);
  WarnOfIdleEnvironment();
  if (!run_.volume.empty()) {
    base::LogInfo("--run-volume is not used: MUSTER_RUN_DIR is a folder of this machine");
  }
  if (run_.is_live) options.flags.working_dir = code_->Below(code_->folder().root);
  if (is_dry) {
    if (takes_snapshot()) {
      options.flags.working_dir = code_->Below(CodePathIn(
          fmt::format("{}/runs/{}", context_.environment.StateDir(), options.flags.name)));
    }
    return {};
  }
  TRY_ASSIGN(RunNote note, NoteDown(options));
  std::optional<snapshot::Snapshot> taken;
  if (takes_snapshot()) {
    TRY_ASSIGN(taken, TakeCode(options));
  }
  TRY_ASSIGN(run_folder_, RunFolder::LayOut(context_.environment, std::move(note), taken));
  options.env["MUSTER_RUN_DIR"] = run_folder_->files();
  if (taken) options.flags.working_dir = code_->Below(run_folder_->code());
  if (!sweep_) return {};
  AnnotateSweep(options);
  return base::WriteFileAtomic(run_folder_->path() + "/sweep.jsonl", ToText(sweep_->trials), 0600,
                               base::Durability::kSync);
}

base::Result<int> RunVerb::Accompany(cluster::Client& client, const SubmitOptions& options,
                                     const text::Json& job, cli::Output& out) {
  const std::string& name = options.flags.name;
  if (sweep_) {
    const size_t count = sweep_->trials.size();
    base::LogInfo("{} trial{}; `{} show {}{}` has their table", count, count == 1 ? "" : "s",
                  context_.program, name, FlagsOfPlace(context_));
  }
  if (sweep_ && !context_.cluster_is_this_machine && run_.volume.empty()) {
    base::LogInfo(
        "without --run-volume the trials' files end with the pod, and a new pod runs "
        "all trials again");
  }
  if (run_.is_detached) {
    const std::vector<std::string>& awaited = options.flags.wait_for;
    const base::Status printed = out.Write(fmt::format(
        "{1} {2}. Next:\n"
        "  {0} logs {1} -f{3}    # follow it\n"
        "  {0} get {1}{3}        # how it is, and why it failed\n"
        "  {0} delete {1}{3}     # end it; its record stays\n",
        context_.program, name, awaited.empty() ? "runs" : "waits for " + base::Join(awaited, ", "),
        FlagsOfPlace(context_)));
    if (!printed) return Fail(AfterCreation(printed.error(), context_.program, name));
    return 0;
  }
  const InterruptedRun interrupted(client, context_, job, options.flags.grace);
  const std::atomic<bool>* is_ending = &interrupted.is_ending();
  if (const base::Status followed = Follow(client, options, job, is_ending, out); !followed) {
    return Fail(AfterCreation(followed.error(), context_.program, name));
  }
  auto ended = AwaitEnd(client, context_, job, FailedCode::kReplicas, is_ending);
  if (!context_.cluster_is_this_machine) NotifyOfEnd(run_.notify, client, context_, name);
  return ended;
}

base::Status RunVerb::Follow(cluster::Client& client, const SubmitOptions& options,
                             const text::Json& job, const std::atomic<bool>* is_ending,
                             cli::Output& out) {
  // A sweep labels each line with its trial, so that lines of different ranks are never alike and
  // cannot be folded.
  if (options.flags.workers == 1 && (sweep_ || RankMap::Of(job).processes == 1)) {
    return FollowChief(client, context_, job, ChiefName(options), out, is_ending);
  }
  TRY_ASSIGN(const TrainingJob found,
             FindJob(client, context_, std::string(api::Namespace(job)), options.flags.name));
  AllLogsRequest request{found};
  request.has_colours = out.HasColour();
  request.is_raw = false;
  request.has_reports = false;  // AwaitEnd reports why it failed
  request.is_ending = is_ending;
  return FollowAllLogs(client, context_, request, out);
}

base::Result<int> RunVerb::Execute(cli::Invocation& call) {
  const bool is_dry = flags_.dry_run != "none";
  std::optional<cli::InterruptNotice> notice;
  if (!is_dry) notice.emplace("No job was created", InterruptCode(context_.program));
  const bool is_named = !flags_.name.empty();
  if (!is_named) flags_.name = RandomName(program_.stem);
  TRY_ASSIGN(const SubmitOptions checked, Options());
  auto prepared = PrepareSubmission(context_, checked);
  if (!prepared) return Fail(std::move(prepared.error().error));
  if (prepared->client != nullptr) {
    TRY(is_named ? CheckNameIsFree(*prepared->client, context_, flags_.name,
                                   IsOfAnother(*prepared->client, context_))
                 : FindFreeName(*prepared->client));
  }
  if (prepared->client != nullptr) {
    TRY(CheckRunSecrets(*prepared->client, context_, run_.secrets));
  }
  if (prepared->client != nullptr && !run_.volume.empty()) {
    WarnIfAbsent(*prepared->client, api::kPersistentVolumeClaims,
                 prepared->submission.namespace_name, run_.volume);
  }
  if (!run_.resume_from.empty() && prepared->client != nullptr) {
    TRY(MountFilesOf(*prepared->client));
  }
  TRY_ASSIGN(SubmitOptions options, Options());
  for (const std::string& warning : options.warnings) base::LogWarn("{}", warning);
  TRY(MarkForNotice(run_.notify, context_, run_.is_detached, options));
  if (base::Status brought = BringCode(options, is_dry); !brought) {
    if (run_folder_) run_folder_->Remove();
    return Fail(brought.error().Wrap("bring the code"));
  }
  if (is_dry && prepared->client == nullptr) {
    TRY(PrintObjects(options, VisibleObjects(options, prepared->submission), call.out));
    return 0;
  }
  cluster::Client& client = *prepared->client;
  if (options.flags.dry_run == "schedule") {
    TRY_ASSIGN(const text::Json forecast, AskForecast(client, context_, WouldBeOf(options)));
    TRY(call.out.Write(RenderForecast(forecast, context_.clock.Now())));
    return 0;
  }
  Creation creation(client, context_, options, prepared->submission, IsOfAnother(client, context_));
  if (is_dry) {
    TRY_ASSIGN(const std::vector<text::Json> objects, creation.DryRun());
    TRY(PrintObjects(options, objects, call.out));
    return 0;
  }
  const std::string& name = options.flags.name;
  notice->Hold(
      fmt::format("It is unknown whether the job {0} was created: `{1} get {0}` will show it", name,
                  context_.program));
  base::Status made = creation.Run();
  if (!made && run_folder_) run_folder_->Remove();
  notice->Say(made ? RunsOn(context_.program, name) : made.error().message);
  notice->Release();
  TRY(made);
  SeenRuns(context_).Remember(creation.job(), options.note);
  notice.reset();
  base::LogInfo("{} begins{}", name,
                run_folder_ ? fmt::format(" (its files: {})", run_folder_->path()) : "");
  return Accompany(client, options, creation.job(), call.out);
}

}  // namespace

void AddRun(cli::Command& root, Context& context) {
  AddRunTrials(root, context);
  AddNotify(root, context);
  cli::Command& verb =
      root.Add("run [flags] COMMAND...", "Run a program in this folder as a job, and follow it")
          .StopAtFirstArg()
          .UnknownFlagHint("flags of your program go after its name")
          .Help("arena/run/run", context.program);
  auto state = std::make_shared<RunVerb>(context, verb.flags());
  state->Declare();
  CompleteJobFlags(verb.flags(), context);
  verb.flags().Find("resume-from")->Complete([&context](std::string_view) {
    return CompleteJobNames(context);
  });
  verb.flags().Find("secret")->Complete(
      [&context](std::string_view) { return CompleteSecretNames(context); });
  verb.Check([state](cli::Invocation& call) { return state->Check(call); });
  verb.Run([state](cli::Invocation& call) { return state->Execute(call); });
}

}  // namespace arena
