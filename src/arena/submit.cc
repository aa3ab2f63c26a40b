#include <fmt/format.h>
#include <signal.h>

#include <memory>

#include "arena/creation.h"
#include "arena/verbs.h"
#include "base/log.h"
#include "base/uid.h"
#include "text/yaml.h"

namespace arena {
namespace {

using base::Code;
using base::Fail;

// Ctrl-C waits for the end of the scope, so that a submission is whole or not there at all.
class HoldInterrupts {
 public:
  HoldInterrupts() {
    sigset_t held;
    ::sigemptyset(&held);
    ::sigaddset(&held, SIGINT);
    ::sigaddset(&held, SIGTERM);
    ::pthread_sigmask(SIG_BLOCK, &held, &before_);
  }
  HoldInterrupts(const HoldInterrupts&) = delete;
  HoldInterrupts& operator=(const HoldInterrupts&) = delete;
  ~HoldInterrupts() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_;
};

// Where the events go on the node when --logdir is on no claim: /arena_logs/training<9 digits>.
std::string NewLogHostDir() {
  constexpr size_t kDigits = 9;
  std::string digits;
  while (digits.size() < kDigits) {
    for (const char c : base::NewUid()) {
      if (c >= '0' && c <= '9' && digits.size() < kDigits) digits += c;
    }
  }
  return "/arena_logs/training" + digits;
}

base::Status CheckPriorityClass(cluster::Client& client, const std::string& name) {
  if (name.empty()) return {};
  const auto found = client.Get(api::kPriorityClasses, "", name);
  if (found) return {};
  // Who may not read priority classes may still use them; the server decides.
  if (found.error().code == Code::kPermissionDenied) return {};
  if (found.error().code != Code::kNotFound) return Fail(found.error());
  return Fail(Code::kInvalidArgument,
              fmt::format("failed to validate command args: the priority {} doesn't exist. Please "
                          "check with `kubectl get pc` to get a valid priority",
                          name));
}

// In the order in which Arena's documents show them.
std::string CreatedLines(const SubmitOptions& options) {
  const std::string& name = options.flags.name;
  std::string lines =
      fmt::format("configmap/{0}-pytorchjob created\nconfigmap/{0}-pytorchjob labeled\n", name);
  const Submission nowhere;
  for (const text::Json& map : RenderConfigMaps(options, nowhere)) {
    lines += fmt::format("configmap/{} created\n", text::GetString(map, {"metadata", "name"}));
  }
  if (options.git_password) lines += fmt::format("secret/{} created\n", GitSecretName(name));
  if (options.flags.tensorboard) {
    lines +=
        fmt::format("service/{0} created\ndeployment.apps/{0} created\n", TensorboardName(name));
  }
  return lines + fmt::format("pytorchjob.kubeflow.org/{} created\n", name);
}

// What --dry-run=client prints: everything that would be created but the Secret.
base::Status PrintObjects(const SubmitOptions& options, const Submission& submission,
                          cli::Output& out) {
  std::vector<text::Json> objects = RenderConfigMaps(options, submission);
  objects.push_back(RenderJob(options, submission));
  objects.push_back(RenderIdentity(options, submission));
  for (auto& object : {RenderTensorboardService(options, submission),
                       RenderTensorboardDeployment(options, submission)}) {
    if (object) objects.push_back(*object);
  }
  if (options.git_password) {
    base::LogWarn("the Secret {} is not shown: it holds the git password",
                  GitSecretName(options.flags.name));
  }
  if (options.flags.output == "json") {
    text::Array items;
    for (const text::Json& object : objects) items.push_back(object);
    const text::Json list =
        text::Object{{"apiVersion", "v1"}, {"kind", "List"}, {"items", std::move(items)}};
    return out.Write(text::ToPrettyJson(list) + "\n");
  }
  std::string yaml;
  for (const text::Json& object : objects) {
    if (!yaml.empty()) yaml += "---\n";
    yaml += text::ToYaml(object);
  }
  return out.Write(yaml);
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
  if (!missing.empty()) base::LogWarn("the tensorboard does not run yet: {}", missing);
}

// The verb's state between its check and its run.
class Submit {
 public:
  explicit Submit(Context& context) : context_(context) {}

  SubmitFlags& flags() { return flags_; }
  base::Status Check(cli::Invocation& call);
  base::Result<int> Run(cli::Invocation& call);

 private:
  base::Result<std::string> Image() const;

  Context& context_;
  SubmitFlags flags_;
  SubmitOptions options_;
};

base::Status Submit::Check(cli::Invocation& call) {
  if (call.args.empty() || (call.args.size() == 1 && call.args[0].empty())) {
    TRY(call.out.Write(call.command.HelpText()));
    return Fail(Code::kInvalidArgument, "not found command args");
  }
  TRY_ASSIGN(options_, CheckSubmit(flags_, call.args, context_.environment));
  for (const std::string& warning : options_.warnings) base::LogWarn("{}", warning);
  return {};
}

// On this machine a job runs without an image, so `host` stands for none.
base::Result<std::string> Submit::Image() const {
  const SubmitFlags& flags = options_.flags;
  if (!flags.image.empty()) return flags.image;
  if (!flags.worker_image.empty()) return flags.worker_image;
  if (context_.cluster_is_this_machine) return std::string("host");
  return Fail(Code::kInvalidArgument, "failed to validate command args: --image must be set ");
}

base::Result<int> Submit::Run(cli::Invocation& call) {
  const SubmitFlags& flags = options_.flags;
  const bool is_offline = flags.dry_run == "client" && !(flags.image + flags.worker_image).empty();
  cluster::Client* client = nullptr;
  if (!is_offline) {
    TRY_ASSIGN(client, context_.connect(context_));
  }
  base::Result<std::string> image = Image();
  if (!image) {
    base::LogError("{}", image.error().message);
    return cli::kExitUsage;
  }
  TRY_ASSIGN(std::string user, context_.UserName());
  const Submission submission{context_.Namespace(), std::move(user), std::move(*image),
                              NewLogHostDir()};
  if (flags.dry_run == "client") {
    TRY(PrintObjects(options_, submission, call.out));
    return 0;
  }
  TRY(CheckPriorityClass(*client, flags.priority));
  if (flags.dry_run == "server") {
    TRY(client->Create(api::kPyTorchJobs, submission.namespace_name,
                       RenderJob(options_, submission), true));
    TRY(call.out.Write(
        fmt::format("pytorchjob.kubeflow.org/{} created (server dry run)\n", flags.name)));
    return 0;
  }
  {
    HoldInterrupts hold;
    TRY(Creation(*client, options_, submission, context_.program).Run());
  }
  TRY(call.out.Write(CreatedLines(options_)));
  if (!flags.model_name.empty()) {
    base::LogWarn("the model {} is not registered: muster does not talk to a model registry",
                  flags.model_name);
  }
  WarnOfTensorboard(context_, flags);
  base::LogInfo("The Job {} has been submitted successfully", flags.name);
  base::LogInfo("You can run `{} get {} --type pytorchjob -n {}` to check the job status",
                context_.program, flags.name, submission.namespace_name);
  return 0;
}

}  // namespace

void AddSubmit(cli::Command& root, Context& context) {
  cli::Command& submit = root.Add("submit", "Submit a training job");
  submit.Long("Submit a training job.\n\nAvailable kinds:\n  pytorchjob, pytorch   a PyTorchJob");
  cli::Command& verb =
      submit.Add("pytorchjob COMMAND", "Submit a PyTorch job")
          .Aliases({"pytorch"})
          .Example(
              fmt::format("  {} submit pytorchjob --name=mnist --workers=2 \"python mnist.py\"",
                          context.program));
  auto state = std::make_shared<Submit>(context);
  state->flags().Declare(verb.flags());
  verb.Check([state](cli::Invocation& call) { return state->Check(call); });
  verb.Run([state](cli::Invocation& call) { return state->Run(call); });
  AddForeignTrainers(submit);
}

}  // namespace arena
