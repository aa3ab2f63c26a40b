#include "local/daemon/ranks/gpu_witness.h"

#include <deque>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "api/gpu_troubles.h"
#include "api/names.h"
#include "api/object.h"
#include "api/pod.h"
#include "api/resources.h"
#include "base/log.h"
#include "local/node/devices/gpu.h"

namespace local::daemon {

struct PodWithGpus {
  std::string uid, name, namespace_name;
  std::vector<int> units;
  bool has_failed = false;
};

namespace {

std::optional<PodWithGpus> ReadPod(const text::Json& pod) {
  PodWithGpus read;
  read.units = node::ParseUnits(api::Annotation(pod, api::kGpusAnnotation));
  const std::string_view phase = api::Phase(pod);
  read.has_failed = phase == "Failed";
  if (read.units.empty() || (phase != "Running" && !read.has_failed)) return std::nullopt;
  if (!api::Annotation(pod, api::kGpuTroublesAnnotation).empty()) return std::nullopt;
  read.uid = api::Uid(pod);
  read.name = api::Name(pod);
  read.namespace_name = api::Namespace(pod);
  return read;
}

// The devices of these units, by index.
std::map<int, gpu::Device> DevicesOf(const gpu::Inventory& inventory,
                                     const std::vector<int>& units) {
  std::map<int, gpu::Device> devices;
  const std::vector<gpu::Unit> all = inventory.Units();
  for (const int unit : units) {
    if (static_cast<size_t>(unit) >= all.size()) continue;
    for (const gpu::Device& device : inventory.devices) {
      if (device.index == all[static_cast<size_t>(unit)].device) devices[device.index] = device;
    }
  }
  return devices;
}

}  // namespace

struct GpuWitness::State {
  State(cluster::Client& the_client, base::Clock& the_clock, gpu::Places where)
      : client(the_client), clock(the_clock), places(std::move(where)) {}

  cluster::Client& client;  // not to be used once is_abandoned, as the clock
  base::Clock& clock;
  const gpu::Places places;
  std::mutex use;    // held while the client is used; locked before `mutex`
  std::mutex mutex;  // guards the members below
  bool is_abandoned = false;
  bool is_working = false;
  std::deque<PodWithGpus> asked;
  std::map<std::string, std::map<int, gpu::Device>> before;  // by pod, when it began to run
};

GpuWitness::GpuWitness(cluster::Client& client, base::Clock& clock, gpu::Places places)
    : state_(std::make_shared<State>(client, clock, std::move(places))) {}

GpuWitness::~GpuWitness() {
  const std::lock_guard use(state_->use);
  const std::lock_guard lock(state_->mutex);
  state_->is_abandoned = true;
  state_->asked.clear();
}

void GpuWitness::OnPod(std::string_view uid, const text::Json* pod) {
  auto read = pod == nullptr ? std::nullopt : ReadPod(*pod);
  const std::lock_guard lock(state_->mutex);
  if (!read) {
    state_->before.erase(std::string(uid));
    return;
  }
  // For a running pod only the first notice counts.
  const bool is_new = read->has_failed ||
                      state_->before.try_emplace(read->uid, std::map<int, gpu::Device>()).second;
  if (!is_new) return;
  state_->asked.push_back(*std::move(read));
  if (std::exchange(state_->is_working, true)) return;
  std::thread(Work, state_).detach();
}

void GpuWitness::Work(const std::shared_ptr<State>& state) {
  while (true) {
    PodWithGpus pod;
    {
      const std::lock_guard lock(state->mutex);
      if (state->asked.empty()) {
        state->is_working = false;
        return;
      }
      pod = std::move(state->asked.front());
      state->asked.pop_front();
    }
    std::map<int, gpu::Device> now = DevicesOf(gpu::Read(state->places), pod.units);
    const std::lock_guard use(state->use);
    std::map<int, gpu::Device> before;
    {
      const std::lock_guard lock(state->mutex);
      if (state->is_abandoned) return;
      const auto known = state->before.find(pod.uid);
      if (!pod.has_failed && known != state->before.end()) known->second = std::move(now);
      if (!pod.has_failed) continue;
      if (known != state->before.end()) {
        before = std::move(known->second);
        state->before.erase(known);
      }
    }
    api::GpuTroubles troubles{state->clock.Now(), {}};
    for (const auto& [index, device] : now) {
      const auto old = before.find(index);
      for (std::string& text :
           gpu::TroublesOf(device, old == before.end() ? nullptr : &old->second)) {
        troubles.texts.push_back(std::move(text));
      }
    }
    if (troubles.texts.empty()) continue;
    const auto patched = state->client.Patch(
        api::kPods, pod.namespace_name, pod.name, cluster::PatchType::kMerge,
        text::Object{
            {"metadata",
             text::Object{{"annotations", text::Object{{api::kGpuTroublesAnnotation,
                                                        api::FormatGpuTroubles(troubles)}}}}}});
    if (!patched && patched.error().code != base::Code::kNotFound) {
      base::LogWarn("pod {}: {}", pod.name, patched.error().message);
    }
  }
}

}  // namespace local::daemon
