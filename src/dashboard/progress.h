// The progress of running jobs, from the embedded cluster (docs/reference/json.md, "progress").
// Pure.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "text/json.h"

namespace dashboard {

// The path to read; only the embedded cluster has it.
inline constexpr std::string_view kProgressPath = "/muster/progress";

// Not thread safe.
class Progress {
 public:
  // Takes the cluster's answer, {"items": [{"uid", "sources": [...]}]}. Returns the changes since
  // the last call, by uid, as JSON; "" for none. The newest of several sources counts.
  std::string Take(const text::Json& answer);
  // Everything, by uid, as JSON.
  std::string All() const;

 private:
  std::map<std::string, std::string, std::less<>> jobs_;
};

}  // namespace dashboard
