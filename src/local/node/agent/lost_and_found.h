// What lies in the state folder and the store does not know. It is never removed: what runs is left
// alone, the rest is moved to `lost+found` in the state folder, and both are told until somebody
// has looked. Thread safe.
#pragma once

#include <sys/types.h>

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/guarded.h"
#include "base/result.h"

namespace local::node {

// What the store says of a uid (store.h).
enum class Fate { kUnknown, kStored, kDeleted };

class LostAndFound {
 public:
  explicit LostAndFound(const std::string& state_directory)
      : directory_(state_directory + "/lost+found") {}

  const std::string& directory() const { return directory_; }

  // Moves a file or folder of the state folder into it, under `name`, or one like it where that is
  // taken. Where it is now.
  base::Result<std::string> Keep(const std::string& path, const std::string& name);

  // A pod runs that the store does not know; until it has ended.
  void Runs(const std::string& pod_uid, pid_t shim, const std::string& pod_directory);
  void HasEnded(const std::string& pod_uid);

  // Something else that somebody has to look at, for as long as this lives.
  void Tell(std::string notice);

  // A line each, shown with every list of jobs; none when all is well.
  std::vector<std::string> Notices();

 private:
  const std::string directory_;
  base::Guarded<std::map<std::string, std::string>> notices_;  // by pod uid; "" of anything else
};

}  // namespace local::node
