#include <fmt/format.h>

#include <map>
#include <memory>
#include <optional>

#include "api/names.h"
#include "arena/app/complete_names.h"
#include "arena/app/interrupts.h"
#include "arena/folder/local_code.h"
#include "arena/folder/run_folder.h"
#include "arena/folder/run_note.h"
#include "arena/listing/seen_runs.h"
#include "arena/submit/creation.h"
#include "arena/submit/dry_run.h"
#include "arena/submit/job/refusal.h"
#include "arena/submit/job/render_parts.h"
#include "arena/submit/model_registry.h"
#include "arena/submit/prepare.h"
#include "arena/submit/wait.h"
#include "arena/verbs.h"
#include "base/log.h"
#include "base/strings.h"
#include "cli/interrupt_notice.h"

namespace arena {
namespace {

using base::Code;
using base::Fail;

// Arena's description is the command line; this one leaves out what may be a secret.
std::string Description(const SubmitOptions& options) {
  const SubmitFlags& flags = options.flags;
  std::string text =
      fmt::format("submit pytorchjob --name={} --workers={}", flags.name, flags.workers);
  if (flags.gpus > 0) text += fmt::format(" --gpus={}", flags.gpus);
  if (!flags.image.empty()) text += " --image=" + base::ShellQuote(flags.image);
  if (!flags.sync_source.empty()) {
    text += fmt::format(" --sync-mode={} --sync-source={}", flags.sync_mode,
                        base::ShellQuote(flags.sync_source));
  }
  return fmt::format("{} {}", text, base::ShellQuote(options.command));
}

void WarnOfTensorboard(const Context& context, const SubmitFlags& flags) {
  if (!flags.tensorboard) return;
  if (!flags.logdir.starts_with('/')) {
    base::LogWarn(
        "--logdir {} is relative: the tensorboard looks there in a directory of its own, where the "
        "training does not write; give an absolute path",
        flags.logdir);
  }
  if (!context.cluster_is_this_machine || !context.missing_tensorboard) return;
  const std::string missing = context.missing_tensorboard();
  if (!missing.empty()) base::LogWarn("the tensorboard is not running yet: {}", missing);
}

// The verb's state between its check and its run.
class Submit {
 public:
  Submit(Context& context, cli::FlagSet& set) : context_(context), set_(set) {}

  SubmitFlags& flags() { return flags_; }
  base::Status Check(cli::Invocation& call);
  base::Result<int> Run(cli::Invocation& call);

 private:
  base::Result<int> DryRun(cli::Output& out);
  base::Result<int> Accompany(const text::Json& job, cli::Invocation& call);
  void RegisterModel(cluster::Client& client);
  Creation MakeCreation();
  base::Status FindCode();
  base::Status BringCode(bool is_dry);
  void TakeDigests();
  RunNote NoteDown() const;
  base::Status LayOutCode(const snapshot::Snapshot& taken, const std::string& place);

  Context& context_;
  cli::FlagSet& set_;
  SubmitFlags flags_;
  SubmitOptions options_;
  Submission submission_;
  cluster::Client* client_ = nullptr;  // nullptr as long as no cluster is asked
  std::string fatal_;                  // what Arena ends on with FATA; "" for none
  std::vector<std::string> args_;
  std::map<std::string, std::string> digests_;  // of what its Secret holds
  std::optional<LocalCode> code_;               // of --sync-mode=local
  std::optional<RunFolder> run_folder_;         // the same, on this machine
};

base::Status Submit::Check(cli::Invocation& call) {
  if (base::Trim(base::Join(call.args, " ")).empty()) {
    TRY(CheckDryRun(flags_));
    TRY(call.out.Write(call.command.HelpText()));
    return Fail(Code::kInvalidArgument,
                "not found command args: give the command after the flags, as \"python train.py\"");
  }
  flags_.NoteGiven([&](std::string_view name) { return call.command.Changed(name); });
  base::Result<SubmitOptions> checked = CheckSubmit(flags_, call.args, context_.environment);
  if (!checked) {
    const std::string mode = UnknownSyncMode(flags_.sync_mode);
    if (context_.program != "arena" || !checked.error().message.ends_with(mode)) {
      return Fail(checked.error());
    }
    fatal_ = mode;
    return {};
  }
  options_ = std::move(*checked);
  args_ = call.args;
  for (const std::string& warning : options_.warnings) base::LogWarn("{}", warning);
  return FindCode();
}

base::Status Submit::FindCode() {
  const SubmitFlags& flags = options_.flags;
  if (flags.sync_mode != "local") return {};
  auto found = LocalCode::Find(flags.sync_source, flags.code, context_.environment);
  if (!found) return Fail(found.error().Wrap("--sync-source"));
  code_ = std::move(*found);
  const std::string place = LocalCodeFolder(flags, code_->folder());
  if (place.ends_with('/') || place.find(':') != std::string::npos) {
    return Refuse(fmt::format("--sync-source is invalid: the name of {} is not allowed in a pod",
                              code_->folder().root));
  }
  return {};
}

// Sends the folder with the job, as it is now, to where the replicas look for code.
base::Status Submit::BringCode(bool is_dry) {
  if (!code_) return {};
  const std::string place = LocalCodeFolder(options_.flags, code_->folder());
  if (context_.cluster_is_this_machine && is_dry) {
    const std::string copy =
        CodePathIn(fmt::format("{}/runs/{}", context_.environment.StateDir(), options_.flags.name));
    options_.data_dirs.push_back({copy, place, false});
    return {};
  }
  if (!context_.cluster_is_this_machine) TRY(code_->CheckForOtherMachine());
  TRY_ASSIGN(const snapshot::Snapshot taken, code_->Keep());
  code_->Annotate(taken, options_.annotations);
  base::LogInfo("code at {} in the replicas: {}", place, code_->Describe(taken));
  if (context_.cluster_is_this_machine) return LayOutCode(taken, place);
  RunNote note = NoteDown();
  note.snapshot = taken.hash;
  options_.note = ToJson(note);
  TRY_ASSIGN(options_.code_archive,
             PackFiles(taken, {}, code_->folder().root, context_.environment));
  options_.code_folder = place;
  return {};
}

// Takes the digests by which `compare` distinguishes values that the job's object does not have.
// The job runs without them, too.
void Submit::TakeDigests() {
  auto digests = DigestsOf(options_.private_env, context_.environment);
  if (!digests) base::LogDebug("the values are not compared later: {}", digests.error().message);
  if (!digests || digests->empty()) return;
  digests_ = std::move(*digests);
  options_.annotations[std::string(api::kDigestsAnnotation)] = DigestsToText(digests_);
}

RunNote Submit::NoteDown() const {
  RunNote note;
  note.name = options_.flags.name;
  note.verb = "submit";
  note.command = options_.command;
  note.args = args_;
  note.flags = FlagsToRepeat(set_);
  note.environment = digests_;
  code_->NoteDown(note);
  return note;
}

base::Status Submit::LayOutCode(const snapshot::Snapshot& taken, const std::string& place) {
  TRY_ASSIGN(run_folder_, RunFolder::LayOut(context_.environment, NoteDown(), taken));
  options_.env["MUSTER_RUN_DIR"] = run_folder_->files();
  options_.data_dirs.push_back({run_folder_->code(), place, false});
  return {};
}

Creation Submit::MakeCreation() {
  return {*client_, context_, options_, submission_, IsOfAnother(*client_, context_)};
}

base::Result<int> Submit::DryRun(cli::Output& out) {
  if (client_ == nullptr) {
    TRY(PrintObjects(options_, VisibleObjects(options_, submission_), out));
    return 0;
  }
  if (options_.flags.dry_run == "schedule") {
    TRY_ASSIGN(const text::Json forecast, AskForecast(*client_, context_, WouldBeOf(options_)));
    TRY(out.Write(RenderForecast(forecast, context_.clock.Now())));
    return 0;
  }
  TRY_ASSIGN(const std::vector<text::Json> checked, MakeCreation().DryRun());
  if (options_.flags.is_output_given) {
    TRY(PrintObjects(options_, checked, out));
  } else {
    TRY(out.Write(CreatedLines(options_, " (server dry run)")));
  }
  return 0;
}

void Submit::RegisterModel(cluster::Client& client) {
  const SubmitFlags& flags = options_.flags;
  // A label may be anybody's, and what is registered contains the command.
  const bool is_searched = context_.program == "arena" && !context_.cluster_is_this_machine;
  const auto version =
      RegisterModelVersion(context_.environment, is_searched ? &client : nullptr,
                           {flags.model_name, flags.model_source, Description(options_)});
  if (!version) {
    base::LogWarn(
        "the model {0} is not registered: {1}. The job {2} runs all the same; register {0} with "
        "the "
        "source {3} yourself when it has ended",
        flags.model_name, version.error().message, flags.name, flags.model_source);
    return;
  }
  const text::Json patch = text::Object{
      {"metadata", text::Object{{"labels", text::Object{{"modelVersion", *version}}}}}};
  const auto labelled = client.Patch(api::kPyTorchJobs, submission_.namespace_name, flags.name,
                                     cluster::PatchType::kMerge, patch);
  if (!labelled) {
    base::LogWarn("the job {} could not be labelled modelVersion={}: {}", flags.name, *version,
                  labelled.error().message);
  }
  base::LogInfo("The model {} is registered as version {}", flags.model_name, *version);
}

// The job exists, whatever happens here.
base::Result<int> Submit::Accompany(const text::Json& job, cli::Invocation& call) {
  const SubmitFlags& flags = options_.flags;
  base::Status printed = call.out.Write(CreatedLines(options_, ""));
  if (!flags.model_name.empty()) RegisterModel(*client_);
  WarnOfTensorboard(context_, flags);
  base::LogInfo("The Job {} has been submitted successfully", flags.name);
  base::LogInfo("You can run `{} get {} --type pytorchjob -n {}` to check the job status",
                context_.program, flags.name, submission_.namespace_name);
  if (printed && flags.follow) {
    printed = FollowChief(*client_, context_, job, ChiefName(options_), call.out);
  }
  if (!printed) return Fail(AfterCreation(printed.error(), context_.program, flags.name));
  if (!flags.wait && !flags.follow) return 0;
  return AwaitEnd(*client_, context_, job);
}

base::Result<int> Submit::Run(cli::Invocation& call) {
  if (!fatal_.empty()) {
    base::Log(base::LogLevel::kFatal, fatal_);
    return cli::kExitFailure;
  }
  const std::string& name = options_.flags.name;
  const bool makes_one = options_.flags.dry_run == "none";
  std::optional<cli::InterruptNotice> notice;
  if (makes_one) {
    notice.emplace(fmt::format("The job {} was not created", name),
                   InterruptCode(context_.program));
  }
  auto prepared = PrepareSubmission(context_, options_);
  if (!prepared) {
    base::Error& why = prepared.error().error;
    // A refused value is said in Arena's words, here as by Check.
    const bool is_refusal = why.message.starts_with(kRefused);
    if (makes_one && !is_refusal) why.message += fmt::format("; the job {} was not created", name);
    if (!prepared.error().is_misuse) return Fail(std::move(why));
    base::LogError("{}", why.message);
    return cli::kExitUsage;
  }
  client_ = prepared->client;
  submission_ = std::move(prepared->submission);
  if (code_ && client_ != nullptr) {
    TRY(CheckNameIsFree(*client_, context_, name, IsOfAnother(*client_, context_)));
  }
  if (makes_one) TakeDigests();
  if (base::Status brought = BringCode(!makes_one); !brought) {
    return Fail(brought.error().Wrap("bring the code"));
  }
  if (!makes_one) return DryRun(call.out);

  Creation creation = MakeCreation();
  notice->Hold(
      fmt::format("It is not known whether the job {0} was created, `{1} get {0}` will tell", name,
                  context_.program));
  base::Status made = creation.Run();
  if (!made && run_folder_) run_folder_->Remove();
  notice->Say(made ? RunsOn(context_.program, name) : made.error().message);
  notice->Release();
  TRY(made);
  SeenRuns(context_).Remember(creation.job(), options_.note);
  return Accompany(creation.job(), call);
}

}  // namespace

void AddSubmit(cli::Command& root, Context& context) {
  cli::Command& submit = root.Add("submit", "Submit a training job");
  submit.Long("Submit a training job.\n\nAvailable kinds:\n  pytorchjob, pytorch   a PyTorchJob");
  if (context.program == "arena") {
    // Arena prints the help whatever the kind is, and ends with 0 (compat/arena.md 1.1).
    submit.Run([](cli::Invocation& call) -> base::Result<int> {
      TRY(call.out.Write(call.command.HelpText()));
      if (!call.args.empty()) base::LogError("there is no kind of job \"{}\"", call.args[0]);
      return 0;
    });
  } else {
    submit.UnknownFlagHint("the kind of job comes first: " + context.program + " submit pytorch");
  }
  cli::Command& verb =
      submit.Add("pytorchjob COMMAND", "Submit a PyTorch job")
          .Aliases({"pytorch"})
          .UnknownFlagHint("if it belongs to COMMAND, put COMMAND in quotes or after --")
          .Help("arena/submit/submit", context.program);
  auto state = std::make_shared<Submit>(context, verb.flags());
  state->flags().Declare(verb.flags());
  state->flags().ignores_malformed = context.program == "arena";
  CompleteJobFlags(verb.flags(), context);
  verb.Check([state](cli::Invocation& call) { return state->Check(call); });
  verb.Run([state](cli::Invocation& call) { return state->Run(call); });
  AddUnsupportedTrainers(submit);
}

}  // namespace arena
