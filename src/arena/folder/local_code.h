// The caller's folder on its way into a job: which of its files go with the job, and the copy that
// is kept.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "arena/folder/run_note.h"
#include "base/environment.h"
#include "base/result.h"
#include "cli/flags.h"
#include "snapshot/folder.h"
#include "snapshot/store.h"

namespace arena {

struct LocalCodeFlags {
  bool is_large = false;
  std::string earlier;  // for `rerun`: the file with the note of a run whose snapshot is taken

  void Declare(cli::FlagSet& set);
};

// The files of a snapshot, and contents by path, as an archive for `tar` and `gzip`. kExhausted,
// which calls them `shown`, when they are more than may travel with a job.
base::Result<std::string> PackFiles(const snapshot::Snapshot& taken,
                                    const std::map<std::string, std::string>& more,
                                    const std::string& shown, const base::Environment& environment);

class LocalCode {
 public:
  // Lists the files of `folder` that go with a job, or the files of an earlier run's snapshot; that
  // run's commit and uncommitted changes are then this run's, too. Errors say what the user can do:
  // files that are too many or too large (kExhausted), a folder that is gone.
  static base::Result<LocalCode> Find(const std::string& folder, const LocalCodeFlags& flags,
                                      const base::Environment& environment);
  // Lists nothing: for a program that runs in the folder itself.
  static base::Result<LocalCode> InPlace(const std::string& folder,
                                         const base::Environment& environment);

  const snapshot::Folder& folder() const { return folder_; }
  // The folder itself where the tree stands at `root`.
  std::string Below(const std::string& root) const;
  // Whether a file goes along; its path is relative to the tree's root.
  bool Holds(std::string_view path) const;
  // Whether the folder can be looked into; that of an earlier run cannot.
  bool is_at_hand() const { return note_.snapshot.empty(); }

  // kInvalidArgument for a link that leads out of the folder.
  base::Status CheckForOtherMachine() const;

  // Keeps the files in the store of this machine, or finds those of the earlier run there.
  base::Result<snapshot::Snapshot> Keep() const;

  // What the job says of its code, and the line that the user reads.
  void Annotate(const snapshot::Snapshot& taken,
                std::map<std::string, std::string>& annotations) const;
  std::string Describe(const snapshot::Snapshot& taken) const;
  // The part of a note that is about the folder.
  void NoteDown(RunNote& note) const;

 private:
  explicit LocalCode(const base::Environment& environment) : environment_(&environment) {}
  void TakeGitState(snapshot::GitState git);

  const base::Environment* environment_;
  snapshot::Folder folder_;
  snapshot::Listing listed_;
  RunNote note_;  // what git says of the folder; of an earlier run, also its snapshot
};

}  // namespace arena
