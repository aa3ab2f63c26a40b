#include "local/node/plan/volumes.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "api/kinds.h"
#include "api/names.h"
#include "api/object.h"
#include "base/quantity.h"
#include "base/strings.h"

namespace local::node {

namespace {

using Need = VolumePlan::HostPath::Need;
using text::GetString;

constexpr unsigned kConfigMode = 0644;
constexpr unsigned kSecretMode = 0600;

// `a/b` within a volume; nullopt when it would leave the volume.
std::optional<std::string> RelativePath(std::string_view path) {
  auto clean = CleanPath(path);
  if (!clean || path.starts_with('/')) return std::nullopt;
  return clean->substr(1);
}

unsigned ModeOf(const text::Json& value, text::Path path, unsigned otherwise) {
  const auto mode = text::GetInt(value, path);
  return mode ? static_cast<unsigned>(*mode) & 0777U : otherwise;
}

std::optional<Need> NeedOf(std::string_view type) {
  if (type.empty()) return Need::kExists;
  if (type == "Directory") return Need::kDirectory;
  if (type == "File") return Need::kFile;
  if (type == "DirectoryOrCreate") return Need::kMakeDirectory;
  if (type == "FileOrCreate") return Need::kMakeFile;
  if (type == "Socket" || type == "CharDevice" || type == "BlockDevice") return Need::kExists;
  return std::nullopt;
}

// The kind of a volume: its only key beside the name.
std::string_view VolumeKindOf(const text::Json& volume) {
  const text::Object* object = volume.if_object();
  if (object != nullptr) {
    for (const auto& entry : *object) {
      if (entry.key() != "name") return entry.key();
    }
  }
  return "emptyDir";  // Kubernetes' default
}

// `key="value"` lines, as the downward API writes labels and annotations.
std::string FormatPairs(const std::map<std::string, std::string>& pairs) {
  std::string text;
  for (const auto& [key, value] : pairs) {
    text += fmt::format("{}{}={}", text.empty() ? "" : "\n", key, text::ToJson(text::Json(value)));
  }
  return text;
}

class VolumePlanner {
 public:
  VolumePlanner(const PodFacts& facts, const PodObjects& objects, std::string directory,
                std::string job_directory)
      : facts_(facts),
        objects_(objects),
        directory_(std::move(directory)),
        job_directory_(std::move(job_directory)) {}

  OrNotReady<VolumePlan> Plan(std::string_view code_volume, std::string_view code_container,
                              const std::map<std::string, EnvList>& variables) {
    if (!code_volume.empty()) {
      sources_[std::string(code_volume)] = {directory_ + "/code", false};
      plan_.directories.push_back(directory_ + "/code");
    }
    for (std::string_view list : {"initContainers", "containers"}) {
      for (const text::Json& container : text::Items(facts_.pod, {"spec", list})) {
        const std::string name(GetString(container, {"name"}));
        const auto it = variables.find(name);
        auto added = name == code_container
                         ? AddCodeMounts(container, code_volume)
                         : AddMounts(container, it == variables.end() ? EnvList() : it->second);
        if (!added) return tl::unexpected<NotReady>(std::move(added.error()));
      }
    }
    for (auto& [target, mount] : mounts_) plan_.mounts.push_back(std::move(mount));
    return std::move(plan_);
  }

 private:
  struct Source {
    std::string path;
    bool read_only = false;
    std::optional<int64_t> memory{};  // its size in bytes, 0 without a limit
    bool is_plain_directory = true;
    bool is_to_be_made = false;  // created once it is mounted
  };

  OrNotReady<void> AddCodeMounts(const text::Json& container, std::string_view code_volume) {
    for (const text::Json& mount : text::Items(container, {"volumeMounts"})) {
      const std::string volume(GetString(mount, {"name"}));
      if (volume == code_volume) continue;
      const std::string_view path = GetString(mount, {"mountPath"});
      const auto target = CleanPath(path);
      if (!target || *target == "/") {
        return ConfigError(fmt::format("volume \"{}\" cannot be mounted at \"{}\"", volume, path));
      }
      auto source = SourceOf(volume);
      if (!source) return tl::unexpected<NotReady>(std::move(source.error()));
      if (source->is_to_be_made && made_.insert(source->path).second) {
        plan_.directories.push_back(source->path);
      }
      plan_.code_mounts.push_back({source->path, *target, true});
    }
    return {};
  }

  OrNotReady<void> AddMounts(const text::Json& container, const EnvList& variables) {
    for (const text::Json& mount : text::Items(container, {"volumeMounts"})) {
      auto added = AddMount(mount, variables);
      if (!added) return added;
    }
    return {};
  }

  OrNotReady<void> AddMount(const text::Json& mount, const EnvList& variables) {
    const std::string volume(GetString(mount, {"name"}));
    const std::string_view path = GetString(mount, {"mountPath"});
    const auto target = CleanPath(path);
    if (!target || *target == "/") {
      return ConfigError(fmt::format("volume \"{}\" cannot be mounted at \"{}\"", volume, path));
    }
    auto source = SourceOf(volume);
    if (!source) return tl::unexpected<NotReady>(std::move(source.error()));
    if (source->memory) return AddMemory(volume, *target, *source->memory);
    std::string from = source->path;
    if (source->is_to_be_made && made_.insert(from).second) plan_.directories.push_back(from);
    auto below = SubPath(mount, variables);
    if (!below) return tl::unexpected<NotReady>(std::move(below.error()));
    if (!below->empty()) {
      from += "/" + *below;
      if (source->is_plain_directory) plan_.directories.push_back(from);
    }
    const bool read_only = source->read_only || text::GetBool(mount, {"readOnly"}).value_or(false);
    if (from == *target && !read_only) return {};  // the pod sees it there anyway
    const auto [it, is_new] = mounts_.try_emplace(*target, Mount{from, *target, read_only});
    if (!is_new && it->second.source != from) {
      return ConfigError(
          fmt::format("two containers mount different volumes at {}: on this machine a pod's "
                      "containers share one view of the file system",
                      *target));
    }
    it->second.read_only &= read_only;
    return {};
  }

  // The containers of a pod share the memory, so it has one place in their view.
  OrNotReady<void> AddMemory(const std::string& volume, const std::string& target, int64_t bytes) {
    const auto [known, is_first] = memory_.try_emplace(volume, target);
    const bool is_free = mounts_.try_emplace(target, Mount{volume, target, false, bytes}).second;
    if (known->second == target && is_free == is_first) return {};
    return ConfigError(
        fmt::format("volume \"{}\" cannot be mounted at {}: on this machine a memory volume has "
                    "one mount point "
                    "for all containers of a pod, and a mount point has one volume",
                    volume, target));
  }

  static OrNotReady<std::string> SubPath(const text::Json& mount, const EnvList& variables) {
    std::string path(GetString(mount, {"subPath"}));
    if (const std::string_view expression = GetString(mount, {"subPathExpr"});
        !expression.empty()) {
      std::map<std::string, std::string> known(variables.begin(), variables.end());
      for (const auto& [name, value] : variables) known[name] = value;  // the last one wins
      path = ExpandVariables(expression, known);
    }
    if (path.empty()) return path;
    auto clean = RelativePath(path);
    if (!clean) return ConfigError(fmt::format("subPath \"{}\" leaves its volume", path));
    return std::move(*clean);
  }

  OrNotReady<Source> SourceOf(const std::string& name) {
    if (const auto it = sources_.find(name); it != sources_.end()) return it->second;
    if (const text::Json* volume = text::ItemNamed(facts_.pod, {"spec", "volumes"}, name)) {
      auto source = MakeSource(name, *volume);
      if (source) sources_[name] = *source;
      return source;
    }
    return ConfigError(fmt::format("the pod has no volume \"{}\"", name));
  }

  OrNotReady<Source> MakeSource(const std::string& name, const text::Json& volume) {
    const std::string_view kind = VolumeKindOf(volume);
    if (kind == "hostPath") return HostPathSource(name, volume);
    if (kind == "persistentVolumeClaim") return ClaimSource(volume);
    if (name.empty() || name.starts_with('.') || name.find('/') != std::string::npos) {
      return ConfigError(fmt::format("\"{}\" is not a valid name of a volume", name));
    }
    Source source{directory_ + "/volumes/" + name};
    source.is_to_be_made = true;
    if (kind == "emptyDir") {
      if (GetString(volume, {"emptyDir", "medium"}) == "Memory") return MemorySource(name, volume);
      return source;
    }
    source.is_plain_directory = false;
    OrNotReady<void> added;
    if (kind == "configMap") {
      added = AddObject(source.path, api::kConfigMaps, GetString(volume, {kind, "name"}),
                        volume.at(kind));
    } else if (kind == "secret") {
      added = AddObject(source.path, api::kSecrets, GetString(volume, {kind, "secretName"}),
                        volume.at(kind));
    } else if (kind == "downwardAPI") {
      added = AddDownward(source.path, volume.at(kind));
    } else if (kind == "projected") {
      added = AddProjected(source.path, volume.at(kind));
    } else {
      added = ConfigError(fmt::format(
          "volume \"{}\" has the kind {}, which is not supported on this machine", name, kind));
    }
    if (!added) return tl::unexpected<NotReady>(std::move(added.error()));
    return source;
  }

  static OrNotReady<Source> MemorySource(const std::string& name, const text::Json& volume) {
    Source source;
    source.memory = 0;
    const text::Json* limit = text::Find(volume, {"emptyDir", "sizeLimit"});
    if (limit == nullptr || limit->is_null()) return source;
    const auto bytes = base::ParseQuantity(text::ToText(*limit));
    if (!bytes || *bytes < 0) {
      return ConfigError(
          fmt::format("volume \"{}\": bad sizeLimit {}", name, text::ToJson(*limit)));
    }
    source.memory = *bytes;
    return source;
  }

  OrNotReady<Source> HostPathSource(const std::string& name, const text::Json& volume) {
    const std::string_view path = GetString(volume, {"hostPath", "path"});
    const auto clean = path.starts_with('/') ? CleanPath(path) : std::nullopt;
    if (clean && clean->starts_with(kArenaLogs) && !job_directory_.empty()) {
      Source source{job_directory_ + *clean};
      source.is_to_be_made = true;
      return source;
    }
    const auto need = NeedOf(GetString(volume, {"hostPath", "type"}));
    if (!clean || !need) {
      return ConfigError(fmt::format("hostPath volume \"{}\": bad path or type", name));
    }
    plan_.host_paths.push_back({*clean, *need, fmt::format("hostPath volume \"{}\"", name)});
    return Source{*clean};
  }

  OrNotReady<Source> ClaimSource(const text::Json& volume) {
    const std::string claim(GetString(volume, {"persistentVolumeClaim", "claimName"}));
    const Reference reference{&api::kPersistentVolumeClaims, claim};
    const auto it = objects_.find(reference);
    if (it == objects_.end()) {
      return ConfigError(fmt::format("persistentvolumeclaim \"{0}\" not found: `muster data create "
                                     "{0} --path DIR` creates it",
                                     claim),
                         {reference});
    }
    const std::string_view path = api::Annotation(it->second, api::kVolumePathAnnotation);
    const auto clean = path.starts_with('/') ? CleanPath(path) : std::nullopt;
    if (!clean) {
      return ConfigError(
          fmt::format("persistentvolumeclaim \"{0}\" has no directory (annotation {1}): `muster "
                      "data create {0} --path DIR` creates one with a directory",
                      claim, api::kVolumePathAnnotation),
          {reference});
    }
    plan_.host_paths.push_back(
        {*clean, Need::kDirectory, fmt::format("persistentvolumeclaim \"{}\"", claim)});
    const bool is_for_readers = api::AccessModes(it->second) == std::vector<std::string>{"ROX"};
    return Source{*clean,
                  is_for_readers ||
                      text::GetBool(volume, {"persistentVolumeClaim", "readOnly"}).value_or(false)};
  }

  // The keys of a Secret or ConfigMap as files; `description` has items, optional, defaultMode.
  OrNotReady<void> AddObject(const std::string& directory, const api::Resource& resource,
                             std::string_view name, const text::Json& description) {
    const Reference reference{&resource, std::string(name)};
    const bool is_secret = &resource == &api::kSecrets;
    const unsigned mask = is_secret ? 0700U : 0777U;
    const unsigned mode =
        ModeOf(description, {"defaultMode"}, is_secret ? kSecretMode : kConfigMode) & mask;
    const bool is_optional = text::GetBool(description, {"optional"}).value_or(false);
    const text::Array* items = text::FindArray(description, {"items"});
    if (items == nullptr || items->empty()) {
      auto values = ValuesOf(objects_, reference, is_optional);
      if (!values) return tl::unexpected<NotReady>(std::move(values.error()));
      for (auto& [key, value] : *values) {
        auto added = AddFile(directory, key, std::move(value), mode);
        if (!added) return added;
      }
      return {};
    }
    for (const text::Json& item : *items) {
      auto value = ValueOf(objects_, reference, GetString(item, {"key"}),
                           api::Namespace(facts_.pod), is_optional);
      if (!value) return tl::unexpected<NotReady>(std::move(value.error()));
      if (!*value) continue;
      auto added = AddFile(directory, GetString(item, {"path"}), std::move(**value),
                           ModeOf(item, {"mode"}, mode) & mask);
      if (!added) return added;
    }
    return {};
  }

  OrNotReady<void> AddDownward(const std::string& directory, const text::Json& description) {
    for (const text::Json& item : text::Items(description, {"items"})) {
      const std::string_view field = GetString(item, {"fieldRef", "fieldPath"});
      OrNotReady<std::string> value;
      if (field == "metadata.labels") {
        value = FormatPairs(api::Labels(facts_.pod));
      } else if (field == "metadata.annotations") {
        value = FormatPairs(api::Annotations(facts_.pod));
      } else if (const text::Json* reference = text::Find(item, {"resourceFieldRef"})) {
        value = ResourceValue(facts_, text::Json(text::Object()), *reference);
      } else {
        value = FieldValue(facts_, field);
      }
      if (!value) return tl::unexpected<NotReady>(std::move(value.error()));
      auto added = AddFile(directory, GetString(item, {"path"}), std::move(*value), kConfigMode);
      if (!added) return added;
    }
    return {};
  }

  OrNotReady<void> AddProjected(const std::string& directory, const text::Json& description) {
    for (const text::Json& source : text::Items(description, {"sources"})) {
      OrNotReady<void> added;
      if (const text::Json* secret = text::Find(source, {"secret"})) {
        added = AddObject(directory, api::kSecrets, GetString(*secret, {"name"}), *secret);
      } else if (const text::Json* config = text::Find(source, {"configMap"})) {
        added = AddObject(directory, api::kConfigMaps, GetString(*config, {"name"}), *config);
      } else if (const text::Json* downward = text::Find(source, {"downwardAPI"})) {
        added = AddDownward(directory, *downward);
      }  // a service account's token: there is none here, and no server that would need it
      if (!added) return added;
    }
    return {};
  }

  OrNotReady<void> AddFile(const std::string& directory, std::string_view path, std::string content,
                           unsigned mode) {
    const auto clean = RelativePath(path);
    if (!clean || clean->empty()) {
      return ConfigError(fmt::format("\"{}\" is not a path within a volume", path));
    }
    plan_.files.push_back({directory + "/" + *clean, std::move(content), mode});
    return {};
  }

  const PodFacts& facts_;
  const PodObjects& objects_;
  const std::string directory_;
  const std::string job_directory_;
  std::map<std::string, Source> sources_;
  std::map<std::string, std::string> memory_;  // volume -> mount point
  std::set<std::string> made_;
  std::map<std::string, Mount> mounts_;  // by target, so that a parent comes before its contents
  VolumePlan plan_;
};

}  // namespace

std::optional<std::string> CleanPath(std::string_view path) {
  std::string clean;
  for (const std::string& step : base::Split(path, '/')) {
    if (step.empty() || step == ".") continue;
    if (step == "..") return std::nullopt;
    clean += "/" + step;
  }
  return clean.empty() ? "/" : clean;
}

OrNotReady<VolumePlan> PlanVolumes(const PodFacts& facts, const PodObjects& objects,
                                   const std::string& directory, const std::string& job_directory,
                                   std::string_view code_volume, std::string_view code_container,
                                   const std::map<std::string, EnvList>& variables) {
  return VolumePlanner(facts, objects, directory, job_directory)
      .Plan(code_volume, code_container, variables);
}

}  // namespace local::node
