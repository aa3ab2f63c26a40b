#include "local/daemon/ranks/meeting_files.h"

namespace local::daemon {

void MeetingFiles::See(const std::string& job_uid, const std::string& folder) {
  const std::lock_guard lock(mutex_);
  using Source = runs::WaitSpan::Source;
  for (const witness::Meeting& meeting :
       files_.try_emplace(folder, folder).first->second.ReadNew()) {
    progress_.NoteWait(job_uid, {meeting.begin, meeting.end, runs::Bucket::kRendezvous,
                                 meeting.is_of_launchers ? Source::kLaunchers : Source::kRanks});
  }
}

void MeetingFiles::SeeLast(const std::string& job_uid, const std::string& folder) {
  See(job_uid, folder);
  const std::lock_guard lock(mutex_);
  files_.erase(folder);
}

}  // namespace local::daemon
