#include "local/daemon/node_name.h"

#include <algorithm>

#include "base/file.h"
#include "base/log.h"
#include "base/strings.h"

namespace local::daemon {

base::Result<std::string> KeepNodeName(const std::string& state_directory,
                                       const std::vector<std::string>& stored,
                                       const std::string& host) {
  const std::string path = state_directory + "/node-name";
  const auto kept = base::ReadFile(path, 4096);
  if (!kept && kept.error().code != base::Code::kNotFound) return base::Fail(kept.error());
  if (kept) {
    std::string name(base::Trim(*kept));
    if (!name.empty()) return name;
  }
  // There are several, because an earlier muster used whatever name the host had.
  const bool has_host = std::find(stored.begin(), stored.end(), host) != stored.end();
  const std::string name = stored.empty() || has_host ? host : stored.front();
  const base::Status written =
      base::WriteFileAtomic(path, name + "\n", 0600, base::Durability::kSync);
  // The store contains it as well.
  if (!written) base::LogWarn("{}", written.error().message);
  return name;
}

}  // namespace local::daemon
