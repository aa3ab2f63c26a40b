#include "arena/submit/place.h"

#include <fmt/format.h>

#include <filesystem>
#include <optional>
#include <string_view>

#include "api/names.h"
#include "api/object.h"
#include "arena/submit/job/refusal.h"
#include "arena/submit/job/render_parts.h"

namespace arena {
namespace {

using base::Code;

// "" when the path exists, otherwise the reason why it cannot be used.
std::string WhyAbsent(const std::string& path) {
  std::error_code failed;
  if (std::filesystem::exists(path, failed)) return "";
  return failed ? failed.message() : "No such file or directory";
}

// Whether `folder` is a folder above `inner`: its copy would then lie in the folder itself.
bool Holds(const std::string& folder, const std::string& inner) {
  std::error_code failed;
  const std::filesystem::path outside = std::filesystem::weakly_canonical(folder, failed);
  const std::filesystem::path inside = std::filesystem::weakly_canonical(inner, failed);
  return !failed && std::filesystem::is_directory(outside, failed) &&
         (inside.string() + "/").starts_with(outside == "/" ? "/" : outside.string() + "/");
}

base::Status CheckSource(const SubmitOptions& options, bool cluster_is_this_machine,
                         const base::Environment& environment) {
  const SubmitFlags& flags = options.flags;
  if (options.local_source.empty()) return {};
  if (!cluster_is_this_machine) {
    // The image of the code sync may hold code.
    if (options.local_source.starts_with('/') && !flags.sync_image.empty()) return {};
    return Refuse(fmt::format(
        "--sync-source=\"{}\" is a path of this machine, which the pods of another cluster do not "
        "see: push the code to a git repository, or serve it (host::module, rsync://host/module)",
        options.local_source));
  }
  if (const std::string why = WhyAbsent(flags.sync_source); !why.empty()) {
    return Refuse(fmt::format("--sync-source is invalid: {}: {}", flags.sync_source, why));
  }
  if (flags.sync_mode != "rsync" || !Holds(flags.sync_source, environment.StateDir())) return {};
  return Refuse(fmt::format(
      "--sync-source is invalid: {} contains {}, where each pod gets its copy: name the "
      "folder of the code",
      flags.sync_source, environment.StateDir()));
}

}  // namespace

base::Status CheckFolders(const SubmitOptions& options, bool cluster_is_this_machine,
                          const base::Environment& environment) {
  TRY(CheckSource(options, cluster_is_this_machine, environment));
  if (!cluster_is_this_machine) return {};
  for (const HostDir& dir : options.data_dirs) {
    const std::string why = WhyAbsent(dir.host_path);
    if (why.empty()) continue;
    return Refuse(
        fmt::format("--data-dir is invalid: {}: {}: `mkdir -p` makes it", dir.host_path, why));
  }
  return {};
}

base::Status CheckClaims(cluster::Client& client, const SubmitOptions& options,
                         const std::string& namespace_name) {
  for (const DataMount& data : options.data) {
    const auto claim = client.Get(api::kPersistentVolumeClaims, namespace_name, data.claim);
    // The agent's words for a pod that waits for one.
    if (!claim && claim.error().code == Code::kNotFound) {
      return base::Fail(Code::kNotFound,
                        fmt::format("persistentvolumeclaim \"{0}\" not found: `muster data create "
                                    "{0} --path DIR` makes one",
                                    data.claim));
    }
    if (!claim) return base::Fail(claim.error());
    const std::string path(api::Annotation(*claim, api::kVolumePathAnnotation));
    const std::string why = path.empty() ? "" : WhyAbsent(path);
    if (why.empty()) continue;
    return base::Fail(Code::kNotFound,
                      fmt::format("persistentvolumeclaim \"{}\": {}: {}", data.claim, path, why));
  }
  return {};
}

std::string SharedLogdir(cluster::Client* client, const SubmitOptions& options,
                         const std::string& namespace_name, bool cluster_is_this_machine) {
  const std::string& logdir = options.flags.logdir;
  const bool has_logs = options.flags.tensorboard && logdir.starts_with('/');
  if (!has_logs || HasLocalLogs(options)) return "";
  if (!cluster_is_this_machine) return logdir;
  // The deepest mount hides the others: the least is left below it.
  std::optional<std::string> rest;
  const auto is_deeper = [&](std::string_view mount) {
    auto below = PathBelow(mount, logdir);
    if (!below || (rest && rest->size() <= below->size())) return false;
    rest = std::move(below);
    return true;
  };
  const HostDir* folder = nullptr;
  for (const HostDir& dir : options.data_dirs) {
    if (is_deeper(dir.container_path)) folder = &dir;
  }
  const DataMount* mount = nullptr;
  for (const DataMount& data : options.data) {
    if (is_deeper(data.path)) mount = &data;
  }
  if (mount == nullptr) return folder == nullptr ? "" : folder->host_path + *rest;
  if (client == nullptr) return "";
  const auto claim = client->Get(api::kPersistentVolumeClaims, namespace_name, mount->claim);
  const std::string path(claim ? api::Annotation(*claim, api::kVolumePathAnnotation) : "");
  return path.empty() ? "" : path + *rest;
}

}  // namespace arena
