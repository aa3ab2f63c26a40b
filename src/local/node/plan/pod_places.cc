// Where pods and jobs have their files, and what their objects say about it (pod.h).
#include <fmt/format.h>

#include <algorithm>

#include "api/names.h"
#include "api/object.h"
#include "api/pod.h"
#include "local/node/plan/pod.h"

namespace local::node {
namespace {

constexpr std::string_view kUsualPath =
    "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

}  // namespace

std::string PodPath(const text::Json& pod, const NodeFacts& facts) {
  return api::SubmittedEnvironment(pod).GetOr("PATH", facts.environment.GetOr("PATH", kUsualPath));
}

std::string PodDirectory(const NodeFacts& facts, std::string_view pod_uid) {
  return fmt::format("{}/pods/{}", facts.state_directory, pod_uid);
}

std::string JobDirectory(const NodeFacts& facts, std::string_view job_uid) {
  return fmt::format("{}/jobs/{}", facts.state_directory, job_uid);
}

std::string JobUidOf(const text::Json& pod) {
  const std::string_view said = api::Annotation(pod, api::kJobUidAnnotation);
  // It names a directory.
  const bool is_uid = !said.empty() && std::all_of(said.begin(), said.end(), [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || c == '-';
  });
  return std::string(is_uid ? said : api::ControllerUid(pod));
}

}  // namespace local::node
