// Keeps what lies in the state folder but is unknown to the store. Nothing of it is ever deleted:
// what runs is left alone, and the rest is moved to `lost+found` in the state folder. Both are
// reported until somebody has looked. Thread safe.
#pragma once

#include <sys/types.h>

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/guarded.h"
#include "base/result.h"

namespace local::node {

// What the store knows about a uid (store.h).
enum class Fate { kUnknown, kStored, kDeleted };

class LostAndFound {
 public:
  explicit LostAndFound(const std::string& state_directory)
      : directory_(state_directory + "/lost+found") {}

  const std::string& directory() const { return directory_; }

  // Moves a file or folder of the state folder to `lost+found` under `name`, or a similar name if
  // that is taken. Returns its new path.
  base::Result<std::string> Keep(const std::string& path, const std::string& name);

  // Reports a running pod that the store does not know, until it has ended.
  void Runs(const std::string& pod_uid, pid_t shim, const std::string& pod_directory);
  void HasEnded(const std::string& pod_uid);

  // Reports any other problem that the user has to look at, for the life of this object.
  void Report(std::string notice);

  // One line for each problem, shown with every list of jobs; empty when there is none.
  std::vector<std::string> Notices();

 private:
  const std::string directory_;
  base::Guarded<std::map<std::string, std::string>> notices_;  // by pod uid; "" for other problems
};

}  // namespace local::node
