#include "arena/objects/manifest_files.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <iterator>
#include <system_error>
#include <utility>

#include "arena/objects/fetch_url.h"
#include "base/file.h"
#include "cli/pipe_advice.h"
#include "net/socket/url.h"

namespace arena {
namespace {

using base::Code;
using base::Fail;
namespace fs = std::filesystem;

constexpr size_t kMaxManifestBytes = 64 << 20;
constexpr std::chrono::minutes kFetchTimeout{5};

base::Result<std::string> ReadStandardInput() {
  std::string text;
  char buffer[16384];
  while (true) {
    const ssize_t count = ::read(STDIN_FILENO, buffer, sizeof buffer);
    if (count == 0) return text;
    if (count < 0) {
      if (errno == EINTR) continue;
      return Fail(base::Errno(errno, "read standard input"));
    }
    text.append(buffer, static_cast<size_t>(count));
    if (text.size() > kMaxManifestBytes) {
      return Fail(Code::kExhausted, "standard input: more than 64 MiB");
    }
  }
}

bool IsManifestName(const fs::path& path) {
  const std::string extension = path.extension().string();
  return extension == ".yaml" || extension == ".yml" || extension == ".json";
}

// Files before directories, each sorted by name; does not follow links to directories.
base::Status CollectFiles(const std::string& directory, bool is_recursive,
                          std::vector<std::string>& files) {
  std::error_code failed;
  std::vector<std::string> here;
  std::vector<std::string> below;
  for (fs::directory_iterator it(directory, failed), end; !failed && it != end;
       it.increment(failed)) {
    std::error_code ignored;
    if (it->is_directory(ignored)) {
      if (!it->is_symlink(ignored)) below.push_back(it->path().string());
    } else if (IsManifestName(it->path())) {
      here.push_back(it->path().string());
    }
  }
  if (failed) return Fail(base::Errno(failed.value(), "read directory " + directory));
  std::sort(here.begin(), here.end());
  std::sort(below.begin(), below.end());
  files.insert(files.end(), here.begin(), here.end());
  if (!is_recursive) return {};
  for (const std::string& inner : below) TRY(CollectFiles(inner, is_recursive, files));
  return {};
}

base::Result<std::vector<std::string>> FilesOf(const std::string& path, bool is_recursive) {
  std::error_code ignored;
  if (!fs::is_directory(path, ignored)) return std::vector<std::string>{path};
  std::vector<std::string> files;
  TRY(CollectFiles(path, is_recursive, files));
  if (!files.empty()) return files;
  return Fail(Code::kNotFound, fmt::format("{}: no .yaml, .yml or .json file is in it{}", path,
                                           is_recursive ? "" : " (-R also looks below)"));
}

base::Status ReadInto(std::vector<Manifest>& all, base::Result<std::string> text,
                      const std::string& source) {
  if (!text) return Fail(std::move(text.error()));
  TRY_ASSIGN(std::vector<Manifest> read, ParseManifests(*text, source));
  std::move(read.begin(), read.end(), std::back_inserter(all));
  return {};
}

}  // namespace

void AddManifestFlags(cli::Command& verb, ManifestFlags& flags) {
  verb.flags()
      .StringArray(&flags.files, "filename",
                   "YAML or JSON file, directory, URL, or - for standard input; repeatable")
      .Short('f');
  verb.flags()
      .Bool(&flags.is_recursive, "recursive", false, "for a directory: also the ones below it")
      .Short('R');
  verb.flags().Bool(&flags.force_conflicts, "force-conflicts", false,
                    "take over fields that another manager has set");
  verb.flags().String(&flags.field_manager, "field-manager", "muster",
                      "name under which the server remembers whose fields they are");
}

base::Status CheckManifestFlags(const ManifestFlags& flags, const cli::Invocation& call) {
  if (!call.args.empty()) {
    return Fail(Code::kInvalidArgument,
                fmt::format("\"{}\": files are given by -f: {} -f {}", call.args.front(),
                            call.command.Path(), call.args.front()));
  }
  const bool has_empty = std::find(flags.files.begin(), flags.files.end(), "") != flags.files.end();
  if (flags.files.empty() || has_empty) {
    return Fail(Code::kInvalidArgument,
                "--filename (-f) is missing: give a YAML or JSON file, a directory, a URL, or - "
                "for standard input");
  }
  if (std::count(flags.files.begin(), flags.files.end(), "-") > 1) {
    return Fail(Code::kInvalidArgument, "--filename (-f): standard input can be read only once");
  }
  if (flags.field_manager.empty()) {
    return Fail(Code::kInvalidArgument, "--field-manager is empty: leave it out for \"muster\"");
  }
  return {};
}

base::Result<std::vector<Manifest>> ReadManifests(const ManifestFlags& flags,
                                                  const base::Environment& environment) {
  std::vector<Manifest> all;
  for (const std::string& named : flags.files) {
    if (named == "-") {
      TRY(ReadInto(all, ReadStandardInput(), "standard input"));
    } else if (net::IsWebUrl(named)) {
      auto text = FetchUrl(named, environment, {kMaxManifestBytes, kFetchTimeout});
      TRY(ReadInto(all, cli::WithPipeAdvice(std::move(text)), net::ShownUrl(named)));
    } else {
      TRY_ASSIGN(const std::vector<std::string> files, FilesOf(named, flags.is_recursive));
      for (const std::string& file : files) {
        TRY(ReadInto(all, base::ReadFile(file, kMaxManifestBytes), file));
      }
    }
  }
  if (all.empty()) {
    return Fail(Code::kInvalidArgument, "the sources of -f contain no objects: nothing to do");
  }
  return all;
}

}  // namespace arena
