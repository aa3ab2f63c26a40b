#include "ads/run/cluster_backends.h"

#include <fmt/format.h>
#include <stdlib.h>

#include <climits>
#include <filesystem>
#include <optional>
#include <utility>

#include "ads/run/info.h"
#include "ads/run/pytorch_job.h"
#include "api/gpus.h"
#include "api/names.h"
#include "base/file.h"
#include "base/uid.h"

namespace ads {
namespace {

constexpr size_t kSuffixLength = 5;

base::Result<std::string> SourceFolder(const std::string& path) {
  char resolved[PATH_MAX];
  if (::realpath(path.c_str(), resolved) != nullptr) return std::string(resolved);
  return base::Fail(base::Errno(
      errno,
      fmt::format("the source folder \"{}\" (source_folder of ./config.ini; -s names another)",
                  path)));
}

// The job as the cluster created it, and what `run` reports about it.
struct Started {
  text::Json job;
  std::string info;
};

// Creates the job and saves its information if requested.
base::Result<Started> Create(const Cluster& cluster, const RunRequest& request,
                             const std::string& work_dir, const text::Json& job, cli::Output& err) {
  const std::string name(text::GetString(job, {"metadata", "name"}));
  TRY_ASSIGN(text::Json created,
             cluster.client->Create(api::kPyTorchJobs, cluster.namespace_name, job));
  const auto& runs = request.job.runs;
  RunInfo info{name, {SentRunName(request.job, runs[0]), name + "-master-0"}, {}, work_dir};
  for (size_t i = 1; i < runs.size(); ++i) {
    info.others.emplace_back(SentRunName(request.job, runs[i]),
                             fmt::format("{}-worker-{}", name, i - 1));
  }
  std::string text = RenderRunInfoWith(
      info, fmt::format("muster logs {} --all -f -n {}", name, cluster.namespace_name));
  if (!request.job_info.empty()) TRY(SaveRunInfo(request.job_info, text, err));
  return Started{std::move(created), std::move(text)};
}

// GPUs of each node: the shape's, or as many as this machine has for it.
base::Result<int64_t> GpusHere(const Cluster& cluster, const RunRequest& request) {
  const int64_t wanted = GpusOfShape(request.config.Infrastructure("shapeName"));
  if (wanted == 0) return 0;
  TRY_ASSIGN(const cluster::ObjectList nodes, cluster.client->List(api::kNodes, {}));
  int64_t here = 0;
  for (const text::Json& node : nodes.items) {
    const auto count = text::GetString(node, {"status", "allocatable", api::GpuResourceOf(node)});
    here += count.empty() ? 0 : std::strtoll(std::string(count).c_str(), nullptr, 10);
  }
  return std::min(wanted, here / static_cast<int64_t>(request.job.runs.size()));
}

// The entry point below the folder that the code has in an image, where it is named with that
// folder: train.py for /code/train.py.
std::optional<std::string> ScriptBelowCode(const RunRequest& request) {
  const RuntimeConfig& runtime = request.config.runtime;
  const bool has_own = !runtime.type.empty() && !runtime.code_dir.empty();
  std::string folder = has_own ? runtime.code_dir : "/code";
  if (!folder.ends_with('/')) folder += '/';
  const std::string* const script = request.job.env.Find("OCI__ENTRY_SCRIPT");
  if (script == nullptr || !script->starts_with(folder)) return std::nullopt;
  return script->substr(folder.size());
}

class LocalBackend : public Backend {
 public:
  LocalBackend(const Context& context, Context::ClusterFlags flags)
      : context_(context), flags_(std::move(flags)) {
    flags_.is_local = true;
  }

  base::Result<int> Run(const RunRequest& request, cli::Output& out, cli::Output& err) override {
    const std::string name =
        ObjectName(SentName(request.job).value_or("training"), base::RandomName(kSuffixLength));
    const std::string folder = LocalFolder(context_, name);
    TRY(base::MakeDirs(folder));
    TRY_ASSIGN(const OrderedEnv env, LocalEnv(request, folder));
    TRY_ASSIGN(const Cluster cluster, context_.connect(flags_));
    TRY_ASSIGN(const int64_t gpus, GpusHere(cluster, request));
    const PyTorchJobOptions options{
        name, cluster.namespace_name, "host", {context_.self, "opctl", "entry"}, gpus, env};
    TRY(
        err.Write(fmt::format("{} node(s) on this machine, in its own environment: the image is "
                              "not built or used\n",
                              request.job.runs.size())));
    TRY_ASSIGN(const Started started, Create(cluster, request, *env.Find("OCI__WORK_DIR"),
                                             RenderPyTorchJob(request, options), err));
    TRY(err.Write(fmt::format(
        "The job {0} runs: `muster get {0}` shows it, `muster delete {0}` ends it\n", name)));
    return context_.follow(cluster, started.job, out);
  }

 private:
  base::Result<OrderedEnv> LocalEnv(const RunRequest& request, const std::string& folder) const;
  void AddLogin(const RunRequest& request, OrderedEnv& env) const;

  const Context& context_;
  Context::ClusterFlags flags_;
};

// The nodes, whose JOB_RUN_OCID otherwise means a resource principal, sign in as this user, where
// the YAML does not say how.
void LocalBackend::AddLogin(const RunRequest& request, OrderedEnv& env) const {
  const auto login = ChooseLogin(request.login, context_.environment);
  if (!login) return;  // a malformed configuration, which most trainings do not need
  // The nodes run in other folders.
  const std::string config = std::filesystem::absolute(login->config_path).string();
  for (const auto& [name, value] :
       {std::pair("OCI_IAM_TYPE", login->auth), std::pair("OCI_CONFIG_LOCATION", config),
        std::pair("OCI_CONFIG_PROFILE", login->profile)}) {
    if (request.job.env.Find(name) == nullptr) env.Set(name, value);
  }
}

base::Result<OrderedEnv> LocalBackend::LocalEnv(const RunRequest& request,
                                                const std::string& folder) const {
  OrderedEnv env;
  const std::string work_dir = request.job.work_dir.value_or("");
  const bool is_here = work_dir.starts_with("file://") || work_dir.starts_with('/');
  env.Set("OCI__WORK_DIR", is_here ? work_dir : "file://" + folder + "/work");
  env.Set("OCI__LOCAL_FOLDER", folder);
  env.Set("OCI__NODE_IP", "127.0.0.1");
  if (request.config.runtime.type.empty()) {
    TRY_ASSIGN(std::string code, SourceFolder(request.code_dir));
    env.Set("OCI__CODE_DIR", std::move(code));
  }
  AddLogin(request, env);
  if (auto script = ScriptBelowCode(request)) env.Set("OCI__ENTRY_SCRIPT", std::move(*script));
  return env;
}

class KubernetesBackend : public Backend {
 public:
  explicit KubernetesBackend(Cluster cluster) : cluster_(std::move(cluster)) {}

  base::Result<int> Run(const RunRequest& request, cli::Output& out, cli::Output& err) override {
    OrderedEnv env;
    env.Set("OCI__RENDEZVOUS", "environment");
    const PyTorchJobOptions options{
        ObjectName(SentName(request.job).value_or("training"), base::RandomName(kSuffixLength)),
        cluster_.namespace_name,
        request.job.image,
        {},
        GpusOfShape(request.config.Infrastructure("shapeName")),
        env};
    TRY_ASSIGN(const Started started, Create(cluster_, request, request.job.work_dir.value_or(""),
                                             RenderPyTorchJob(request, options), err));
    TRY(out.Write(started.info));
    return 0;
  }

 private:
  const Cluster cluster_;
};

}  // namespace

std::unique_ptr<Backend> MakeLocalBackend(const Context& context,
                                          const Context::ClusterFlags& flags) {
  return std::make_unique<LocalBackend>(context, flags);
}

std::string LocalFolder(const Context& context, const std::string& name) {
  return context.environment.StateDir() + "/ads/" + name;
}

base::Result<std::unique_ptr<Backend>> MakeKubernetesBackend(const Context& context,
                                                             const Context::ClusterFlags& flags) {
  TRY_ASSIGN(Cluster cluster, context.connect(flags));
  return std::unique_ptr<Backend>(std::make_unique<KubernetesBackend>(std::move(cluster)));
}

}  // namespace ads
