#include "arena/folder/run_folder.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <chrono>

#include "arena/listing/seen_runs.h"
#include "base/file.h"
#include "base/folder.h"
#include "base/machine/disk.h"
#include "process/spawn.h"
#include "text/json.h"

namespace arena {
base::Result<RunFolder> RunFolder::Make(const base::Environment& environment,
                                        const std::string& name) {
  const std::string above = environment.StateDir() + "/runs";
  TRY(base::MakeDirs(above));
  std::string path = fmt::format("{}/{}", above, name);
  for (int next = 2; ::mkdir(path.c_str(), 0777) != 0; ++next) {
    if (errno != EEXIST) return base::Fail(base::WriteErrno(errno, "make directory", path));
    path = fmt::format("{}/{}.{}", above, name, next);
  }
  RunFolder folder(path);
  base::Status made = base::MakeDirs(folder.files(), 0777 & ~process::CurrentUmask());
  if (made) return folder;
  folder.Remove();
  return base::Fail(made.error());
}

base::Result<RunFolder> RunFolder::LayOut(const base::Environment& environment, RunNote note,
                                          const std::optional<snapshot::Snapshot>& taken) {
  TRY_ASSIGN(RunFolder run, Make(environment, note.name));
  base::Status filled = run.Fill(std::move(note), Snapshots(environment), taken);
  if (filled) return run;
  run.Remove();
  return base::Fail(filled.error());
}

base::Status RunFolder::Fill(RunNote note, const snapshot::Store& store,
                             const std::optional<snapshot::Snapshot>& taken) const {
  if (taken) note.snapshot = taken->hash;
  TRY(base::WriteFileAtomic(NotePathIn(path_), text::ToPrettyJson(ToJson(note)) + "\n", 0600,
                            base::Durability::kSync));
  if (!taken) return {};
  TRY(store.WriteTo(*taken, code()));
  // The snapshot may hold nothing of the folder in which the program runs.
  const std::string below = note.inside.empty() ? code() : code() + "/" + note.inside;
  return base::MakeDirs(below, 0777 & ~process::CurrentUmask());
}

std::vector<std::string> RunFolder::Prune(const base::Environment& environment, base::Duration age,
                                          const std::set<std::string>& jobs) {
  const std::string above = environment.StateDir() + "/runs";
  std::vector<std::string> removed;
  const std::vector<std::string> seen = SeenRuns::Snapshots(environment);
  std::set<std::string> kept(seen.begin(), seen.end());
  const auto now = std::chrono::system_clock::now();
  for (const std::string& name : base::EntriesOf(above)) {
    const std::string path = above + "/" + name;
    struct stat info{};
    if (::lstat(path.c_str(), &info) != 0) continue;
    const auto made = std::chrono::system_clock::from_time_t(info.st_mtime);
    // A job's name contains no ".": what follows it distinguishes runs of one name.
    const bool is_of_job = jobs.contains(name.substr(0, name.find('.')));
    if (!is_of_job && now - made >= age && base::RemoveTree(path)) {
      removed.push_back(name);
      continue;
    }
    if (const auto note = NoteIn(path)) kept.insert(note->snapshot);
  }
  Snapshots(environment).Prune(kept, std::chrono::hours(1));
  std::sort(removed.begin(), removed.end());
  return removed;
}

snapshot::Store RunFolder::Snapshots(const base::Environment& environment) {
  return snapshot::Store(environment.StateDir() + "/snapshots");
}

void RunFolder::Remove() { (void)base::RemoveTree(path_); }

}  // namespace arena
