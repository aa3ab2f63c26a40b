#include "local/daemon/notifier.h"

#include <fmt/format.h>

#include "api/job/pytorch_job.h"
#include "api/names.h"
#include "api/object.h"
#include "api/resources.h"
#include "text/projection.h"

namespace local::daemon {
namespace {

constexpr int kMostDeleted = 100;

}  // namespace

std::optional<std::string> DueNotice(const text::Json& job) {
  const std::string_view on = api::Label(job, api::kNotifyAnnotation);
  const text::Json* const stored = text::Find(job, {"status"});
  if (on.empty() || stored == nullptr) return std::nullopt;
  const auto status = api::ParseJobStatus(*stored);
  if (!status) return std::nullopt;
  const bool has_failed = status->Is("Failed");
  const bool has_ended = has_failed || status->Is("Succeeded");
  const bool hangs =
      !has_ended && api::Annotation(job, api::kStallAnnotation).starts_with("stalled ");
  const bool is_due = on == "start"  ? has_ended || status->Is("Running")
                      : on == "fail" ? has_failed
                      : on == "hang" ? hangs
                                     : has_ended;
  const std::string event = on == "start" || on == "hang" ? std::string(on) : "end";
  const std::string noted = fmt::format("{}-{}", api::kNotifiedAnnotation, event);
  if (!is_due || !api::Annotation(job, noted).empty()) return std::nullopt;
  return event;
}

Notifier::Notifier(cluster::Client& client, base::Clock& clock, Notify notify,
                   std::chrono::milliseconds first)
    // Times of the API have whole seconds.
    : notify_(std::move(notify)),
      begun_(std::chrono::floor<std::chrono::seconds>(clock.Now())),
      thread_([this, &client, first] {
        std::unique_lock lock(mutex_);
        if (!wake_.wait_for(lock, first, [this] { return is_stopped_; })) Begin(client);
      }) {}

Notifier::~Notifier() {
  {
    const std::lock_guard lock(mutex_);
    is_stopped_ = true;
    wake_.notify_one();
  }
  thread_.join();
}

void Notifier::Begin(cluster::Client& client) {
  cluster::ListOptions options;
  options.label_selector = api::kNotifyAnnotation;
  options.read = [](std::string_view job) {
    static const text::Projection kParts{{"metadata", "namespace"},
                                         {"metadata", "name"},
                                         {"metadata", "uid"},
                                         {"metadata", "labels"},
                                         {"metadata", "annotations"},
                                         {"metadata", "deletionTimestamp"},
                                         {"status"},
                                         {"metadata", "resourceVersion"}};
    return text::ParsePart(job, kParts);
  };
  cluster::ReflectorHandler handler;
  handler.replace = [this, &client](std::vector<text::Json> jobs) {
    for (const text::Json& job : jobs) Look(job);
    LookAtDeleted(client);
  };
  // A job that is deleted the moment it has ended is looked at, too.
  handler.apply = [this](const cluster::WatchEvent& event) { Look(event.object); };
  reflector_ = std::make_unique<cluster::Reflector>(client, api::kPyTorchJobs, std::move(options),
                                                    std::move(handler));
}

// Jobs that ended and were deleted before they could be listed: the store remembers them.
void Notifier::LookAtDeleted(cluster::Client& client) {
  auto answer = client.Ask("GET", fmt::format("/muster/records?limit={}", kMostDeleted));
  if (!answer) return;
  for (const text::Json& item : text::Items(*answer, {"items"})) {
    const auto deleted = base::ParseRfc3339(text::GetString(item, {"deleted"}));
    const text::Json* const job = text::Find(item, {"object"});
    if (job != nullptr && deleted && *deleted >= begun_) Look(*job);
  }
}

void Notifier::Look(const text::Json& job) {
  const auto event = DueNotice(job);
  if (!event || !notified_.insert(fmt::format("{} {}", api::Uid(job), *event)).second) return;
  notify_(job, *event);
}

}  // namespace local::daemon
