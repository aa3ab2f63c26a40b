// Creates an object and its dependants in one write, so that they never exist in part.
#include <fmt/format.h>

#include "api/object.h"
#include "local/server/kinds/object_rules.h"
#include "local/server/writes/pending_write.h"
#include "local/server/writes/writes.h"

namespace local::server {
namespace {

using store::Next;
using store::Record;
using store::View;

// In one request; a group of the writer is as large.
constexpr size_t kMaxOwned = 64;

struct Made {
  Pending pending;
  text::Json object;
};

struct Family {
  Made owner;
  std::vector<Made> owned;
};

// Prepares a write of one object of the request. Checks `object` and moves it into `made`.
Check Prepare(const api::Resource& resource, const PendingWrite& request, text::Json object,
              Made& made) {
  made.pending = std::make_shared<PendingWrite>(request);
  RestRequest& rest = made.pending->call.rest;
  rest.resource = &resource;
  auto named = NameObject(rest, std::move(object));
  if (!named) return Refuse(std::move(named.error()));
  made.object = std::move(*named);
  rest.name = api::Name(made.object);
  if (!api::ResourceVersion(made.object).empty()) {
    return Refuse(BadRequest("resourceVersion should not be set on objects to be created"));
  }
  return CheckMetadata(resource, made.object, nullptr);
}

Answer<std::shared_ptr<Family>> ReadFamily(const Pending& request) {
  auto body = DecodeBody(request->call.http, "couldn't read the objects");
  if (!body) return Refuse(std::move(body.error()));
  text::Json* const list = text::Find(*body, {"items"});
  text::Array* const items = list == nullptr ? nullptr : list->if_array();
  if (items == nullptr || items->empty() || items->size() > kMaxOwned + 1) {
    return Refuse(BadRequest(fmt::format("expected a List of 1 to {} items", kMaxOwned + 1)));
  }
  request->call.http.body.clear();
  request->call.http.parsed.reset();
  auto family = std::make_shared<Family>();
  for (text::Json& item : *items) {
    const bool is_owner = family->owner.pending == nullptr;
    const api::Resource* const resource =
        is_owner ? request->call.rest.resource
                 : api::FindResourceByKind(text::GetString(item, {"apiVersion"}),
                                           text::GetString(item, {"kind"}));
    if (resource == nullptr || !resource->namespaced) {
      return Refuse(BadRequest(fmt::format("{} in version \"{}\" cannot be owned",
                                           text::GetString(item, {"kind"}),
                                           text::GetString(item, {"apiVersion"}))));
    }
    Made& made = is_owner ? family->owner : family->owned.emplace_back();
    if (auto fine = Prepare(*resource, *request, std::move(item), made); !fine) {
      return Refuse(std::move(fine.error()));
    }
  }
  return family;
}

// Follows the owner in its transaction. A refusal refuses the whole request.
store::Mutation MakeOwned(const std::shared_ptr<Family>& family, size_t index,
                          const text::Json& reference) {
  store::Mutation mutation;
  mutation.key = family->owned[index].pending->call.rest.key();
  mutation.apply = [family, index, reference](View& view,
                                              std::optional<Record> current) -> base::Result<Next> {
    PendingWrite& write = *family->owned[index].pending;
    text::Json object = family->owned[index].object;
    text::Set(object, {"metadata", "ownerReferences"}, text::Array{reference});
    auto next = current ? Refuse(AlreadyExists(write.resource(), current->key.name))
                        : CreateObject(write, std::move(object), view);
    std::vector<std::string>& warnings = family->owner.pending->warnings;
    warnings.insert(warnings.end(), write.warnings.begin(), write.warnings.end());
    if (next) return std::move(*next);
    family->owner.pending->refusal = std::move(next.error());
    return base::Fail(ToError(*family->owner.pending->refusal));
  };
  return mutation;
}

}  // namespace

void HandleCreateWithOwned(Backend& backend, Call call) {
  const Pending request = MakePending(backend, std::move(call));
  if (!request) return;
  auto read = ReadFamily(request);
  if (!read) return request->call.responder->Send(ToResponse(read.error()));
  const std::shared_ptr<Family> family = std::move(*read);
  if (!CheckFields(*family->owner.pending, family->owner.object)) return;
  for (Made& made : family->owned) {
    if (!CheckFields(*made.pending, made.object)) return;
  }
  PendingWrite& owner = *family->owner.pending;
  owner.success_status = 201;
  for (const Made& made : family->owned) {
    const std::vector<std::string>& faults = made.pending->field_warnings;
    owner.field_warnings.insert(owner.field_warnings.end(), faults.begin(), faults.end());
  }
  SubmitWrite(
      family->owner.pending, [family](View& view, std::optional<Record> current) -> Answer<Next> {
        PendingWrite& write = *family->owner.pending;
        if (current) return Refuse(AlreadyExists(write.resource(), current->key.name));
        auto next = CreateObject(write, family->owner.object, view);
        if (!next) return next;
        const text::Json reference = api::MakeControllerReference(write.resource(), next->object);
        for (size_t i = 0; i < family->owned.size(); ++i) {
          next->then.push_back(MakeOwned(family, i, reference));
        }
        return next;
      });
}

}  // namespace local::server
