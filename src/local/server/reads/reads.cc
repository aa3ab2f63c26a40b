#include "local/server/reads/reads.h"

#include <fmt/format.h>

#include <algorithm>

#include "api/job/training_summary.h"
#include "api/object.h"
#include "base/strings.h"
#include "local/server/kinds/tables.h"
#include "local/server/reads/list_stream.h"
#include "local/server/request/selection.h"
#include "text/projection.h"

namespace local::server {
namespace {

// Position in a list that is read in pages of `limit` rows, each from a new snapshot; every page
// reports the version of the first one, so that a watch from it misses nothing.
struct Page {
  size_t limit = 0;  // 0: none
  JobSummaries::Position after;
  std::string version;          // of the first page; "" while reading it
  std::optional<int64_t> left;  // rows after `after`, if counted

  static Answer<Page> Of(const RestRequest& request);
  bool IsFull(size_t count) const { return limit != 0 && count == limit; }
};

std::string ContinueToken(std::string_view version, const JobSummaries::Position& last,
                          std::optional<int64_t> left) {
  return base::Base64Encode(
      text::ToJson(text::Array{text::Json(version), text::Json(last.first), text::Json(last.second),
                               left ? text::Json(*left) : text::Json(nullptr)}));
}

Answer<Page> Page::Of(const RestRequest& request) {
  Page page;
  auto limit = request.Number("limit");
  if (!limit) return Refuse(limit.error());
  page.limit = static_cast<size_t>(std::max<int64_t>(0, limit->value_or(0)));
  const std::string_view token = request.target.Query("continue");
  if (token.empty()) return page;
  const auto refuse = [] {
    return Refuse(BadRequest("continue key is not valid: list again from the start"));
  };
  const auto decoded = base::Base64Decode(token);
  if (!decoded) return refuse();
  const auto parts = text::ParseJson(*decoded);
  if (!parts || !parts->is_array() || parts->get_array().size() != 4) return refuse();
  const text::Array& array = parts->get_array();
  for (size_t i = 0; i < 3; ++i) {
    if (!array[i].is_string()) return refuse();
  }
  if (array[3].is_int64()) page.left = array[3].get_int64();
  const auto part = [&](size_t i) { return std::string(array[i].get_string()); };
  page.version = part(0);
  page.after = {part(1), part(2)};
  return page;
}

Check CheckOptions(const RestRequest& request) {
  const auto refuse = [](std::string_view field, std::string_view why) {
    return Refuse(InvalidRequestOption("ListOptions", field, why));
  };
  const std::string_view match = request.target.Query("resourceVersionMatch");
  const std::string_view version = request.target.Query("resourceVersion");
  constexpr std::string_view kMatch = "resourceVersionMatch";
  if (!request.target.Query("sendInitialEvents").empty()) {
    return refuse("sendInitialEvents", "Forbidden: sendInitialEvents is forbidden for list");
  }
  if (match.empty()) return {};
  if (version.empty()) {
    return refuse(kMatch,
                  "Forbidden: resourceVersionMatch is forbidden unless resourceVersion is "
                  "provided");
  }
  if (match != "Exact" && match != "NotOlderThan") {
    return refuse(kMatch, fmt::format("Unsupported value: \"{}\": supported values: \"Exact\", "
                                      "\"NotOlderThan\", \"\"",
                                      match));
  }
  if (match == "Exact" && version == "0") {
    return refuse(kMatch,
                  "Forbidden: resourceVersionMatch \"exact\" is forbidden for resourceVersion "
                  "\"0\"");
  }
  return {};
}

// Checks the resourceVersion of a list, which always reads the newest state.
Check CheckVersion(Backend& backend, const RestRequest& request) {
  if (auto fine = CheckOptions(request); !fine) return fine;
  auto wanted = request.Number("resourceVersion");
  if (!wanted) return Refuse(wanted.error());
  if (wanted->value_or(0) <= 0) return {};
  auto newest = backend.store->Version();
  if (!newest) return Refuse(FromError(newest.error()));
  if (**wanted > *newest) {
    // Clients of Kubernetes know this case by its cause.
    const text::Object cause{{"reason", "ResourceVersionTooLarge"},
                             {"message", "Too large resource version"}};
    return Refuse(
        {504, "Timeout",
         fmt::format("Timeout: Too large resource version: {}, current: {}", **wanted, *newest),
         text::Object{{"causes", text::Array{cause}}, {"retryAfterSeconds", 1}}});
  }
  if (**wanted < *newest && request.target.Query("resourceVersionMatch") == "Exact") {
    return Refuse(Expired(
        fmt::format("The provided resource version {} is not available any more (current: {})",
                    **wanted, *newest)));
  }
  return {};
}

// The result of reading a page.
struct Listed {
  size_t count = 0;
  bool has_more = false;
  JobSummaries::Position last;
};

// Counted on the first page only: counting a long list for each page would be most of the work.
std::optional<int64_t> CountLeft(Backend& backend, const RestRequest& rest,
                                 const Selection& selection, const Page& page,
                                 const Listed& listed) {
  if (page.left) return std::max<int64_t>(1, *page.left - static_cast<int64_t>(listed.count));
  store::ListQuery query = selection.Narrow(rest);
  query.after = listed.last;
  const auto count = backend.store->Count(query);
  return count ? std::optional<int64_t>(*count) : std::nullopt;
}

std::string ListMetadata(Backend& backend, const RestRequest& rest, const Selection& selection,
                         const Page& page, const Listed& listed, int64_t version) {
  const std::string shown_version = page.version.empty() ? std::to_string(version) : page.version;
  text::Object metadata{{"resourceVersion", shown_version}};
  if (listed.has_more) {
    std::optional<int64_t> left;
    if (selection.IsAll()) left = CountLeft(backend, rest, selection, page, listed);
    metadata["continue"] = ContinueToken(shown_version, listed.last, left);
    if (left) metadata["remainingItemCount"] = *left;
  }
  return text::ToJson(metadata);
}

// Reads a page of objects and calls `take` for the matching ones.
template <typename Take>
base::Result<int64_t> ReadPage(Backend& backend, const RestRequest& rest,
                               const Selection& selection, const Page& page, Listed& listed,
                               Take take) {
  store::ListQuery query = selection.Narrow(rest);
  query.after = page.after;
  return backend.store->List(query, [&](const store::Row& row) {
    if (!selection.MatchesText(row.json)) return true;
    if (page.IsFull(listed.count)) {
      listed.has_more = true;
      return false;
    }
    ++listed.count;
    if (page.limit != 0) listed.last = {std::string(row.namespace_name), std::string(row.name)};
    take(row);
    return true;
  });
}

constexpr std::string_view kListTail = "]}";

// The text before the items.
std::string ListHead(const RestRequest& rest, Form form, std::string_view metadata) {
  const bool is_partial = form == Form::kPartial;
  return fmt::format(R"({{"kind":"{}","apiVersion":"{}","metadata":{},"items":[)",
                     is_partial ? "PartialObjectMetadataList" : rest.resource->list_kind(),
                     is_partial ? "meta.k8s.io/v1" : rest.resource->api_version(), metadata);
}

// The format of the objects in a list.
struct ItemForm {
  Form form = Form::kObject;
  const text::Projection* parts = nullptr;  // the fields to include; null: all

  static ItemForm Of(const RestRequest& rest, std::string_view accept) {
    ItemForm item{FormOf(accept), nullptr};
    const bool is_summary = item.form == Form::kObject &&
                            accept.find(api::kSummaryForm) != std::string_view::npos &&
                            accept.find("g=muster.dev") != std::string_view::npos;
    if (is_summary) item.parts = api::SummaryFormParts(*rest.resource);
    return item;
  }
};

void PutObject(const store::Row& row, const ItemForm& item, std::string& items) {
  if (item.parts != nullptr) {
    const size_t before = items.size();
    const base::Status reduced = text::AppendPart(row.json, *item.parts, items);
    if (!reduced) items.replace(before, items.npos, row.json);
  } else if (item.form == Form::kObject) {
    items += row.json;
  } else if (const auto object = text::ParseJson(row.json)) {
    items += PartialObject(*object);
  }
}

net::HttpResponse ListPage(Backend& backend, const RestRequest& rest, const Selection& selection,
                           const Page& page, const ItemForm& item) {
  std::string items;
  Listed listed;
  const auto version = ReadPage(backend, rest, selection, page, listed, [&](const store::Row& row) {
    if (!items.empty()) items += ',';
    PutObject(row, item, items);
  });
  if (!version) return ToResponse(FromError(version.error()));
  std::string body =
      ListHead(rest, item.form, ListMetadata(backend, rest, selection, page, listed, *version));
  body.reserve(body.size() + items.size() + kListTail.size());
  body += items;
  body += kListTail;
  return JsonResponse(200, std::move(body));
}

// A list without a limit, which may be long.
void ListObjects(Backend& backend, const Call& call, Selection selection, const Page& page,
                 const ItemForm& item) {
  auto cursor = backend.store->OpenList(selection.Narrow(call.rest));
  if (!cursor) return call.responder->Send(ToResponse(FromError(cursor.error())));
  std::string head =
      ListHead(call.rest, item.form,
               ListMetadata(backend, call.rest, selection, page, Listed(), (*cursor)->version()));
  const auto put = [selection = std::move(selection), item](const store::Row& row,
                                                            std::string& items) {
    if (selection.MatchesText(row.json)) PutObject(row, item, items);
  };
  SendList(backend, std::move(*cursor), put, std::move(head), std::string(kListTail),
           call.responder);
}

net::HttpResponse ListTable(Backend& backend, const RestRequest& rest, const Selection& selection,
                            const Page& page) {
  TableBuilder table(*rest.resource, IncludeObjectOf(rest.target.Query("includeObject")),
                     backend.clock->Now());
  Listed listed;
  const auto version = ReadPage(backend, rest, selection, page, listed, [&](const store::Row& row) {
    if (const auto object = text::ParseJson(row.json)) table.Add(*object);
  });
  if (!version) return ToResponse(FromError(version.error()));
  return JsonResponse(200,
                      table.Finish(ListMetadata(backend, rest, selection, page, listed, *version)));
}

// Made from the summaries: parses no job.
net::HttpResponse ListJobTable(Backend& backend, const RestRequest& rest,
                               const Selection& selection, const Page& page) {
  TableBuilder table(*rest.resource, IncludeObjectOf(rest.target.Query("includeObject")),
                     backend.clock->Now());
  const store::ListQuery narrow = selection.Narrow(rest);
  Listed listed;
  const auto version = backend.summaries->Visit(
      *backend.store, narrow.namespace_name, page.after, [&](const JobRow& row) {
        if (!selection.IsAll() && !selection.Matches(row.selectable)) return true;
        if (page.IsFull(listed.count)) {
          listed.has_more = true;
          return false;
        }
        ++listed.count;
        listed.last = {row.namespace_name, row.name};
        table.Add(row);
        return true;
      });
  if (!version) return ToResponse(FromError(version.error()));
  return JsonResponse(200,
                      table.Finish(ListMetadata(backend, rest, selection, page, listed, *version)));
}

net::HttpResponse Get(Backend& backend, const Call& call) {
  const RestRequest& rest = call.rest;
  auto json = backend.store->Get(rest.key());
  if (!json) {
    const bool is_absent = json.error().code == base::Code::kNotFound;
    return ToResponse(is_absent ? NotFound(*rest.resource, rest.name) : FromError(json.error()));
  }
  const Form form = FormOf(net::FindHeader(call.http.headers, "Accept"));
  if (form == Form::kObject) return JsonResponse(200, std::move(*json));
  const auto object = text::ParseJson(*json);
  if (!object) return ToResponse(FromError(object.error()));
  if (form == Form::kPartial) return JsonResponse(200, PartialObject(*object));
  const IncludeObject include = IncludeObjectOf(rest.target.Query("includeObject"));
  TableBuilder table(*rest.resource, include, backend.clock->Now());
  std::optional<JobRow> row;
  if (rest.resource == &api::kPyTorchJobs) {
    auto found = backend.summaries->Get(*backend.store, {rest.namespace_name, rest.name});
    if (found) row = std::move(*found);
  }
  if (row) {
    table.Add(*row, *json);
  } else {
    table.Add(*object);
  }
  return JsonResponse(
      200,
      table.Finish(text::ToJson(text::Object{{"resourceVersion", api::ResourceVersion(*object)}})));
}

void AddNotices(Backend& backend, net::HttpResponse& response) {
  if (!backend.notices) return;
  for (const std::string& notice : backend.notices()) {
    response.headers.emplace_back("Warning", WarningHeader(notice));
  }
}

net::HttpResponse ListRows(Backend& backend, const RestRequest& rest, const Selection& selection,
                           const Page& page) {
  const bool wants_objects =
      IncludeObjectOf(rest.target.Query("includeObject")) == IncludeObject::kObject;
  if (rest.resource == &api::kPyTorchJobs && !wants_objects) {
    return ListJobTable(backend, rest, selection, page);
  }
  return ListTable(backend, rest, selection, page);
}

}  // namespace

void HandleGet(Backend& backend, const Call& call) { call.responder->Send(Get(backend, call)); }

void HandleList(Backend& backend, const Call& call) {
  const RestRequest& rest = call.rest;
  const auto refuse = [&](const ApiError& error) { call.responder->Send(ToResponse(error)); };
  auto selection = Selection::Of(rest);
  if (!selection) return refuse(selection.error());
  const auto page = Page::Of(rest);
  if (!page) return refuse(page.error());
  if (auto fine = CheckVersion(backend, rest); !fine) return refuse(fine.error());
  const ItemForm item = ItemForm::Of(rest, net::FindHeader(call.http.headers, "Accept"));
  if (item.form == Form::kTable) {
    net::HttpResponse response = ListRows(backend, rest, *selection, *page);
    if (rest.resource == &api::kPyTorchJobs) AddNotices(backend, response);
    return call.responder->Send(std::move(response));
  }
  const bool is_part = page->limit != 0 || !page->after.second.empty();
  if (is_part) return call.responder->Send(ListPage(backend, rest, *selection, *page, item));
  ListObjects(backend, call, std::move(*selection), *page, item);
}

}  // namespace local::server
