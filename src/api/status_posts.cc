#include "api/status_posts.h"

#include <fmt/format.h>

#include <vector>

#include "base/strings.h"
#include "text/json.h"

namespace api {

std::string StatusUrl(std::string_view base, std::string_view namespace_name,
                      std::string_view job) {
  return fmt::format("{}/apis/trainer.kubeflow.org/v1alpha1/namespaces/{}/trainjobs/{}/status",
                     base, namespace_name, job);
}

std::optional<PostedJob> JobOfStatusPost(std::string_view method, std::string_view target) {
  std::string_view path = target.substr(0, target.find('?'));
  if (method != "POST" || !path.starts_with('/')) return std::nullopt;
  path.remove_prefix(1);
  if (path.ends_with('/')) path.remove_suffix(1);
  // The names of namespaces and jobs need no escapes.
  const std::vector<std::string> parts = base::Split(path, '/');
  const bool is_status = parts.size() == 8 && parts[0] == "apis" &&
                         parts[1] == "trainer.kubeflow.org" && parts[2] == "v1alpha1" &&
                         parts[3] == "namespaces" && parts[5] == "trainjobs" &&
                         parts[7] == "status";
  if (!is_status || parts[4].empty() || parts[6].empty()) return std::nullopt;
  return PostedJob{parts[4], parts[6]};
}

std::string_view BearerToken(std::string_view authorization) {
  constexpr std::string_view kScheme = "Bearer ";
  if (!authorization.starts_with(kScheme)) return "";
  return authorization.substr(kScheme.size());
}

std::string ToBody(const PostRefusal& refusal) {
  return text::ToJson(text::Object{{"kind", "Status"},
                                   {"apiVersion", "v1"},
                                   {"metadata", text::Object()},
                                   {"status", "Failure"},
                                   {"message", refusal.message},
                                   {"reason", refusal.reason},
                                   {"code", refusal.status}});
}

}  // namespace api
