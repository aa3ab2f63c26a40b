#include "cluster/client.h"

#include <fmt/format.h>

#include <utility>

#include "base/strings.h"
#include "cluster/answer_error.h"
#include "cluster/list_page.h"
#include "cluster/rest_path.h"
#include "cluster/warning_header.h"
#include "text/member_stream.h"

namespace cluster {
namespace {

constexpr std::string_view kJsonType = "application/json";
constexpr std::string_view kTableType = "application/json;as=Table;v=v1;g=meta.k8s.io";
// For formats that only the embedded server has; a Kubernetes server ignores the ones that it does
// not know.
constexpr std::string_view kOwnFormType =
    "application/json;as={};v=v1;g=muster.dev,application/json";
constexpr std::string_view kUserAgent = "muster/" MUSTER_VERSION;
// How much longer than asked a server may take to end a watch.
constexpr std::chrono::seconds kWatchGrace{30};
// The most that is read of an answer that says why a stream did not open.
constexpr size_t kMaxErrorBytes = 1 << 20;

// The largest object of a list: many times what a server stores.
constexpr size_t kMaxItemBytes = 64 << 20;
constexpr int kHttpNotFound = 404;

base::Result<text::Json> ReadWhole(const text::Document& document) { return document.Whole(); }

bool IsSuccess(int status) { return status >= 200 && status < 300; }

net::HttpRequest MakeRequest(std::string_view method, std::string target) {
  net::HttpRequest request;
  request.method = method;
  request.target = std::move(target);
  request.headers = {{"Accept", std::string(kJsonType)}, {"User-Agent", std::string(kUserAgent)}};
  return request;
}

void SetBody(net::HttpRequest& request, std::string body, std::string_view type = kJsonType) {
  request.headers.emplace_back("Content-Type", type);
  request.body = std::move(body);
}

// Sends the value as text, or as it is to a server in this process.
void SetBody(net::HttpRequest& request, const Transport& transport, const text::Json& value,
             std::string_view type = kJsonType) {
  SetBody(request, transport.TakesParsed() ? "" : text::ToJson(value), type);
  if (transport.TakesParsed()) request.parsed = std::make_shared<const text::Json>(value);
}

QueryString ListQuery(const ListOptions& options) {
  QueryString query;
  query.Add("labelSelector", options.label_selector);
  query.Add("fieldSelector", options.field_selector);
  return query;
}

std::string_view PatchContentType(PatchType type) {
  switch (type) {
    case PatchType::kMerge:
      return "application/merge-patch+json";
    case PatchType::kJson:
      return "application/json-patch+json";
    case PatchType::kStrategicMerge:
      return "application/strategic-merge-patch+json";
    case PatchType::kApply:
      return "application/apply-patch+yaml";  // JSON is YAML
  }
  return kJsonType;
}

std::string_view PropagationName(Propagation propagation) {
  switch (propagation) {
    case Propagation::kBackground:
      return "Background";
    case Propagation::kForeground:
      return "Foreground";
    case Propagation::kOrphan:
      return "Orphan";
  }
  return "Background";
}

std::string DeleteBody(const DeleteOptions& options) {
  text::Object body;
  body["kind"] = "DeleteOptions";
  body["apiVersion"] = "v1";
  body["propagationPolicy"] = PropagationName(options.propagation);
  if (options.grace_period_seconds) body["gracePeriodSeconds"] = *options.grace_period_seconds;
  if (!options.uid.empty()) body["preconditions"] = {{"uid", options.uid}};
  return text::ToJson(body);
}

base::Result<net::HttpRequest> CreateRequest(const Transport& transport,
                                             const api::Resource& resource,
                                             std::string_view namespace_name,
                                             const text::Json& object, bool dry_run) {
  if (namespace_name.empty()) namespace_name = text::GetString(object, {"metadata", "namespace"});
  if (resource.namespaced && namespace_name.empty()) {
    return base::Fail(base::Code::kInvalidArgument,
                      fmt::format("create {}: no namespace given", resource.singular));
  }
  QueryString query;
  query.Add("dryRun", dry_run ? "All" : "");
  auto request = MakeRequest("POST", CollectionPath(resource, namespace_name) + query.text());
  SetBody(request, transport, object);
  return request;
}

base::Result<net::HttpRequest> UpdateRequest(const Transport& transport,
                                             const api::Resource& resource,
                                             const text::Json& object,
                                             std::string_view subresource) {
  TRY_ASSIGN(std::string path,
             ObjectPath(resource, text::GetString(object, {"metadata", "namespace"}),
                        text::GetString(object, {"metadata", "name"}), subresource));
  auto request = MakeRequest("PUT", std::move(path));
  SetBody(request, transport, object);
  return request;
}

base::Result<net::HttpRequest> PatchRequest(const Transport& transport,
                                            const api::Resource& resource,
                                            std::string_view namespace_name, std::string_view name,
                                            PatchType type, const text::Json& patch,
                                            std::string_view subresource) {
  TRY_ASSIGN(std::string path, ObjectPath(resource, namespace_name, name, subresource));
  auto request = MakeRequest("PATCH", std::move(path));
  SetBody(request, transport, patch, PatchContentType(type));
  return request;
}

base::Result<net::HttpRequest> DeleteRequest(const api::Resource& resource,
                                             std::string_view namespace_name, std::string_view name,
                                             const DeleteOptions& options) {
  TRY_ASSIGN(std::string path, ObjectPath(resource, namespace_name, name));
  auto request = MakeRequest("DELETE", std::move(path));
  SetBody(request, DeleteBody(options));
  return request;
}

base::Result<net::HttpRequest> BindRequest(const Transport& transport,
                                           const api::Resource& resource,
                                           std::string_view namespace_name, std::string_view name,
                                           const text::Json& binding) {
  TRY_ASSIGN(std::string path, ObjectPath(resource, namespace_name, name, "binding"));
  auto request = MakeRequest("POST", std::move(path));
  SetBody(request, transport, binding);
  return request;
}

base::Result<net::HttpRequest> RequestOf(const Transport& transport, const BatchWrite& write) {
  using Verb = BatchWrite::Verb;
  const api::Resource& resource = *write.resource;
  switch (write.verb) {
    case Verb::kCreate:
      return CreateRequest(transport, resource, write.namespace_name, write.object, write.dry_run);
    case Verb::kCreateWithOwned: {
      TRY_ASSIGN(auto request,
                 CreateRequest(transport, resource, write.namespace_name, write.object, false));
      request.target += "?withOwned=true";
      return request;
    }
    case Verb::kUpdate:
      return UpdateRequest(transport, resource, write.object, "");
    case Verb::kUpdateStatus:
      return UpdateRequest(transport, resource, write.object, "status");
    case Verb::kPatch:
      return PatchRequest(transport, resource, write.namespace_name, write.name, PatchType::kMerge,
                          write.object, "");
    case Verb::kDelete:
      return DeleteRequest(resource, write.namespace_name, write.name, write.delete_options);
    case Verb::kBind:
      return BindRequest(transport, resource, write.namespace_name, write.name, write.object);
  }
  return base::Fail(base::Code::kInternal, "unknown verb");
}

base::Error ReadError(const net::HttpRequest& request, net::BodyStream& body) {
  std::string text;
  while (text.size() < kMaxErrorBytes) {
    auto bytes = body.Read();
    if (!bytes || !*bytes) break;
    text += **bytes;
  }
  return ErrorFromAnswer(request, body.status(), body.headers(), text);
}

}  // namespace

base::Result<net::HttpResponse> Client::Check(const net::HttpRequest& request,
                                              base::Result<net::HttpResponse> response) {
  if (!response) return response;
  Warn(response->headers);
  if (IsSuccess(response->status)) return response;
  base::Error error = ErrorFromAnswer(request, response->status, response->headers, response->body);
  // Where the path of PyTorchJobs is unknown, that of the server may be wrong.
  if (response->status == kHttpNotFound && error.code == base::Code::kInvalidArgument) {
    const net::HttpRequest version = MakeRequest("GET", "/version");
    const auto answer = transport_->Send(version);
    if (answer && answer->status == kHttpNotFound) {
      base::Error of_version =
          ErrorFromAnswer(version, answer->status, answer->headers, answer->body);
      // Not of a gateway that refuses this path in its own words.
      if (of_version.code == base::Code::kInvalidArgument) error = std::move(of_version);
    }
  }
  return base::Fail(std::move(error));
}

base::Result<text::Json> Client::ParseAnswer(const net::HttpRequest& request,
                                             base::Result<net::HttpResponse> response,
                                             const ObjectReader& read) {
  TRY_ASSIGN(const net::HttpResponse answer, Check(request, std::move(response)));
  auto json = read(text::Document(answer.body, answer.parsed.get()));
  if (!json) {
    return base::Fail(ErrorFromGarbage(request, answer.headers, answer.body, json.error().message));
  }
  return json;
}

base::Result<text::Json> Client::ReadPage(const api::Resource& resource, const ListOptions& options,
                                          const net::HttpRequest& request, ObjectList& list) {
  const std::string api_version(resource.api_version());
  const ObjectReader& read = options.read_listed ? options.read_listed : options.read;
  text::MemberStream stream("items", kMaxItemBytes, [&](std::string_view text) -> base::Status {
    TRY_ASSIGN(text::Json item, read(text::Document(text)));
    NameKind(item, api_version, resource.kind);
    if (options.trim) options.trim(item);
    list.items.push_back(std::move(item));
    return {};
  });
  std::string begin;
  std::optional<std::string> why_garbage;
  const auto take = [&](std::string_view bytes) -> base::Status {
    if (begin.empty()) begin = bytes.substr(0, kMaxErrorBytes);
    base::Status fed = stream.Feed(bytes);
    if (!fed) why_garbage = fed.error().message;
    return fed;
  };
  auto answered = Check(request, transport_->Receive(request, take));
  if (!answered && !why_garbage) return base::Fail(std::move(answered.error()));
  if (!why_garbage) {
    base::Result<text::Json> page = stream.Finish();
    if (page) return page;
    why_garbage = page.error().message;
  }
  const net::Headers headers = answered ? answered->headers : net::Headers();
  return base::Fail(ErrorFromGarbage(request, headers, begin, *why_garbage));
}

void Client::Warn(const net::Headers& headers) {
  if (!warnings_) return;
  for (const auto& [name, value] : headers) {
    if (!base::EqualsIgnoreCase(name, "Warning")) continue;
    for (const std::string& text : ParseWarningHeader(value)) warnings_(text);
  }
}

base::Result<text::Json> Client::SendJson(base::Result<net::HttpRequest> request) {
  if (!request) return base::Fail(std::move(request.error()));
  return ParseAnswer(*request, transport_->Send(*request), ReadWhole);
}

base::Result<std::unique_ptr<net::BodyStream>> Client::OpenStream(const net::HttpRequest& request) {
  TRY_ASSIGN(auto body, transport_->Open(request));
  Warn(body->headers());
  if (!IsSuccess(body->status())) return base::Fail(ReadError(request, *body));
  return body;
}

base::Result<text::Json> Client::Get(const api::Resource& resource, std::string_view namespace_name,
                                     std::string_view name) {
  TRY_ASSIGN(std::string path, ObjectPath(resource, namespace_name, name));
  return SendJson(MakeRequest("GET", std::move(path)));
}

base::Result<text::Json> Client::Ask(std::string_view method, std::string path) {
  return SendJson(MakeRequest(std::string(method), std::move(path)));
}

base::Status Client::ForEachPage(const api::Resource& resource, const ListOptions& options,
                                 std::string_view accept, const QueryString& query,
                                 const FetchPage& fetch,
                                 const std::function<base::Status(text::Json&)>& take) {
  const std::string path = CollectionPath(resource, options.namespace_name);
  std::string next;
  do {
    QueryString page_query = query;
    if (options.limit > 0) page_query.Add("limit", std::to_string(options.limit));
    // The continue token contains the version of the first page.
    page_query.Add("resourceVersion", next.empty() ? options.resource_version : "");
    page_query.Add("continue", next);
    auto request = MakeRequest("GET", path + page_query.text());
    request.headers.front().second = accept;
    TRY_ASSIGN(text::Json page, fetch(request));
    TRY(take(page));
    next = text::GetString(page, {"metadata", "continue"});
  } while (!next.empty());
  return {};
}

base::Result<ObjectList> Client::List(const api::Resource& resource, const ListOptions& options) {
  ObjectList list;
  const auto fetch = [&](const net::HttpRequest& request) {
    const bool reads_items = options.read || options.read_listed;
    return reads_items ? ReadPage(resource, options, request, list)
                       : ParseAnswer(request, transport_->Send(request), ReadWhole);
  };
  const std::string accept =
      options.form.empty() ? std::string(kJsonType) : fmt::format(kOwnFormType, options.form);
  base::Status read =
      ForEachPage(resource, options, accept, ListQuery(options), fetch, [&](text::Json& page) {
        list.resource_version = text::GetString(page, {"metadata", "resourceVersion"});
        return AppendItems(resource, options, page, list);
      });
  if (read) return list;
  // The version became too old before the last page: list without pages, as client-go does.
  if (read.error().code == base::Code::kExpired && !list.items.empty()) {
    ListOptions whole = options;
    whole.limit = 0;
    return List(resource, whole);
  }
  return base::Fail(std::move(read.error()));
}

base::Result<Table> Client::GetTable(const api::Resource& resource, const ListOptions& options) {
  const bool is_of_all = resource.namespaced && options.namespace_name.empty();
  QueryString query = ListQuery(options);
  query.Add("includeObject", is_of_all ? "Metadata" : "None");
  Table table;
  bool with_namespace = is_of_all;
  const auto take = [&](text::Json& page) -> base::Status {
    if (text::GetString(page, {"kind"}) != "Table") {
      return base::Fail(base::Code::kInternal, "the server does not render tables");
    }
    table.resource_version = text::GetString(page, {"metadata", "resourceVersion"});
    if (table.columns.empty()) {
      table.columns = ColumnsOf(page);
      with_namespace =
          is_of_all && !(!table.columns.empty() && table.columns.front().name == "Namespace");
      if (with_namespace) table.columns.insert(table.columns.begin(), {"Namespace", 0});
    }
    AppendRows(page, with_namespace, table);
    return {};
  };
  const auto fetch = [this](const net::HttpRequest& request) {
    return ParseAnswer(request, transport_->Send(request), ReadWhole);
  };
  TRY(ForEachPage(resource, options, kTableType, query, fetch, take));
  return table;
}

base::Result<text::Json> Client::Create(const api::Resource& resource,
                                        std::string_view namespace_name, const text::Json& object,
                                        bool dry_run) {
  return SendJson(CreateRequest(*transport_, resource, namespace_name, object, dry_run));
}

base::Result<text::Json> Client::Update(const api::Resource& resource, const text::Json& object) {
  return SendJson(UpdateRequest(*transport_, resource, object, ""));
}

base::Result<text::Json> Client::UpdateStatus(const api::Resource& resource,
                                              const text::Json& object) {
  return SendJson(UpdateRequest(*transport_, resource, object, "status"));
}

base::Result<text::Json> Client::Patch(const api::Resource& resource,
                                       std::string_view namespace_name, std::string_view name,
                                       PatchType type, const text::Json& patch,
                                       std::string_view subresource) {
  return SendJson(
      PatchRequest(*transport_, resource, namespace_name, name, type, patch, subresource));
}

base::Result<text::Json> Client::Apply(const api::Resource& resource, const text::Json& object,
                                       std::string_view field_manager, bool force, bool dry_run,
                                       std::string_view field_validation) {
  TRY_ASSIGN(std::string path,
             ObjectPath(resource, text::GetString(object, {"metadata", "namespace"}),
                        text::GetString(object, {"metadata", "name"})));
  QueryString query;
  query.Add("fieldManager", field_manager).AddFlag("force", force);
  query.Add("dryRun", dry_run ? "All" : "").Add("fieldValidation", field_validation);
  auto request = MakeRequest("PATCH", path + query.text());
  SetBody(request, *transport_, object, PatchContentType(PatchType::kApply));
  return SendJson(std::move(request));
}

base::Status Client::Delete(const api::Resource& resource, std::string_view namespace_name,
                            std::string_view name, const DeleteOptions& options) {
  TRY_ASSIGN(const auto request, DeleteRequest(resource, namespace_name, name, options));
  TRY(Check(request, transport_->Send(request)));
  return {};
}

std::vector<base::Result<text::Json>> Client::Batch(const std::vector<BatchWrite>& writes) {
  std::vector<net::HttpRequest> requests;
  std::vector<base::Result<text::Json>> results;
  std::vector<size_t> sent;  // indexes into `results`
  for (const BatchWrite& write : writes) {
    auto request = RequestOf(*transport_, write);
    if (request) {
      sent.push_back(results.size());
      requests.push_back(std::move(*request));
      results.emplace_back(text::Json());
    } else {
      results.push_back(base::Fail(std::move(request.error())));
    }
  }
  auto responses = transport_->SendAll(requests);
  for (size_t i = 0; i < responses.size(); ++i) {
    const auto read = writes[sent[i]].read;
    results[sent[i]] =
        ParseAnswer(requests[i], std::move(responses[i]), read != nullptr ? read : ReadWhole);
  }
  return results;
}

base::Result<std::unique_ptr<Watch>> Client::OpenWatch(const api::Resource& resource,
                                                       const ListOptions& options) {
  QueryString query = ListQuery(options);
  query.AddFlag("watch", true).AddFlag("allowWatchBookmarks", true);
  query.Add("resourceVersion", options.resource_version);
  if (options.timeout_seconds > 0) {
    query.Add("timeoutSeconds", std::to_string(options.timeout_seconds));
  }
  const std::string path = CollectionPath(resource, options.namespace_name);
  auto request = MakeRequest("GET", path + query.text());
  if (options.timeout_seconds > 0) {
    request.lifetime = std::chrono::seconds(options.timeout_seconds) + kWatchGrace;
  }
  TRY_ASSIGN(auto body, OpenStream(request));
  return std::make_unique<Watch>(std::move(body), options.read);
}

base::Result<std::unique_ptr<net::BodyStream>> Client::Logs(std::string_view namespace_name,
                                                            std::string_view pod,
                                                            const LogOptions& options) {
  QueryString query;
  query.Add("container", options.container);
  query.AddFlag("follow", options.follow).AddFlag("timestamps", options.timestamps);
  query.AddFlag("previous", options.previous);
  const auto add_number = [&](std::string_view key, const std::optional<int64_t>& value) {
    if (value) query.Add(key, std::to_string(*value));
  };
  add_number("tailLines", options.tail_lines);
  add_number("sinceSeconds", options.since_seconds);
  query.Add("sinceTime", options.since_time);
  add_number("limitBytes", options.limit_bytes);
  query.Add("podUID", options.pod_uid);
  TRY_ASSIGN(const std::string path, ObjectPath(api::kPods, namespace_name, pod, "log"));
  auto request = MakeRequest("GET", path + query.text());
  request.headers.front().second = "*/*";
  return OpenStream(request);
}

base::Result<std::unique_ptr<ExecStream>> Client::Exec(std::string_view namespace_name,
                                                       std::string_view pod,
                                                       const ExecOptions& options) {
  QueryString query;
  query.Add("container", options.container);
  for (const std::string& word : options.command) query.AddEvenIfEmpty("command", word);
  query.AddFlag("stdin", options.has_stdin).AddFlag("tty", options.has_tty);
  // A terminal has a single output.
  query.AddFlag("stdout", true).AddFlag("stderr", !options.has_tty);
  TRY_ASSIGN(const std::string path, ObjectPath(api::kPods, namespace_name, pod, "exec"));
  auto request = MakeRequest("GET", path + query.text());
  request.headers.front().second = "*/*";
  TRY_ASSIGN(net::WebSocketAnswer answer,
             transport_->OpenWebSocket(request, {kExecProtocolV5, kExecProtocolV4}));
  if (answer.socket) return std::make_unique<ExecStream>(std::move(answer.socket));
  return base::Fail(ErrorFromAnswer(request, answer.status, answer.headers, answer.body));
}

base::Result<std::unique_ptr<PortStream>> Client::OpenPort(std::string_view namespace_name,
                                                           std::string_view pod, uint16_t port) {
  TRY_ASSIGN(const std::string path, ObjectPath(api::kPods, namespace_name, pod, "portforward"));
  auto request = MakeRequest("GET", path + fmt::format("?ports={}", port));
  request.headers.front().second = "*/*";
  TRY_ASSIGN(net::WebSocketAnswer answer, transport_->OpenWebSocket(request, {kPortProtocol}));
  if (answer.socket) return std::make_unique<PortStream>(std::move(answer.socket));
  return base::Fail(ErrorFromAnswer(request, answer.status, answer.headers, answer.body));
}

base::Result<std::string> Client::Raw(std::string_view method, std::string_view path,
                                      std::string_view body) {
  auto request = MakeRequest(method, std::string(path));
  request.headers.front().second = "*/*";
  if (!body.empty()) SetBody(request, std::string(body));
  TRY_ASSIGN(net::HttpResponse answer, Check(request, transport_->Send(request)));
  return std::move(answer.body);
}

}  // namespace cluster
