#include "arena/submit_wait.h"

#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <array>
#include <optional>
#include <vector>

#include "api/object.h"
#include "api/training_summary.h"
#include "arena/advice.h"
#include "arena/follow.h"
#include "arena/job_watch.h"
#include "arena/jobs.h"
#include "base/log.h"

namespace arena {
namespace {

using base::Code;
using base::Fail;

// For the signal handler, which may do little.
std::string g_notice;
int g_exit_code = cli::kExitInterrupted;

void EndWithNotice(int) {
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, g_notice.data(), g_notice.size());
  ::_exit(g_exit_code);
}

void SetHandler(int signal, void (*handler)(int)) {
  struct sigaction action{};
  action.sa_handler = handler;
  ::sigaction(signal, &action, nullptr);
}

constexpr std::array<int, 2> kSignals = {SIGINT, SIGTERM};
std::array<struct sigaction, kSignals.size()> g_before;

bool IsOver(std::string_view status) { return status == "SUCCEEDED" || status == "FAILED"; }

// A job, as who waits for its end sees it.
struct Sight {
  bool is_gone = false;
  api::TrainingSummary summary;
};

Sight SightOf(const JobWatch::Snapshot& now, const std::string& uid, const Context& context) {
  Sight sight;
  sight.is_gone = !now.job || api::Uid(*now.job) != uid;
  if (sight.is_gone) return sight;
  std::vector<const text::Json*> pods;
  for (const auto& [pod_name, pod] : now.pods) {
    if (api::IsPodOfJob(pod, *now.job)) pods.push_back(&pod);
  }
  sight.summary = api::Summarize(*now.job, pods, context.clock.Now());
  sight.summary.reason = InProgramsName(context, std::move(sight.summary.reason));
  return sight;
}

// Blocks until the job has ended or is gone; says meanwhile why it does not begin.
base::Result<Sight> WatchToEnd(cluster::Client& client, const Context& context,
                               const text::Json& job) {
  const std::string name(api::Name(job));
  const std::string uid(api::Uid(job));
  const std::string namespace_name(api::Namespace(job));
  JobWatch watch(client, namespace_name, name, PodSelector(job));
  JobProbe probe(client, namespace_name, name);
  Sight sight;
  std::string told;
  const auto is_over = [&] { return sight.is_gone || IsOver(sight.summary.status); };
  const auto is_news = [&] {
    return sight.summary.status == "PENDING" && !sight.summary.reason.empty() &&
           sight.summary.reason != told;
  };
  do {
    const bool has_changed = watch.Wait(kProbeInterval, [&](const JobWatch::Snapshot& now) {
      sight = SightOf(now, uid, context);
      return is_over() || is_news();
    });
    if (!has_changed) {
      TRY(probe.Look(watch));
    } else if (!is_over()) {
      told = sight.summary.reason;
      base::LogInfo("the job {} waits: {}", name, told);
    }
  } while (!is_over());
  return sight;
}

}  // namespace

InterruptNotice::InterruptNotice(const std::string& program, const std::string& job) {
  g_notice =
      fmt::format("\nThe job {0} runs on: `{1} logs {0} -f` follows it, `{1} delete {0}` ends it\n",
                  job, program);
  // Arena knows 0 and 1 only.
  g_exit_code = program == "arena" ? cli::kExitFailure : cli::kExitInterrupted;
  for (size_t i = 0; i < kSignals.size(); ++i) {
    ::sigaction(kSignals[i], nullptr, &g_before[i]);
    SetHandler(kSignals[i], EndWithNotice);
  }
}

InterruptNotice::~InterruptNotice() {
  for (size_t i = 0; i < kSignals.size(); ++i) ::sigaction(kSignals[i], &g_before[i], nullptr);
}

base::Status FollowChief(cluster::Client& client, const Context& context, const text::Json& job,
                         const std::string& chief, cli::Output& out) {
  FollowRequest request;
  request.namespace_name = api::Namespace(job);
  request.job = api::Name(job);
  request.pod_selector = PodSelector(job);
  request.instance = chief;
  return Follow(client, context, request, out);
}

base::Result<int> AwaitEnd(cluster::Client& client, const Context& context, const text::Json& job) {
  const std::string name(api::Name(job));
  auto end = WatchToEnd(client, context, job);
  if (!end) {
    return Fail(end.error().Wrap(fmt::format("the job {0} is out of sight (`{1} get {0}` shows it)",
                                             name, context.program)));
  }
  if (end->is_gone) return Fail(Code::kNotFound, fmt::format("the job {} was deleted", name));
  if (end->summary.status == "SUCCEEDED") {
    base::LogInfo("The Job {} has succeeded", name);
    return 0;
  }
  std::string reason = end->summary.reason;
  // The watch of the pods may be behind the one of the job, and they know why.
  const auto whole = FindJob(client, context, std::string(api::Namespace(job)), name);
  if (whole && whole->summary.uid == api::Uid(job) && !whole->summary.reason.empty()) {
    reason = whole->summary.reason;
  }
  base::LogError("the job {} has failed{}{}", name, reason.empty() ? "" : ": ", reason);
  return cli::kExitFailure;
}

}  // namespace arena
