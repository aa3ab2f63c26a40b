#include <fmt/format.h>

#include <filesystem>
#include <memory>

#include "ads/config/training_code.h"
#include "ads/run/info.h"
#include "ads/verbs.h"
#include "ads/yaml/yaml.h"

namespace ads {
namespace {

constexpr const char* kMainConfigName = "MAIN_config.json";

struct ShowConfigFlags {
  std::string job_id, work_dir, file;
  LoginFlags login;
  bool has_workers = false;
};

// The object's JSON as YAML.
base::Result<std::string> ConfigAsYaml(ObjectStorage& storage, const std::string& name) {
  TRY_ASSIGN(const std::string content, storage.Get(name));
  const auto value = ReadPyYaml(content);
  if (value && value->is_map()) return DumpPyYaml(*value);
  return base::Fail(base::Code::kInvalidArgument,
                    fmt::format("{}: {}", storage.UriOf(name),
                                value ? "it is not a JSON object" : value.error().message));
}

base::Result<int> ShowConfig(const Context& context, const ShowConfigFlags& flags,
                             cli::Output& out) {
  RunInfoFile info{flags.job_id, flags.work_dir};
  if (!flags.file.empty()) {
    TRY_ASSIGN(info, ReadRunInfoFile(ExpandHome(flags.file, context.environment)));
  }
  if (info.job_id.empty() || info.work_dir.empty()) {
    TRY(out.Write("Either job ocid or yaml file with `jobId` key is required\n"));
    return 0;
  }
  const bool is_path = info.work_dir.find("://") == std::string::npos;
  const std::string work_dir =
      is_path ? std::filesystem::absolute(ExpandHome(info.work_dir, context.environment)).string()
              : info.work_dir;
  const std::string location = work_dir + (work_dir.ends_with('/') ? "" : "/") + info.job_id;
  const std::unique_ptr<OciServices> services =
      IsOciUri(location) && context.oci ? context.oci(flags.login) : nullptr;
  TRY_ASSIGN(const auto storage, OpenStorage(location, services.get()));
  const auto main = ConfigAsYaml(*storage, kMainConfigName);
  if (!main) {
    if (main.error().code != base::Code::kNotFound) return base::Fail(main.error());
    TRY(
        out.Write(fmt::format("MAIN_config file not found at location {}. If you just started the "
                              "cluster please wait until the main node is in `inprogress` state\n",
                              location)));
    return 0;
  }
  TRY(out.Write(fmt::format("Main Info:\n{}\n", *main)));
  if (!flags.has_workers) return 0;
  TRY_ASSIGN(const auto names, storage->List("WORKER"));
  for (const std::string& name : names) {
    if (!name.ends_with(".json") || name.find('/') != std::string::npos) continue;
    TRY_ASSIGN(const std::string worker, ConfigAsYaml(*storage, name));
    TRY(out.Write(fmt::format("Worker Info from {}\n{}\n", name, worker)));
  }
  return 0;
}

}  // namespace

void AddShowConfig(cli::Command& parent, Context& context) {
  cli::Command& verb =
      parent.Add("show-config", "Show the configuration that the nodes exchanged.");
  verb.WithoutShortHelp();
  verb.Help("ads/run/show_config", context.program);
  auto flags = std::make_shared<ShowConfigFlags>();
  cli::FlagSet& set = verb.flags();
  set.String(&flags->job_id, "job-id", "", "OCID of the cluster's job.").Short('j');
  set.String(&flags->work_dir, "work-dir", "", "The workDir of its YAML.");
  set.String(&flags->file, "file", "", "File with the information that `run` printed.").Short('f');
  set.Bool(&flags->has_workers, "worker-info", false, "Show the workers, too.");
  DeclareLoginFlags(set, flags->login, {});
  DeclareDebug(set);
  verb.Run(
      [&context, flags](cli::Invocation& call) { return ShowConfig(context, *flags, call.out); });
}

}  // namespace ads
