#include <fmt/format.h>
#include <unistd.h>

#include <memory>

#include "ads/config/train_file.h"
#include "ads/interrupts.h"
#include "ads/oci/bucket.h"
#include "ads/run/cluster_backends.h"
#include "ads/run/dry_run.h"
#include "ads/run/images/image_steps.h"
#include "ads/run/info.h"
#include "ads/run/plain_job.h"
#include "ads/verbs.h"
#include "ads/yaml/yaml.h"
#include "base/log.h"
#include "base/strings.h"

namespace ads {
namespace {

constexpr const char* kBanner =
    "......................... Initializing the process ...................................\n";

struct RunFlags {
  std::string file, backend, job_info, job_name, ocid, image;
  ImageFlags image_flags;
  LoginFlags login;
  Context::ClusterFlags cluster;
  bool is_dry = false, has_no_build = false, has_no_push = false, is_incremented = false;
  bool is_quiet = false, is_not_strict = false, is_answer_yes = false;
  // Accepted, but without meaning for a distributed YAML.
  std::string ignored;
  std::vector<std::string> ignored_list;
  bool is_ignored = false;
};

void DeclareIgnoredFlags(cli::FlagSet& set, RunFlags& flags) {
  for (const char* name : {"conf-file", "conf-profile", "conda-pack-folder", "conda-slug",
                           "env-var", "cmd-args", "archive", "exclude-tag"}) {
    set.StringArray(&flags.ignored_list, name, "Accepted for compatibility.").Hidden();
  }
  const std::pair<const char*, char> with_shorts[] = {
      {"operator-name", 'n'}, {"entrypoint", 'e'}, {"command", 'c'}, {"volume", 'v'}};
  for (const auto& [name, shorthand] : with_shorts) {
    set.StringArray(&flags.ignored_list, name, "Accepted for compatibility.")
        .Short(shorthand)
        .Hidden();
  }
  set.Bool(&flags.is_ignored, "use-conda", false, "Accepted for compatibility.").Hidden();
  set.Bool(&flags.is_ignored, "gpu", false, "Accepted for compatibility.").Short('g').Hidden();
  set.Bool(&flags.is_ignored, "overwrite", false, "Accepted for compatibility.")
      .Short('o')
      .Hidden();
}

void DeclareRunFlags(cli::FlagSet& set, RunFlags& flags) {
  set.String(&flags.file, "file", "", "The YAML file; - is stdin.").Short('f');
  set.String(&flags.backend, "backend", "",
             "Where to run it: OCI Data Science (job), this machine (local) or a Kubernetes "
             "cluster.")
      .Short('b')
      .OneOf({"job", "dataflow", "pipeline", "deployment", "local", "operator.local", "marketplace",
              "kubernetes"});
  set.Bool(&flags.is_dry, "dry-run", false,
           "Print what would be created. Nothing is built, and no credentials are needed.")
      .Short('r');
  DeclareImageFlags(set, flags.image_flags);
  set.Bool(&flags.has_no_build, "nobuild", false, "Use the existing image: do not build it.")
      .SingleDash("nobuild");
  set.Bool(&flags.has_no_push, "nopush", false,
           "Do not push the image; check that the registry has it.")
      .SingleDash("nopush");
  set.Bool(&flags.is_incremented, "auto_increment", false,
           "Raise the tag's number before the image is built: 1.0, 1.0_v_1, 1.0_v_2.")
      .OldName("auto-increment");
  set.String(&flags.image, "image", "",
             "Alone: the same as --auto_increment, as the documentation has it. A value is "
             "ignored.")
      .Short('i')
      .OptionalValue("");
  set.String(&flags.job_info, "job-info", "", "File to write the run's information to.").Short('j');
  set.Bool(&flags.is_answer_yes, "yes", false, "Overwrite that file without asking.").Short('y');
  set.Bool(&flags.is_quiet, "quiet", false,
           "Only the run's information goes to stdout, all else to stderr.")
      .Short('q');
  set.String(&flags.job_name, "job-name", "", "Name of the job, where the YAML has none.");
  set.String(&flags.ocid, "ocid", "", "Start new runs of this job; needs no file.");
  set.Bool(&flags.is_not_strict, "no-strict", false, "Ignore unknown keys in the YAML.");
  DeclareLoginFlags(set, flags.login, {"api_key", "resource_principal", "security_token"});
  set.String(&flags.cluster.kubeconfig, "kubeconfig", "", "With -b kubernetes: the kubeconfig.");
  set.String(&flags.cluster.context, "context", "", "With -b kubernetes: a context of it.");
  set.String(&flags.cluster.namespace_name, "namespace", "",
             "With -b kubernetes or local: the namespace.");
  DeclareDebug(set);
  DeclareIgnoredFlags(set, flags);
}

// One `run`, step by step in the original's order (compat/opctl.md 1.2).
class RunVerb {
 public:
  RunVerb(const Context& context, const RunFlags& flags, cli::Invocation& call)
      : context_(context),
        flags_(flags),
        out_(call.out),
        err_(call.err),
        talk_(flags.is_quiet ? call.err : call.out) {}

  base::Result<int> Run();

 private:
  bool IsLocal() const { return flags_.backend == "local"; }
  base::Result<int> RunPlainJob(const PyValue& document);
  base::Result<std::string> InfoPath() const {
    return ChooseInfoPath(ExpandHome(flags_.job_info, context_.environment), flags_.is_answer_yes,
                          talk_);
  }
  base::Status CheckSubmittable() const;
  base::Result<std::string> PrepareImage();
  base::Status BuildAndPush(ImageConfig& image);
  base::Result<std::unique_ptr<Backend>> ChooseBackend() const;

  const Context& context_;
  const RunFlags& flags_;
  cli::Output& out_;
  cli::Output& err_;
  cli::Output& talk_;
  TrainConfig config_;
  std::string source_folder_ = ".";
};

// `kind: job` is the service's own format; its document is what would be sent.
base::Result<int> RunVerb::RunPlainJob(const PyValue& document) {
  if (!flags_.is_dry) {
    return base::Fail(base::Code::kInvalidArgument,
                      PlainJobAdvice(document, ShownTrainFile(flags_.file)));
  }
  TRY(out_.Write(RenderDryRunOfPlainJob(document)));
  return 0;
}

// The container divides the arguments into words as a shell does.
base::Status CheckArguments(const TrainConfig& config, const JobSpec& job) {
  const OrderedEnv env = SubstituteEnv(job.env);
  const std::string* const args = env.Find("OCI__ENTRY_SCRIPT_ARGS");
  const bool is_divided = config.cluster_type == "PYTORCH" && args != nullptr;
  if (!is_divided || base::ShellWords(*args, base::WordRules::kShlex)) return {};
  return base::Fail(base::Code::kInvalidArgument,
                    fmt::format("ValueError: {}: spec.runtime.spec.args: a quote has no end: {}",
                                config.path, *args));
}

// Without a script, or without the place of its code, every node would start and fail.
base::Status CheckRuntime(const TrainConfig& config, bool is_strict) {
  const RuntimeConfig& runtime = config.runtime;
  if (is_strict && !runtime.IsKnown()) {
    return base::Fail(base::Code::kInvalidArgument,
                      fmt::format("ValueError: Runtime type {} is not supported. ({}: "
                                  "spec.runtime.type; --no-strict ignores it)",
                                  runtime.type, config.path));
  }
  if (!runtime.entry_point && runtime.env.Find("OCI__ENTRY_SCRIPT") == nullptr) {
    return base::Fail(
        base::Code::kInvalidArgument,
        fmt::format("ValueError: {}: spec.runtime.spec.entryPoint is missing: the script "
                    "to run",
                    config.path));
  }
  constexpr std::string_view kUri = "OCI__RUNTIME_URI";
  const bool has_uri =
      !runtime.uri.empty() || runtime.env.Find(kUri) != nullptr || config.env.Find(kUri) != nullptr;
  if (runtime.type.empty() || has_uri) return {};
  return base::Fail(
      base::Code::kInvalidArgument,
      fmt::format("ValueError: {}: spec.runtime.spec.uri is missing: where the code is that "
                  "`type: {}` fetches",
                  config.path, runtime.type));
}

bool HasMounts(const TrainConfig& config) {
  const PyValue* const mounts = config.infrastructure.Find("storageMount");
  return mounts != nullptr && mounts->is_truthy();
}

// Whether the nodes can meet there: only in what the container can open (OpenFolder, Bucket).
base::Status CheckWorkDir(const TrainConfig& config) {
  constexpr std::string_view kFile = "file://";
  const std::string work_dir = config.work_dir.value_or("");
  std::string why;
  if (work_dir.empty()) {
    why = "is missing";
  } else if (IsOciUri(work_dir)) {
    const auto place = oci::ParseBucketUri(work_dir);
    if (place) return {};
    why = fmt::format("is not a bucket: {}", place.error().message);
  } else if (work_dir.starts_with('/') || work_dir.starts_with("file:///")) {
    return {};
  } else if (const size_t scheme = work_dir.find("://"); scheme != std::string::npos) {
    why = work_dir.starts_with(kFile)
              ? fmt::format("is \"{}\": a folder is named from its root, file:///folder", work_dir)
              : fmt::format("is \"{}\": nodes cannot meet in {}://", work_dir,
                            work_dir.substr(0, scheme));
  } else {
    why = fmt::format("is \"{}\", a relative path, which is another folder in each container",
                      work_dir);
  }
  return base::Fail(base::Code::kInvalidArgument,
                    fmt::format("ValueError: {}: spec.cluster.spec.workDir {}: write "
                                "oci://bucket@namespace/prefix, where the nodes meet",
                                config.path, why));
}

// Checks, before anything is built or sent, what the service or the container would fail on later.
base::Status RunVerb::CheckSubmittable() const {
  const auto refuse = [](std::string message) {
    return base::Fail(base::Code::kInvalidArgument, std::move(message));
  };
  const bool is_service = !IsLocal() && flags_.backend != "kubernetes";
  if (is_service) {
    TRY(CheckPlaceholders(config_, context_.environment));
    TRY(CheckWorkDir(config_));
    if (!IsOciUri(*config_.work_dir) && !HasMounts(config_)) {
      TRY(
          err_.Write(fmt::format("WARNING:ads.opctl:workDir {}: without a storageMount each node "
                                 "has a folder of its own there, and they do not meet\n",
                                 *config_.work_dir)));
    }
  }
  TRY(CheckRuntime(config_, !flags_.is_not_strict));
  const JobSpec job = MakeJobSpec(config_, config_.image, flags_.job_name);
  TRY(CheckReferences(job.env, config_.path));
  TRY(CheckArguments(config_, job));
  const bool is_clustered = !is_service;
  if (is_clustered && config_.cluster_type != "PYTORCH") {
    return refuse(fmt::format(
        "RuntimeError: Framework not supported: {} (spec.cluster.kind in {}); -b {} runs "
        "pytorch",
        config_.cluster_type, config_.path, flags_.backend));
  }
  if (is_clustered && config_.ps) {
    return refuse(
        fmt::format("RuntimeError: {}: -b {} starts main and workers only: leave out "
                    "spec.cluster.spec.ps",
                    config_.path, flags_.backend));
  }
  if (is_service) TRY(CheckPlacement(job, context_.environment));
  return {};
}

base::Status RunVerb::BuildAndPush(ImageConfig& image) {
  TRY_ASSIGN(
      const ContainerTool tool,
      ContainerTool::Find(context_.environment, flags_.is_quiet ? STDERR_FILENO : STDOUT_FILENO));
  if (flags_.is_incremented) {
    image.tag = IncrementTag(image.tag);
    TRY(KeepTag(image.tag));
  }
  TRY(tool.Build(image));
  if (flags_.has_no_push) {
    TRY(VerifyImage(tool, image.Image(), talk_));
  } else {
    TRY(PushImage(tool, image.Image(), talk_));
  }
  return talk_.Write(fmt::format("running image: {}\n", image.Image()));
}

base::Result<std::string> RunVerb::PrepareImage() {
  const bool is_building = !flags_.has_no_build && !flags_.is_dry && !IsLocal();
  const ImageNeed need = is_building                   ? ImageNeed::kNameAndDockerfile
                         : IsLocal() && !flags_.is_dry ? ImageNeed::kNothing
                                                       : ImageNeed::kName;
  TRY_ASSIGN(ImageConfig image, RefreshImageConfig(flags_.image_flags, config_.image, need,
                                                   flags_.is_dry ? &err_ : nullptr));
  source_folder_ = image.source_folder;
  if (is_building) {
    TRY(BuildAndPush(image));
  } else if (flags_.is_incremented && !flags_.has_no_build) {
    image.tag = IncrementTag(image.tag);
  }
  if (image.registry.find('/') == std::string::npos && !IsLocal()) {
    TRY(err_.Write("WARNING:ads.opctl:Did you include registry in image name?\n"));
  }
  return image.Image();
}

base::Result<std::unique_ptr<Backend>> RunVerb::ChooseBackend() const {
  if (IsLocal()) return MakeLocalBackend(context_, flags_.cluster);
  if (flags_.backend == "kubernetes") return MakeKubernetesBackend(context_, flags_.cluster);
  if (context_.job_backend) return context_.job_backend(flags_.login);
  return base::Fail(base::Code::kInvalidArgument,
                    "RuntimeError: this build has no OCI Data Science; -b local and -b kubernetes "
                    "run the same file");
}

base::Result<int> RunVerb::Run() {
  if (flags_.file.empty() && !flags_.ocid.empty() && context_.run_existing_job) {
    std::string info;
    if (!flags_.is_dry) {
      TRY_ASSIGN(info, InfoPath());
    }
    return context_.run_existing_job(
        {flags_.ocid, flags_.login, std::move(info), flags_.is_quiet, flags_.is_dry}, out_, err_);
  }
  if (flags_.file.empty()) {
    return base::Fail(base::Code::kInvalidArgument,
                      "ValueError: Either an ADS operator or a source folder or a docker image "
                      "needs to be given: -f train.yaml");
  }
  if (flags_.backend == "job") TRY(CheckShapeDefault(flags_.login, context_.environment));
  TRY_ASSIGN(const PyValue document, ReadTrainFile(flags_.file, context_, flags_.login));
  if (KindOf(document) == "job") return RunPlainJob(document);
  TRY_ASSIGN(config_,
             ReadTrainConfig(document, ShownTrainFile(flags_.file), {!flags_.is_not_strict}));
  TRY(talk_.Write(kBanner));
  for (const std::string& warning : config_.warnings) TRY(err_.Write(warning + "\n"));
  if (flags_.backend == "dataflow") {
    return base::Fail(
        base::Code::kInvalidArgument,
        "RuntimeError: backend operator for distributed training can either be local or job");
  }
  std::string info;
  std::unique_ptr<Backend> backend;
  if (!flags_.is_dry) {
    TRY(CheckSubmittable());
    TRY_ASSIGN(backend, ChooseBackend());
    TRY_ASSIGN(info, InfoPath());
  }
  TRY_ASSIGN(const std::string image, PrepareImage());
  const JobSpec job = MakeJobSpec(config_, image, flags_.job_name);
  if (flags_.is_dry) {
    TRY(out_.Write(RenderDryRun(job)));
    return 0;
  }
  const RunRequest request{config_, job, flags_.login, info, source_folder_, flags_.is_quiet};
  return backend->Run(request, out_, err_);
}

}  // namespace

void DeclareLoginFlags(cli::FlagSet& set, LoginFlags& flags,
                       const std::vector<std::string>& auth_choices) {
  if (!auth_choices.empty()) {
    set.String(&flags.auth, "auth", "", "How to sign in to OCI.").Short('a').OneOf(auth_choices);
  }
  set.String(&flags.oci_config, "oci-config", "", "OCI configuration file.");
  set.String(&flags.oci_profile, "oci-profile", "", "Profile of it.");
  set.String(&flags.ads_config, "ads-config", "", "Folder that `configure` writes to.");
}

void DeclareDebug(cli::FlagSet& set) {
  const auto enable = [](std::string_view) -> base::Status {
    base::SetLogLevel(base::LogLevel::kDebug);
    return {};
  };
  set.Custom("debug", "", "Print more messages.", enable).Short('d');
}

void AddRun(cli::Command& parent, Context& context) {
  cli::Command& verb = parent.Add("run", "Run a training from its YAML file.");
  verb.Help("ads/run/run", context.program);
  auto flags = std::make_shared<RunFlags>();
  DeclareRunFlags(verb.flags(), *flags);
  verb.Run([&context, flags](cli::Invocation& call) -> base::Result<int> {
    // -i without a value.
    flags->is_incremented |= call.command.Changed("image") && flags->image.empty();
    return ExitOrInterrupted(RunVerb(context, *flags, call).Run(), call.err);
  });
}

}  // namespace ads
