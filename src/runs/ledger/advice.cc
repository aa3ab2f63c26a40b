#include "runs/ledger/advice.h"

#include <array>

namespace runs {
namespace {

constexpr Millis kLeastPart = 50;  // of the total

constexpr std::array<std::string_view, kBuckets> kAdvice = {
    "ask for less, or at another time: the job waited for its turn",
    "it was scheduled long before anything started: check the node",
    "keep its image and code at hand: init containers, images and code took the time",
    "use warm interpreters (`local.warm`), or import less: starting the programs took the time",
    "check how the ranks find each other: the rendezvous took the time",
    "cache what the first step compiles and loads",
    "",
    "load data with more workers or nearer to the machine",
    "save checkpoints in the background, or less often",
    "make checkpoints smaller, or keep them nearer to the machine",
    "save checkpoints more often: steps were interrupted, or repeated after a restart",
    "restart sooner: see what a failure leads to (`explain`)",
    "find out which rank holds the others up (`explain`, `stacks`)",
    "it was suspended",
    "end sooner after the last step: evaluation, saving and waiting for ranks took the time",
    "print step numbers (`step 10 loss 1.2`): then more of it is known",
};

}  // namespace

std::optional<Saving> GreatestSaving(const Ledger& ledger) {
  const bool has_gpus = ledger.gpu_millis() > 0;
  const int64_t all = has_gpus ? ledger.gpu_millis() : ledger.wall();
  std::optional<Saving> greatest;
  int64_t most = 0;
  for (size_t i = 0; i < kBuckets; ++i) {
    const auto bucket = static_cast<Bucket>(i);
    if (bucket == Bucket::kSteps || bucket == Bucket::kIdle) continue;
    const Sum& sum = ledger.sums[i];
    const int64_t weight = has_gpus ? sum.gpu_millis : sum.millis;
    if (weight <= most) continue;
    most = weight;
    greatest = Saving{bucket, sum.millis, sum.gpu_millis, std::string(kAdvice[i])};
  }
  if (most < all / kLeastPart) return std::nullopt;
  return greatest;
}

}  // namespace runs
