#include "local/node/programs/packages.h"

#include <fmt/format.h>
#include <unistd.h>

#include <set>

#include "base/digest/hmac.h"
#include "base/file.h"
#include "base/folder.h"
#include "base/strings.h"
#include "local/node/logs/record.h"
#include "text/json.h"

namespace local::node {
namespace {

// Adds PREFIX/lib/python3.11/site-packages and similar folders.
void AddFoldersBelow(const std::string& prefix, std::vector<std::string>& folders) {
  const std::string lib = prefix + "/lib";
  for (const std::string& name : base::EntriesOf(lib)) {
    if (!name.starts_with("python3")) continue;
    for (const char* kind : {"site-packages", "dist-packages"}) {
      folders.push_back(fmt::format("{}/{}/{}", lib, name, kind));
    }
  }
}

// The interpreter's prefix. For a pyenv shim: of the version that pyenv would start.
std::string PrefixOf(const std::string& interpreter, const base::Environment& environment) {
  const std::string folder = base::DirectoryOf(interpreter);
  if (!folder.ends_with("/shims")) return base::DirectoryOf(folder);
  const std::string root = base::DirectoryOf(folder);
  std::string version = environment.GetOr("PYENV_VERSION", "");
  if (version.empty()) {
    version = base::Trim(base::ReadFile(root + "/version", 4096).value_or(""));
    version = version.substr(0, version.find('\n'));
  }
  return root + "/versions/" + version.substr(0, version.find(':'));
}

bool IncludesSystem(const std::string& prefix) {
  const auto settings = base::ReadFile(prefix + "/pyvenv.cfg", 64 << 10);
  if (!settings) return prefix == "/usr" || prefix == "/usr/local";
  for (const std::string_view line : base::Split(*settings, '\n')) {
    if (base::ToLower(line).starts_with("include-system-site-packages") &&
        base::ToLower(line).find("true") != std::string::npos) {
      return true;
    }
  }
  return false;
}

// "torch-2.1.0+cpu.dist-info" -> "torch 2.1.0+cpu"; "" for other names.
std::string PackageOf(std::string_view entry) {
  for (const std::string_view suffix : {".dist-info", ".egg-info"}) {
    if (!entry.ends_with(suffix)) continue;
    entry.remove_suffix(suffix.size());
    const size_t dash = entry.find('-');
    if (dash == std::string_view::npos) return std::string(entry);
    std::string_view version = entry.substr(dash + 1);
    version = version.substr(0, version.find("-py"));
    return fmt::format("{} {}", entry.substr(0, dash), version);
  }
  return "";
}

}  // namespace

std::vector<std::string> PackagesOf(const std::string& interpreter,
                                    const base::Environment& environment) {
  const std::string prefix = PrefixOf(interpreter, environment);
  std::vector<std::string> folders;
  AddFoldersBelow(prefix, folders);
  if (IncludesSystem(prefix)) {
    AddFoldersBelow("/usr", folders);
    AddFoldersBelow("/usr/local", folders);
    AddFoldersBelow(environment.GetOr("HOME", "/nonexistent") + "/.local", folders);
  }
  std::set<std::string> packages;
  for (const std::string& folder : folders) {
    for (const std::string& entry : base::EntriesOf(folder)) {
      if (std::string package = PackageOf(entry); !package.empty()) {
        packages.insert(std::move(package));
      }
    }
  }
  return {packages.begin(), packages.end()};
}

base::Status NotePython(const std::string& interpreter, const base::Environment& environment,
                        const std::string& state_directory, const std::string& pod_directory) {
  std::string list;
  for (const std::string& package : PackagesOf(interpreter, environment)) list += package + "\n";
  const std::string hash = base::Hex(base::Sha256(list));
  const std::string folder = state_directory + "/packages";
  const std::string path = folder + "/" + hash;
  if (::access(path.c_str(), F_OK) != 0) {
    TRY(base::MakeDirs(folder, 0700));
    TRY(base::WriteFileAtomic(path, list, 0600, base::Durability::kNone));
  }
  const text::Json note = text::Object{{"python", interpreter}, {"packages", hash}};
  TRY(base::MakeDirs(pod_directory));
  return base::WriteFileAtomic(fmt::format("{}/{}", pod_directory, kPythonFile),
                               text::ToJson(note) + "\n", 0600, base::Durability::kNone);
}

}  // namespace local::node
