#include "arena/ending/ending.h"

#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <optional>

#include "api/object.h"
#include "base/log.h"

namespace arena {
namespace {

// Instances that end within this time need no message.
constexpr std::chrono::seconds kMoment{1};

std::string Instances(size_t count) {
  return count == 1 ? "1 instance" : fmt::format("{} instances", count);
}

}  // namespace

// If no thread can be started, Ctrl-C ends the program as usual.
Ending::Ending(const Context& context, bool is_quiet)
    : context_(context), is_quiet_(is_quiet), signals_({SIGINT}, [this] { OnInterrupt(); }) {}

void Ending::OnInterrupt() {
  // A server that does not answer must not hold the program up.
  if (++interrupts_ > 2) ::_exit(exit_code());
  if (interrupts_ == 1) {
    if (is_quiet_) return;
    base::LogInfo(
        "the instances are ending: Ctrl-C again leaves them to the cluster, --force ends "
        "them at once");
    return;
  }
  is_left_ = true;
  const std::lock_guard lock(mutex_);
  if (wake_) wake_();
}

void Ending::SetWake(std::function<void()> wake) {
  const std::lock_guard lock(mutex_);
  wake_ = std::move(wake);
}

void Ending::Say(size_t count, const std::string& job) const {
  if (is_quiet_) return;
  base::LogInfo(
      "waiting for {} of the job {} to end (--force ends them at once, --wait=false does "
      "not wait)",
      Instances(count), job);
}

void Ending::Await(JobWatch& watch, const std::string& job,
                   const std::function<size_t(const JobWatch::Snapshot&)>& left) {
  has_awaited_ = true;
  const auto end = context_.clock.Steady() + kPatience;
  SetWake([&watch] { watch.Wake(); });
  std::optional<size_t> count, said;  // nullopt: the server has not said it yet
  const auto is_over = [&] { return count == size_t{0} || IsLeft(); };
  base::Status refused;
  std::chrono::milliseconds wait = kMoment;
  for (bool is_first = true;; is_first = false) {
    const bool has_news = watch.Wait(wait, [&](const JobWatch::Snapshot& now) {
      count = left(now);
      return is_over() || (!is_first && count != said);
    });
    refused = watch.Refusal();
    if (is_over() || !refused || (!has_news && !is_first)) break;
    if (count) Say(*count, job);
    said = count;
    wait = std::chrono::ceil<std::chrono::milliseconds>(end - context_.clock.Steady());
  }
  SetWake(nullptr);
  if (is_over()) return;
  if (count) {
    base::LogWarn("{} of the job {} {} still ending", Instances(*count), job,
                  *count == 1 ? "is" : "are");
  } else {
    base::LogWarn("whether the instances of the job {} have ended is not known: {}", job,
                  refused ? "the cluster does not say" : refused.error().message);
  }
}

int Ending::exit_code() const {
  // Arena knows 0 and 1 only.
  return context_.program == "arena" ? cli::kExitFailure : cli::kExitInterrupted;
}

void AddEndingFlags(cli::FlagSet& flags, bool& force, bool& wait) {
  flags.Bool(&force, "force", false, "end the instances at once, without a grace period");
  flags.Bool(&wait, "wait", true, "wait until the instances have ended");
}

base::Status EndAtOnce(cluster::Client& client, const std::string& namespace_name,
                       const std::string& pod_selector, std::string_view uid) {
  cluster::ListOptions options;
  options.namespace_name = namespace_name;
  options.label_selector = pod_selector;
  TRY_ASSIGN(const cluster::ObjectList pods, client.List(api::kPods, options));
  for (const text::Json& pod : pods.items) {
    if (api::ControllerUid(pod) != uid && !IsTensorboardPod(pod)) continue;
    cluster::DeleteOptions at_once;
    at_once.uid = api::Uid(pod);
    at_once.grace_period_seconds = 0;
    const base::Status deleted = client.Delete(api::kPods, namespace_name, api::Name(pod), at_once);
    if (!deleted && deleted.error().code != base::Code::kNotFound) {
      return base::Fail(deleted.error().Wrap(fmt::format("end pod {}", api::Name(pod))));
    }
  }
  return {};
}

bool IsTensorboardPod(const text::Json& pod) { return api::Label(pod, "role") == "tensorboard"; }

}  // namespace arena
