#include "ads/config/train_config.h"

#include <fmt/format.h>

#include "ads/config/infrastructure_keys.h"
#include "ads/config/train_schema.h"
#include "ads/oci/region.h"
#include "ads/yaml/text.h"
#include "ads/yaml/yaml.h"
#include "base/strings.h"

namespace ads {
namespace {

constexpr int64_t kMaxReplicas = 10'000;

// Reads one document; `where` is the dotted path of a map, for messages.
class TrainReader {
 public:
  TrainReader(const std::string& path, bool is_strict) : path_(path), is_strict_(is_strict) {}

  base::Result<TrainConfig> Read(const PyValue& document);

 private:
  tl::unexpected<base::Error> FailAt(size_t line, std::string_view why) const {
    return base::Fail(base::Code::kInvalidArgument,
                      line == 0 ? fmt::format("{}: {}", path_, why)
                                : fmt::format("{} line {}: {}", path_, line, why));
  }
  base::Result<const PyValue*> NeedMap(const PyValue& in, std::string_view key,
                                       const std::string& where) const;
  base::Status ReadInfrastructure(const PyValue& spec);
  base::Status CheckStorageSize() const;
  base::Status ReadCluster(const PyValue& spec);
  base::Status ReadCertificate(const PyValue& spec);
  base::Status ReadRuntime(const PyValue& spec);
  base::Result<std::optional<RoleConfig>> ReadRole(const PyValue& spec, const std::string& key);
  base::Result<OrderedEnv> ReadEnv(const PyValue* list, const std::string& where) const;
  base::Result<std::optional<std::string>> ReadStartOptions(const PyValue* config,
                                                            const std::string& where) const;
  base::Result<int64_t> ReadReplicas(const PyValue& role, const std::string& where);
  base::Result<std::string> ReadArgs(const PyValue* args);

  const std::string& path_;
  const bool is_strict_;
  TrainConfig config_;
};

std::optional<std::string> OptionalText(const PyValue& map, std::string_view key) {
  const PyValue* value = map.Find(key);
  if (value == nullptr || value->is_none()) return std::nullopt;
  return PyStr(*value);
}

// As in the original: the cluster's name, then a displayName beside spec.infrastructure.spec;
// nullptr when both are empty.
const PyValue* JobName(const PyValue& spec, const PyValue& infrastructure) {
  const PyValue* const cluster = spec.Find("cluster");
  const PyValue* const inner = cluster == nullptr ? nullptr : cluster->Find("spec");
  const PyValue* const names[] = {inner == nullptr ? nullptr : inner->Find("name"),
                                  infrastructure.Find("displayName")};
  for (const PyValue* const name : names) {
    if (name != nullptr && name->is_truthy()) return name;
  }
  return nullptr;
}

std::string TextOrNothing(const PyValue& map, std::string_view key) {
  const PyValue* value = map.Find(key);
  return value != nullptr && value->is_truthy() ? PyStr(*value) : "";
}

base::Result<const PyValue*> TrainReader::NeedMap(const PyValue& in, std::string_view key,
                                                  const std::string& where) const {
  const PyValue* value = in.Find(key);
  if (value == nullptr || value->is_none()) {
    return FailAt(in.line, fmt::format("{}{} is missing", where, key));
  }
  if (!value->is_map()) {
    return FailAt(value->line,
                  fmt::format("{}{} must be a map, not {}", where, key, ShortRepr(*value)));
  }
  return value;
}

base::Result<OrderedEnv> TrainReader::ReadEnv(const PyValue* list, const std::string& where) const {
  OrderedEnv env;
  if (list == nullptr || list->is_none()) return env;
  if (!list->is_list()) {
    return FailAt(list->line, fmt::format("{} must be a list of `name` and `value`", where));
  }
  for (const PyValue& item : list->items) {
    const PyValue* name = item.is_map() ? item.Find("name") : nullptr;
    if (name == nullptr || name->is_none() || PyStr(*name).empty()) {
      return FailAt(item.line, fmt::format("an entry of {} has no name", where));
    }
    const std::string text = PyStr(*name);
    if (text.find('=') != std::string::npos) {
      return FailAt(item.line, fmt::format("the name \"{}\" in {} holds a \"=\"", text, where));
    }
    const PyValue* value = item.Find("value");
    if (value == nullptr) {
      return FailAt(item.line, fmt::format("the entry \"{}\" of {} has no value", text, where));
    }
    env.Set(text, PyStr(*value));
  }
  return env;
}

base::Result<std::optional<std::string>> TrainReader::ReadStartOptions(
    const PyValue* config, const std::string& where) const {
  const PyValue* options = config == nullptr ? nullptr : config->Find("startOptions");
  if (options == nullptr || options->is_none()) return std::optional<std::string>();
  if (!options->is_list()) {
    return FailAt(options->line, fmt::format("{}.startOptions must be a list", where));
  }
  std::vector<std::string> parts;
  parts.reserve(options->items.size());
  for (const PyValue& item : options->items) parts.push_back(PyStr(item));
  const std::string joined = base::Join(parts, " ");
  if (joined.empty()) return std::optional<std::string>();
  return std::optional(std::string(PyStrip(joined)));
}

base::Result<int64_t> TrainReader::ReadReplicas(const PyValue& role, const std::string& where) {
  const PyValue* value = role.Find("replicas");
  if (value == nullptr || value->is_none()) return 1;
  const std::optional<int64_t> number =
      value->is_list() || value->is_map() ? std::nullopt : base::ParseInt(PyStr(*value));
  if (!number || *number < 0 || *number > kMaxReplicas) {
    return FailAt(value->line, fmt::format("{}.replicas must be a whole number up to {}, not {}",
                                           where, kMaxReplicas, ShortRepr(*value)));
  }
  if (*number == 0) {
    config_.warnings.push_back(
        fmt::format("{} line {}: {}.replicas of 0 means 1{}", path_, value->line, where,
                    where.ends_with(".main") ? "" : "; leave the section out for none"));
    return 1;
  }
  return *number;
}

base::Result<std::optional<RoleConfig>> TrainReader::ReadRole(const PyValue& spec,
                                                              const std::string& key) {
  const PyValue* role = spec.Find(key);
  if (role == nullptr || !role->is_truthy()) return std::optional<RoleConfig>();
  const std::string where = "spec.cluster.spec." + key;
  if (!role->is_map()) return FailAt(role->line, where + " must be a map");
  RoleConfig read;
  read.name = OptionalText(*role, "name");
  if (const PyValue* const name = role->Find("name"); name != nullptr && !name->is_truthy()) {
    read.name.reset();
  }
  TRY_ASSIGN(read.replicas, ReadReplicas(*role, where));
  const PyValue* config = role->Find("config");
  if (config != nullptr) {
    TRY_ASSIGN(read.env, ReadEnv(config->Find("env"), where + ".config.env"));
    TRY_ASSIGN(read.start_args, ReadStartOptions(config, where + ".config"));
  }
  return std::optional(std::move(read));
}

base::Status TrainReader::ReadInfrastructure(const PyValue& spec) {
  TRY_ASSIGN(const PyValue* infrastructure, NeedMap(spec, "infrastructure", "spec."));
  TRY_ASSIGN(const PyValue* inner, NeedMap(*infrastructure, "spec", "spec.infrastructure."));
  config_.infrastructure = *inner;
  if (const PyValue* const name = JobName(spec, *infrastructure); name != nullptr) {
    config_.infrastructure.Set("displayName", *name);
  }
  NameInfrastructure(config_.infrastructure);
  if (is_strict_) TRY(CheckStorageSize());
  return {};
}

base::Status TrainReader::CheckStorageSize() const {
  for (const std::string_view key : kStorageSizeKeys) {
    const PyValue* const size = config_.infrastructure.Find(key);
    if (size == nullptr || size->is_none() || StorageSizeOf(*size)) continue;
    return FailAt(size->line, fmt::format("spec.infrastructure.spec.{} must be a whole number of "
                                          "gigabytes, not {}",
                                          key, ShortRepr(*size)));
  }
  return {};
}

base::Status TrainReader::ReadCertificate(const PyValue& spec) {
  const PyValue* certificate = spec.Find("certificate");
  if (certificate == nullptr || certificate->is_none()) return {};
  const PyValue* ca = certificate->Find("caCert");
  const PyValue* cert = certificate->Find("cert");
  if (ca == nullptr || cert == nullptr || !ca->is_truthy() || !cert->is_truthy()) {
    config_.warnings.push_back(
        fmt::format("{} line {}: spec.cluster.spec.certificate is ignored: caCert and cert are "
                    "wanted side by side",
                    path_, certificate->line));
    return {};
  }
  for (const PyValue* part : {ca, cert}) {
    if (OptionalText(*part, "id")) continue;
    return FailAt(part->line, fmt::format("spec.cluster.spec.certificate.{}.id is missing",
                                          part == ca ? "caCert" : "cert"));
  }
  CertificateConfig read;
  read.ca_id = OptionalText(*ca, "id").value_or("None");
  read.ca_location = OptionalText(*ca, "downloadLocation").value_or("ca-cert.pem");
  read.cert_id = OptionalText(*cert, "id").value_or("None");
  read.cert_location = OptionalText(*cert, "certDownloadLocation").value_or("cert.pem");
  read.key_location = OptionalText(*cert, "keyDownloadLocation").value_or("key.pem");
  config_.certificate = std::move(read);
  return {};
}

base::Status TrainReader::ReadCluster(const PyValue& spec) {
  TRY_ASSIGN(const PyValue* cluster, NeedMap(spec, "cluster", "spec."));
  const std::optional<std::string> kind = OptionalText(*cluster, "kind");
  if (!kind || kind->empty()) {
    return FailAt(cluster->line,
                  "spec.cluster.kind is missing: pytorch, dask, horovod, tensorflow");
  }
  config_.cluster_type = base::ToUpper(*kind);
  TRY_ASSIGN(const PyValue* inner, NeedMap(*cluster, "spec", "spec.cluster."));
  const std::optional<std::string> image = OptionalText(*inner, "image");
  if (!image || image->empty()) {
    return FailAt(
        inner->line,
        "spec.cluster.spec.image is missing: REGISTRY/NAME:TAG, or \"@image\" for the one "
        "of ./config.ini");
  }
  config_.image = *image;
  config_.work_dir = OptionalText(*inner, "workDir");
  const PyValue* ephemeral = inner->Find("ephemeral");
  if (ephemeral != nullptr) config_.ephemeral = PyStr(*ephemeral);
  if (const PyValue* config = inner->Find("config"); config != nullptr) {
    TRY_ASSIGN(config_.env, ReadEnv(config->Find("env"), "spec.cluster.spec.config.env"));
    TRY_ASSIGN(auto start, ReadStartOptions(config, "spec.cluster.spec.config"));
    config_.start_args = start.value_or("");
  }
  TRY_ASSIGN(std::optional<RoleConfig> main, ReadRole(*inner, "main"));
  const PyValue* main_value = inner->Find("main");
  if (!main && (main_value == nullptr || main_value->is_none())) {
    return FailAt(inner->line,
                  "spec.cluster.spec.main is missing: it wants at least `replicas: 1`");
  }
  config_.main = main.value_or(RoleConfig());
  if (config_.main.replicas > 1) {
    config_.main.replicas = 1;
    config_.warnings.emplace_back(
        "WARNING:ads.yaml:`replicas` greater than 1 is currently not supported. This will be "
        "default to 1");
  }
  TRY_ASSIGN(config_.worker, ReadRole(*inner, "worker"));
  TRY_ASSIGN(config_.ps, ReadRole(*inner, "ps"));
  return ReadCertificate(*inner);
}

base::Result<std::string> TrainReader::ReadArgs(const PyValue* args) {
  if (args == nullptr || !args->is_truthy()) return std::string();
  if (!args->is_list()) return PyStr(*args);
  std::string joined;
  for (const PyValue& item : args->items) {
    const std::string text = PyStr(item);
    if (text.find_first_of(" \t\n'\"\\") != std::string::npos) {
      config_.warnings.push_back(
          fmt::format("{} line {}: the argument \"{}\" is split into words in the container; quote "
                      "it as a shell wants it, in one string",
                      path_, item.line, text));
    }
    joined += (&item == &args->items.front() ? "" : " ") + text;
  }
  return joined;
}

base::Status TrainReader::ReadRuntime(const PyValue& spec) {
  TRY_ASSIGN(const PyValue* runtime, NeedMap(spec, "runtime", "spec."));
  TRY_ASSIGN(const PyValue* inner, NeedMap(*runtime, "spec", "spec.runtime."));
  RuntimeConfig& read = config_.runtime;
  read.type = TextOrNothing(*runtime, "type");
  if (!read.IsKnown()) {
    config_.warnings.push_back(fmt::format(
        "{} line {}: spec.runtime.type \"{}\" is not supported: git or remote, or nothing for the "
        "code in the image",
        path_, runtime->Find("type")->line, read.type));
  }
  read.entry_point = OptionalText(*inner, "entryPoint");
  TRY_ASSIGN(read.args, ReadArgs(inner->Find("args")));
  if (const PyValue* const function = inner->Find("entryFunction");
      function != nullptr && function->is_truthy()) {
    config_.warnings.push_back(
        fmt::format("{} line {}: spec.runtime.spec.entryFunction is ignored: entryPoint is run as "
                    "a program",
                    path_, function->line));
  }
  read.kwargs = TextOrNothing(*inner, "kwargs");
  TRY_ASSIGN(read.env, ReadEnv(inner->Find("env"), "spec.runtime.spec.env"));
  read.uri = TextOrNothing(*inner, "uri");
  read.branch = TextOrNothing(*inner, "branch");
  read.commit = TextOrNothing(*inner, "commit");
  read.git_secret_id = TextOrNothing(*inner, "gitSecretId");
  read.code_dir = TextOrNothing(*inner, "codeDir");
  read.python_path = TextOrNothing(*inner, "pythonPath");
  return {};
}

base::Result<TrainConfig> TrainReader::Read(const PyValue& document) {
  if (!document.is_map())
    return FailAt(0, "the file is not a map of keys; it begins with \"kind:\"");
  const PyValue* kind = document.Find("kind");
  if (kind == nullptr) {
    return base::Fail(base::Code::kInvalidArgument,
                      fmt::format("KeyError: 'kind' ({}: write \"kind: distributed\")", path_));
  }
  if (PyStr(*kind) != "distributed") {
    return base::Fail(
        base::Code::kInvalidArgument,
        fmt::format("NotImplementedError: backend {} is not implemented. ({} line {}: "
                    "write \"kind: distributed\")",
                    PyStr(*kind), path_, kind->line));
  }
  if (is_strict_) TRY(CheckKeys(document, path_, config_.warnings));
  config_.path = path_;
  TRY_ASSIGN(const PyValue* spec, NeedMap(document, "spec", ""));
  TRY(ReadInfrastructure(*spec));
  TRY(ReadCluster(*spec));
  TRY(ReadRuntime(*spec));
  return std::move(config_);
}

// Keys and values are quoted unchanged, so a message is reduced to one line of readable length.
void MakeLine(std::string& message) {
  constexpr size_t kMaxMessage = 400, kEnd = 100;
  if (message.size() > kMaxMessage) {
    const auto is_inside = [&](size_t at) {
      return static_cast<unsigned char>(message[at]) >> 6 == 2;
    };
    size_t first = kMaxMessage - kEnd, last = message.size() - kEnd;
    while (is_inside(first)) --first;
    while (is_inside(last)) ++last;
    message = message.substr(0, first) + "..." + message.substr(last);
  }
  for (char& c : message) {
    if (c == '\n' || c == '\r') c = ' ';
  }
}

bool IsPlaceholder(std::string_view text) {
  const size_t open = text.find('<');
  if (open != std::string_view::npos && text.find('>', open) != std::string_view::npos) return true;
  const std::string lower = base::ToLower(text);
  return lower.starts_with("oci.xxx") || lower.find(".xxxx") != std::string::npos;
}

void CollectPlaceholders(const PyValue& value, const std::string& where,
                         std::vector<std::string>& found) {
  if (value.is_map()) {
    for (const PyValue::Member& member : value.members) {
      CollectPlaceholders(member.value, where + "." + member.key, found);
    }
  }
  if (!value.is_string() || !IsPlaceholder(value.text)) return;
  found.push_back(fmt::format("{}: {} (line {})", where, value.text, value.line));
}

}  // namespace

std::string TrainConfig::Infrastructure(std::string_view key) const {
  return OptionalText(infrastructure, key).value_or("");
}

base::Result<TrainConfig> ReadTrainConfig(const PyValue& document, const std::string& path,
                                          const TrainReadOptions& options) {
  auto config = TrainReader(path, options.is_strict).Read(document);
  if (config) {
    for (std::string& warning : config->warnings) MakeLine(warning);
  } else {
    MakeLine(config.error().message);
  }
  return config;
}

base::Result<TrainConfig> ReadTrainConfig(std::string_view text, const std::string& path,
                                          const TrainReadOptions& options) {
  const base::Result<PyValue> document = ReadPyYaml(text);
  if (!document) {
    return base::Fail(base::Code::kInvalidArgument,
                      fmt::format("{} {}", path, document.error().message));
  }
  return ReadTrainConfig(*document, path, options);
}

base::Status CheckPlaceholders(const TrainConfig& config, const base::Environment& environment) {
  if (oci::IsServedHere(oci::Service::kDataScience, environment)) return {};
  std::vector<std::string> found;
  CollectPlaceholders(config.infrastructure, "spec.infrastructure.spec", found);
  if (IsPlaceholder(config.image)) found.push_back("spec.cluster.spec.image: " + config.image);
  if (config.work_dir && IsPlaceholder(*config.work_dir)) {
    found.push_back("spec.cluster.spec.workDir: " + *config.work_dir);
  }
  if (found.empty()) return {};
  return base::Fail(base::Code::kInvalidArgument,
                    fmt::format("ValueError: {}: these values are still the documentation's; put "
                                "your own in their place: {}",
                                config.path, base::Join(found, "; ")));
}

}  // namespace ads
