#include "arena/jobs/broken_submission.h"

#include <fmt/format.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "api/names.h"
#include "api/object.h"
#include "base/log.h"
#include "base/strings.h"
#include "process/procfs.h"

namespace arena {
namespace {

// Each request is given up after a minute, and clocks differ.
constexpr std::chrono::minutes kLongestSubmission{15};

// What names processes here: another kernel, or a container of this one, has its own numbers.
std::string ProcessSpace() {
  const auto boot = process::BootId();
  struct stat info{};
  if (!boot || ::stat("/proc/self/ns/pid", &info) != 0) return "";
  return fmt::format("{}/{}", *boot, info.st_ino);
}

bool IsGone(pid_t pid, uint64_t start_ticks) {
  if (::kill(pid, 0) != 0 && errno == ESRCH) return true;
  const auto stat = process::ReadStat(pid);  // may be hidden
  return stat && (stat->start_ticks != start_ticks || stat->state == 'Z');
}

// A user without that permission has left the mark on complete jobs, too (Creation::RemoveMark).
bool MayChange(cluster::Client& client, const text::Json& job) {
  const text::Json same = text::Object{
      {"metadata",
       text::Object{
           {"annotations", text::Object{{api::kSubmittingAnnotation,
                                         api::Annotation(job, api::kSubmittingAnnotation)}}}}}};
  const auto patched = client.Patch(api::kPyTorchJobs, api::Namespace(job), api::Name(job),
                                    cluster::PatchType::kMerge, same);
  return patched || patched.error().code != base::Code::kPermissionDenied;
}

}  // namespace

std::string SubmitterMark() {
  const auto stat = process::ReadStat(::getpid());
  return fmt::format("{}/{}/{}", ProcessSpace(), ::getpid(), stat ? stat->start_ticks : 0);
}

bool IsBrokenOff(const text::Json& job, base::Time now) {
  const std::string mark(api::Annotation(job, api::kSubmittingAnnotation));
  if (mark.empty() || api::IsDeleting(job)) return false;
  const std::vector<std::string> parts = base::Split(mark, '/');
  const std::string here = ProcessSpace();
  if (parts.size() == 4 && !here.empty() && parts[0] + "/" + parts[1] == here) {
    const auto pid = base::ParseInt(parts[2]);
    const auto start = base::ParseInt(parts[3]);
    if (pid && *pid > 0 && start) {
      return IsGone(static_cast<pid_t>(*pid), static_cast<uint64_t>(*start));
    }
  }
  const auto created = api::CreationTime(job);
  return created && now - *created > kLongestSubmission;
}

bool TakeBackIfBrokenOff(cluster::Client& client, const Context& context, const text::Json& job) {
  if (context.cluster_is_this_machine || !IsBrokenOff(job, context.clock.Now())) return false;
  const auto user = context.UserName();
  if (!user || api::Label(job, "arena.kubeflow.org/uid") != base::Md5Hex(*user)) return false;
  if (!MayChange(client, job)) return false;
  const std::string name(api::Name(job));
  cluster::DeleteOptions only_it;
  only_it.uid = api::Uid(job);
  const base::Status deleted = client.Delete(api::kPyTorchJobs, api::Namespace(job), name, only_it);
  if (deleted || deleted.error().code == base::Code::kNotFound) {
    base::LogWarn(
        "the submission of the job {} was interrupted before it was complete: it is "
        "undone, submit it again",
        name);
    return true;
  }
  base::LogWarn(
      "the submission of the job {0} was interrupted before it was complete, and "
      "could not be undone: {1}; `{2} delete {0}` removes it",
      name, deleted.error().message, context.program);
  return false;
}

}  // namespace arena
