// RunInfo: what `run` prints about a started cluster (compat/opctl.md 4.2): info.yaml.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "cli/terminal.h"

namespace ads {

struct RunInfo {
  std::string job_id;
  std::pair<std::string, std::string> main;                 // name, OCID
  std::vector<std::pair<std::string, std::string>> others;  // workers, then parameter servers
  std::optional<std::string> work_dir;
};

// The YAML and two comment lines with the command to watch it: `<program> opctl watch <main run>`.
std::string RenderRunInfo(const RunInfo& info, const std::string& program);
// The same with another command.
std::string RenderRunInfoWith(const RunInfo& info, const std::string& watch_command);

// jobId and workDir of an info.yaml, for show-config and cancel; "" when absent. Skips the banner
// and build output that `tee` puts before it.
struct RunInfoFile {
  std::string job_id, work_dir;
};
base::Result<RunInfoFile> ReadRunInfoFile(const std::string& path);

// Checks, before anything is started, that the file could be written. `what` is the flag, for the
// message.
base::Status CheckWritable(const std::string& path, std::string_view what);
// The path to write: if the file exists and `yes` is not set, asks `File <path> already exists.
// Overwrite the file? [yN]: ` and reads the answer from stdin. "" when the answer is no.
base::Result<std::string> ChooseInfoPath(const std::string& path, bool yes, cli::Output& out);
// Writes the text (mode 0644) and prints `Job run info saved to <path>`.
base::Status SaveRunInfo(const std::string& path, const std::string& text, cli::Output& out);

}  // namespace ads
