#include "local/daemon/progress/progress_page.h"

#include <algorithm>
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

// Nullopt for what is not a number.
std::optional<size_t> NumberIn(const net::Target& target, const char* name, size_t usual) {
  const std::string wanted(target.Query(name));
  if (wanted.empty()) return usual;
  size_t number = 0;
  const auto read = std::from_chars(wanted.data(), wanted.data() + wanted.size(), number);
  const bool is_number = read.ec == std::errc() && read.ptr == wanted.data() + wanted.size();
  return is_number ? std::optional(number) : std::nullopt;
}

}  // namespace

std::optional<net::HttpResponse> AnswerProgress(ProgressFiles& files, RankFiles& ranks,
                                                const net::HttpRequest& request) {
  if (!request.target.starts_with(kProgressPath) || request.method != "GET") return std::nullopt;
  const auto target = net::ParseTarget(request.target);
  if (!target || target->segments != std::vector<std::string>{"muster", "progress"}) {
    return std::nullopt;
  }
  const std::string uid(target->Query("uid"));
  if (uid.empty()) return JsonResponse(200, files.OfRunning());
  const auto columns = NumberIn(*target, "ranks", 0);
  const auto points = NumberIn(*target, "points", kUsualPoints);
  if (!columns || !points) {
    return JsonResponse(400, text::Object{{"message", "points and ranks must be numbers"}});
  }
  if (*columns > 0) {
    return JsonResponse(200, ranks.Of(uid, static_cast<int64_t>(std::min(*columns, kMostPoints))));
  }
  const bool with_times = target->Query("times") == "1";
  return JsonResponse(200, files.Of(uid, std::min(*points, kMostPoints), with_times));
}

}  // namespace local::daemon
