// The attempts of a run, by the paths of its files: torchrun and `muster launch` give each its own
// folder. Pure.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace answers {

// Returns the number in a path's "attempt_1/" and removes that folder from the path. 0 if there is
// none.
int TakeAttempt(std::string& path);

// The last attempt of each run that has files.
class LastAttempts {
 public:
  explicit LastAttempts(const std::vector<std::string_view>& paths);

  // Whether a later attempt of the same run has files: how this one failed is over.
  bool IsEarlier(std::string_view path) const;

 private:
  std::map<std::string, int, std::less<>> last_;  // by the part of the paths before "attempt_N/"
};

}  // namespace answers
