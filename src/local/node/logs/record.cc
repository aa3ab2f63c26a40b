#include "local/node/logs/record.h"

#include <fmt/format.h>
#include <stdio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/file.h"
#include "base/folder.h"
#include "base/machine/disk.h"
#include "local/node/pod/report_file.h"

namespace local::node {
namespace {

// The size of the store's reserve: with less free space, deletions must free it.
constexpr uint64_t kLeastRoom = 16 << 20;
constexpr uint64_t kLeastShare = 16;

bool IsFull(const std::string& path) {
  const base::DiskSpace space = base::DiskSpaceOf(path);
  return space.free < std::min(kLeastRoom, space.total / kLeastShare);
}

}  // namespace

std::string RecordDirectory(std::string_view state_directory, std::string_view pod_uid) {
  return fmt::format("{}/records/{}", state_directory, pod_uid);
}

base::Status KeepRecord(const std::string& pod_directory, const std::string& record_directory) {
  const std::string logs = pod_directory + "/logs";
  if (base::EntriesOf(logs).empty() || IsFull(pod_directory)) return {};
  TRY(base::MakeDirs(record_directory, 0700));
  // As links: until the logs are moved, the pod's own directory shows how it ended.
  for (const std::string_view file : {kReportFile, kPythonFile}) {
    const std::string from = fmt::format("{}/{}", pod_directory, file);
    const std::string to = fmt::format("{}/{}", record_directory, file);
    if (::link(from.c_str(), to.c_str()) != 0 && errno != EEXIST && errno != ENOENT) {
      return base::Fail(base::Errno(errno, fmt::format("link \"{}\"", to)));
    }
  }
  if (::rename(logs.c_str(), (record_directory + "/logs").c_str()) != 0) {
    // `prune` was faster: it forgets the pod.
    if (errno == ENOENT) return base::RemoveTree(record_directory);
    return base::Fail(base::Errno(errno, fmt::format("move \"{}\"", logs)));
  }
  return {};
}

}  // namespace local::node
