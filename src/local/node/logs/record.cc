#include "local/node/logs/record.h"

#include <fmt/format.h>
#include <stdio.h>
#include <unistd.h>

#include <cerrno>

#include "base/file.h"
#include "base/folder.h"
#include "local/node/shim/report_file.h"

namespace local::node {

std::string RecordDirectory(std::string_view state_directory, std::string_view pod_uid) {
  return fmt::format("{}/records/{}", state_directory, pod_uid);
}

base::Status KeepRecord(const std::string& pod_directory, const std::string& record_directory) {
  const std::string logs = pod_directory + "/logs";
  if (base::EntriesOf(logs).empty()) return {};
  TRY(base::MakeDirs(record_directory, 0700));
  // Linked: until the logs are there the pod's own directory tells how it ended.
  for (const std::string_view file : {kReportFile, kPythonFile}) {
    const std::string from = fmt::format("{}/{}", pod_directory, file);
    const std::string to = fmt::format("{}/{}", record_directory, file);
    if (::link(from.c_str(), to.c_str()) != 0 && errno != EEXIST && errno != ENOENT) {
      return base::Fail(base::Errno(errno, fmt::format("link \"{}\"", to)));
    }
  }
  if (::rename(logs.c_str(), (record_directory + "/logs").c_str()) != 0) {
    return base::Fail(base::Errno(errno, fmt::format("move \"{}\"", logs)));
  }
  return {};
}

}  // namespace local::node
