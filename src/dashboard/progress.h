// How far the running jobs are, as the embedded cluster tells it (docs/reference/json.md,
// "progress"). Pure.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "text/json.h"

namespace dashboard {

// Asked of the cluster; others than the embedded one have no such page.
inline constexpr std::string_view kProgressPath = "/muster/progress";

// Not thread safe.
class Progress {
 public:
  // {"items": [{"uid", "sources": [...]}]}, as it was asked. What has changed since the last call,
  // by uid, as JSON; "" of nothing. Of several sources the newest is a job's.
  std::string Take(const text::Json& answer);
  // All, by uid, as JSON.
  std::string All() const;

 private:
  std::map<std::string, std::string, std::less<>> jobs_;
};

}  // namespace dashboard
