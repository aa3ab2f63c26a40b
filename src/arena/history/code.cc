// `code`, `files` and `cp`: show the code of a run, and the files that it has written.
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <memory>

#include "api/names.h"
#include "api/object.h"
#include "arena/app/complete_names.h"
#include "arena/app/program_name.h"
#include "arena/folder/run_folder.h"
#include "arena/history/facts.h"
#include "arena/run/run_volume.h"
#include "arena/verbs.h"
#include "base/file.h"
#include "base/log.h"
#include "base/printable.h"

namespace arena {
namespace {

namespace fs = std::filesystem;
using base::Code;
using base::Fail;

base::Result<RunRecord> RunOf(Context& context, const std::string& name) {
  TRY_ASSIGN(cluster::Client * client, context.connect(context));
  return FindRun(*client, context, name);
}

// Prints what the folder contained beyond its commit.
base::Result<int> RunCodeDiff(const Context& context, const RunRecord& run, cli::Output& out) {
  const std::string& name = run.job.summary.name;
  const auto note = NoteOf(context, run.job.job);
  if (!note || note->commit.empty()) {
    return Fail(
        Code::kNotFound,
        fmt::format("{} was not run in a git work tree, or its changes were not kept", name));
  }
  if (!note->changes) {
    return Fail(
        Code::kNotFound,
        fmt::format("the code of {} is that of an earlier run: ask for the changes of that run",
                    name));
  }
  TRY(out.Write(note->diff));
  if (note->changes == 0) {
    base::LogInfo("{} had the code of commit {}", name, note->commit.substr(0, 7));
  } else if (note->diff.empty()) {
    base::LogInfo("{} had only new files: `{} code {}` lists all", name, context.program, name);
  }
  return 0;
}

base::Result<int> RunCode(const Context& context, const RunRecord& run, const std::string& to,
                          cli::Output& out) {
  const std::string hash(api::Annotation(run.job.job, api::kSnapshotAnnotation));
  if (hash.empty()) {
    return Fail(Code::kNotFound, fmt::format("{} had no copy of a folder: only `{} run` takes one",
                                             run.job.summary.name, context.program));
  }
  const snapshot::Store store = RunFolder::Snapshots(context.environment);
  const auto taken = store.Read(hash);
  if (!taken) {
    return Fail(Code::kNotFound,
                fmt::format("the code of {} is not kept any more", run.job.summary.name));
  }
  if (to.empty()) {
    for (const snapshot::File& file : taken->files) {
      TRY(out.Write(fmt::format("{:>10}  {}\n", file.size, base::Printable(file.path))));
    }
    return 0;
  }
  std::error_code failed;
  if (fs::exists(to, failed)) {
    return Fail(Code::kAlreadyExists, fmt::format("{} is there already: name a new folder", to));
  }
  TRY(store.WriteTo(*taken, to));
  base::LogInfo("{} files of {} are in {}", taken->files.size(), run.job.summary.name, to);
  return 0;
}

// Returns the run's MUSTER_RUN_DIR.
base::Result<std::string> FilesOf(const Context& context, const RunRecord& run) {
  std::string files = RunFilesOf(run.job.job, context.environment);
  if (const auto volume = RunVolumeOf(run.job.job); files.empty() && volume) {
    return Fail(
        Code::kNotFound,
        fmt::format("the files of {0} are in folder {1} of the claim {2}, not on this "
                    "machine: mount it, or while the job runs `{3} attach {0}{4} -- ls {5}`",
                    run.job.summary.name, volume->folder, volume->claim, context.program,
                    FlagsOfPlace(context), volume->path));
  }
  if (files.empty()) {
    return Fail(
        Code::kNotFound,
        fmt::format("{} has no files here: only what `{} run` made on this machine has, until "
                    "it is pruned",
                    run.job.summary.name, context.program));
  }
  return files;
}

base::Result<int> RunFiles(Context& context, cli::Invocation& call) {
  TRY_ASSIGN(const RunRecord run, RunOf(context, call.args[0]));
  TRY_ASSIGN(const std::string root, FilesOf(context, run));
  std::vector<std::string> lines;
  std::error_code failed;
  for (auto each = fs::recursive_directory_iterator(root, failed);
       !failed && each != fs::recursive_directory_iterator(); each.increment(failed)) {
    std::error_code unreadable;
    if (each->is_directory(unreadable) && !each->is_symlink(unreadable)) continue;
    struct stat info{};
    if (::lstat(each->path().c_str(), &info) != 0) continue;
    const std::string path = each->path().string().substr(root.size() + 1);
    lines.push_back(fmt::format("{:>12}  {}\n", info.st_size, base::Printable(path)));
  }
  std::sort(lines.begin(), lines.end(), [](const std::string& a, const std::string& b) {
    return std::string_view(a).substr(14) < std::string_view(b).substr(14);
  });
  for (const std::string& line : lines) TRY(call.out.Write(line));
  base::LogInfo("they are in {}", root);
  return 0;
}

// The result lies below the run's folder, even if links in `path` lead elsewhere.
base::Result<std::string> Inside(const std::string& root, const std::string& path) {
  std::error_code failed;
  const fs::path whole = fs::canonical(root + "/" + path, failed);
  if (failed) return Fail(Code::kNotFound, fmt::format("the run has no file {}", path));
  const std::string base = fs::canonical(root, failed).string();
  if (whole.string() != base && !whole.string().starts_with(base + "/")) {
    return Fail(Code::kInvalidArgument, fmt::format("{} leads out of the run's files", path));
  }
  return whole.string();
}

// Skips sockets and pipes, which have no contents, and files that a running job removes meanwhile.
base::Status CopyTree(const fs::path& from, const fs::path& to) {
  std::error_code failed;
  const fs::file_status status = fs::symlink_status(from, failed);
  if (fs::is_symlink(status)) {
    fs::copy_symlink(from, to, failed);
  } else if (fs::is_regular_file(status)) {
    fs::copy_file(from, to, failed);
  } else if (fs::is_directory(status)) {
    fs::create_directory(to, from, failed);
    if (!failed) {
      for (auto each = fs::directory_iterator(from, failed);
           !failed && each != fs::directory_iterator(); each.increment(failed)) {
        TRY(CopyTree(each->path(), to / each->path().filename()));
      }
    }
  }
  std::error_code unknown;
  const bool is_gone = failed && !fs::exists(fs::symlink_status(from, unknown));
  if (!failed || is_gone) return {};
  return Fail(base::Errno(failed.value(),
                          fmt::format("copy \"{}\" to \"{}\"", from.string(), to.string())));
}

base::Result<int> RunCp(Context& context, cli::Invocation& call) {
  const size_t colon = call.args[0].find(':');
  const std::string path = call.args[0].substr(colon + 1);
  TRY_ASSIGN(const RunRecord run, RunOf(context, call.args[0].substr(0, colon)));
  TRY_ASSIGN(const std::string root, FilesOf(context, run));
  TRY_ASSIGN(const std::string from, Inside(root, path));
  std::error_code failed;
  fs::path to = call.args[1];
  if (fs::is_directory(to, failed)) {
    to /= path.empty() || path == "." ? run.job.summary.name : fs::path(from).filename().string();
  }
  if (fs::exists(fs::symlink_status(to, failed))) {
    return Fail(Code::kAlreadyExists, fmt::format("{} is there already", to.string()));
  }
  if (base::Status copied = CopyTree(from, to); !copied) {
    fs::remove_all(to, failed);
    return Fail(copied.error());
  }
  if (!fs::exists(fs::symlink_status(to, failed))) {
    return Fail(Code::kInvalidArgument, fmt::format("{} is not a file or folder", path));
  }
  return 0;
}

}  // namespace

void AddCode(cli::Command& root, Context& context) {
  cli::Command& verb = root.Add("code RUN", "List a run's code, or write it to a folder")
                           .Args(cli::ExactArgs(1))
                           .Help("arena/history/code", context.program);
  auto to = std::make_shared<std::string>();
  auto diff = std::make_shared<bool>(false);
  verb.flags().String(to.get(), "output", "", "a new `FOLDER` to write to").Short('o');
  verb.flags().Bool(diff.get(), "diff", false, "show the uncommitted changes that it had");
  CompleteOneJob(verb, context);
  verb.Run([to, diff, &context](cli::Invocation& call) -> base::Result<int> {
    TRY_ASSIGN(const RunRecord run, RunOf(context, call.args[0]));
    return *diff ? RunCodeDiff(context, run, call.out) : RunCode(context, run, *to, call.out);
  });
}

void AddFiles(cli::Command& root, Context& context) {
  cli::Command& verb = root.Add("files RUN", "List the files in a run's MUSTER_RUN_DIR")
                           .Args(cli::ExactArgs(1))
                           .Help("arena/history/files", context.program);
  CompleteOneJob(verb, context);
  verb.Run([&context](cli::Invocation& call) { return RunFiles(context, call); });
}

void AddCp(cli::Command& root, Context& context) {
  cli::Command& verb =
      root.Add("cp RUN:PATH TARGET", "Copy a file or folder from a run's MUSTER_RUN_DIR")
          .Args(cli::ExactArgs(2))
          .Help("arena/history/cp", context.program);
  verb.Check([&context](cli::Invocation& call) -> base::Status {
    const size_t colon = call.args[0].find(':');
    if (colon != std::string::npos && colon > 0) return {};
    return Fail(
        Code::kInvalidArgument,
        fmt::format("the source is written as RUN:PATH: `{} cp base:model.pt .`", context.program));
  });
  verb.Run([&context](cli::Invocation& call) { return RunCp(context, call); });
}

}  // namespace arena
