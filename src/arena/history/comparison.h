// The differences between runs, for `compare` and the page.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "arena/app/app.h"
#include "arena/listing/records.h"
#include "runs/progress/source_progress.h"
#include "snapshot/store.h"
#include "text/json.h"

namespace arena {

// Stands for a value that a run does not have.
inline constexpr std::string_view kAbsent = "-";

// One name, and its value in each of the runs.
struct ComparedValue {
  std::string name;
  std::vector<std::string> values;
  bool Differs() const {
    return std::any_of(values.begin(), values.end(),
                       [this](const std::string& value) { return value != values.front(); });
  }
};

// A file that differs between two snapshots; nullptr in a snapshot without it.
struct FileChange {
  const snapshot::File* from = nullptr;
  const snapshot::File* to = nullptr;

  const std::string& path() const { return from != nullptr ? from->path : to->path; }
  // "+ new", "- old", "~ changed".
  std::string Text() const {
    return (from == nullptr ? "+ " : to == nullptr ? "- " : "~ ") + path();
  }
};

// Compares up to ten runs, which it borrows.
class Comparison {
 public:
  // Reads what is known of the runs: their progress, and what this machine keeps of them: folders,
  // packages, snapshots.
  static Comparison Of(cluster::Client& client, const Context& context,
                       const std::vector<RunRecord>& runs);

  // In the order in which the runs have them.
  const std::vector<ComparedValue>& values() const { return values_; }
  // Changed files between the first run and the one at index `other`. They live as long as this.
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
  void AddProgress(size_t at, const std::vector<runs::SourceProgress>& sources);
  void AddRun(size_t at, const RunRecord& run, const base::Environment& environment);
  static Code ReadCode(const RunRecord& run, const base::Environment& environment);

  const std::vector<RunRecord>& runs_;
  std::vector<ComparedValue> values_;
  std::vector<Code> codes_;
};

}  // namespace arena
