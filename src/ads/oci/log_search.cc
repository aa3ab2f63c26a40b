#include "ads/oci/log_search.h"

#include <fmt/format.h>

#include <algorithm>

namespace ads::oci {
namespace {

using base::Code;
using base::Fail;

constexpr std::chrono::milliseconds kShortestWindow{1};

// 2026-07-30T10:00:00.123Z
std::string Milliseconds(base::Time time) {
  std::string text = base::FormatRfc3339Micro(time);
  text.erase(text.size() - 4, 3);
  return text;
}

bool IsTooLarge(const base::Error& error) {
  return error.code == Code::kInvalidArgument &&
         error.message.find("too large") != std::string::npos;
}

LogLine ReadLine(const text::Json& result) {
  const text::Json* const content = text::Find(result, {"data", "logContent"});
  if (content == nullptr) return {};
  LogLine line;
  line.id = text::GetString(*content, {"id"});
  line.time = base::ParseRfc3339(text::GetString(*content, {"time"})).value_or(base::Time());
  line.message = text::GetString(*content, {"data", "message"});
  return line;
}

struct LogQuery {
  Api& api;
  std::string text;

  // Appends the lines found; splits the window in halves if it contains too many.
  base::Status Search(base::Time from, base::Time to, std::vector<LogLine>& lines) const {
    const text::Object body{{"timeStart", Milliseconds(from)},
                            {"timeEnd", Milliseconds(to)},
                            {"searchQuery", text},
                            {"isReturnFieldInfo", false}};
    const auto answer = api.Ask({.operation = "search_logs",
                                 .method = "POST",
                                 .target = fmt::format("/20190909/search?limit={}", kMaxLogHits),
                                 .body = text::ToJson(body)});
    if (!answer && !IsTooLarge(answer.error())) return Fail(answer.error());
    const text::Array* const results = answer ? text::FindArray(*answer, {"results"}) : nullptr;
    const bool is_full = !answer || (results != nullptr && results->size() >= kMaxLogHits);
    if (is_full && to - from > kShortestWindow) {
      const base::Time middle = from + (to - from) / 2;
      TRY(Search(from, middle, lines));
      return Search(middle, to, lines);
    }
    if (!answer) return Fail(answer.error());
    if (results == nullptr) return {};
    for (const text::Json& result : *results) lines.push_back(ReadLine(result));
    return {};
  }
};

}  // namespace

base::Result<std::vector<LogLine>> SearchLog(Api& logging, const LogPlace& place,
                                             const std::string& run_ocid, base::Time from,
                                             base::Time to) {
  const LogQuery query{
      logging, fmt::format(R"(SEARCH "{}/{}/{}" | WHERE source = '*{}' | SORT BY datetime DESC)",
                           place.compartment_id, place.group_id, place.log_id, run_ocid)};
  std::vector<LogLine> lines;
  for (base::Time end = to; end > from;) {
    const base::Time begin = std::max(from, end - kLongestLogWindow);
    TRY(query.Search(begin, end, lines));
    end = begin;
  }
  // A record on the border of two windows occurs twice.
  std::set<std::string> seen;
  std::erase_if(
      lines, [&](const LogLine& line) { return !line.id.empty() && !seen.insert(line.id).second; });
  std::stable_sort(lines.begin(), lines.end(),
                   [](const LogLine& a, const LogLine& b) { return a.time < b.time; });
  return lines;
}

base::Result<std::string> CompartmentOfLog(Api& management, const std::string& group_id,
                                           const std::string& log_id) {
  TRY_ASSIGN(const text::Json log,
             management.Ask({.operation = "get_log",
                             .method = "GET",
                             .target = fmt::format("/20200531/logGroups/{}/logs/{}",
                                                   net::PercentEncode(group_id),
                                                   net::PercentEncode(log_id))}));
  return std::string(text::GetString(log, {"compartmentId"}));
}

base::Result<std::string> GroupOfLog(Api& management, const std::string& compartment_id,
                                     const std::string& log_id) {
  TRY_ASSIGN(const text::Array groups,
             management.List({.operation = "list_log_groups",
                              .method = "GET",
                              .target = "/20200531/logGroups?compartmentId=" +
                                        net::PercentEncode(compartment_id)}));
  for (const text::Json& group : groups) {
    const std::string id(text::GetString(group, {"id"}));
    const auto found = CompartmentOfLog(management, id, log_id);
    if (found) return id;
    if (found.error().code != Code::kNotFound) return Fail(found.error());
  }
  return Fail(Code::kNotFound,
              fmt::format("no log group of compartment {} holds the log {}: name its group with "
                          "spec.infrastructure.spec.logGroupId",
                          compartment_id, log_id));
}

}  // namespace ads::oci
