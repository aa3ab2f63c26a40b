#include "ads/config/job_spec.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/strings.h"

namespace ads {
namespace {

OrderedEnv JobEnv(const TrainConfig& config) {
  OrderedEnv env = config.env;
  const RuntimeConfig& runtime = config.runtime;
  env.Set("OCI__WORK_DIR", config.work_dir.value_or("None"));
  env.Set("OCI__EPHEMERAL", config.ephemeral);
  env.Set("OCI__CLUSTER_TYPE", config.cluster_type);
  env.Set("OCI__WORKER_COUNT", std::to_string(config.worker ? config.worker->replicas : 0));
  if (config.ps) env.Set("OCI__PS_COUNT", std::to_string(config.ps->replicas));
  env.Set("OCI__START_ARGS", config.start_args);
  env.Set("OCI__ENTRY_SCRIPT", runtime.entry_point.value_or("None"));
  if (!runtime.type.empty()) {
    env.Set("OCI__RUNTIME_TYPE", runtime.type);
    const std::pair<const char*, const std::string*> parts[] = {
        {"OCI__RUNTIME_URI", &runtime.uri},
        {"OCI__RUNTIME_GIT_BRANCH", &runtime.branch},
        {"OCI__RUNTIME_GIT_COMMIT", &runtime.commit},
        {"OCI__RUNTIME_GIT_SECRET_ID", &runtime.git_secret_id},
        {"OCI__CODE_DIR", &runtime.code_dir},
        {"OCI__RUNTIME_PYTHON_PATH", &runtime.python_path}};
    for (const auto& [name, value] : parts) {
      if (!value->empty()) env.Set(name, *value);
    }
  }
  if (!runtime.args.empty()) env.Set("OCI__ENTRY_SCRIPT_ARGS", runtime.args);
  if (!runtime.kwargs.empty()) env.Set("OCI__ENTRY_SCRIPT_KWARGS", runtime.kwargs);
  env.SetAll(runtime.env);
  if (config.certificate) {
    const CertificateConfig& certificate = *config.certificate;
    env.Set("OCI__CERTIFICATE_OCID", certificate.cert_id);
    env.Set("OCI__CERTIFICATE_KEY_DOWNLOAD_LOCATION", certificate.key_location);
    env.Set("OCI__CERTIFICATE_DOWNLOAD_LOCATION", certificate.cert_location);
    env.Set("OCI__CERTIFICATE_AUTHORITY_OCID", certificate.ca_id);
    env.Set("OCI__CA_DOWNLOAD_LOCATION", certificate.ca_location);
  }
  return env;
}

JobRunSpec MakeRun(const RoleConfig& role, std::string name, std::string mode,
                   const std::string& rank) {
  JobRunSpec run{std::move(name), role.env};
  if (role.start_args) run.env.Set("OCI__START_ARGS", *role.start_args);
  run.env.Set("OCI__MODE", std::move(mode));
  if (!rank.empty()) run.env.Set("RANK", rank);
  return run;
}

// As Python's configparser.
constexpr int kMostNested = 10;
// Of one value, whatever refers to what. The service takes 20,000 characters in all.
constexpr int kMostReferences = 10'000;
constexpr size_t kLongestValue = 1 << 20;

constexpr size_t kLongestShown = 200;

bool IsNamePart(char c) {
  const auto lower = static_cast<char>(c | 0x20);
  return c == '_' || base::IsDigit(c) || (lower >= 'a' && lower <= 'z');
}

bool IsIdentifier(std::string_view text) {
  return !text.empty() && !base::IsDigit(text[0]) &&
         std::all_of(text.begin(), text.end(), IsNamePart);
}

// The NAME of "${NAME}" at `at`; "" when there is none.
std::string_view BracedName(std::string_view text, size_t at) {
  if (text.substr(at, 2) != "${") return {};
  const size_t close = text.find('}', at);
  if (close == std::string_view::npos) return {};
  return text.substr(at + 2, close - at - 2);
}

// Replaces the references of one value, and those of the values that it refers to.
class Substitution {
 public:
  explicit Substitution(const OrderedEnv& env) : env_(env) {}

  // nullopt: the references do not end, or what they bring is too long.
  std::optional<std::string> Of(const std::string& value) {
    std::string out;
    return Append(value, 1, out) ? std::optional(std::move(out)) : std::nullopt;
  }

 private:
  bool Append(const std::string& value, int depth, std::string& out) {
    if (depth > kMostNested) return false;
    for (size_t at = 0; at < value.size();) {
      if (value.compare(at, 2, "$$") == 0) {
        out += '$';
        at += 2;
        continue;
      }
      const std::string_view name = BracedName(value, at);
      if (name.empty()) {
        out += value[at++];
        continue;
      }
      const std::string* const found = env_.Find(name);
      if (found == nullptr) {
        out += value.substr(at);
        return true;
      }
      if (--left_ < 0 || out.size() > kLongestValue) return false;
      if (!Append(*found, depth + 1, out)) return false;
      at += name.size() + 3;
    }
    return true;
  }

  const OrderedEnv& env_;
  int left_ = kMostReferences;
};

}  // namespace

JobSpec MakeJobSpec(const TrainConfig& config, const std::string& image,
                    const std::string& job_name) {
  JobSpec job;
  job.infrastructure = config.infrastructure;
  const PyValue* const display_name = job.infrastructure.Find("displayName");
  if (display_name != nullptr && display_name->is_truthy()) {
    job.name = PyStr(*display_name);
  } else if (!job_name.empty()) {
    job.name = job_name;
  }
  job.env = JobEnv(config);
  job.image = image;
  job.work_dir = config.work_dir;
  job.runs.push_back(MakeRun(config.main, config.main.name.value_or("main"), "MAIN", "0"));
  const auto add = [&](const std::optional<RoleConfig>& role, const std::string& otherwise,
                       const std::string& mode) {
    if (!role) return;
    for (int64_t i = 0; i < role->replicas; ++i) {
      job.runs.push_back(MakeRun(*role, fmt::format("{}_{}", role->name.value_or(otherwise), i),
                                 mode, mode == "WORKER" ? std::to_string(i + 1) : ""));
    }
  };
  add(config.worker, "worker", "WORKER");
  add(config.ps, "ps", "PS");
  return job;
}

OrderedEnv SubstituteEnv(const OrderedEnv& env) {
  OrderedEnv out;
  for (const auto& [name, value] : env) {
    out.Set(name, Substitution(env).Of(value).value_or(value));
  }
  return out;
}

base::Status CheckReferences(const OrderedEnv& env, std::string_view path) {
  for (const auto& [name, value] : env) {
    if (Substitution(env).Of(value)) continue;
    return base::Fail(
        base::Code::kInvalidArgument,
        fmt::format("InterpolationDepthError: {}: the value of {} refers to itself, through more "
                    "than {} variables, or becomes too long: {}; write $${{NAME}} for what is not "
                    "to be replaced",
                    path, name, kMostNested, base::OneLine(value, kLongestShown)));
  }
  return {};
}

std::string SubstituteName(const std::string& name, const OrderedEnv& job, const OrderedEnv& run) {
  const auto find = [&](std::string_view variable) {
    const std::string* found = run.Find(variable);
    return found != nullptr ? found : job.Find(variable);
  };
  std::string out;
  for (size_t at = 0; at < name.size();) {
    if (name.compare(at, 2, "$$") == 0) {
      out += '$';
      at += 2;
      continue;
    }
    std::string_view variable = BracedName(name, at);
    size_t taken = variable.size() + 3;
    if (variable.empty() && name[at] == '$') {
      size_t end = at + 1;
      while (end < name.size() && IsNamePart(name[end])) ++end;
      variable = std::string_view(name).substr(at + 1, end - at - 1);
      taken = end - at;
    }
    const std::string* found = IsIdentifier(variable) ? find(variable) : nullptr;
    if (found == nullptr) {
      out += name[at++];
      continue;
    }
    out += *found;
    at += taken;
  }
  return out;
}

std::optional<std::string> SentName(const JobSpec& job) {
  if (!job.name) return std::nullopt;
  std::string name = SubstituteName(*job.name, SubstituteEnv(job.env), {});
  return name.empty() ? std::nullopt : std::optional(std::move(name));
}

std::string SentRunName(const JobSpec& job, const JobRunSpec& run) {
  return SubstituteName(run.name, SubstituteEnv(job.env), run.env);
}

}  // namespace ads
