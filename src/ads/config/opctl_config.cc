#include "ads/config/opctl_config.h"

#include <unistd.h>

#include "ads/config/ini_file.h"
#include "base/file.h"
#include "base/strings.h"

namespace ads {
namespace {

constexpr size_t kMaxConfigBytes = 1 << 20;
constexpr const char* kDefaultProfile = "DEFAULT";

std::string AdsConfigFolder(const LoginFlags& flags, const base::Environment& environment) {
  return ExpandHome(flags.ads_config.empty() ? "~/.ads_ops" : flags.ads_config, environment);
}

bool IsThere(const std::string& path, const base::Environment& environment) {
  return ::access(ExpandHome(path, environment).c_str(), F_OK) == 0;
}

}  // namespace

std::string ExpandHome(const std::string& path, const base::Environment& environment) {
  if (path == "~") return environment.Home();
  return path.starts_with("~/") ? environment.Home() + path.substr(1) : path;
}

base::Result<Login> ChooseLogin(const LoginFlags& flags, const base::Environment& environment) {
  const std::string path = AdsConfigFolder(flags, environment) + "/config.ini";
  std::string of_file[3];
  const auto text = base::ReadFile(path, kMaxConfigBytes);
  if (text) {
    TRY_ASSIGN(const IniFile file, IniFile::Parse(*text, path));
    const char* const keys[] = {"auth", "oci_config", "oci_profile"};
    for (size_t i = 0; i < 3; ++i) {
      if (const std::string* value = file.Find("OCI", keys[i])) of_file[i] = *value;
    }
  } else if (text.error().code != base::Code::kNotFound) {
    return base::Fail(text.error().Wrap("read the configuration of opctl"));
  }
  std::string otherwise = "api_key";
  for (const char* name :
       {"JOB_RUN_OCID", "NB_SESSION_OCID", "DATAFLOW_RUN_ID", "PIPELINE_RUN_OCID"}) {
    if (environment.Get(name)) otherwise = "resource_principal";
  }
  const auto first = [](const std::string& a, const std::string& b, const std::string& c) {
    return !a.empty() ? a : !b.empty() ? b : c;
  };
  Login login;
  // In a container the environment sets it (compat/opctl.md 5.3).
  login.auth = first(flags.auth, of_file[0], environment.GetOr("OCI_IAM_TYPE", otherwise));
  std::string config = "~/.oci/config";
  if (const auto location = environment.Get("OCI_CONFIG_LOCATION")) {
    config = *location;
  } else if (!IsThere(config, environment)) {
    if (IsThere("~/.oraclebmc/config", environment)) config = "~/.oraclebmc/config";
    config = environment.GetOr("OCI_CONFIG_FILE", config);
  }
  const std::string profile = environment.GetOr(
      "OCI_CONFIG_PROFILE", environment.GetOr("OCIFS_CONFIG_PROFILE", kDefaultProfile));
  login.config_path = ExpandHome(first(flags.oci_config, of_file[1], config), environment);
  login.profile = first(flags.oci_profile, of_file[2], profile);
  return login;
}

base::Result<std::string> JobDefault(const LoginFlags& flags, const base::Environment& environment,
                                     std::string_view key) {
  const std::string path = AdsConfigFolder(flags, environment) + "/ml_job_config.ini";
  const auto text = base::ReadFile(path, kMaxConfigBytes);
  if (!text) return std::string();
  TRY_ASSIGN(const IniFile file, IniFile::Parse(*text, path, IniFile::Keys::kAsWritten));
  TRY_ASSIGN(const Login chosen, ChooseLogin(flags, environment));
  const bool is_principal = chosen.auth.ends_with("_principal");
  const std::string section = is_principal ? base::ToUpper(chosen.auth) : chosen.profile;
  const bool is_there = file.FindSection(section) != nullptr;
  const std::string* const value = file.Find(is_there ? section : kDefaultProfile, key);
  return value == nullptr ? std::string() : *value;
}

base::Status CheckShapeDefault(const LoginFlags& flags, const base::Environment& environment) {
  TRY_ASSIGN(const std::string shape, JobDefault(flags, environment, "shape_name"));
  if (!shape.ends_with(".Flex")) return {};
  for (const char* key : {"ocpus", "memory_in_gbs"}) {
    TRY_ASSIGN(const std::string size, JobDefault(flags, environment, key));
    if (!size.empty()) continue;
    return base::Fail(
        base::Code::kInvalidArgument,
        "ValueError: Parameters `ocpus` and `memory_in_gbs` must be provided for using flex shape. "
        "Call `ads opctl configure` to specify.");
  }
  return {};
}

}  // namespace ads
