#include "dashboard/route.h"

#include <utility>

#include "api/names.h"

namespace dashboard {
namespace {

using Kind = Route::Kind;

struct Path {
  std::string_view word;
  std::string_view method;
  size_t names;  // namespace and run
  Kind kind;
};
constexpr Path kPaths[] = {
    {"session", "POST", 0, Kind::kSession},  {"events", "GET", 0, Kind::kEvents},
    {"state", "GET", 0, Kind::kState},       {"run", "GET", 2, Kind::kRun},
    {"verdict", "GET", 2, Kind::kVerdict},   {"ranks", "GET", 2, Kind::kRanks},
    {"strip", "GET", 2, Kind::kStrip},       {"report", "GET", 2, Kind::kReport},
    {"progress", "GET", 2, Kind::kProgress}, {"logs", "GET", 2, Kind::kLogs},
    {"history", "GET", 0, Kind::kHistory},   {"reports", "GET", 0, Kind::kReports},
    {"compare", "GET", 1, Kind::kCompare},   {"machine", "GET", 0, Kind::kMachine},
    {"action", "POST", 0, Kind::kAction},    {"shell", "GET", 2, Kind::kShell},
    {"shell", "POST", 0, Kind::kTyped},      {"diff", "GET", 2, Kind::kDiff},
    {"starts", "GET", 0, Kind::kStarts}};

}  // namespace

std::optional<Route> RouteOf(std::string_view method, std::string_view target) {
  auto parsed = net::ParseTarget(target);
  if (!parsed) return std::nullopt;
  Route route;
  route.target = std::move(*parsed);
  const auto& segments = route.target.segments;
  if (segments.empty() || segments[0] != "api") {
    if (method != "GET" && method != "HEAD") return std::nullopt;
    route.rest = target.substr(0, target.find('?'));
    return route;
  }
  if (segments.size() < 2) return std::nullopt;
  for (const Path& path : kPaths) {
    if (segments[1] != path.word || method != path.method || segments.size() != 2 + path.names) {
      continue;
    }
    route.kind = path.kind;
    if (path.names > 0) route.namespace_name = segments[2];
    if (path.names > 1) route.run = segments[3];
    for (size_t i = 0; i < path.names; ++i) {
      if (!api::IsObjectName(segments[2 + i])) return std::nullopt;
    }
    return route;
  }
  return std::nullopt;
}

}  // namespace dashboard
