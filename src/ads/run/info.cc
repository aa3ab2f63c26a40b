#include "ads/run/info.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "ads/config/user_file.h"
#include "ads/terminal_input.h"
#include "ads/yaml/yaml.h"
#include "base/fd.h"
#include "base/file.h"

namespace ads {
namespace {

constexpr size_t kMaxInfoBytes = 16 << 20;
constexpr const char* kSaved = "Job run info saved to ";

}  // namespace

std::string RenderRunInfoWith(const RunInfo& info, const std::string& watch_command) {
  PyValue root;
  root.kind = PyValue::Kind::kMap;
  root.Set("jobId", PyValue::String(info.job_id));
  PyValue main;
  main.Set(info.main.first, PyValue::String(info.main.second));
  root.Set("mainJobRunId", std::move(main));
  if (!info.others.empty()) {
    PyValue others;
    others.kind = PyValue::Kind::kList;
    for (const auto& [name, id] : info.others) {
      PyValue one;
      one.Set(name, PyValue::String(id));
      others.items.push_back(std::move(one));
    }
    root.Set("otherJobRunIds", std::move(others));
  }
  root.Set("workDir", info.work_dir ? PyValue::String(*info.work_dir) : PyValue());
  return DumpPyYaml(root) + fmt::format(
                                "# ⭐ To stream the logs of the main job run:\n"
                                "# $ {}\n",
                                watch_command);
}

std::string RenderRunInfo(const RunInfo& info, const std::string& program) {
  return RenderRunInfoWith(info, fmt::format("{} opctl watch {}", program, info.main.second));
}

base::Result<RunInfoFile> ReadRunInfoFile(const std::string& path) {
  TRY_ASSIGN(const std::string text, base::ReadFile(path, kMaxInfoBytes));
  // The output of `run ... | tee` may begin with the banner and docker's output, and end with the
  // line about --job-info.
  size_t begin = 0;
  if (!text.starts_with("jobId:")) {
    const size_t found = text.find("\njobId:");
    if (found != std::string::npos) begin = found + 1;
  }
  const size_t end = text.find(std::string("\n") + kSaved, begin);
  const auto document = ReadPyYaml(std::string_view(text).substr(begin, end - begin));
  if (!document) {
    return base::Fail(base::Code::kInvalidArgument,
                      fmt::format("{} {}", path, document.error().message));
  }
  RunInfoFile info;
  const auto read = [&](std::string_view key, std::string& to) {
    const PyValue* value = document->Find(key);
    if (value != nullptr && value->is_truthy()) to = PyStr(*value);
  };
  read("jobId", info.job_id);
  read("workDir", info.work_dir);
  return info;
}

// Tested as it will be written: a temporary file beside it.
base::Status CheckWritable(const std::string& path, std::string_view what) {
  const auto refuse = [&](int os_errno) {
    base::Error error = base::Errno(os_errno, fmt::format("ValueError: {} \"{}\"", what, path));
    error.message += ": name a file that can be written; nothing was started";
    return base::Fail(std::move(error));
  };
  struct stat info{};
  if (::stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode)) return refuse(EISDIR);
  const UserFile file = FindUserFile(path);
  if (!file.is_replaced) {
    return ::access(file.path.c_str(), W_OK) == 0 ? base::Status() : refuse(errno);
  }
  std::string beside = file.path + ".XXXXXX";
  const base::Fd made(::mkostemp(beside.data(), O_CLOEXEC));
  if (!made) return refuse(errno);
  ::unlink(beside.c_str());
  return {};
}

base::Result<std::string> ChooseInfoPath(const std::string& path, bool yes, cli::Output& out) {
  if (path.empty()) return path;
  TRY(CheckWritable(path, "--job-info"));
  if (yes || !IsUserFile(path)) return path;
  TRY(out.Write(fmt::format("File {} already exists. Overwrite the file? [yN]: ", path)));
  const std::string answer = ReadLine().value_or("");
  return answer == "y" || answer == "Y" ? path : "";
}

base::Status SaveRunInfo(const std::string& path, const std::string& text, cli::Output& out) {
  TRY(WriteUserFile(path, text));
  return out.Write(fmt::format("{}{}\n", kSaved, path));
}

}  // namespace ads
