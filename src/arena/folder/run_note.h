// What `run` and `submit --sync-mode=local` record about a run: run.json in its folder
// (formats/snapshots.md).
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/environment.h"
#include "base/result.h"
#include "cli/flags.h"
#include "text/json.h"

namespace arena {

struct RunNote {
  std::string name;
  std::string verb;  // "submit"; "" means `run`
  std::string command;
  std::string root;                // the folder that was copied, or in which it ran
  std::string inside;              // its working folder within `root`; "" means `root` itself
  std::string commit;              // "" without git
  std::optional<int64_t> changes;  // files that differed from it; nullopt if not known
  std::string diff;                // of the files that git tracks
  std::string snapshot;            // its hash; "" without a snapshot
  // The command line in parts: VERB FLAGS, -m MODULE, ARGS.
  std::vector<std::string> flags;
  std::string module;
  std::vector<std::string> args;
  // The caller's variables that it got: a digest of each value, keyed with this machine's key.
  std::map<std::string, std::string> environment;
};

// ", 3 files changed"; "" for none, and where that is not known.
std::string DescribeChanges(std::optional<int64_t> changes);

text::Json ToJson(const RunNote& note);
base::Result<RunNote> ParseRunNote(std::string_view text);

// The flags that were given, as `--NAME=VALUE`, without those that a rerun must not repeat. Paths
// of files are absolute.
std::vector<std::string> FlagsToRepeat(const cli::FlagSet& set);

// Keyed digests: they show whether two values differ, and do not reveal them. The first call
// creates the key in the state folder, mode 0600.
base::Result<std::map<std::string, std::string>> DigestsOf(
    const std::map<std::string, std::string>& values, const base::Environment& environment);

// The digests as the value of a job's api::kDigestsAnnotation, and the digests in such a value.
std::string DigestsToText(const std::map<std::string, std::string>& digests);
std::map<std::string, std::string> DigestsIn(const text::Json& job);

// The folder of a job's run on this machine, found by its MUSTER_RUN_DIR; "" if it has none.
std::string RunFolderOf(const text::Json& job, const base::Environment& environment);
// The folder that MUSTER_RUN_DIR names; "" if it is not, or no longer, on this machine.
std::string RunFilesOf(const text::Json& job, const base::Environment& environment);
// The note in a file: a run's own, or what this machine remembers of a run elsewhere
// (listing/seen_runs.h). Nullopt if it has none.
std::optional<RunNote> NoteAt(const std::string& path);
// Where the note of a run's folder is.
std::string NotePathIn(const std::string& folder);
// Where its copy of the code is.
std::string CodePathIn(const std::string& folder);
// "train.py" of the copy of a run's code on this machine; another path as it is.
std::string PathInCode(const std::string& path, const base::Environment& environment);
// The note in a run's folder; nullopt if there is none.
std::optional<RunNote> NoteIn(const std::string& folder);

}  // namespace arena
