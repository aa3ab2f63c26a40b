#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <thread>

#include "ads/config/ini_file.h"
#include "ads/oci/profile.h"
#include "ads/terminal_input.h"
#include "ads/verbs.h"
#include "base/file.h"
#include "base/strings.h"

namespace ads {
namespace {

constexpr unsigned kConfigMode = 0600;

// The questions of `configure`, in the original's order (compat/opctl.md 2.6).
class Configure {
 public:
  Configure(const Context& context, cli::Output& out) : context_(context), out_(out) {}

  base::Result<int> Run();

 private:
  base::Result<std::string> Ask(const std::string& question, const std::string& otherwise);
  base::Result<bool> AskYes(const std::string& question, bool otherwise);
  base::Result<IniFile> Load(const std::string& name) const;
  base::Status Save(const std::string& name, const IniFile& file);
  base::Status AskMain();
  base::Status AskJobs();
  base::Status AskJobSection(IniFile& file, const std::string& section);
  base::Status AskLocal();
  base::Status AskLocalSection(IniFile& file, const std::string& section);
  base::Status AskSections(const std::string& name,
                           base::Status (Configure::*ask)(IniFile&, const std::string&));

  const Context& context_;
  cli::Output& out_;
  std::string folder_, auth_, oci_config_;
};

base::Result<std::string> Configure::Ask(const std::string& question,
                                         const std::string& otherwise) {
  while (true) {
    TRY(out_.Write(otherwise.empty() ? question + ": "
                                     : fmt::format("{} [{}]: ", question, otherwise)));
    const auto line = ReadLine();
    if (!line) {
      return base::Fail(base::Code::kCancelled,
                        fmt::format("the input ended at the question \"{}\"", question));
    }
    const std::string answer(base::Trim(*line));
    if (!answer.empty()) return answer;
    if (!otherwise.empty()) return otherwise;
  }
}

base::Result<bool> Configure::AskYes(const std::string& question, bool otherwise) {
  TRY(out_.Write(fmt::format("{} [{}]: ", question, otherwise ? "Y/n" : "y/N")));
  const std::string answer = base::ToLower(base::Trim(ReadLine().value_or("")));
  return answer.empty() ? otherwise : answer == "y" || answer == "yes";
}

base::Result<IniFile> Configure::Load(const std::string& name) const {
  const std::string path = folder_ + "/" + name;
  const auto text = base::ReadFile(path);
  if (text) return IniFile::Parse(*text, path, IniFile::Keys::kAsWritten);
  if (text.error().code == base::Code::kNotFound) return IniFile();
  return base::Fail(text.error());
}

base::Status Configure::Save(const std::string& name, const IniFile& file) {
  const std::string path = folder_ + "/" + name;
  TRY(base::WriteFileAtomic(path, file.Text(), kConfigMode, base::Durability::kNone));
  return out_.Write(fmt::format("Configuration saved at {}\n", path));
}

base::Status Configure::AskMain() {
  TRY_ASSIGN(folder_, Ask("Folder to save the configuration of opctl", "~/.ads_ops"));
  folder_ = ExpandHome(folder_, context_.environment);
  TRY(base::MakeDirs(folder_));
  TRY_ASSIGN(IniFile file, Load("config.ini"));
  const auto before = [&](const char* section, const char* key, const char* otherwise) {
    const std::string* value = file.Find(section, key);
    return value == nullptr || value->empty() ? std::string(otherwise) : *value;
  };
  while (auth_ != "api_key" && auth_ != "resource_principal" && auth_ != "security_token" &&
         auth_ != "instance_principal") {
    TRY_ASSIGN(auth_, Ask("Authentication: api_key, resource_principal, security_token or "
                          "instance_principal",
                          before("OCI", "auth", "api_key")));
  }
  TRY_ASSIGN(oci_config_,
             Ask("OCI configuration file", before("OCI", "oci_config", "~/.oci/config")));
  TRY_ASSIGN(const std::string profile,
             Ask("OCI profile", before("OCI", "oci_profile", "DEFAULT")));
  const std::string path = ExpandHome(oci_config_, context_.environment);
  const bool is_wanted = auth_ == "api_key" || auth_ == "security_token";
  if (is_wanted && !oci::HasProfile(path, profile)) {
    return base::Fail(base::Code::kNotFound,
                      fmt::format("ValueError: profile {} is not found in {}", profile, path));
  }
  TRY_ASSIGN(std::string packs,
             Ask("Folder of conda packs", before("CONDA", "conda_pack_folder", "~/conda")));
  packs = std::filesystem::absolute(ExpandHome(packs, context_.environment)).string();
  TRY_ASSIGN(const std::string prefix,
             Ask("Object storage prefix of conda packs",
                 before("CONDA", "conda_pack_os_prefix", "oci://bucket@namespace/path")));
  file.Set("OCI", "oci_config", oci_config_);
  file.Set("OCI", "oci_profile", profile);
  file.Set("OCI", "auth", auth_);
  file.Set("CONDA", "conda_pack_folder", packs);
  file.Set("CONDA", "conda_pack_os_prefix", prefix);
  return Save("config.ini", file);
}

base::Status Configure::AskJobSection(IniFile& file, const std::string& section) {
  for (const char* key :
       {"compartment_id", "project_id", "subnet_id", "shape_name", "block_storage_size_in_GBs"}) {
    const std::string* before = file.Find(section, key);
    TRY_ASSIGN(std::string value, Ask(key, before == nullptr ? "" : *before));
    file.Set(section, key, std::move(value));
  }
  for (const char* key : {"log_group_id", "log_id", "docker_registry", "conda_pack_os_prefix",
                          "memory_in_gbs", "ocpus"}) {
    const std::string* before = file.Find(section, key);
    TRY_ASSIGN(const std::string value, Ask(fmt::format("{} (optional; - for none)", key),
                                            before == nullptr || before->empty() ? "-" : *before));
    if (value != "-" || before != nullptr) file.Set(section, key, value == "-" ? "" : value);
  }
  return {};
}

base::Status Configure::AskJobs() {
  TRY_ASSIGN(const bool wanted, AskYes("Set up Data Science Jobs", true));
  return wanted ? AskSections("ml_job_config.ini", &Configure::AskJobSection) : base::Status();
}

// A section for each profile that is wanted, or for the principal.
base::Status Configure::AskSections(const std::string& name,
                                    base::Status (Configure::*ask)(IniFile&, const std::string&)) {
  TRY_ASSIGN(IniFile file, Load(name));
  std::vector<std::string> sections = {base::ToUpper(auth_)};
  if (auth_ != "resource_principal" && auth_ != "instance_principal") {
    const std::string path = ExpandHome(oci_config_, context_.environment);
    TRY_ASSIGN(const std::string text, base::ReadFile(path));
    TRY_ASSIGN(const IniFile profiles, IniFile::Parse(text, path));
    sections = profiles.Sections();
  }
  bool is_changed = false;
  for (const std::string& section : sections) {
    TRY_ASSIGN(const bool is_set, AskYes(fmt::format("Set it up for {}", section), false));
    if (!is_set) continue;
    TRY((this->*ask)(file, section));
    is_changed = true;
  }
  return is_changed ? Save(name, file) : base::Status();
}

base::Status Configure::AskLocal() {
  TRY_ASSIGN(const bool wanted, AskYes("Set up the local backend", true));
  return wanted ? AskSections("local_backend.ini", &Configure::AskLocalSection) : base::Status();
}

base::Status Configure::AskLocalSection(IniFile& file, const std::string& section) {
  const std::pair<const char*, unsigned> keys[] = {
      {"max_parallel_containers", std::min(std::max(1U, std::thread::hardware_concurrency()), 4U)},
      {"pipeline_status_poll_interval_seconds", 5U}};
  for (const auto& [key, otherwise] : keys) {
    const std::string* before = file.Find(section, key);
    TRY_ASSIGN(std::string value,
               Ask(key, before == nullptr ? std::to_string(otherwise) : *before));
    file.Set(section, key, std::move(value));
  }
  return {};
}

base::Result<int> Configure::Run() {
  TRY(AskMain());
  TRY(AskJobs());
  TRY(AskLocal());
  return 0;
}

}  // namespace

void AddConfigure(cli::Command& parent, Context& context) {
  cli::Command& verb = parent.Add("configure", "Ask for the defaults of the other commands.");
  verb.Help("ads/config/configure", context.program);
  auto is_debug = std::make_shared<bool>(false);
  verb.flags().Bool(is_debug.get(), "debug", false, "Accepted for compatibility.").Short('d');
  verb.Run(
      [&context, is_debug](cli::Invocation& call) { return Configure(context, call.out).Run(); });
}

}  // namespace ads
