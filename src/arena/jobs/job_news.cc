#include "arena/jobs/job_news.h"

#include <thread>

#include "api/resources.h"
#include "text/projection.h"

namespace arena {

JobNews::JobNews(cluster::Client& client, const std::string& namespace_name,
                 const std::function<void(const std::string& problem)>& on_problem) {
  cluster::ListOptions options;
  options.namespace_name = namespace_name;
  options.read = [](std::string_view job) {
    static const text::Projection kParts{{"metadata", "namespace"},
                                         {"metadata", "name"},
                                         {"metadata", "uid"},
                                         {"metadata", "resourceVersion"}};
    return text::ParsePart(job, kParts);
  };
  cluster::ReflectorHandler handler;
  handler.replace = [this](const std::vector<text::Json>&) { Notify({}); };
  handler.apply = [this](const cluster::WatchEvent&) { Notify({}); };
  handler.refused = [this](const base::Error& error) { Notify(error); };
  if (on_problem) {
    handler.unreachable = [on_problem](const base::Error& error) { on_problem(error.message); };
    handler.recovered = [on_problem] { on_problem(""); };
  }
  reflector_ = std::make_unique<cluster::Reflector>(client, api::kPyTorchJobs, std::move(options),
                                                    std::move(handler));
}

base::Status JobNews::Await(std::chrono::milliseconds at_least,
                            std::optional<std::chrono::milliseconds> at_most) {
  std::this_thread::sleep_until(last_ + at_least);
  std::unique_lock lock(mutex_);
  const auto is_due = [this] { return has_news_ || refusal_; };
  if (at_most && last_ != std::chrono::steady_clock::time_point{}) {
    changed_.wait_until(lock, last_ + *at_most, is_due);
  } else {
    changed_.wait(lock, is_due);
  }
  if (refusal_) return base::Fail(*refusal_);
  has_news_ = false;
  last_ = std::chrono::steady_clock::now();
  return {};
}

void JobNews::Notify(std::optional<base::Error> refusal) {
  const std::lock_guard lock(mutex_);
  has_news_ = true;
  if (refusal) refusal_ = std::move(refusal);
  changed_.notify_one();
}

}  // namespace arena
