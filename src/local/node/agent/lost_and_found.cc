#include "local/node/agent/lost_and_found.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <stdio.h>
#include <unistd.h>

#include <cerrno>

#include "base/file.h"
#include "base/folder.h"
#include "base/log.h"

namespace local::node {

base::Result<std::string> LostAndFound::Keep(const std::string& path, const std::string& name) {
  TRY(base::MakeDirs(directory_, 0700));
  std::string to = directory_ + "/" + name;
  for (int number = 2;
       ::renameat2(AT_FDCWD, path.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) != 0; ++number) {
    if (errno != EEXIST && errno != ENOTEMPTY) {
      return base::Fail(base::Errno(errno, fmt::format("move \"{}\" to \"{}\"", path, to)));
    }
    to = fmt::format("{}/{}.{}", directory_, name, number);
  }
  return to;
}

void LostAndFound::Runs(const std::string& pod_uid, pid_t shim, const std::string& pod_directory) {
  std::string notice = fmt::format(
      "an unknown pod is running and is left alone: `kill {}` ends it, its logs are "
      "in {}/logs",
      shim, pod_directory);
  base::LogWarn("{}", notice);
  (*notices_.Lock())[pod_uid] = std::move(notice);
}

void LostAndFound::HasEnded(const std::string& pod_uid) { notices_.Lock()->erase(pod_uid); }

void LostAndFound::Report(std::string notice) { (*notices_.Lock())[""] = std::move(notice); }

std::vector<std::string> LostAndFound::Notices() {
  std::vector<std::string> notices;
  {
    auto known = notices_.Lock();
    for (const auto& [uid, notice] : *known) notices.push_back(notice);
  }
  if (const size_t count = base::EntriesOf(directory_).size(); count != 0) {
    notices.push_back(fmt::format(
        "{} unknown to the store: look into {}, then remove its contents",
        count == 1 ? "1 file or folder is" : fmt::format("{} files or folders are", count),
        directory_));
  }
  return notices;
}

}  // namespace local::node
