#include "ads/config/job_spec.h"

#include <fmt/format.h>

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

bool IsNamePart(char c) {
  const auto lower = static_cast<char>(c | 0x20);
  return c == '_' || base::IsDigit(c) || (lower >= 'a' && lower <= 'z');
}

// The NAME of "${NAME}" at `at`; "" when there is none.
std::string_view BracedName(std::string_view text, size_t at) {
  if (text.substr(at, 2) != "${") return {};
  const size_t close = text.find('}', at);
  if (close == std::string_view::npos) return {};
  return text.substr(at + 2, close - at - 2);
}

std::string SubstituteValue(const std::string& value, const OrderedEnv& env) {
  std::string out;
  for (size_t at = 0; at < value.size();) {
    if (value.compare(at, 2, "$$") == 0) {
      out += '$';
      at += 2;
      continue;
    }
    const std::string_view name = BracedName(value, at);
    if (!name.empty()) {
      const std::string* found = env.Find(name);
      if (found == nullptr) return out + value.substr(at);
      out += *found;
      at += name.size() + 3;
      continue;
    }
    out += value[at++];
  }
  return out;
}

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
  for (const auto& [name, value] : env) out.Set(name, SubstituteValue(value, env));
  return out;
}

std::string SubstituteName(const std::string& name, const OrderedEnv& job, const OrderedEnv& run) {
  const auto find = [&](std::string_view variable) {
    const std::string* found = run.Find(variable);
    return found != nullptr ? found : job.Find(variable);
  };
  std::string out;
  for (size_t at = 0; at < name.size();) {
    std::string_view variable = BracedName(name, at);
    size_t taken = variable.size() + 3;
    if (variable.empty() && name[at] == '$') {
      size_t end = at + 1;
      while (end < name.size() && IsNamePart(name[end])) ++end;
      variable = std::string_view(name).substr(at + 1, end - at - 1);
      taken = end - at;
    }
    const std::string* found = variable.empty() ? nullptr : find(variable);
    if (found == nullptr) {
      out += name[at++];
      continue;
    }
    out += *found;
    at += taken;
  }
  return out;
}

}  // namespace ads
