// The progress of running jobs, from the embedded cluster (docs/reference/json.md, "progress").
// Pure.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "text/json.h"

namespace dashboard {

// The newest of a job's sources, at least one, newest first; those that disagree with it
// (runs::Disagreeing) are its "others".
text::Json NewestOf(const text::Array& sources);

struct JobProgress {
  std::string uid;
  text::Array sources;  // the newest first; none: there is no progress any more
};

// Not thread safe.
class Progress {
 public:
  // Takes the cluster's answer, {"items": [{"uid", "sources": [...]}]}. Returns the changes since
  // the last call, by uid, as JSON; "" for none. NewestOf counts.
  std::string Take(const text::Json& answer);
  // The same for these jobs only.
  std::string Change(const std::vector<JobProgress>& changed);
  // Everything, by uid, as JSON.
  std::string All() const;

 private:
  using ByUid = std::map<std::string, std::string, std::less<>>;
  void Note(const std::string& uid, const text::Array& sources, ByUid& changed);

  ByUid jobs_;
};

}  // namespace dashboard
