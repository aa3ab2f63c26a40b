#include "arena/run/program_check.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <string_view>

#include "base/fd.h"
#include "base/strings.h"
#include "process/spawn.h"

namespace arena {
namespace {

namespace fs = std::filesystem;

base::Status Misuse(std::string text) {
  return base::Fail(base::Code::kInvalidArgument, std::move(text));
}

// `file` is the path as it stands in the command.
base::Status CheckFile(const std::string& file, const LocalCode& code, bool is_live) {
  const snapshot::Folder& folder = code.folder();
  const std::string here = code.Below(folder.root);
  std::error_code failed;
  if (!fs::exists(fs::path(here) / file, failed)) {
    return Misuse(fmt::format("{} is not in {}", file, here));
  }
  if (fs::is_directory(fs::path(here) / file, failed)) {
    return Misuse(fmt::format("{} is a folder, not a program", file));
  }
  const std::string path = (fs::path(folder.inside) / file).lexically_normal().string();
  if (!is_live && (path.starts_with("../") || fs::path(path).is_absolute())) {
    return Misuse(
        fmt::format("{} is outside of {}, and only what is in it goes along: name a "
                    "folder above it by -C, or run in the folder by --live",
                    file, folder.root));
  }
  // The file may be reached through a link, which is copied as a link.
  const std::string target = fs::canonical(fs::path(here) / file, failed).string();
  const bool goes_along = code.Holds(path) || (target.starts_with(folder.root + "/") &&
                                               code.Holds(target.substr(folder.root.size() + 1)));
  if (is_live || goes_along) return {};
  const std::string reason = snapshot::ReasonLeftOut(folder, path);
  if (!reason.empty()) {
    return Misuse(
        fmt::format("{} is left out of the job, because {}: copy it to another folder, or run in "
                    "the folder by --live",
                    file, reason));
  }
  return Misuse(
      fmt::format("{} is left out of the job by {}: take it out of there, or run in the "
                  "folder by --live",
                  file, snapshot::IgnoreFile(folder.is_git)));
}

bool IsInVirtualEnvironment(const fs::path& file) {
  std::error_code failed;
  return fs::exists(file.parent_path().parent_path() / "pyvenv.cfg", failed);
}

// The job runs a copy that belongs to its user, so that only the owner's execute bit matters.
bool MayRun(const std::string& path, bool is_live) {
  if (is_live) return ::access(path.c_str(), X_OK) == 0;
  struct stat info{};
  return ::stat(path.c_str(), &info) != 0 || (info.st_mode & S_IXUSR) != 0;
}

// No interpreter is named "/bin/sh\r", and the kernel only reports that the file does not exist.
bool EndsLinesAsOnWindows(const std::string& path) {
  const base::Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  char begin[256];
  const ssize_t count = file ? ::read(file.get(), begin, sizeof begin) : 0;
  if (count <= 0) return false;
  const std::string_view text(begin, static_cast<size_t>(count));
  const std::string_view first = text.substr(0, text.find('\n'));
  return first.starts_with("#!") && first.ends_with('\r');
}

}  // namespace

base::Status CheckProgram(const Program& program, const LocalCode& code, bool is_live,
                          const std::string& path) {
  if (!code.is_at_hand()) return {};
  if (!program.script.empty() && !program.script.starts_with('/')) {
    TRY(CheckFile(program.script, code, is_live));
  }
  const std::string& word = program.program;
  if (word.empty() || word.starts_with('/')) return {};
  const fs::path file = fs::path(code.Below(code.folder().root)) / word;
  if (word.find('/') == std::string::npos) {
    std::error_code failed;
    const bool is_mistaken =
        !path.empty() && fs::is_regular_file(file, failed) && !process::FindProgram(word, path);
    if (!is_mistaken) return {};
    return Misuse(
        fmt::format("{0} is a file in this folder, not a program on PATH: run ./{0}", word));
  }
  if (!is_live && IsInVirtualEnvironment(file)) {
    return Misuse(
        fmt::format("{} is in a virtual environment, which is used in place and not copied: "
                    "activate it (`. {}`), or name the whole path: {}",
                    word, base::ShellQuote((fs::path(word).parent_path() / "activate").string()),
                    base::ShellQuote(file.lexically_normal().string())));
  }
  TRY(CheckFile(word, code, is_live));
  const std::string quoted = base::ShellQuote(word);
  if (!MayRun(file, is_live)) {
    return Misuse(
        fmt::format("{} may not be executed: `chmod +x {}`, or name its interpreter: sh {}", word,
                    quoted, quoted));
  }
  if (!EndsLinesAsOnWindows(file)) return {};
  return Misuse(
      fmt::format("the lines of {} end in CR LF, as on Windows: its interpreter is not "
                  "found: `sed -i 's/\\r$//' {}`",
                  word, quoted));
}

}  // namespace arena
