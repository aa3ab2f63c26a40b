#include "local/daemon/gpu_metrics.h"

#include <fmt/format.h>

#include <iterator>
#include <map>
#include <mutex>
#include <thread>

#include "api/names.h"
#include "api/object.h"
#include "api/pod.h"
#include "base/strings.h"
#include "local/node/devices/gpu.h"

namespace local::daemon {
namespace {

struct Holder {
  std::string namespace_name;
  std::string pod;
};

std::string Escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\n') {
      out += "\\n";
      continue;
    }
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out;
}

std::map<int, Holder> HoldersOf(const std::vector<text::Json>& pods) {
  std::map<int, Holder> holders;
  for (const text::Json& pod : pods) {
    if (api::IsPodFinished(pod)) continue;
    for (const int unit : node::ParseUnits(api::Annotation(pod, api::kGpusAnnotation))) {
      holders[unit] = {std::string(api::Namespace(pod)), std::string(api::Name(pod))};
    }
  }
  return holders;
}

std::string LabelsOf(const gpu::Unit& unit, std::string_view node_name, const Holder& holder) {
  return fmt::format(R"(allocate_mode="exclusive",minor_number="{}",name="{}",namespace_name="{}",)"
                     R"(node_name="{}",pod_name="{}",uuid="{}")",
                     unit.label, Escaped(unit.name), Escaped(holder.namespace_name),
                     Escaped(node_name), Escaped(holder.pod), Escaped(unit.uuid));
}

}  // namespace

bool IsGpuMetricsRequest(const net::HttpRequest& request) {
  return request.method == "GET" &&
         std::string_view(request.target).substr(0, request.target.find('?')) == kGpuMetricsPath;
}

std::string RenderGpuMetrics(const gpu::Inventory& inventory, const std::vector<text::Json>& pods,
                             std::string_view node_name) {
  std::map<int, Holder> holders = HoldersOf(pods);
  const std::vector<gpu::Unit> units = inventory.Units();
  std::string out;
  const auto append = [&](std::string_view name, std::string_view help, const auto& value) {
    fmt::format_to(std::back_inserter(out), "# HELP {0} {1}\n# TYPE {0} gauge\n", name, help);
    for (size_t i = 0; i < units.size(); ++i) {
      const std::optional<int64_t> number = value(units[i]);
      if (!number) continue;
      fmt::format_to(std::back_inserter(out), "{}{{{}}} {}\n", name,
                     LabelsOf(units[i], node_name, holders[static_cast<int>(i)]), *number);
    }
  };
  append("nvidia_gpu_duty_cycle", "Percentage of time in which the GPU was busy.",
         [](const gpu::Unit& unit) { return unit.utilisation_percent; });
  append("nvidia_gpu_memory_used_bytes", "Memory of the GPU in use.",
         [](const gpu::Unit& unit) { return unit.memory_used; });
  append("nvidia_gpu_memory_total_bytes", "Memory of the GPU.",
         [](const gpu::Unit& unit) { return unit.memory_total; });
  return out;
}

struct GpuMetrics::State {
  State(cluster::Client& the_client, gpu::Places where, std::string node)
      : client(the_client), places(std::move(where)), node_name(std::move(node)) {}

  cluster::Client& client;  // not to be used once is_abandoned
  const gpu::Places places;
  const std::string node_name;
  std::mutex use;    // held while the client is used; locked before `mutex`
  std::mutex mutex;  // guards the members below
  bool is_abandoned = false;
  std::vector<std::shared_ptr<net::Responder>> waiting;  // not empty: a thread is reading
};

GpuMetrics::GpuMetrics(cluster::Client& client, gpu::Places places, std::string node_name)
    : state_(std::make_shared<State>(client, std::move(places), std::move(node_name))) {}

GpuMetrics::~GpuMetrics() {
  const std::lock_guard use(state_->use);
  const std::lock_guard lock(state_->mutex);
  state_->is_abandoned = true;
  state_->waiting.clear();
}

void GpuMetrics::Handle(std::shared_ptr<net::Responder> responder) {
  {
    const std::lock_guard lock(state_->mutex);
    state_->waiting.push_back(std::move(responder));
    if (state_->waiting.size() > 1) return;
  }
  std::thread(Answer, state_).detach();
}

void GpuMetrics::Answer(const std::shared_ptr<State>& state) {
  const gpu::Inventory inventory = gpu::Read(state->places);
  const std::lock_guard use(state->use);
  {
    const std::lock_guard lock(state->mutex);
    if (state->is_abandoned) return;
  }
  cluster::ListOptions options;
  options.field_selector = "spec.nodeName=" + state->node_name;
  const auto pods = state->client.List(api::kPods, options);
  net::HttpResponse response;
  if (pods) {
    response = {200,
                {{"Content-Type", "text/plain; version=0.0.4; charset=utf-8"}},
                RenderGpuMetrics(inventory, pods->items, state->node_name)};
  } else {
    response = {503, {{"Content-Type", "text/plain"}}, pods.error().message + "\n"};
  }
  const std::lock_guard lock(state->mutex);
  for (const auto& responder : state->waiting) responder->Send(response);
  state->waiting.clear();
}

}  // namespace local::daemon
