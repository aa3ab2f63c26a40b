#include "arena/folder/run_note.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <random>

#include "api/job/command.h"
#include "api/names.h"
#include "api/object.h"
#include "arena/listing/records.h"
#include "base/digest/hmac.h"
#include "base/fd.h"
#include "base/file.h"
#include "base/machine/disk.h"

namespace arena {
namespace {

constexpr const char* kKeyFile = "/digest-key";
constexpr size_t kDigestLength = 12;  // of the hexadecimal digits

text::Array Words(const std::vector<std::string>& words) {
  return text::Array(words.begin(), words.end());
}

text::Object Texts(const std::map<std::string, std::string>& values) {
  text::Object object;
  for (const auto& [name, value] : values) object[name] = value;
  return object;
}

std::map<std::string, std::string> TextsAt(const text::Json& json, text::Path path) {
  std::map<std::string, std::string> values;
  for (const auto& [name, value] : text::Members(json, path)) {
    if (value.is_string()) values[std::string(name)] = value.as_string();
  }
  return values;
}

std::vector<std::string> WordsAt(const text::Json& json, std::string_view name) {
  std::vector<std::string> words;
  for (const text::Json& word : text::Items(json, {name})) {
    if (word.is_string()) words.emplace_back(word.as_string());
  }
  return words;
}

// Flags that belong to one run only.
bool IsOfOneRun(std::string_view flag) {
  return flag == "name" || flag == "module" || flag == "detach" || flag == "directory" ||
         flag == "dry-run" || flag.starts_with("snapshot");
}

// Absolute, because the run may be repeated in another folder.
std::string FromAnywhere(std::string_view flag, const std::string& value) {
  const bool is_grid = flag == "sweep" && value.starts_with('@');
  const bool is_file = is_grid || flag == "env-file" || flag == "config-file" ||
                       flag == "git-ssh-key" || flag == "git-known-hosts";
  const std::string path = value.substr(is_grid ? 1 : 0);
  if (!is_file || path.empty() || path.starts_with('/') || path.starts_with('~')) return value;
  std::error_code failed;
  const std::string whole = std::filesystem::absolute(path, failed).string();
  return failed ? value : (is_grid ? "@" : "") + whole;
}

// Two processes at once agree: the first one to create the file sets the key.
base::Result<std::string> DigestKey(const base::Environment& environment) {
  const std::string path = environment.StateDir() + kKeyFile;
  for (;;) {
    auto key = base::ReadFile(path, 64);
    if (key && key->size() == 32) return key;
    std::random_device random;
    std::string made;
    while (made.size() < 32) made += static_cast<char>(random());
    const std::string fresh = fmt::format("{}.{}", path, ::getpid());
    TRY(base::MakeDirs(environment.StateDir()));
    TRY(base::WriteFileAtomic(fresh, made, 0600, base::Durability::kSync));
    const bool is_mine = ::link(fresh.c_str(), path.c_str()) == 0;
    const int why = errno;
    ::unlink(fresh.c_str());
    if (!is_mine && why != EEXIST) return base::Fail(base::WriteErrno(why, "make", path));
    if (!is_mine && key) ::unlink(path.c_str());  // it was cut short
  }
}

}  // namespace

std::string DescribeChanges(std::optional<int64_t> changes) {
  const int64_t count = changes.value_or(0);
  return count == 0 ? "" : fmt::format(", {} file{} changed", count, count == 1 ? "" : "s");
}

text::Json ToJson(const RunNote& note) {
  text::Object json{{"name", note.name},          {"command", note.command},
                    {"root", note.root},          {"inside", note.inside},
                    {"commit", note.commit},      {"snapshot", note.snapshot},
                    {"flags", Words(note.flags)}, {"module", note.module},
                    {"args", Words(note.args)},   {"environment", Texts(note.environment)}};
  if (!note.verb.empty()) json["verb"] = note.verb;
  if (note.changes) json["changes"] = *note.changes;
  if (!note.diff.empty()) json["diff"] = note.diff;
  return json;
}

base::Result<RunNote> ParseRunNote(std::string_view text) {
  TRY_ASSIGN(const text::Json whole, text::ParseJson(text));
  const text::Json* const remembered = text::Find(whole, {"note"});
  const text::Json& json = remembered != nullptr ? *remembered : whole;
  if (!json.is_object()) return base::Fail(base::Code::kInvalidArgument, "it has no note");
  RunNote note;
  for (const auto& [name, member] :
       std::map<std::string_view, std::string RunNote::*>{{"name", &RunNote::name},
                                                          {"verb", &RunNote::verb},
                                                          {"command", &RunNote::command},
                                                          {"root", &RunNote::root},
                                                          {"inside", &RunNote::inside},
                                                          {"commit", &RunNote::commit},
                                                          {"diff", &RunNote::diff},
                                                          {"snapshot", &RunNote::snapshot},
                                                          {"module", &RunNote::module}}) {
    note.*member = text::GetString(json, {name});
  }
  note.changes = text::GetInt(json, {"changes"});
  note.flags = WordsAt(json, "flags");
  note.args = WordsAt(json, "args");
  note.environment = TextsAt(json, {"environment"});
  return note;
}

std::vector<std::string> FlagsToRepeat(const cli::FlagSet& set) {
  std::vector<std::string> words;
  for (const auto& flag : set.flags()) {
    if (IsOfOneRun(flag->name())) continue;
    for (const std::string& value : flag->given()) {
      words.push_back(fmt::format("--{}={}", flag->name(), FromAnywhere(flag->name(), value)));
    }
  }
  return words;
}

base::Result<std::map<std::string, std::string>> DigestsOf(
    const std::map<std::string, std::string>& values, const base::Environment& environment) {
  std::map<std::string, std::string> digests;
  if (values.empty()) return digests;
  TRY_ASSIGN(const std::string key, DigestKey(environment));
  for (const auto& [name, value] : values) {
    digests[name] = base::Hex(base::HmacSha256(key, name + "=" + value)).substr(0, kDigestLength);
  }
  return digests;
}

std::string DigestsToText(const std::map<std::string, std::string>& digests) {
  return text::ToJson(Texts(digests));
}

std::map<std::string, std::string> DigestsIn(const text::Json& job) {
  const auto digests = text::ParseJson(api::Annotation(job, api::kDigestsAnnotation));
  return digests && digests->is_object() ? TextsAt(*digests, {})
                                         : std::map<std::string, std::string>();
}

std::string RunFolderOf(const text::Json& job, const base::Environment& environment) {
  const text::Json* container = api::FirstContainer(job);
  const text::Json* variable =
      container == nullptr ? nullptr : text::ItemNamed(*container, {"env"}, "MUSTER_RUN_DIR");
  if (variable == nullptr) return "";
  const std::string above = environment.StateDir() + "/runs/";
  const std::string_view files = text::GetString(*variable, {"value"});
  if (!files.starts_with(above) || !files.ends_with("/files")) return "";
  const std::string_view name = files.substr(above.size(), files.size() - above.size() - 6);
  return name.find('/') == std::string_view::npos ? fmt::format("{}{}", above, name) : "";
}

std::string RunFilesOf(const text::Json& job, const base::Environment& environment) {
  const std::string folder = RunFolderOf(job, environment);
  std::error_code failed;
  const bool is_there = !folder.empty() && std::filesystem::is_directory(folder + "/files", failed);
  return is_there ? folder + "/files" : "";
}

std::string NotePathIn(const std::string& folder) { return folder + "/run.json"; }

std::string CodePathIn(const std::string& folder) { return folder + "/code"; }

std::string PathInCode(const std::string& path, const base::Environment& environment) {
  const std::string above = environment.StateDir() + "/runs/";
  if (!path.starts_with(above)) return path;
  const std::string code = CodePathIn(path.substr(0, path.find('/', above.size()))) + "/";
  return path.starts_with(code) ? path.substr(code.size()) : path;
}

std::optional<RunNote> NoteIn(const std::string& folder) {
  return folder.empty() ? std::nullopt : NoteAt(NotePathIn(folder));
}

std::optional<RunNote> NoteAt(const std::string& path) {
  const auto content = base::ReadFile(path);
  if (!content) return std::nullopt;
  auto note = ParseRunNote(*content);
  return note ? std::optional(std::move(*note)) : std::nullopt;
}

}  // namespace arena
