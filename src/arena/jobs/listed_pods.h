// The pods of a long list, kept as text: only the pods of one job at a time are parsed.
#pragma once

#include <boost/json/storage_ptr.hpp>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "text/json.h"

namespace arena {

class ListedPods {
 public:
  // Keeps what a summary needs of a pod. For cluster::ListOptions::read_listed; returns null.
  base::Result<text::Json> Take(std::string_view pod);
  // Whether there is a pod of the job.
  bool HasAny(const text::Json& job) const;
  // The job's pods, allocated in `storage`. kInvalidArgument if one cannot be parsed. For several
  // threads at a time.
  base::Result<std::vector<text::Json>> Of(const text::Json& job,
                                           const boost::json::storage_ptr& storage) const;

 private:
  std::unordered_map<std::string, std::vector<std::string>> by_job_;  // by namespace/name
};

}  // namespace arena
