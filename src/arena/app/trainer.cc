#include "arena/app/trainer.h"

#include <fmt/format.h>

#include <utility>

#include "base/strings.h"

namespace arena {
namespace {

struct Trainer {
  std::string_view name;
  std::string_view alias;
  std::string_view shorthand;
  bool is_arenas = true;  // else muster's own word, which Arena's text does not list
};

constexpr Trainer kPyTorch = {"pytorchjob", "Pytorch", "py"};
// compat/arena.md 1.5
constexpr Trainer kOthers[] = {
    {"tfjob", "Tensorflow", "tf"},           {"mpijob", "MPI", "mpi"},
    {"horovodjob", "Horovod", "horovod"},    {"volcanojob", "Volcano", "volcano"},
    {"etjob", "ElasticTraining", "et"},      {"sparkjob", "Spark", "spark"},
    {"deepspeedjob", "DeepSpeed", "dp"},     {"rayjob", "RayJob", "rj"},
    {"xgboostjob", "XGBoost", "xgb", false}, {"paddlejob", "Paddle", "paddle", false},
    {"jaxjob", "JAX", "jax", false},
};

constexpr std::string_view kKubeflow = "kubeflow.org";
constexpr api::Resource kOtherKinds[] = {
    {kKubeflow, "v1", "tfjobs", "tfjob", "TFJob", true, true},
    {kKubeflow, "v1", "mpijobs", "mpijob", "MPIJob", true, true},
    {kKubeflow, "v1", "xgboostjobs", "xgboostjob", "XGBoostJob", true, true},
    {kKubeflow, "v1", "paddlejobs", "paddlejob", "PaddleJob", true, true},
    {kKubeflow, "v1", "jaxjobs", "jaxjob", "JAXJob", true, true},
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
    if (other.is_arenas) known += fmt::format(",{}({})", other.shorthand, other.alias);
  }
  return base::Fail(base::Code::kInvalidArgument,
                    fmt::format("unsupport job type,arena only supports: [{}]", known));
}

void AddTypeFlag(cli::FlagSet& set, std::string* to, std::string usage) {
  set.String(to, "type", "", std::move(usage)).Short('T').Choices({std::string(kPyTorch.name)});
}

std::span<const api::Resource> OtherKinds() { return kOtherKinds; }

std::vector<std::string> TypesToOffer() {
  std::vector<std::string> types = {std::string(kPyTorch.name)};
  for (const api::Resource& kind : kOtherKinds) types.emplace_back(kind.singular);
  return types;
}

const api::Resource* OtherKindNamed(std::string_view type) {
  for (const Trainer& trainer : kOthers) {
    if (!Names(trainer, type)) continue;
    for (const api::Resource& kind : kOtherKinds) {
      if (kind.singular == trainer.name) return &kind;
    }
  }
  return nullptr;
}

}  // namespace arena
