// A run's own folder on this machine: its copy of the code, and MUSTER_RUN_DIR.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "arena/folder/run_note.h"
#include "base/clock.h"
#include "base/environment.h"
#include "base/result.h"
#include "snapshot/store.h"

namespace arena {

// $STATE/runs/NAME (formats/snapshots.md). It outlives the job; `prune` removes it.
class RunFolder {
 public:
  // Creates it, as NAME.2, NAME.3, ... when an earlier run's folder has the name.
  static base::Result<RunFolder> Make(const base::Environment& environment,
                                      const std::string& name);
  // Creates it with its note and, if `taken` is given, a copy of the code. On an error, nothing
  // remains.
  static base::Result<RunFolder> LayOut(const base::Environment& environment, RunNote note,
                                        const std::optional<snapshot::Snapshot>& taken);
  // Removes the folders that are older than `age` and belong to none of `jobs`, and the snapshots
  // that only they used. Returns their names.
  static std::vector<std::string> Prune(const base::Environment& environment, base::Duration age,
                                        const std::set<std::string>& jobs);
  // The snapshots of all runs.
  static snapshot::Store Snapshots(const base::Environment& environment);

  const std::string& path() const { return path_; }
  std::string code() const { return CodePathIn(path_); }
  std::string files() const { return path_ + "/files"; }

  // Removes the folder, because the job could not be created.
  void Remove();

 private:
  explicit RunFolder(std::string path) : path_(std::move(path)) {}

  base::Status Fill(RunNote note, const snapshot::Store& store,
                    const std::optional<snapshot::Snapshot>& taken) const;

  std::string path_;
};

}  // namespace arena
