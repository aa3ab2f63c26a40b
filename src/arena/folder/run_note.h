// What `run` and `submit --sync-mode=local` write down of a run: run.json in its folder
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
  std::string verb;  // "submit"; "" is `run`
  std::string command;
  std::string root;      // the folder that was copied, or that it ran in
  std::string inside;    // where in it; "" is `root`
  std::string commit;    // "" of none
  std::string snapshot;  // its hash; "" of none
  // The command line again: VERB FLAGS, -m MODULE, ARGS.
  std::vector<std::string> flags;
  std::string module;
  std::vector<std::string> args;
  // The caller's variables that it had; of each a digest of the value, by a key of this machine's.
  std::map<std::string, std::string> environment;
};

text::Json ToJson(const RunNote& note);
base::Result<RunNote> ParseRunNote(std::string_view text);

// The flags that were given, as `--NAME=VALUE`, but for those that another run of the same has not.
std::vector<std::string> FlagsToRepeat(const cli::FlagSet& set);

// Digests by which values are told apart and not told. The key is made at the first call, in the
// state folder, mode 0600.
base::Result<std::map<std::string, std::string>> DigestsOf(
    const std::map<std::string, std::string>& values, const base::Environment& environment);

// The folder of a job's run on this machine, by its MUSTER_RUN_DIR; "" of none.
std::string RunFolderOf(const text::Json& job, const base::Environment& environment);
// Its files, what MUSTER_RUN_DIR names; "" where they are not, or no longer, on this machine.
std::string RunFilesOf(const text::Json& job, const base::Environment& environment);
// What is noted in a run's folder; nullopt where nothing is.
std::optional<RunNote> NoteIn(const std::string& folder);

}  // namespace arena
