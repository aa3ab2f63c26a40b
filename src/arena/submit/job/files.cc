#include "arena/submit/job/files.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <optional>

#include "arena/submit/job/options.h"
#include "arena/submit/job/refusal.h"
#include "base/file.h"
#include "base/strings.h"

namespace arena {
namespace {

using base::Code;
using base::Fail;

constexpr size_t kMaxSecretFileBytes = 256 << 10;

std::vector<std::string_view> TextLines(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    lines.push_back(line);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

// The parts of scheme://[user[:password]@]host[:port][/path].
struct Address {
  std::string scheme, user, host;
  std::optional<std::string> password;
};

std::optional<Address> ParseAddress(std::string_view url) {
  const size_t scheme = url.find("://");
  if (scheme == std::string_view::npos) return std::nullopt;
  Address address;
  address.scheme = base::ToLower(url.substr(0, scheme));
  std::string_view authority = url.substr(scheme + 3);
  authority = authority.substr(0, authority.find_first_of("/?#"));
  if (const size_t at = authority.rfind('@'); at != std::string_view::npos) {
    const std::string_view login = authority.substr(0, at);
    const size_t colon = login.find(':');
    address.user = base::PercentDecode(login.substr(0, colon));
    if (colon != std::string_view::npos) {
      address.password = base::PercentDecode(login.substr(colon + 1));
    }
    authority.remove_prefix(at + 1);
  }
  address.host = base::ToLower(authority);
  return address;
}

}  // namespace

base::Result<std::string> ReadSecretFile(std::string_view flag, const std::string& typed,
                                         const base::Environment& environment,
                                         std::vector<std::string>& warnings) {
  const std::string path = AtHome(typed, environment);
  auto content = base::ReadFile(path, kMaxSecretFileBytes);
  if (!content) {
    return Fail(Code::kInvalidArgument,
                fmt::format("{} is invalid: {}", flag, content.error().message));
  }
  struct stat info{};
  if (::stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode) && (info.st_mode & 077) != 0) {
    warnings.push_back(
        fmt::format("{} {} can be read by others (mode {:o}): `chmod 600 {}` makes it private",
                    flag, path, info.st_mode & 0777, base::ShellQuote(path)));
  }
  return content;
}

base::Result<std::vector<std::string>> ParseEnvFile(std::string_view text,
                                                    const base::Environment& environment) {
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  std::vector<std::string> entries;
  size_t number = 0;
  for (std::string_view line : TextLines(text)) {
    ++number;
    line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
    if (line.empty() || line.starts_with('#')) continue;
    const size_t equals = line.find('=');
    const std::string name(line.substr(0, equals));
    if (!ParseEnv({name + "="})) {
      return Fail(
          Code::kInvalidArgument,
          fmt::format("line {} should be like NAME=VALUE, or NAME for the value that it has "
                      "here{}",
                      number, line.starts_with("export ") ? ", without the word export" : ""));
    }
    if (equals != std::string_view::npos) {
      entries.emplace_back(line);
    } else if (const auto own = environment.Get(name)) {
      entries.push_back(fmt::format("{}={}", name, *own));
    }
  }
  return entries;
}

base::Result<GitCredentials> ParseGitCredentials(std::string_view text, std::string_view source) {
  const std::optional<Address> wanted = ParseAddress(source);
  GitCredentials found;
  bool is_store = false;
  bool has_password = false;
  for (const std::string_view line : TextLines(text)) {
    if (line.starts_with("username=")) found.user = line.substr(line.find('=') + 1);
    if (line.starts_with("password=")) {
      found.password = line.substr(line.find('=') + 1);
      has_password = true;
    }
    const std::optional<Address> entry = ParseAddress(line);
    if (!entry || !entry->password || line.find('=') < line.find("://")) continue;
    is_store = true;
    const bool is_for_source = wanted && entry->scheme == wanted->scheme &&
                               entry->host == wanted->host &&
                               (wanted->user.empty() || wanted->user == entry->user);
    if (is_for_source) return GitCredentials{entry->user, *entry->password};
  }
  if (has_password) return found;
  const std::string host = wanted ? wanted->scheme + "://" + wanted->host : std::string(source);
  return Fail(Code::kInvalidArgument,
              is_store ? fmt::format("--git-credentials is invalid: it has no line for {}", host)
                       : fmt::format("--git-credentials is invalid: it should hold username= and "
                                     "password= lines, or git's {}, with user:password@ before the "
                                     "host",
                                     host));
}

}  // namespace arena
