#include "ads/oci/profile.h"

#include <fmt/format.h>

#include "base/strings.h"

namespace ads::oci {
namespace {

using base::Code;
using base::Fail;

constexpr std::string_view kDefaultSection = "DEFAULT";

// The value is a view into the file's text.
struct ConfigLine {
  size_t number = 0;
  std::string section, key;
  std::string_view value;
};

struct ConfigLines {
  std::vector<std::string> sections;
  std::vector<ConfigLine> lines;
};

// Continued lines are kept unchanged: no value that is read here has any.
base::Result<ConfigLines> SplitConfig(std::string_view text, const std::string& path) {
  ConfigLines found;
  const auto refuse = [&](size_t number, std::string_view why) {
    return Fail(Code::kInvalidArgument,
                fmt::format("InvalidConfig: {} line {}: {}", path, number, why));
  };
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  for (size_t number = 1; !text.empty(); ++number) {
    const size_t end = text.find('\n');
    const std::string_view raw = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    const std::string_view line = base::Trim(raw);
    if (line.empty() || line[0] == '#' || line[0] == ';') continue;
    const bool is_continued = raw[0] == ' ' || raw[0] == '\t';
    if (is_continued && !found.lines.empty()) continue;
    if (line[0] == '[') {
      const size_t close = line.find(']');
      if (close == std::string_view::npos) return refuse(number, "a [section] has no \"]\"");
      found.sections.emplace_back(line.substr(1, close - 1));
      continue;
    }
    if (found.sections.empty()) return refuse(number, "a [section] must come before the first key");
    const size_t separator = line.find_first_of("=:");
    if (separator == std::string_view::npos || separator == 0) {
      return refuse(number, "it is not `key=value`");
    }
    ConfigLine one{number, found.sections.back(),
                   base::ToLower(base::Trim(line.substr(0, separator))),
                   base::Trim(line.substr(separator + 1))};
    for (const ConfigLine& before : found.lines) {
      if (before.section == one.section && before.key == one.key) {
        return refuse(number, fmt::format("{} stands in line {} already", one.key, before.number));
      }
    }
    found.lines.push_back(std::move(one));
  }
  return found;
}

bool IsOcidCharacter(char c) {
  return base::IsDigit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' ||
         c == '_';
}

// ocid1.user.oc1..aaaa: at least five parts between dots or colons, the first and the last not
// empty.
bool IsOcid(std::string_view text) {
  size_t parts = 1;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '.' || text[i] == ':') {
      ++parts;
      if (i == 0 || i + 1 == text.size()) return false;
    } else if (!IsOcidCharacter(text[i])) {
      return false;
    }
  }
  return parts >= 5;
}

bool IsFingerprint(std::string_view text) {
  if (text.size() != 47) return false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const bool is_hex = base::IsDigit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
    if (i % 3 == 2 ? c != ':' : !is_hex) return false;
  }
  return true;
}

std::string Expand(std::string_view path, const std::string& home) {
  if (path.starts_with("~/")) return home + std::string(path.substr(1));
  return std::string(path);
}

}  // namespace

base::Result<Profile> ParseProfile(std::string_view text, const std::string& path,
                                   const std::string& name, const std::string& home) {
  TRY_ASSIGN(const ConfigLines config, SplitConfig(text, path));
  bool is_there = name == kDefaultSection && !config.sections.empty();
  std::string known;
  for (const std::string& section : config.sections) {
    is_there = is_there || section == name;
    known += (known.empty() ? "" : ", ") + section;
  }
  if (!is_there) {
    return Fail(Code::kNotFound,
                fmt::format("ProfileNotFound: Profile '{}' not found in config file {}: it has {}",
                            name, path, known.empty() ? "none" : known));
  }
  Profile profile;
  profile.path = path;
  profile.name = name;
  const std::map<std::string_view, std::string*> fields = {
      {"user", &profile.user},
      {"tenancy", &profile.tenancy},
      {"fingerprint", &profile.fingerprint},
      {"key_file", &profile.key_file},
      {"region", &profile.region},
      {"security_token_file", &profile.security_token_file}};
  for (const std::string_view section : {kDefaultSection, std::string_view(name)}) {
    for (const ConfigLine& line : config.lines) {
      if (line.section != section) continue;
      if (line.key == "pass_phrase") profile.pass_phrase = Secret(std::string(line.value));
      if (const auto field = fields.find(line.key); field != fields.end()) {
        *field->second = line.value;
      }
    }
  }
  profile.key_file = Expand(profile.key_file, home);
  profile.security_token_file = Expand(profile.security_token_file, home);
  return profile;
}

base::Status CheckProfile(const Profile& profile, ProfileUse use) {
  std::map<std::string_view, std::string_view> wrong;
  const auto want = [&](std::string_view key, const std::string& value, bool is_well_formed) {
    if (value.empty()) {
      wrong[key] = "missing";
    } else if (!is_well_formed) {
      wrong[key] = "malformed";
    }
  };
  if (use == ProfileUse::kApiKey) {
    want("user", profile.user, IsOcid(profile.user));
    want("tenancy", profile.tenancy, IsOcid(profile.tenancy));
    want("fingerprint", profile.fingerprint, IsFingerprint(profile.fingerprint));
  } else {
    want("security_token_file", profile.security_token_file, true);
  }
  want("key_file", profile.key_file, true);
  want("region", profile.region, true);
  if (wrong.empty()) return {};
  std::string list;
  for (const auto& [key, why] : wrong) {
    list += fmt::format("{}'{}': '{}'", list.empty() ? "" : ", ", key, why);
  }
  return Fail(Code::kInvalidArgument, fmt::format("InvalidConfig: {{{}}} in profile {} of {}", list,
                                                  profile.name, profile.path));
}

base::Result<Profile> ReadProfile(const std::string& path, const std::string& name, ProfileUse use,
                                  const base::Environment& environment) {
  const auto text = ReadSecretFile(path);
  if (!text && text.error().code == Code::kNotFound) {
    return Fail(Code::kNotFound,
                fmt::format("ConfigFileNotFound: Could not find config file at {}: write one with "
                            "user, tenancy, fingerprint, key_file and region, or name yours with "
                            "--oci-config",
                            path));
  }
  if (!text) return Fail(text.error());
  TRY_ASSIGN(Profile profile, ParseProfile(text->text(), path, name, environment.Home()));
  if (profile.region.empty()) profile.region = environment.GetOr("OCI_REGION", "");
  TRY(CheckProfile(profile, use));
  return profile;
}

bool HasProfile(const std::string& path, const std::string& name) {
  const auto text = ReadSecretFile(path);
  return text && ParseProfile(text->text(), path, name, "").has_value();
}

}  // namespace ads::oci
