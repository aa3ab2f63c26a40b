#include "api/job/replica.h"

#include <limits>

#include "api/names.h"
#include "api/object.h"
#include "base/strings.h"

namespace api {
namespace {

constexpr std::string_view kOldReplicaIndex = "pytorch-replica-index";

}  // namespace

bool IsMasterPod(const text::Json& pod) {
  return Label(pod, kReplicaTypeLabel) == "master" || Label(pod, kOldReplicaTypeLabel) == "master";
}

int ReplicaIndex(const text::Json& pod) {
  std::string_view written = Label(pod, kReplicaIndexLabel);
  if (written.empty()) written = Label(pod, kOldReplicaIndex);
  const auto index = base::ParseInt(written);
  if (!index || *index < 0 || *index > std::numeric_limits<int>::max()) return 0;
  return static_cast<int>(*index);
}

int NodeRank(const text::Json& pod, bool has_master) {
  if (IsMasterPod(pod)) return 0;
  return ReplicaIndex(pod) + (has_master ? 1 : 0);
}

}  // namespace api
