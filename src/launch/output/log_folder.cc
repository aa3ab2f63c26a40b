#include "launch/output/log_folder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <vector>

#include "base/file.h"
#include "base/uid.h"

namespace launch {
namespace {

constexpr size_t kRandomLetters = 8;

// An id may contain anything; a folder's name may not.
std::string FolderName(std::string id) {
  std::replace(id.begin(), id.end(), '/', '_');
  if (id.empty() || id == "." || id == "..") id = "none";
  return id;
}

// The caller's umask decides who may read them, unless `mode` does.
base::Status MakeFolders(const std::string& path, std::optional<unsigned> mode = std::nullopt) {
  const base::Status made = base::MakeDirs(path, mode);
  return made ? made : base::Fail(made.error().Wrap("--log-dir"));
}

// In a pod's own folder, else in the places of Python's tempfile, in its order. A TMPDIR that does
// not exist here is skipped.
base::Result<std::string> MakeTemporary(const base::Environment& environment) {
  std::vector<std::string> places;
  for (const char* variable : {kLogDirVariable, "TMPDIR", "TEMP", "TMP"}) {
    if (const auto place = environment.Get(variable)) places.push_back(*place);
  }
  places.insert(places.end(), {"/tmp", "/var/tmp", "/usr/tmp", "."});
  std::optional<base::Error> first;
  for (const std::string& place : places) {
    std::string path = place + "/torchelastic_XXXXXX";
    if (::mkdtemp(path.data()) != nullptr) return path;
    if (!first) {
      first = base::Errno(errno,
                          fmt::format("make a log folder \"{}\" (name one with --log-dir)", path));
    }
  }
  return base::Fail(std::move(*first));
}

}  // namespace

base::Result<base::Fd> OpenLog(const std::string& path) {
  base::Fd fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666));
  if (!fd) return base::Fail(base::Errno(errno, fmt::format("open \"{}\"", path)));
  return fd;
}

base::Result<LogFolder> LogFolder::Create(const Options& options,
                                          const base::Environment& environment) {
  LogFolder folder;
  folder.has_logs_ = options.has_logs;
  std::string parent = options.log_dir;
  if (parent.empty()) {
    TRY_ASSIGN(folder.root_, MakeTemporary(environment));
    parent = folder.root_;
    folder.is_output_kept_elsewhere_ = environment.Get(kLogDirVariable).has_value();
  }
  std::error_code failed;
  parent = std::filesystem::absolute(parent, failed).lexically_normal().string();
  struct stat info{};
  if (::stat(parent.c_str(), &info) == 0 && !S_ISDIR(info.st_mode)) {
    return base::Fail(base::Code::kInvalidArgument,
                      fmt::format("--log-dir \"{}\": Not a directory", parent));
  }
  folder.run_path_ = fmt::format("{}{}{}_{}", parent, parent.ends_with('/') ? "" : "/",
                                 FolderName(options.run_id), base::RandomName(kRandomLetters));
  TRY(MakeFolders(parent));
  // Private whatever the umask is, as torchrun makes it.
  TRY(MakeFolders(folder.run_path_, 0700));
  return folder;
}

std::string LogFolder::AttemptPath(int attempt) const {
  return fmt::format("{}/attempt_{}", run_path_, attempt);
}

std::string LogFolder::FilterFile(int attempt, int fd) const {
  return fmt::format("{}/filtered_{}.log", AttemptPath(attempt), fd == 1 ? "stdout" : "stderr");
}

base::Status LogFolder::MakeAttempt(const Options& options, int attempt) const {
  TRY(MakeFolders(AttemptPath(attempt)));
  for (const int fd : {1, 2}) {
    const auto& filters = fd == 1 ? options.stdout_filters : options.stderr_filters;
    if (filters.empty() || !has_logs_) continue;
    TRY(OpenLog(FilterFile(attempt, fd)));
  }
  return {};
}

base::Result<WorkerFiles> LogFolder::MakeWorker(const Options& options, int attempt,
                                                int local_rank) const {
  const std::string path = fmt::format("{}/{}", AttemptPath(attempt), local_rank);
  TRY(base::RemoveTree(path));
  TRY(MakeFolders(path));
  WorkerFiles files;
  files.error_file = path + "/error.json";
  StreamSet streams = options.redirects.Of(local_rank);
  if (!is_output_kept_elsewhere_) streams = streams | options.tee.Of(local_rank);
  if (streams.HasStdout()) files.stdout_file = path + "/stdout.log";
  if (streams.HasStderr()) files.stderr_file = path + "/stderr.log";
  return files;
}

bool LogFolder::KeepsOutput(const Options& options) const {
  return !options.redirects.IsEmpty() || (!is_output_kept_elsewhere_ && !options.tee.IsEmpty());
}

void LogFolder::Finish(bool is_worth_keeping) const {
  // Best effort: remains in a temporary folder do no harm.
  if (!root_.empty() && !is_worth_keeping) (void)base::RemoveTree(root_);
}

}  // namespace launch
