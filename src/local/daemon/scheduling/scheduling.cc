#include "local/daemon/scheduling/scheduling.h"

#include <algorithm>
#include <utility>

#include "api/names.h"
#include "api/object.h"
#include "api/resources.h"
#include "base/log.h"
#include "local/node/agent/node.h"

namespace local::daemon {

namespace {

constexpr const char* kComponent = "default-scheduler";
constexpr std::chrono::seconds kLongestDiscovery{3};

SchedulingOptions Completed(SchedulingOptions options) {
  if (options.cpu_milli > 0 && options.memory > 0) return options;
  const node::Machine machine = node::DescribeMachine();
  if (options.cpu_milli == 0) options.cpu_milli = machine.cpus * int64_t{1000};
  if (options.memory == 0) options.memory = machine.memory;
  return options;
}

text::Json PodReference(const ScheduledPod& pod) {
  return text::Object{
      {"apiVersion", "v1"},
      {"kind", "Pod"},
      {"metadata", {{"name", pod.name}, {"namespace", pod.namespace_name}, {"uid", pod.uid}}}};
}

text::Json JobReference(const ScheduledJob& job) {
  return text::Object{
      {"apiVersion", api::kPyTorchJobs.api_version()},
      {"kind", api::kPyTorchJobs.kind},
      {"metadata", {{"name", job.name}, {"namespace", job.namespace_name}, {"uid", job.uid}}}};
}

cluster::BatchWrite WriteFor(const ScheduledPod& pod, cluster::BatchWrite::Verb verb) {
  cluster::BatchWrite write;
  write.verb = verb;
  write.resource = &api::kPods;
  write.namespace_name = pod.namespace_name;
  write.name = pod.name;
  return write;
}

cluster::BatchWrite BindingWrite(const ScheduledPod& pod, const std::string& node,
                                 const std::vector<int>& gpus) {
  cluster::BatchWrite write = WriteFor(pod, cluster::BatchWrite::Verb::kBind);
  write.object = text::Object{
      {"apiVersion", "v1"},
      {"kind", "Binding"},
      {"metadata", {{"name", pod.name}, {"namespace", pod.namespace_name}, {"uid", pod.uid}}},
      {"target", {{"apiVersion", "v1"}, {"kind", "Node"}, {"name", node}}}};
  if (!gpus.empty()) {
    api::SetAnnotation(write.object, api::kGpusAnnotation, node::FormatUnits(gpus));
  }
  return write;
}

cluster::BatchWrite MessageWrite(const ScheduledPod& pod, const std::string& message,
                                 base::Time now) {
  cluster::BatchWrite write = WriteFor(pod, cluster::BatchWrite::Verb::kUpdateStatus);
  write.object = PodReference(pod);
  text::Set(write.object, {"status"},
            text::Object{{"phase", "Pending"},
                         {"qosClass", pod.qos_class},
                         {"conditions",
                          text::Array{text::Object{{"type", "PodScheduled"},
                                                   {"status", "False"},
                                                   {"lastProbeTime", nullptr},
                                                   {"lastTransitionTime", base::FormatRfc3339(now)},
                                                   {"reason", "Unschedulable"},
                                                   {"message", message}}}}});
  return write;
}

bool IsTransient(const base::Error& error) {
  return error.code == base::Code::kUnavailable || error.code == base::Code::kTimeout ||
         error.code == base::Code::kExhausted || error.code == base::Code::kInternal;
}

}  // namespace

// The decisions of one round, written after the lock is released.
struct Scheduling::Round {
  struct Binding {
    std::string pod_uid;
    std::vector<int> gpus;
  };
  struct Message {
    std::string pod_uid;
    std::string before;
  };
  struct Event {
    text::Json involved;
    reconcile::Event event;
  };
  std::vector<cluster::BatchWrite> writes;  // bindings, then messages
  std::vector<Binding> bindings;
  std::vector<Message> messages;
  std::vector<Event> events;
  bool wants_locked_gpu = false;
};

Scheduling::Scheduling(cluster::Client& client, node::GpuAllocator& gpus, base::Clock& clock,
                       SchedulingOptions options)
    : client_(client),
      gpus_(gpus),
      clock_(clock),
      options_(Completed(std::move(options))),
      events_(client, clock, kComponent),
      view_(options_.node_name) {
  Reflect(api::kPods, List::kPods);
  Reflect(api::kPyTorchJobs, List::kJobs);
  Reflect(api::kPriorityClasses, List::kPriorityClasses);
  Reflect(api::kNodes, List::kNodes);
  thread_ = std::thread([this] { Run(); });
}

Scheduling::~Scheduling() {
  {
    const std::lock_guard lock(mutex_);
    is_stopped_ = true;
  }
  wake_.notify_all();
  thread_.join();
  reflectors_.clear();
}

void Scheduling::GpusAreKnown() { Changed(true); }

void Scheduling::Changed(bool is_relevant) {
  if (!is_relevant) return;
  {
    const std::lock_guard lock(mutex_);
    is_changed_ = true;
  }
  wake_.notify_one();
}

void Scheduling::PodsGone(const std::vector<std::string>& uids) {
  for (const std::string& uid : uids) gpus_.Release(uid);
}

// The caller holds the lock.
bool Scheduling::Put(List list, const text::Json& object) {
  switch (list) {
    case List::kPods:
      return view_.PutPod(object);
    case List::kJobs:
      return view_.PutJob(object);
    case List::kPriorityClasses:
      return view_.PutPriorityClass(object);
    case List::kNodes:
      return view_.PutNode(object);
  }
  return false;
}

// The caller holds the lock.
bool Scheduling::Remove(List list, const std::string& key) {
  switch (list) {
    case List::kPods:
      return view_.RemovePod(key);
    case List::kJobs:
      warned_jobs_.erase(key);
      return view_.RemoveJob(key);
    case List::kPriorityClasses:
      return view_.RemovePriorityClass(key);
    case List::kNodes:
      return view_.RemoveNode(key);
  }
  return false;
}

void Scheduling::Reflect(const api::Resource& resource, List list) {
  const auto key_of = [list](const text::Json& object) {
    const bool has_name = list == List::kPriorityClasses || list == List::kNodes;
    return has_name ? api::Name(object) : api::Uid(object);
  };
  cluster::ListOptions options;
  if (list == List::kPods) options.read = SchedulingView::ReadPod;
  // Each object is handled as it comes: of eighty thousand pods only the keys are in memory
  // together.
  options.read_listed = [this, list,
                         key_of](const text::Document& document) -> base::Result<text::Json> {
    TRY_ASSIGN(const text::Json object,
               list == List::kPods ? SchedulingView::ReadPod(document) : document.Whole());
    const std::lock_guard lock(mutex_);
    Put(list, object);
    return text::Json(key_of(object));
  };
  cluster::ReflectorHandler handler;
  handler.replace = [this, list](const std::vector<text::Json>& keys) {
    std::vector<std::string> gone;
    {
      const std::lock_guard lock(mutex_);
      if (list == List::kPods) gone = view_.KeepPods(keys);
      if (list == List::kJobs) view_.KeepJobs(keys);
      if (list == List::kPriorityClasses) view_.KeepPriorityClasses(keys);
      if (list == List::kNodes) view_.KeepNodes(keys);
      lists_missing_ &= ~static_cast<int>(list);
    }
    PodsGone(gone);
    Changed(true);
  };
  handler.apply = [this, list, key_of](const cluster::WatchEvent& event) {
    const bool is_gone = event.type == cluster::WatchEvent::Type::kDeleted;
    const std::string key(key_of(event.object));
    bool is_relevant = false;
    {
      const std::lock_guard lock(mutex_);
      is_relevant = is_gone ? Remove(list, key) : Put(list, event.object);
    }
    if (is_gone && list == List::kPods) PodsGone({key});
    Changed(is_relevant);
  };
  reflectors_.push_back(
      std::make_unique<cluster::Reflector>(client_, resource, options, std::move(handler)));
}

void Scheduling::Run() {
  std::unique_lock lock(mutex_);
  bool wants_locked_gpu = false;
  while (true) {
    const auto is_awaited = [this] { return is_stopped_ || (is_changed_ && IsReady()); };
    if (wants_locked_gpu) {
      wake_.wait_for(lock, options_.locked_gpu_interval, is_awaited);
    } else {
      wake_.wait(lock, is_awaited);
    }
    if (is_stopped_) return;
    is_changed_ = false;
    Round round = Decide();
    wants_locked_gpu = round.wants_locked_gpu;
    lock.unlock();
    const bool has_failed = Write(round);
    RecordEvents(round);
    lock.lock();
    if (!has_failed) {
      backoff_.Reset();
      continue;
    }
    is_changed_ = true;
    wake_.wait_for(lock, backoff_.Next(), [this] { return is_stopped_; });
  }
}

scheduler::Node Scheduling::DescribeNode() const {
  scheduler::Node node;
  node.name = options_.node_name;
  node.cpu_milli = options_.cpu_milli;
  node.memory = options_.memory;
  node.are_gpus_known = gpus_.IsKnown();
  node.no_gpu_reason = gpus_.Reason();
  node.gpu_resource = gpus_.Vendor().resource;
  node.is_cordoned = view_.is_cordoned();
  for (std::string& holder : gpus_.HoldersElsewhere()) {
    node.gpus.push_back({.is_locked_elsewhere = !holder.empty(), .holder = std::move(holder)});
  }
  return node;
}

Scheduling::Snapshot Scheduling::Look(const std::string& priority_class) const {
  // A daemon that has just started still asks the driver.
  (void)gpus_.AwaitKnown(kLongestDiscovery);
  const std::lock_guard lock(mutex_);
  Snapshot seen{DescribeNode(), view_.Gangs(), options_.gpu_policy,
                view_.PriorityOf(priority_class)};
  // Shims hold the locks of running pods' GPUs: to the allocator they look like another program's.
  for (const scheduler::Gang& gang : seen.gangs) {
    for (const scheduler::Pod& pod : gang.pods) {
      for (const int unit : pod.gpus) {
        if (static_cast<size_t>(unit) < seen.node.gpus.size()) {
          seen.node.gpus[static_cast<size_t>(unit)] = {};
        }
      }
    }
  }
  return seen;
}

Scheduling::Round Scheduling::Decide() {
  Round round;
  const std::vector<scheduler::Gang> gangs = view_.Gangs();
  scheduler::Node node = DescribeNode();
  // Another user may take a GPU between the check and the lock: it then counts as theirs, and the
  // decision is made again. Each round finds at least one more such GPU.
  while (true) {
    const scheduler::Decision decision =
        scheduler::Schedule(node, gangs, options_.gpu_policy, clock_.Now());
    std::set<int> taken;
    if (!LockGpus(decision, taken)) {
      for (const int unit : taken) node.gpus[static_cast<size_t>(unit)].is_locked_elsewhere = true;
      continue;
    }
    AddBindings(decision, round);
    AddMessages(decision, round);
    return round;
  }
}

// All or none; on failure, `locked_elsewhere` names the GPUs that are held by others.
bool Scheduling::LockGpus(const scheduler::Decision& decision, std::set<int>& locked_elsewhere) {
  for (const scheduler::Binding& binding : decision.bindings) {
    for (const int unit : binding.gpus) {
      if (auto locked = gpus_.Lock(binding.pod_uid, {unit}); !locked) {
        base::LogDebug("{}", locked.error().message);
        locked_elsewhere.insert(unit);
      }
    }
  }
  if (locked_elsewhere.empty()) return true;
  for (const scheduler::Binding& binding : decision.bindings) gpus_.Release(binding.pod_uid);
  return false;
}

void Scheduling::AddBindings(const scheduler::Decision& decision, Round& round) {
  for (const scheduler::Binding& binding : decision.bindings) {
    const ScheduledPod* pod = view_.FindPod(binding.pod_uid);
    if (pod == nullptr) continue;
    round.writes.push_back(BindingWrite(*pod, options_.node_name, binding.gpus));
    round.bindings.push_back({binding.pod_uid, binding.gpus});
    view_.Assume(binding.pod_uid, binding.gpus);
  }
  for (const scheduler::Warning& warning : decision.warnings) {
    const ScheduledJob* job = view_.JobOfGang(warning.gang);
    if (job == nullptr || !warned_jobs_.insert(job->uid).second) continue;
    round.events.push_back({JobReference(*job), {true, "GpusIgnored", warning.message}});
  }
}

void Scheduling::AddMessages(const scheduler::Decision& decision, Round& round) {
  for (const scheduler::Waiting& waiting : decision.waiting) {
    round.wants_locked_gpu |= waiting.wants_locked_gpu;
    if (waiting.message.empty()) continue;
    for (const std::string& uid : waiting.pod_uids) {
      const ScheduledPod* pod = view_.FindPod(uid);
      if (pod == nullptr || pod->message == waiting.message) continue;
      round.writes.push_back(MessageWrite(*pod, waiting.message, clock_.Now()));
      round.messages.push_back({uid, pod->message});
      if (pod->message.empty()) {
        round.events.push_back({PodReference(*pod), {true, "FailedScheduling", waiting.message}});
      }
      view_.SetMessage(uid, waiting.message);
    }
  }
}

bool Scheduling::Write(Round& round) {
  if (round.writes.empty()) return false;
  const auto results = client_.Batch(round.writes);
  bool has_failed = false;
  const std::lock_guard lock(mutex_);
  for (size_t i = 0; i < results.size(); ++i) {
    if (results[i]) continue;
    const base::Error& error = results[i].error();
    base::LogDebug("schedule pod {}/{}: {}", round.writes[i].namespace_name, round.writes[i].name,
                   error.message);
    has_failed |= IsTransient(error);
    if (i < round.bindings.size()) {
      // It is gone, or somebody else has bound it: a watch event will say which.
      view_.Unassume(round.bindings[i].pod_uid);
      gpus_.Release(round.bindings[i].pod_uid);
    } else {
      Round::Message& message = round.messages[i - round.bindings.size()];
      view_.SetMessage(message.pod_uid, message.before);
    }
  }
  return has_failed;
}

void Scheduling::RecordEvents(const Round& round) {
  for (const Round::Event& event : round.events) events_.Record(event.involved, event.event);
}

}  // namespace local::daemon
