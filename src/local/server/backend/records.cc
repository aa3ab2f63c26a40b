#include "local/server/backend/records.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/strings.h"
#include "local/server/request/api_error.h"

namespace local::server {
namespace {

net::HttpResponse ListRecords(Backend& backend, const net::Target& target) {
  store::KeptQuery query;
  query.namespace_name = target.Query("namespace");
  query.name = target.Query("name");
  query.uid_prefix = target.Query("id");
  query.run = target.Query("run");
  if (const std::string_view limit = target.Query("limit"); !limit.empty()) {
    const auto number = base::ParseInt(limit);
    if (!number || *number < 0) return ToResponse(BadRequest("limit is not a number"));
    query.limit = *number;
  }
  const auto kept = backend.store->ListKept(query);
  if (!kept) return ToResponse(FromError(kept.error()));
  const auto total = backend.store->CountKept(query);
  if (!total) return ToResponse(FromError(total.error()));
  std::string body = R"({"items":[)";
  for (const store::Kept& one : *kept) {
    if (!body.ends_with('[')) body += ',';
    const base::Time deleted{base::Duration(one.deleted)};
    body +=
        fmt::format(R"({{"deleted":"{}","object":{}}})", base::FormatRfc3339(deleted), one.json);
  }
  return JsonResponse(200, body + fmt::format(R"(],"total":{}}})", *total));
}

net::HttpResponse ForgetRecord(Backend& backend, const net::Target& target) {
  const std::string run(target.Query("run"));
  if (run.empty()) return ToResponse(BadRequest("run is required: the uid of a job"));
  const auto forgotten = backend.store->Forget({run});
  return forgotten ? JsonResponse(200, "{}") : ToResponse(FromError(forgotten.error()));
}

}  // namespace

std::optional<net::HttpResponse> AnswerRecords(Backend& backend, const net::Target& target,
                                               std::string_view method) {
  constexpr std::string_view kPath[] = {"muster", "records"};
  if (!std::ranges::equal(target.segments, kPath)) return std::nullopt;
  if (method == "GET") return ListRecords(backend, target);
  if (method == "DELETE") return ForgetRecord(backend, target);
  return ToResponse(MethodNotAllowed());
}

}  // namespace local::server
