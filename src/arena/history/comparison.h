// What differs between runs: `compare`, and the page.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "arena/app/app.h"
#include "arena/jobs/records.h"
#include "snapshot/store.h"
#include "text/json.h"

namespace arena {

// Where a run has no such value.
inline constexpr std::string_view kAbsent = "-";

// What each of the runs has by one name.
struct ComparedValue {
  std::string name;
  std::vector<std::string> values;
  bool Differs() const {
    return std::any_of(values.begin(), values.end(),
                       [this](const std::string& value) { return value != values.front(); });
  }
};

// A file that is not the same in two snapshots; nullptr where it is not at all.
struct FileChange {
  const snapshot::File* from = nullptr;
  const snapshot::File* to = nullptr;

  const std::string& path() const { return from != nullptr ? from->path : to->path; }
  // "+ new", "- old", "~ changed".
  std::string Text() const {
    return (from == nullptr ? "+ " : to == nullptr ? "- " : "~ ") + path();
  }
};

// Of up to ten runs, which are borrowed.
class Comparison {
 public:
  // Reads what is kept of the runs on this machine: folders, packages, snapshots.
  static Comparison Of(const std::vector<RunRecord>& runs, const base::Environment& environment);

  // In the order in which the runs have them.
  const std::vector<ComparedValue>& values() const { return values_; }
  // Between the code of the first run and of the one at `other`; they live as long as this does.
  std::vector<FileChange> ChangesTo(size_t other) const;
  // docs/reference/json.md, "compare".
  text::Json ToJson() const;

 private:
  struct Code {
    std::string hash;
    std::optional<snapshot::Snapshot> snapshot;
  };

  explicit Comparison(const std::vector<RunRecord>& runs) : runs_(runs) {}
  void Set(size_t run, const std::string& name, std::string value);
  void AddOutcome(size_t at, const RunRecord& run);
  void AddRun(size_t at, const RunRecord& run, const base::Environment& environment);
  static Code ReadCode(const RunRecord& run, const base::Environment& environment);

  const std::vector<RunRecord>& runs_;
  std::vector<ComparedValue> values_;
  std::vector<Code> codes_;
};

}  // namespace arena
