#include "local/server/writes/apply.h"

#include <fmt/format.h>

#include "api/object.h"
#include "base/strings.h"
#include "local/server/apply/managed_fields.h"
#include "local/server/kinds/object_rules.h"
#include "local/server/writes/pending_write.h"

namespace local::server {
namespace {

ApiError ManagerRequired() {
  return InvalidRequestOption("PatchOptions", "fieldManager",
                              "Required value: is required for apply patch");
}

Answer<text::Json> ReadConfiguration(const Call& call) {
  auto applied = DecodeObject(call.rest, call.http);
  if (!applied) return applied;
  const std::string_view name = api::Name(*applied);
  if (name.empty()) {
    text::Set(*applied, {"metadata", "name"}, text::Json(call.rest.name));
  } else if (auto same = CheckName(*applied, call.rest.name); !same) {
    return Refuse(same.error());
  }
  const text::Json* managed = text::Find(*applied, {"metadata", "managedFields"});
  if (managed != nullptr && !managed->is_null()) {
    return Refuse(BadRequest("metadata.managedFields must be nil"));
  }
  text::Erase(*applied, {"metadata", "managedFields"});
  return applied;
}

}  // namespace

bool IsApply(const net::HttpRequest& http) {
  const std::string type = base::ToLower(net::FindHeader(http.headers, "Content-Type"));
  return base::Trim(std::string_view(type).substr(0, type.find(';'))) ==
         "application/apply-patch+yaml";
}

void HandleApply(Backend& backend, Call call) {
  auto pending = MakePending(backend, std::move(call));
  if (!pending) return;
  RestRequest& rest = pending->call.rest;
  if (rest.target.Query("fieldManager").empty()) {
    return pending->call.responder->Send(ToResponse(ManagerRequired()));
  }
  auto applied = ReadConfiguration(pending->call);
  if (!applied) return pending->call.responder->Send(ToResponse(applied.error()));
  if (auto fine = CheckSentTypes(*pending, *applied); !fine) {
    return pending->call.responder->Send(ToResponse(fine.error()));
  }
  pending->is_apply = true;
  const Part part = rest.subresource == "status" ? Part::kStatus : Part::kMain;
  const auto apply = [raw = pending.get(),
                      config = std::move(*applied)](const text::Json& live) -> Answer<text::Json> {
    const RestRequest& request = raw->call.rest;
    return ApplyConfiguration(raw->resource(),
                              {FieldManagerOf(request, raw->call.http), request.subresource},
                              raw->backend->clock->Now(), request.Flag("force"), live, config);
  };
  SubmitWrite(pending,
              [raw = pending.get(), part, apply](
                  store::View& view, std::optional<store::Record> current) -> Answer<store::Next> {
                if (current) return UpdateObject(*raw, part, apply, view, std::move(*current));
                const api::Resource& resource = raw->resource();
                if (part == Part::kStatus) return Refuse(NotFound(resource, raw->call.rest.name));
                auto object = apply(nullptr);
                if (!object) return Refuse(std::move(object.error()));
                if (!api::Uid(*object).empty()) {
                  return Refuse(Conflict(
                      resource, raw->call.rest.name,
                      fmt::format("uid mismatch: the provided object specified uid {}, and no "
                                  "existing object was found",
                                  api::Uid(*object))));
                }
                if (auto fine = CheckMetadata(resource, *object, nullptr); !fine)
                  return Refuse(fine.error());
                raw->success_status = 201;
                return CreateObject(*raw, std::move(*object), view);
              });
}

}  // namespace local::server
