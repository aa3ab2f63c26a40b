#include "controller/loop/controller.h"

#include <fmt/format.h>

#include <functional>
#include <utility>

#include "api/names.h"
#include "api/resources.h"
#include "base/log.h"
#include "base/strings.h"
#include "cluster/list_page.h"
#include "controller/loop/projection.h"

namespace controller {
namespace {

// Puts each object of a list as it is read: of eighty thousand pods only the keys are in memory
// together. `put` gets the reduced object and returns its key.
void PutEach(const api::Resource& resource, cluster::ListOptions& list,
             std::function<text::Json(text::Json)> put) {
  list.read_listed = [&resource, read = list.read, trim = list.trim, put = std::move(put)](
                         const text::Document& document) -> base::Result<text::Json> {
    TRY_ASSIGN(text::Json object, read ? read(document) : document.Whole());
    cluster::NameKind(object, resource.api_version(), resource.kind);
    trim(object);
    return put(std::move(object));
  };
  list.trim = [trim = std::move(list.trim)](text::Json& object) {
    if (object.is_object()) trim(object);
  };
}

const api::Resource& ResourceOf(ChildKind kind, const reconcile::Options& options) {
  switch (kind) {
    case ChildKind::kPod:
      return api::kPods;
    case ChildKind::kService:
      return api::kServices;
    case ChildKind::kPodGroup:
      break;
  }
  return base::EqualsIgnoreCase(options.gang_scheduler_name, "volcano")
             ? api::kVolcanoPodGroups
             : api::kSchedulerPluginsPodGroups;
}

}  // namespace

Controller::Controller(cluster::Client& client, base::Clock& clock, Options options)
    : client_(client),
      options_(std::move(options)),
      events_(options_.event_client != nullptr ? *options_.event_client : client, clock,
              std::string(api::kControllerName)),
      worker_(client, clock, options_,
              [this](const text::Json& job, const reconcile::Event& event) {
                events_.Record(job, event);
              }) {
  if (options_.is_operator) options_.needs_nodes = [this] { ReflectNodes(); };
  const bool has_gangs = !options_.reconcile.gang_scheduler_name.empty();
  lists_missing_ = has_gangs ? 5 : 3;
  ReflectJobs();
  ReflectChildren(ChildKind::kPod);
  ReflectChildren(ChildKind::kService);
  if (has_gangs) {
    ReflectChildren(ChildKind::kPodGroup);
    ReflectPriorities();
  }
  for (int i = 0; i < options_.workers; ++i) threads_.emplace_back([this] { Work(); });
}

Controller::~Controller() {
  {
    const std::lock_guard lock(lists_mutex_);
    is_stopping_ = true;
    lists_changed_.notify_all();
  }
  worker_.Stop();
  reflectors_.clear();
  nodes_.reset();
  for (std::thread& thread : threads_) thread.join();
}

base::Status Controller::IsReady() const {
  const std::lock_guard lock(lists_mutex_);
  for (const auto& [plural, trouble] : troubles_) {
    return base::Fail(base::Code::kUnavailable, trouble);
  }
  if (lists_missing_ == 0) return {};
  return base::Fail(base::Code::kUnavailable, "the first lists are not complete yet");
}

void Controller::ListIsComplete() {
  const std::lock_guard lock(lists_mutex_);
  if (--lists_missing_ == 0) lists_changed_.notify_all();
}

void Controller::SayTrouble(const api::Resource& resource, const std::string& trouble) {
  {
    const std::lock_guard lock(lists_mutex_);
    const std::string plural(resource.plural);
    const auto said = troubles_.find(plural);
    if ((said == troubles_.end() ? "" : said->second) == trouble) return;
    if (trouble.empty()) {
      troubles_.erase(said);
    } else {
      troubles_[plural] = trouble;
    }
  }
  if (!options_.is_operator) return base::LogDebug("{}: {}", resource.plural, trouble);
  if (trouble.empty()) return base::LogInfo("{} can be listed again", resource.plural);
  base::LogWarn("{}; waiting", trouble);
}

std::unique_ptr<cluster::Reflector> Controller::Reflect(const api::Resource& resource,
                                                        cluster::ListOptions list,
                                                        cluster::ReflectorHandler handler) {
  handler.replace = [this, &resource, is_first = true,
                     replace = std::move(handler.replace)](std::vector<text::Json> items) mutable {
    replace(std::move(items));
    if (std::exchange(is_first, false)) ListIsComplete();
    SayTrouble(resource, "");
  };
  handler.refused = [this, &resource](const base::Error& error) {
    SayTrouble(resource, fmt::format("list {}: {}", resource.plural, error.message));
  };
  handler.recovered = [this, &resource] { SayTrouble(resource, ""); };
  if (options_.history_lost) {
    handler.history_lost = [this] {
      // The cached and the new state do not fit together: nothing may be reconciled from a mixture.
      worker_.Stop();
      options_.history_lost();
    };
  }
  list.namespace_name = resource.namespaced ? options_.namespace_name : "";
  return std::make_unique<cluster::Reflector>(client_, resource, std::move(list),
                                              std::move(handler));
}

void Controller::ReflectJobs() {
  cluster::ReflectorHandler handler;
  handler.replace = [this](const std::vector<text::Json>& keys) { worker_.KeepJobs(keys); };
  handler.apply = [this](cluster::WatchEvent event) { worker_.TakeJob(std::move(event)); };
  cluster::ListOptions list;
  list.trim = PackJob;
  PutEach(api::kPyTorchJobs, list, [this](text::Json job) {
    text::Json key(JobKey(job));
    worker_.PutJob(std::move(job));
    return key;
  });
  reflectors_.push_back(Reflect(api::kPyTorchJobs, std::move(list), std::move(handler)));
}

void Controller::ReflectChildren(ChildKind kind) {
  cluster::ReflectorHandler handler;
  handler.replace = [this, kind](const std::vector<text::Json>& keys) {
    worker_.KeepChildren(kind, keys);
  };
  handler.apply = [this, kind](cluster::WatchEvent event) {
    worker_.TakeChild(kind, std::move(event));
  };
  const api::Resource& resource = ResourceOf(kind, options_.reconcile);
  cluster::ListOptions list = ListOfChildren(kind);
  PutEach(resource, list, [this, kind](text::Json child) {
    text::Json key(ChildKey(kind, child));
    worker_.PutChild(kind, std::move(child));
    return key;
  });
  reflectors_.push_back(Reflect(resource, std::move(list), std::move(handler)));
}

void Controller::ReflectPriorities() {
  cluster::ReflectorHandler handler;
  handler.replace = [this](const std::vector<text::Json>& classes) {
    worker_.ReplacePriorities(classes);
  };
  handler.apply = [this](const cluster::WatchEvent& event) { worker_.TakePriority(event); };
  reflectors_.push_back(Reflect(api::kPriorityClasses, {}, std::move(handler)));
}

void Controller::ReflectNodes() {
  const std::lock_guard lock(lists_mutex_);
  if (nodes_ != nullptr || is_stopping_) return;
  cluster::ReflectorHandler handler;
  handler.replace = [this](const std::vector<text::Json>& nodes) { worker_.ReplaceNodes(nodes); };
  handler.apply = [this](const cluster::WatchEvent& event) { worker_.TakeNode(event); };
  handler.refused = [is_said = false](const base::Error& error) mutable {
    if (std::exchange(is_said, true)) return;
    base::LogWarn("{}; the death of a node will be noticed minutes later, by its pods",
                  error.message);
  };
  cluster::ListOptions list;
  list.read = ReadNode;
  nodes_ = std::make_unique<cluster::Reflector>(client_, api::kNodes, std::move(list),
                                                std::move(handler));
}

void Controller::Work() {
  {
    std::unique_lock lock(lists_mutex_);
    lists_changed_.wait(lock, [this] { return is_stopping_ || lists_missing_ == 0; });
    if (is_stopping_) return;
  }
  std::call_once(prepared_, [this] {
    worker_.KeepPorts();
    worker_.LearnAutoscalers();
  });
  while (worker_.WorkOne()) {
  }
}

}  // namespace controller
