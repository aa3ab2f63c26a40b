#include "local/daemon/process_bound.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "base/strings.h"

namespace local::daemon {
namespace {

// The memory of a Python that has imported nothing and that it shares with no other process.
constexpr int64_t kLeastMemory = 4 << 20;
constexpr int64_t kGibi = 1 << 30;

int64_t Times(int64_t a, int64_t b) {
  int64_t product = 0;
  return __builtin_mul_overflow(a, b, &product) ? std::numeric_limits<int64_t>::max() : product;
}

// Per replica. A word (auto, cpu, gpu) stands for what the machine has.
int64_t RanksOf(const text::Json& job) {
  const std::string_view text = text::GetString(job, {"spec", "nprocPerNode"});
  const int64_t old = text::GetInt(job, {"spec", "elasticPolicy", "nProcPerNode"}).value_or(1);
  return std::max<int64_t>(1, base::ParseInt(text).value_or(old));
}

int64_t ProcessesOf(const text::Json& job) {
  const text::Object* const replicas = text::FindObject(job, {"spec", "pytorchReplicaSpecs"});
  if (replicas == nullptr) return 0;
  int64_t count = 0;
  for (const auto& replica : *replicas) {
    count += text::GetInt(replica.value(), {"replicas"}).value_or(1);
  }
  const int64_t most = text::GetInt(job, {"spec", "elasticPolicy", "maxReplicas"}).value_or(0);
  return Times(std::max(count, most), RanksOf(job));
}

}  // namespace

ProcessBound BoundOf(int64_t memory, const std::vector<ProcessBound>& others) {
  ProcessBound bound;
  if (memory > 0) {
    bound = {std::max<int64_t>(1, memory / kLeastMemory),
             fmt::format("{} GiB of memory", (memory + kGibi / 2) / kGibi)};
  }
  for (const ProcessBound& other : others) {
    if (other.processes <= 0) continue;
    if (bound.processes == 0 || other.processes < bound.processes) bound = other;
  }
  return bound;
}

base::Status CheckProcesses(const ProcessBound& bound, const text::Json& job,
                            const text::Json* old) {
  const int64_t count = ProcessesOf(job);
  if (bound.processes == 0 || count <= bound.processes) return {};
  if (old != nullptr && count <= ProcessesOf(*old)) return {};
  return base::Fail(base::Code::kInvalidArgument,
                    fmt::format("the job has {} processes (replicas times nprocPerNode), and this "
                                "machine with {} runs at most {}: use fewer (--nproc-per-node, "
                                "--nodes or --workers)",
                                count, bound.by, bound.processes));
}

}  // namespace local::daemon
