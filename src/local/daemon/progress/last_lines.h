// When each rank of a pod last printed a line.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

namespace local::daemon {

// By pod, and by the label of its lines. Thread safe.
class LastLines {
 public:
  // `label`: the name of api::RankLabel; "" without one.
  void Note(const std::string& pod_uid, std::string_view label, int64_t at);
  void Forget(const std::string& pod_uid);
  // `local`: its place in its pod, which has `ranks` of them. Nullopt when nothing was printed.
  std::optional<int64_t> Of(const std::string& pod_uid, int rank, int local, size_t ranks) const;

 private:
  mutable std::mutex mutex_;
  std::map<std::string, std::map<std::string, int64_t, std::less<>>> pods_;
};

}  // namespace local::daemon
