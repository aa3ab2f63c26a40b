#include "arena/trainer.h"

#include <fmt/format.h>

#include "base/strings.h"

namespace arena {
namespace {

struct Trainer {
  std::string_view name;
  std::string_view alias;
  std::string_view shorthand;
};

constexpr Trainer kPyTorch = {"pytorchjob", "Pytorch", "py"};
// spec/arena.md 1.5
constexpr Trainer kOthers[] = {
    {"tfjob", "Tensorflow", "tf"},        {"mpijob", "MPI", "mpi"},
    {"horovodjob", "Horovod", "horovod"}, {"volcanojob", "Volcano", "volcano"},
    {"etjob", "ElasticTraining", "et"},   {"sparkjob", "Spark", "spark"},
    {"deepspeedjob", "DeepSpeed", "dp"},  {"rayjob", "RayJob", "rj"},
};

bool Names(const Trainer& trainer, std::string_view type) {
  return base::EqualsIgnoreCase(type, trainer.name) ||
         base::EqualsIgnoreCase(type, trainer.alias) ||
         base::EqualsIgnoreCase(type, trainer.shorthand);
}

}  // namespace

base::Result<bool> MeansPyTorch(std::string_view type) {
  if (type.empty() || Names(kPyTorch, type) || base::EqualsIgnoreCase(type, "pytorch")) return true;
  std::string known = fmt::format("{}({})", kPyTorch.shorthand, kPyTorch.alias);
  for (const Trainer& other : kOthers) {
    if (Names(other, type)) return false;
    known += fmt::format(",{}({})", other.shorthand, other.alias);
  }
  return base::Fail(base::Code::kInvalidArgument,
                    fmt::format("unsupport job type,arena only supports: [{}]", known));
}

}  // namespace arena
