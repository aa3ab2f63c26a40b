#include "local/node/agent/agent.h"

#include <unistd.h>

#include <utility>

#include "api/object.h"
#include "api/pod.h"
#include "base/log.h"
#include "witness/machine.h"

namespace local::node {

namespace {

NodeFacts FactsOf(const AgentOptions& options) {
  NodeFacts facts;
  facts.node_name = options.machine.node_name;
  facts.state_directory = options.state_directory;
  facts.cpus = options.machine.cpus;
  facts.memory = options.machine.memory;
  facts.user = ::geteuid();
  facts.environment = options.environment;
  facts.launcher = options.launcher;
  facts.has_podman = options.has_podman;
  facts.cgroups = options.cgroups;
  facts.restart_backoff = options.restart_backoff;
  facts.shim_answer = options.shim_answer;
  facts.witness_root = options.environment.GetOr(witness::kWitnessRootVariable, "");
  facts.log_limit = options.log_limit;
  facts.socket = options.socket;
  facts.status = options.status;
  return facts;
}

}  // namespace

base::Result<std::unique_ptr<Agent>> Agent::Start(cluster::Client& client, ShimLauncher& shims,
                                                  GpuAllocator& gpus, PortAllocator& ports,
                                                  LostAndFound& lost, base::Clock& clock,
                                                  AgentOptions options) {
  TRY_ASSIGN(auto loop, process::EventLoop::Create(clock));
  std::unique_ptr<Agent> agent(
      new Agent(client, shims, gpus, ports, lost, clock, std::move(options), std::move(loop)));
  TRY(agent->keeper_.Start());
  agent->WriteNode();
  agent->thread_ = std::thread([raw = agent.get()] {
    if (auto status = raw->loop_->Run(); !status) {
      base::LogError("node agent: {}", status.error().message);
    }
  });
  agent->ReflectPods();
  return agent;
}

Agent::Agent(cluster::Client& client, ShimLauncher& shims, GpuAllocator& gpus, PortAllocator& ports,
             LostAndFound& lost, base::Clock& clock, AgentOptions options,
             std::unique_ptr<process::EventLoop> loop)
    : client_(client),
      gpus_(gpus),
      clock_(clock),
      options_(std::move(options)),
      loop_(std::move(loop)),
      starter_(client, shims, gpus, ports, FactsOf(options_), options_.configured_python),
      writer_(std::make_unique<StatusWriter>(client)),
      pool_(std::make_unique<WorkPool>(options_.start_threads)),
      keeper_({*loop_, clock, shims, starter_, gpus, *writer_, *pool_, lost, options_.fate_of,
               [this](const api::Resource& resource) { ReflectObjects(resource); }}) {}

Agent::~Agent() {
  pod_reflector_.reset();
  loop_->Stop();
  if (thread_.joinable()) thread_.join();
  object_reflectors_.clear();
  pool_.reset();  // its tasks post to the loop, which no longer runs
  writer_.reset();
}

void Agent::WriteNode() {
  Machine machine = options_.machine;
  if (gpus_.IsKnown()) {
    const std::vector<gpu::Unit> units = gpus_.Units();
    machine.gpus = static_cast<int>(units.size());
    machine.gpu_vendor = &gpus_.Vendor();
    if (!units.empty()) machine.gpu_product = units.front().name;
  }
  writer_->PutNode(MakeNode(machine, clock_.Now()));
}

void Agent::ReflectPods() {
  cluster::ListOptions options;
  options.field_selector = "spec.nodeName=" + options_.machine.node_name;
  options.trim = api::TrimFinishedPod;
  options.read = api::ReadUnfinishedPod;
  cluster::ReflectorHandler handler;
  handler.replace = [this](std::vector<text::Json> items) {
    auto pods = std::make_shared<std::vector<text::Json>>(std::move(items));
    loop_->Post([this, pods] { keeper_.Replace(std::move(*pods)); });
  };
  handler.apply = [this](cluster::WatchEvent event) {
    auto object = std::make_shared<text::Json>(std::move(event.object));
    if (event.type == cluster::WatchEvent::Type::kDeleted) {
      loop_->Post([this, object] { keeper_.Gone(std::string(api::Uid(*object))); });
    } else {
      loop_->Post([this, object] { keeper_.Put(std::move(*object)); });
    }
  };
  pod_reflector_ =
      std::make_unique<cluster::Reflector>(client_, api::kPods, options, std::move(handler));
}

// Runs in the loop's thread.
void Agent::ReflectObjects(const api::Resource& resource) {
  auto& reflector = object_reflectors_[&resource];
  if (reflector) return;
  const auto report = [this, &resource](const text::Json& object) {
    Reference reference{&resource, std::string(api::Name(object))};
    loop_->Post([this, reference, in = std::string(api::Namespace(object))] {
      keeper_.ObjectAppeared(reference, in);
    });
  };
  cluster::ReflectorHandler handler;
  handler.replace = [report](std::vector<text::Json> items) {
    for (const text::Json& item : items) report(item);
  };
  handler.apply = [report](cluster::WatchEvent event) {
    if (event.type != cluster::WatchEvent::Type::kDeleted) report(event.object);
  };
  reflector = std::make_unique<cluster::Reflector>(client_, resource, cluster::ListOptions(),
                                                   std::move(handler));
}

void Agent::GpusAreKnown() {
  loop_->Post([this] {
    WriteNode();
    keeper_.GpusAppeared();
  });
}

void Agent::JobGone(const std::string& job_uid) {
  loop_->Post([this, job_uid] { keeper_.JobGone(job_uid); });
}

}  // namespace local::node
