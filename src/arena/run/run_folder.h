// A run's own folder on this machine: its copy of the code, and MUSTER_RUN_DIR.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/environment.h"
#include "base/result.h"
#include "snapshot/store.h"
#include "text/json.h"

namespace arena {

// $STATE/runs/NAME (formats/snapshots.md). It outlives the job; `prune` removes it.
class RunFolder {
 public:
  // Makes it, under another name (NAME.2, ...) where an earlier run has left one.
  static base::Result<RunFolder> Make(const base::Environment& environment,
                                      const std::string& name);
  // Removes the folders that are older than `age` and of none of `jobs`, with what only they need
  // of the snapshots. Their names.
  static std::vector<std::string> Prune(const base::Environment& environment, base::Duration age,
                                        const std::set<std::string>& jobs);
  // The snapshots of all runs.
  static snapshot::Store Snapshots(const base::Environment& environment);

  const std::string& path() const { return path_; }
  std::string code() const { return path_ + "/code"; }
  std::string files() const { return path_ + "/files"; }

  // What the folder says of the run it is of.
  base::Status Note(const text::Json& record) const;

  // Takes the folder away: the job was not made.
  void Remove();

 private:
  explicit RunFolder(std::string path) : path_(std::move(path)) {}

  std::string path_;
};

}  // namespace arena
