#include "arena/run/defaults.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <vector>

#include "base/file.h"
#include "base/nearest.h"
#include "base/strings.h"
#include "text/yaml.h"

namespace arena {
namespace {

using base::Code;
using base::Fail;

constexpr size_t kMaxDefaults = 1 << 20;
// Flags that belong to one call only.
constexpr std::string_view kNotDefaults[] = {"directory", "dry-run", "help",
                                             "module",    "name",    "output"};

bool MayBeDefault(const cli::Flag& flag) {
  for (const std::string_view name : kNotDefaults) {
    if (flag.name() == name) return false;
  }
  return !flag.is_hidden();
}

std::string DidYouMean(const std::string& key, const cli::FlagSet& flags) {
  std::vector<std::string_view> names;
  for (const auto& flag : flags.flags()) {
    if (MayBeDefault(*flag)) names.push_back(flag->name());
  }
  const std::string_view nearest = base::Nearest(key, names);
  return nearest.empty() ? "" : fmt::format(": did you mean \"{}\"?", nearest);
}

base::Result<std::string> ScalarText(const text::Json& value) {
  if (value.is_string()) return std::string(value.as_string());
  if (value.is_bool() || value.is_number()) return text::ToJson(value);
  return Fail(Code::kInvalidArgument, "is not a word or a number");
}

// Returns the words to set the flag to, one after another: a list or a map has several.
base::Result<std::vector<std::string>> ValuesOf(const text::Json& value) {
  std::vector<std::string> values;
  if (const text::Array* const list = value.if_array()) {
    for (const text::Json& item : *list) {
      TRY_ASSIGN(std::string word, ScalarText(item));
      values.push_back(std::move(word));
    }
  } else if (const text::Object* const pairs = value.if_object()) {
    for (const auto& pair : *pairs) {
      TRY_ASSIGN(const std::string word, ScalarText(pair.value()));
      values.push_back(fmt::format("{}={}", std::string_view(pair.key()), word));
    }
  } else {
    TRY_ASSIGN(std::string word, ScalarText(value));
    values.push_back(std::move(word));
  }
  return values;
}

base::Status SetFlag(const std::string& key, const text::Json& value, cli::FlagSet& flags) {
  cli::Flag* const flag = flags.Find(key);
  if (key == "true" || key == "false") {
    return Fail(
        Code::kInvalidArgument,
        "YAML takes the words n, y, no, yes, off and on for truth values: a key is the long "
        "name of a flag, such as nproc-per-node");
  }
  if (flag != nullptr && flag->name() == key && !flag->is_hidden() && !MayBeDefault(*flag)) {
    return Fail(Code::kInvalidArgument,
                fmt::format("\"{}\" is for one run only: give it on the command line", key));
  }
  if (flag == nullptr || flag->name() != key || !MayBeDefault(*flag)) {
    return Fail(Code::kInvalidArgument,
                fmt::format("unknown key \"{}\"{}", key, DidYouMean(key, flags)));
  }
  if (flag->changed()) return {};
  auto values = ValuesOf(value);
  if (!values) return Fail(values.error().Wrap(key));
  if (values->size() != 1 && flag->type() != "stringArray") {
    return Fail(Code::kInvalidArgument, fmt::format("{}: takes one value", key));
  }
  std::vector<std::string> args;
  for (const std::string& word : *values) args.push_back(fmt::format("--{}={}", key, word));
  auto set = cli::FlagParser({flag}, cli::kMuster).Parse(args);
  if (!set) return Fail(set.error());
  return {};
}

}  // namespace

base::Result<Defaults> ReadDefaults(const std::string& folder, cli::FlagSet& flags) {
  const std::string path = folder + "/" + kDefaultsFile;
  const auto content = base::ReadFile(path, kMaxDefaults);
  // If the path is not a folder, the later search for the code reports that.
  const bool is_absent =
      !content && (content.error().code == Code::kNotFound || content.error().os_errno == ENOTDIR);
  Defaults defaults{path, {}};
  if (is_absent) return defaults;
  if (!content) return Fail(content.error());
  const auto yaml = text::ParseYaml(*content);
  if (!yaml) return Fail(yaml.error().Wrap(path));
  if (yaml->is_null()) return defaults;
  const text::Object* const keys = yaml->if_object();
  if (keys == nullptr) {
    return Fail(Code::kInvalidArgument, path + ": is not a mapping of flags to values");
  }
  for (const auto& pair : *keys) {
    const std::string key(pair.key());
    const cli::Flag* const flag = flags.Find(key);
    const bool is_given = flag != nullptr && flag->changed();
    if (base::Status set = SetFlag(key, pair.value(), flags); !set) {
      return Fail(set.error().Wrap(path));
    }
    if (!is_given) defaults.keys.push_back(key);
  }
  return defaults;
}

base::Status Defaults::Name(base::Status refused) const {
  if (refused) return refused;
  const std::string& said = refused.error().message;
  const bool is_of_file = std::any_of(keys.begin(), keys.end(), [&said](const std::string& key) {
    const size_t at = said.find("--" + key);
    return at != std::string::npos && said.find_first_of(" ):,=", at) == at + 2 + key.size();
  });
  return is_of_file ? Fail(refused.error().Wrap(path)) : refused;
}

}  // namespace arena
