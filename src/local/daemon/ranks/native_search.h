// Finds the ranks of pods in which no Python can be asked.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "witness/native.h"

namespace local::daemon {

// A search reads the environment of every process of the machine. Most pods that are silent have
// one rank, which waits for nobody: while there are only such, it searches less and less often. One
// thread.
class NativeSearch {
 public:
  using Instant = std::chrono::steady_clock::time_point;
  using Find = std::function<std::vector<witness::NativeRank>(const std::set<std::string>&)>;
  explicit NativeSearch(Find find = witness::NativeRanksOf) : find_(std::move(find)) {}

  // Call it once a second with the folders of all pods that are silent. Searches if it is time,
  // and soon for one that is new.
  void See(Instant now, std::set<std::string> folders);
  // What the last search has found there.
  const std::vector<witness::NativeRank>& In(const std::string& folder) const;

 private:
  Find find_;
  std::set<std::string> folders_;  // at the last search
  std::optional<Instant> searched_;
  std::chrono::seconds pause_{};
  std::map<std::string, std::vector<witness::NativeRank>> found_;  // by folder
};

}  // namespace local::daemon
