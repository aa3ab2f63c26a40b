// What --nproc-per-node and --env=PET_* say to torchrun. The operator gives each replica variables
// of its own, which come after the job's and win: what torchrun would let a user choose is
// therefore said to the operator (compat/pytorchjob.md 2.3).
#include <fmt/format.h>

#include <array>

#include "arena/submit/job/options.h"
#include "arena/submit/job/refusal.h"
#include "base/strings.h"

namespace arena {
namespace {

constexpr const char* kNprocVariable = "PET_NPROC_PER_NODE";

// A replica's place among the others, which only the operator knows.
constexpr std::array<std::string_view, 4> kPlaceVariables = {"PET_MASTER_ADDR", "PET_MASTER_PORT",
                                                             "PET_NODE_RANK", "PET_NNODES"};

bool IsNproc(const std::string& text) {
  if (text.empty() || text == "auto" || text == "cpu" || text == "gpu") return true;
  const std::optional<int64_t> number = base::ParseInt(text);
  return number && *number > 0;
}

}  // namespace

base::Status CheckTorchrun(SubmitOptions& options) {
  std::string& nproc = options.flags.nproc_per_node;
  if (!IsNproc(nproc)) {
    return Refuse("--nproc-per-node is invalid: it is auto, cpu, gpu or a number of at least 1");
  }
  if (const auto it = options.env.find(kNprocVariable); it != options.env.end()) {
    if (it->second.empty() || !IsNproc(it->second)) {
      return Refuse(fmt::format("--env={} is invalid: auto, cpu, gpu or a number", kNprocVariable));
    }
    if (!nproc.empty() && nproc != it->second) {
      return Refuse(
          fmt::format("--nproc-per-node={} and --env={}={} contradict each other: leave "
                      "out one of them",
                      nproc, kNprocVariable, it->second));
    }
    nproc = it->second;
  }
  for (const std::string_view variable : kPlaceVariables) {
    if (!options.env.contains(std::string(variable))) continue;
    options.warnings.push_back(
        fmt::format("{} has no effect: the operator tells each replica its own place", variable));
  }
  return {};
}

}  // namespace arena
