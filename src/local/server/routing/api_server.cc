#include "local/server/routing/api_server.h"

#include <future>

#include "base/log.h"
#include "local/server/backend/backend.h"
#include "local/server/backend/records.h"
#include "local/server/discovery/custom_kinds.h"
#include "local/server/discovery/discovery.h"
#include "local/server/discovery/openapi.h"
#include "local/server/discovery/reviews.h"
#include "local/server/kinds/kind_rules.h"
#include "local/server/kinds/object_rules.h"
#include "local/server/reads/reads.h"
#include "local/server/reads/watches.h"
#include "local/server/streams/pod_exec.h"
#include "local/server/streams/pod_log.h"
#include "local/server/streams/pod_port_forward.h"
#include "local/server/writes/writes.h"

namespace local::server {
namespace {

bool IsRead(const Call& call) { return call.http.method == "GET"; }

void RouteSubresource(Backend& backend, Call call) {
  const std::string& method = call.http.method;
  const api::Resource& resource = *call.rest.resource;
  const std::string& subresource = call.rest.subresource;
  const bool is_update = method == "PUT" || method == "PATCH";
  if (subresource == "status" && resource.has_status) {
    if (IsRead(call)) return HandleGet(backend, call);
    if (method == "PUT") return HandleUpdate(backend, std::move(call));
    if (method == "PATCH") return HandlePatch(backend, std::move(call));
  } else if (subresource == "scale" && RulesOf(resource).can_scale) {
    if (IsRead(call) || is_update) return HandleScale(backend, std::move(call));
  } else if (subresource == "log" && &resource == &api::kPods) {
    if (IsRead(call)) return HandleLog(backend, std::move(call));
  } else if (subresource == "exec" && &resource == &api::kPods) {
    if (IsRead(call) || method == "POST") return HandleExec(backend, std::move(call));
  } else if (subresource == "attach" && &resource == &api::kPods) {
    if (IsRead(call) || method == "POST") return HandleAttach(backend, std::move(call));
  } else if (subresource == "portforward" && &resource == &api::kPods) {
    if (IsRead(call) || method == "POST") return HandlePortForward(backend, std::move(call));
  } else if (subresource == "binding" && &resource == &api::kPods) {
    if (method == "POST") return HandleBinding(backend, std::move(call));
  } else {
    return call.responder->Send(ToResponse(NoSuchPath()));
  }
  call.responder->Send(ToResponse(MethodNotAllowed()));
}

void RouteCollection(Backend& backend, Call call) {
  const std::string& method = call.http.method;
  if (IsRead(call)) {
    if (call.rest.Flag("watch")) return HandleWatch(backend, std::move(call));
    return HandleList(backend, call);
  }
  const bool has_place = !call.rest.resource->namespaced || !call.rest.namespace_name.empty();
  if (has_place && method == "POST") {
    if (call.rest.Flag(kWithOwned)) return HandleCreateWithOwned(backend, std::move(call));
    return HandleCreate(backend, std::move(call));
  }
  if (has_place && method == "DELETE") return HandleDeleteCollection(backend, std::move(call));
  call.responder->Send(ToResponse(MethodNotAllowed()));
}

void RouteObject(Backend& backend, Call call) {
  const std::string& method = call.http.method;
  if (IsRead(call)) return HandleGet(backend, call);
  if (method == "PUT") return HandleUpdate(backend, std::move(call));
  if (method == "PATCH") return HandlePatch(backend, std::move(call));
  if (method == "DELETE") return HandleDelete(backend, std::move(call));
  call.responder->Send(ToResponse(MethodNotAllowed()));
}

}  // namespace

ApiServer::ApiServer(net::HttpHandler fallback, std::string user)
    : fallback_(std::move(fallback)), user_(std::move(user)) {}

ApiServer::~ApiServer() {
  backend_->summaries->Stop();
  backend_->initial_lists.reset();
  backend_->timers.reset();  // its tasks use the other members
}

base::Result<std::unique_ptr<ApiServer>> ApiServer::Open(const std::string& path, Options options,
                                                         std::optional<store::Database> reader) {
  std::unique_ptr<ApiServer> server(
      new ApiServer(std::move(options.fallback), std::move(options.user)));
  server->backend_ = std::make_unique<Backend>();
  Backend& backend = *server->backend_;
  backend.clock = options.clock != nullptr ? options.clock : &base::SystemClock();
  backend.admission = std::move(options.admission);
  backend.log_source = options.log_source;
  backend.exec_source = options.exec_source;
  backend.port_source = options.port_source;
  backend.notices = std::move(options.notices);
  backend.timers = options.timers ? std::move(options.timers) : ThreadTimers();
  backend.summaries = std::make_unique<JobSummaries>(*backend.clock);

  store::Store::Options store_options;
  store_options.max_bytes = options.max_store_bytes;
  store_options.reserve = std::move(options.store_reserve);
  store_options.reader = std::move(reader);
  store_options.on_commit = [summaries = backend.summaries.get()](
                                std::span<const store::EventPtr> events, int64_t version) {
    summaries->OnCommit(events, version);
  };
  TRY_ASSIGN(backend.store, store::Store::Open(path, std::move(store_options)));
  backend.initial_lists = std::make_unique<InitialLists>(*backend.store, backend.timers);
  TRY(backend.summaries->Start(*backend.store));
  TRY(server->MakeNamespace("default"));
  TRY(server->MakeNamespace("kube-system"));
  // Soon, but not before the first request: with a thousand jobs it takes a while.
  backend.timers->After(std::chrono::milliseconds(1),
                        [raw = server.get()] { raw->ReadSummaries(); });
  return server;
}

store::Store& ApiServer::store() { return *backend_->store; }

void ApiServer::ReadSummaries() {
  const base::Status read = backend_->summaries->Refresh(*backend_->store);
  if (!read && read.error().code != base::Code::kCancelled) {
    base::LogWarn("summaries of the jobs: {}", read.error().message);
  }
}

base::Status ApiServer::MakeNamespace(const std::string& name) {
  std::promise<base::Status> made;
  store::Mutation mutation;
  mutation.key = {store::ResourceName(api::kNamespaces), "", name};
  mutation.apply = [this, &name](
                       store::View&,
                       std::optional<store::Record> current) -> base::Result<store::Next> {
    if (current) return store::Next{};
    text::Json object = text::Object{
        {"apiVersion", "v1"}, {"kind", "Namespace"}, {"metadata", text::Object{{"name", name}}}};
    PrepareCreate(api::kNamespaces, backend_->clock->Now(), object);
    return store::Next{store::Next::Action::kPut, std::move(object), {}};
  };
  backend_->store->Submit(std::move(mutation), [&](base::Result<store::Outcome> outcome) {
    if (outcome) return made.set_value({});
    made.set_value(base::Fail(std::move(outcome.error())));
  });
  return made.get_future().get();
}

void ApiServer::Handle(net::HttpRequest request, std::shared_ptr<net::Responder> responder) {
  auto target = net::ParseTarget(request.target);
  if (!target)
    return responder->Send(ToResponse(BadRequest("the path of the request is malformed")));
  if (request.method == "GET") {
    const std::string_view accept = net::FindHeader(request.headers, "Accept");
    if (auto found = Discover(*target, accept)) return responder->Send(std::move(*found));
    if (auto found = DescribeOpenApi(*target, accept)) return responder->Send(std::move(*found));
  }
  if (auto found = AnswerReview(*target, request, user_)) return responder->Send(std::move(*found));
  if (auto found = AnswerDefinitions(*target, request.method, request.body)) {
    return responder->Send(std::move(*found));
  }
  if (auto found = AnswerRecords(*backend_, *target, request.method)) {
    return responder->Send(std::move(*found));
  }
  const bool is_api =
      !target->segments.empty() && (target->segments[0] == "api" || target->segments[0] == "apis");
  auto rest = ParseRestRequest(std::move(*target));
  if (!rest) {
    if (fallback_ && !is_api) return fallback_(std::move(request), std::move(responder));
    return responder->Send(ToResponse(NoSuchPath()));
  }
  Call call{std::move(*rest), std::move(request), std::move(responder)};
  if (!call.rest.subresource.empty()) return RouteSubresource(*backend_, std::move(call));
  if (call.rest.name.empty()) return RouteCollection(*backend_, std::move(call));
  RouteObject(*backend_, std::move(call));
}

}  // namespace local::server
