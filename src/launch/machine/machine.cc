#include "launch/machine/machine.h"

#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <map>
#include <set>

#include "base/file.h"
#include "base/strings.h"
#include "gpu/vendor.h"
#include "launch/python/numbers.h"

namespace launch {
namespace {

constexpr int kMaxCpus = 8192;

std::vector<int> AllowedCpus() {
  cpu_set_t* const set = CPU_ALLOC(kMaxCpus);
  const size_t size = CPU_ALLOC_SIZE(kMaxCpus);
  std::vector<int> cpus;
  if (::sched_getaffinity(0, size, set) == 0) {
    for (size_t cpu = 0; cpu < kMaxCpus; ++cpu) {
      if (CPU_ISSET_S(cpu, size, set)) cpus.push_back(static_cast<int>(cpu));
    }
  }
  CPU_FREE(set);
  return cpus;
}

void AllowCpus(const std::vector<int>& cpus) {
  if (cpus.empty()) return;
  cpu_set_t* const set = CPU_ALLOC(kMaxCpus);
  const size_t size = CPU_ALLOC_SIZE(kMaxCpus);
  CPU_ZERO_S(size, set);
  for (const int cpu : cpus) CPU_SET_S(static_cast<size_t>(cpu), size, set);
  ::sched_setaffinity(0, size, set);
  CPU_FREE(set);
}

std::vector<int> CpusOfFile(const std::string& path) {
  const auto text = base::ReadFile(path);
  return text ? ParseCpuList(base::Trim(*text)) : std::vector<int>();
}

std::vector<std::vector<int>> CpusOfNumaNodes() {
  std::map<int, std::vector<int>> nodes;
  std::error_code failed;
  for (const auto& entry :
       std::filesystem::directory_iterator("/sys/devices/system/node", failed)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with("node")) continue;
    const auto number = base::ParseInt(std::string_view(name).substr(4));
    if (number) nodes[static_cast<int>(*number)] = CpusOfFile(entry.path().string() + "/cpulist");
  }
  std::vector<std::vector<int>> all;
  for (auto& [number, cpus] : nodes) {
    if (!cpus.empty()) all.push_back(std::move(cpus));
  }
  if (all.empty()) all.push_back(AllowedCpus());
  return all;
}

// The NUMA node of the worker's GPU; without one the workers are spread evenly.
size_t NumaNodeOf(int local_rank, int count, size_t nodes, const base::Environment& environment) {
  const gpu::Vendor* const vendor = gpu::InstalledVendor();
  const auto gpus = vendor == nullptr ? std::vector<std::string>() : vendor->installed("");
  size_t index = static_cast<size_t>(local_rank);
  const VisibleDevices visible = VisibleDevicesOf(environment);
  if (visible.are_named) {
    const auto& devices = visible.devices;
    const auto number = index < devices.size() ? base::ParseInt(devices[index]) : std::nullopt;
    index = number && *number >= 0 ? static_cast<size_t>(*number) : gpus.size();
  }
  if (index < gpus.size()) {
    const auto text = base::ReadFile(
        fmt::format("/sys/bus/pci/devices/{}/numa_node", base::ToLower(gpus[index])));
    const auto node = text ? base::ParseInt(base::Trim(*text)) : std::nullopt;
    if (node && *node >= 0 && static_cast<size_t>(*node) < nodes) return static_cast<size_t>(*node);
  }
  return static_cast<size_t>(local_rank) * nodes / static_cast<size_t>(std::max(count, 1));
}

std::vector<int> Shared(const std::vector<int>& a, const std::vector<int>& b) {
  std::vector<int> both;
  std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(both));
  return both;
}

// The part of `cpus` that belongs to the `index`th of `count` workers.
std::vector<int> Part(const std::vector<int>& cpus, size_t index, size_t count) {
  const size_t begin = cpus.size() * index / count;
  const size_t end = cpus.size() * (index + 1) / count;
  if (begin == end) return {cpus[begin % cpus.size()]};
  return {cpus.begin() + static_cast<ptrdiff_t>(begin), cpus.begin() + static_cast<ptrdiff_t>(end)};
}

std::vector<int> CpusBeside(int cpu, const char* what) {
  return CpusOfFile(fmt::format("/sys/devices/system/cpu/cpu{}/{}", cpu, what));
}

}  // namespace

std::vector<int> ParseCpuList(std::string_view text) {
  std::vector<int> cpus;
  for (const std::string& part : base::Split(text, ',')) {
    const size_t dash = part.find('-');
    const auto first = base::ParseInt(std::string_view(part).substr(0, dash));
    const auto last =
        dash == std::string::npos ? first : base::ParseInt(std::string_view(part).substr(dash + 1));
    if (!first || !last || *first < 0 || *last < *first || *last >= kMaxCpus) return {};
    for (int64_t cpu = *first; cpu <= *last; ++cpu) cpus.push_back(static_cast<int>(cpu));
  }
  return cpus;
}

int UsableCpus() { return std::max<int>(1, static_cast<int>(AllowedCpus().size())); }

int UsableXpus() {
  int count = 0;
  std::error_code failed;
  for (const auto& entry : std::filesystem::directory_iterator("/sys/class/drm", failed)) {
    if (!entry.path().filename().string().starts_with("renderD")) continue;
    const auto driver = std::filesystem::read_symlink(entry.path() / "device" / "driver", failed);
    if (!failed && driver.filename() == "xe") ++count;
  }
  return count;
}

VisibleDevices VisibleDevicesOf(const base::Environment& environment) {
  VisibleDevices visible;
  visible.variable =
      environment.Get("HIP_VISIBLE_DEVICES") ? "HIP_VISIBLE_DEVICES" : "CUDA_VISIBLE_DEVICES";
  const auto found = environment.values().find(visible.variable);
  if (found == environment.values().end()) return visible;
  visible.are_named = true;
  for (const std::string& device : base::Split(found->second, ',')) {
    visible.devices.emplace_back(base::Trim(device));
  }
  return visible;
}

base::Result<int> CountProcesses(std::string_view text, const base::Environment& environment) {
  const auto refuse = [](std::string message) {
    return base::Fail(base::Code::kInvalidArgument, std::move(message));
  };
  if (const auto number = ParsePythonInt(text)) {
    if (*number < 1 || *number > std::numeric_limits<int>::max()) {
      return refuse(fmt::format("--nproc-per-node {}: must be at least 1", text));
    }
    return static_cast<int>(*number);
  }
  if (text == "cpu") return UsableCpus();
  if (text == "gpu") {
    const int gpus = gpu::UsableGpus(environment);
    if (gpus > 0) return gpus;
    return refuse(
        "--nproc-per-node gpu: Cuda is not available. (no GPU of NVIDIA or AMD here, or "
        "CUDA_VISIBLE_DEVICES or AMD's variables hide it; use a number or cpu)");
  }
  if (text == "xpu") {
    const int xpus = UsableXpus();
    if (xpus > 0) return xpus;
    return refuse("--nproc-per-node xpu: Xpu is not available. (use a number or cpu)");
  }
  if (text == "auto") {
    if (const int gpus = gpu::UsableGpus(environment); gpus > 0) return gpus;
    if (const int xpus = UsableXpus(); xpus > 0) return xpus;
    return UsableCpus();
  }
  return refuse(
      fmt::format("--nproc-per-node '{}': Unsupported nproc_per_node value: a number, "
                  "auto, cpu, gpu or xpu",
                  text));
}

CpuBinding::CpuBinding(std::string_view how, int local_rank, int count,
                       const base::Environment& environment) {
  if (how.empty() || how == "none") return;
  before_ = AllowedCpus();
  const auto nodes = CpusOfNumaNodes();
  const size_t node = NumaNodeOf(local_rank, count, nodes.size(), environment);
  std::vector<int> cpus = nodes[node];
  // The workers that share the node, so that its exclusive parts can be divided.
  size_t index = 0;
  size_t sharing = 0;
  for (int rank = 0; rank < count; ++rank) {
    if (NumaNodeOf(rank, count, nodes.size(), environment) != node) continue;
    if (rank < local_rank) ++index;
    ++sharing;
  }
  if (how == "socket") cpus = CpusBeside(cpus[0], "topology/package_cpus_list");
  cpus = Shared(cpus, before_);
  if (how == "exclusive" && !cpus.empty()) cpus = Part(cpus, index, std::max<size_t>(1, sharing));
  if (how == "core-complex" && !cpus.empty()) {
    // One group for each last-level cache of the node.
    std::set<std::vector<int>> complexes;
    for (const int cpu : cpus) {
      auto beside = Shared(CpusBeside(cpu, "cache/index3/shared_cpu_list"), cpus);
      if (!beside.empty()) complexes.insert(std::move(beside));
    }
    if (!complexes.empty()) {
      cpus = *std::next(complexes.begin(), static_cast<ptrdiff_t>(index % complexes.size()));
    }
  }
  AllowCpus(cpus);
}

CpuBinding::~CpuBinding() { AllowCpus(before_); }

}  // namespace launch
