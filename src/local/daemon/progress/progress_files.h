// The progress of runs on disk: <state>/progress/<uid of the job>, a runs::History each. Progress
// that does not fit on a full disk is lost, because nobody was promised it.
#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "runs/progress/history.h"
#include "text/json.h"

namespace local::daemon {

// The values of each scalar that an answer holds by default.
inline constexpr size_t kUsualPoints = 1000;

// Thread safe.
class ProgressFiles {
 public:
  explicit ProgressFiles(const std::string& state_directory);
  ~ProgressFiles();  // writes the rest

  void Note(const std::string& job_uid, const std::string& source, runs::Millis at,
            const runs::LineProgress& progress, std::optional<int64_t> percent);
  void NoteCheckpoint(const std::string& job_uid, const runs::CheckpointSpan& span);
  // Does not mark the job as running: its end may be known already.
  void NoteWait(const std::string& job_uid, const runs::WaitSpan& span);
  // When the source last reported something about the job; nullopt when it has not.
  std::optional<runs::Millis> LastOf(const std::string& job_uid, const std::string& source);

  // Appends new values to the files. Once a second while there are any.
  void Write();
  // Writes the job's values, and no longer keeps them in memory.
  void Close(const std::string& job_uid);
  // Removes its file, too.
  void Forget(const std::string& job_uid);
  // Forgets runs for which `is_known` is false; for hourly upkeep.
  void ForgetUnless(const std::function<bool(const std::string& job_uid)>& is_known);

  // {"uid", "sources": [...], "series": [...], "steps", "checkpoints", "waits"}
  // (runs/progress/history.h); without sources where nothing was reported. `points` 0: sources
  // alone; the last three only `with_times`.
  text::Json Of(const std::string& job_uid, size_t points, bool with_times = false);
  // {"items": [{"uid", "sources"}]} of the running jobs, which are in memory.
  text::Json OfRunning();
  // By uid, the `sources` of the jobs for which something was noted since the last call; none of
  // the closed ones.
  std::map<std::string, text::Array> TakeChanged();

 private:
  std::string PathOf(const std::string& job_uid) const;
  runs::History& Opened(const std::string& job_uid);
  void WriteOne(const std::string& job_uid, runs::History& history);

  const std::string folder_;
  std::mutex mutex_;
  std::map<std::string, runs::History> open_;  // by uid; under the mutex
  std::set<std::string> changed_;              // the same
};

}  // namespace local::daemon
