// The pods of a long list, kept as they came: those of one job at a time are read.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "text/json.h"

namespace arena {

class ListedPods {
 public:
  // Keeps what is summarized of a pod. For cluster::ListOptions::read_listed: gives null.
  base::Result<text::Json> Take(std::string_view pod);
  // Whether there is one that says it is of the job.
  bool HasAny(const text::Json& job) const;
  // Those of the job. kInvalidArgument when one cannot be read. Several threads at once.
  base::Result<std::vector<text::Json>> Of(const text::Json& job) const;

 private:
  std::unordered_map<std::string, std::vector<std::string>> by_job_;  // by namespace/name
};

}  // namespace arena
