#include "ads/opctl_config.h"

#include <fmt/format.h>
#include <unistd.h>

#include "ads/ini_file.h"
#include "base/file.h"

namespace ads {
namespace {

constexpr size_t kMaxConfigBytes = 1 << 20;
constexpr const char* kDefaultProfile = "DEFAULT";

}  // namespace

std::string ExpandHome(const std::string& path, const base::Environment& environment) {
  if (path == "~") return environment.Home();
  return path.starts_with("~/") ? environment.Home() + path.substr(1) : path;
}

base::Result<Login> ChooseLogin(const LoginFlags& flags, const base::Environment& environment) {
  const std::string folder =
      ExpandHome(flags.ads_config.empty() ? "~/.ads_ops" : flags.ads_config, environment);
  const std::string path = folder + "/config.ini";
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
  const auto first = [](const std::string& a, const std::string& b, std::string c) {
    return !a.empty() ? a : !b.empty() ? b : std::move(c);
  };
  Login login;
  login.auth = first(flags.auth, of_file[0], otherwise);
  std::string config = "~/.oci/config";
  if (::access(ExpandHome(config, environment).c_str(), F_OK) != 0) {
    config = environment.GetOr("OCI_CONFIG_FILE", config);
  }
  login.config_path = ExpandHome(first(flags.oci_config, of_file[1], config), environment);
  login.profile = first(flags.oci_profile, of_file[2], kDefaultProfile);
  return login;
}

base::Result<std::map<std::string, std::string>> ReadOciProfile(const std::string& path,
                                                                const std::string& profile) {
  const auto text = base::ReadFile(path, kMaxConfigBytes);
  if (!text && text.error().code == base::Code::kNotFound) {
    return base::Fail(
        base::Code::kNotFound,
        fmt::format("ConfigFileNotFound: Could not find config file at {}; write one with user, "
                    "tenancy, fingerprint, key_file and region, or name it with --oci-config",
                    path));
  }
  if (!text) return base::Fail(text.error());
  TRY_ASSIGN(const IniFile file, IniFile::Parse(*text, path));
  std::map<std::string, std::string> values;
  for (const std::string& name : {std::string(kDefaultProfile), profile}) {
    const IniFile::Section* section = file.FindSection(name);
    if (section == nullptr) continue;
    for (const IniFile::Entry& entry : section->entries) {
      if (!entry.key.empty()) values[entry.key] = entry.value;
    }
  }
  if (file.HasSection(profile)) return values;
  std::string known;
  for (const std::string& name : file.Sections()) known += (known.empty() ? "" : ", ") + name;
  return base::Fail(
      base::Code::kNotFound,
      fmt::format("ProfileNotFound: Profile '{}' not found in config file {}; it has {}", profile,
                  path, known.empty() ? "none" : known));
}

}  // namespace ads
