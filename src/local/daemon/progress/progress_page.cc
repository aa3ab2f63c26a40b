#include "local/daemon/progress/progress_page.h"

#include <charconv>
#include <string>
#include <vector>

namespace local::daemon {
namespace {

constexpr size_t kMostPoints = 100'000;

net::HttpResponse JsonResponse(int status, const text::Json& json) {
  net::HttpResponse response;
  response.status = status;
  response.headers = {{"Content-Type", "application/json"}};
  response.body = text::ToJson(json);
  return response;
}

}  // namespace

std::optional<net::HttpResponse> AnswerProgress(ProgressFiles& files,
                                                const net::HttpRequest& request) {
  if (!request.target.starts_with(kProgressPath) || request.method != "GET") return std::nullopt;
  const auto target = net::ParseTarget(request.target);
  if (!target || target->segments != std::vector<std::string>{"muster", "progress"}) {
    return std::nullopt;
  }
  const std::string uid(target->Query("uid"));
  if (uid.empty()) return JsonResponse(200, files.OfRunning());
  size_t points = kUsualPoints;
  const std::string wanted(target->Query("points"));
  if (!wanted.empty()) {
    const auto read = std::from_chars(wanted.data(), wanted.data() + wanted.size(), points);
    if (read.ec != std::errc() || read.ptr != wanted.data() + wanted.size()) {
      return JsonResponse(400, text::Object{{"message", "points must be a number"}});
    }
  }
  return JsonResponse(200, files.Of(uid, std::min(points, kMostPoints)));
}

}  // namespace local::daemon
