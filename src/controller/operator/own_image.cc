#include "controller/operator/own_image.h"

#include "api/resources.h"
#include "base/backoff.h"
#include "base/log.h"

namespace controller {
namespace {

using base::Code;

constexpr base::Duration kFirstAsk = std::chrono::milliseconds(200);
constexpr base::Duration kLongestAsk = std::chrono::seconds(10);

}  // namespace

std::string OwnImage(const text::Json& pod) {
  const text::Array& containers = text::Items(pod, {"spec", "containers"});
  if (containers.empty()) return "";
  const text::Json* own = text::ItemNamed(pod, {"spec", "containers"}, "operator");
  if (own == nullptr) own = text::ItemNamed(pod, {"spec", "containers"}, "training-operator");
  return std::string(text::GetString(own != nullptr ? *own : containers.front(), {"image"}));
}

std::string FindOwnImage(cluster::Client& client, const std::string& namespace_name,
                         const std::string& pod_name,
                         const std::function<bool(base::Duration)>& rest) {
  if (pod_name.empty()) return kImageOutsideOfPods;
  base::Backoff backoff(kFirstAsk, kLongestAsk);
  while (true) {
    const auto pod = client.Get(api::kPods, namespace_name, pod_name);
    if (pod) {
      const std::string image = OwnImage(*pod);
      return image.empty() ? kImageOutsideOfPods : image;
    }
    if (pod.error().code == Code::kNotFound || pod.error().code == Code::kPermissionDenied) {
      base::LogWarn("workers wait for their master in {}: {}", kImageOutsideOfPods,
                    pod.error().message);
      return kImageOutsideOfPods;
    }
    if (!rest(backoff.Next())) return "";
  }
}

}  // namespace controller
