#include "local/server/writes/writes.h"

#include <fmt/format.h>

#include <atomic>

#include "api/object.h"
#include "api/schema/schema.h"
#include "base/uid.h"
#include "local/server/kinds/object_rules.h"
#include "local/server/request/selection.h"
#include "local/server/schema/field_validation.h"
#include "local/server/writes/apply.h"
#include "local/server/writes/deletion.h"
#include "local/server/writes/pending_write.h"

namespace local::server {
namespace {

using store::Next;
using store::Outcome;
using store::Record;
using store::View;

constexpr size_t kRandomSuffix = 5;
constexpr int kMaxNameTries = 8;
// Kubernetes shortens a generateName so that the result fits a DNS label.
constexpr size_t kMaxGeneratedBase = 63 - kRandomSuffix;

// Namespaces that the server creates and keeps.
bool IsBuiltInNamespace(std::string_view name) {
  return name == "default" || name == "kube-system";
}

// POST with a name, or with one of the names that generateName may produce.
struct Creation {
  Pending pending;
  text::Json object;
  std::string generate_name;  // "" when the name is given
  int tries = 0;
};

void SubmitCreation(const std::shared_ptr<Creation>& creation) {
  PendingWrite& pending = *creation->pending;
  if (!creation->generate_name.empty()) {
    pending.call.rest.name = creation->generate_name + base::RandomName(kRandomSuffix);
    text::Set(creation->object, {"metadata", "name"}, text::Json(pending.call.rest.name));
  }
  SubmitWrite(
      creation->pending,
      [creation](View& view, std::optional<Record> current) -> Answer<Next> {
        PendingWrite& write = *creation->pending;
        if (current) {
          ApiError exists = AlreadyExists(write.resource(), current->key.name);
          if (api::IsDeleting(current->object)) {
            exists.message = "object is being deleted: " + exists.message;
          }
          return Refuse(std::move(exists));
        }
        return CreateObject(write, creation->object, view);
      },
      {},
      [creation] {
        const bool is_taken = creation->pending->refusal->reason == "AlreadyExists";
        if (!is_taken || creation->generate_name.empty()) return false;
        if (++creation->tries == kMaxNameTries) return false;
        SubmitCreation(creation);
        return true;
      });
}

std::string DeletionStatus(const api::Resource& resource, std::string_view name,
                           std::string_view uid) {
  text::Object details{{"name", name}};
  if (!resource.group.empty()) details["group"] = resource.group;
  details["kind"] = resource.plural;
  details["uid"] = uid;
  return text::ToJson(text::Object{{"kind", "Status"},
                                   {"apiVersion", "v1"},
                                   {"metadata", text::Object{}},
                                   {"status", "Success"},
                                   {"details", std::move(details)}});
}

}  // namespace

void HandleCreate(Backend& backend, Call call) {
  auto pending = MakePending(backend, std::move(call));
  if (!pending) return;
  RestRequest& rest = pending->call.rest;
  auto object = DecodeObject(rest, pending->call.http);
  if (!object) return pending->call.responder->Send(ToResponse(object.error()));
  if (!CheckFields(*pending, *object)) return;

  auto creation = std::make_shared<Creation>();
  rest.name = api::Name(*object);
  if (!api::ResourceVersion(*object).empty()) {
    return pending->call.responder->Send(
        ToResponse(BadRequest("resourceVersion should not be set on objects to be created")));
  }
  text::Json named;
  if (rest.name.empty()) {
    creation->generate_name =
        text::GetString(*object, {"metadata", "generateName"}).substr(0, kMaxGeneratedBase);
    if (!creation->generate_name.empty()) {
      named = *object;
      text::Set(named, {"metadata", "name"}, text::Json(creation->generate_name + "x"));
    }
  }
  if (auto fine = CheckMetadata(*rest.resource, named.is_null() ? *object : named, nullptr);
      !fine) {
    return pending->call.responder->Send(ToResponse(fine.error()));
  }
  pending->success_status = 201;
  creation->pending = std::move(pending);
  creation->object = std::move(*object);
  SubmitCreation(creation);
}

void HandleUpdate(Backend& backend, Call call) {
  auto pending = MakePending(backend, std::move(call));
  if (!pending) return;
  const RestRequest& rest = pending->call.rest;
  auto decoded = DecodeObject(rest, pending->call.http);
  if (!decoded) return pending->call.responder->Send(ToResponse(decoded.error()));
  if (!CheckFields(*pending, *decoded)) return;
  if (api::Name(*decoded).empty()) {
    text::Set(*decoded, {"metadata", "name"}, text::Json(rest.name));
  }
  if (auto same = CheckName(*decoded, rest.name); !same) {
    return pending->call.responder->Send(ToResponse(same.error()));
  }
  const Part part = rest.subresource == "status" ? Part::kStatus : Part::kMain;
  SubmitUpdate(
      pending, part,
      [raw = pending.get(), object = std::move(*decoded)](const text::Json&) -> Answer<text::Json> {
        // As in Kubernetes, for whose own kinds the last writer wins.
        const bool is_blind = api::ResourceVersion(object).empty();
        if (is_blind && api::IsCustom(raw->resource())) {
          return Refuse(VersionRequired(raw->resource(), raw->call.rest.name));
        }
        return object;
      });
}

void HandlePatch(Backend& backend, Call call) {
  if (IsApply(call.http)) return HandleApply(backend, std::move(call));
  auto pending = MakePending(backend, std::move(call));
  if (!pending) return;
  auto change = ParsePatch(pending->call.http, api::IsCustom(*pending->call.rest.resource));
  if (!change) return pending->call.responder->Send(ToResponse(change.error()));
  const Part part = pending->call.rest.subresource == "status" ? Part::kStatus : Part::kMain;
  SubmitUpdate(pending, part,
               [raw = pending.get(),
                change = std::move(*change)](const text::Json& current) -> Answer<text::Json> {
                 auto next = change(current);
                 if (!next || !next->is_object()) return next;
                 next = NameObject(raw->call.rest, std::move(*next));
                 if (!next) return next;
                 auto typed = CheckSentTypes(*raw, *next);
                 // An earlier version may have stored what is refused now.
                 if (!typed && CheckSentTypes(*raw, current)) return Refuse(typed.error());
                 const text::Json patched =
                     raw->validation == FieldValidation::kStrict ? *next : text::Json();
                 auto faults =
                     TakeFieldFaults(raw->validation, raw->resource(), raw->call.http, *next);
                 if (raw->validation == FieldValidation::kStrict && !faults.empty()) {
                   return Refuse(StrictPatch(patched, faults));
                 }
                 raw->field_warnings = std::move(faults);
                 return next;
               });
}

void HandleDelete(Backend& backend, Call call) {
  auto pending = MakePending(backend, std::move(call));
  if (!pending) return;
  const RestRequest& rest = pending->call.rest;
  auto options = ParseDeleteOptions(rest, pending->call.http);
  if (!options) return pending->call.responder->Send(ToResponse(options.error()));
  pending->dry_run = pending->dry_run || options->is_dry_run;
  if (rest.resource == &api::kNamespaces && IsBuiltInNamespace(rest.name)) {
    return pending->call.responder->Send(
        ToResponse(Forbidden(*rest.resource, rest.name, "this namespace may not be deleted")));
  }
  auto uid = std::make_shared<std::string>();
  SubmitWrite(
      pending,
      [raw = pending.get(), options = std::move(*options), uid](
          View& view, std::optional<Record> current) -> Answer<Next> {
        if (!current) return Refuse(NotFound(raw->resource(), raw->call.rest.name));
        if (auto fine = CheckPreconditions(raw->resource(), current->object, options); !fine) {
          return Refuse(fine.error());
        }
        *uid = current->uid;
        return Lift(Delete(view, std::move(*current), options, raw->backend->clock->Now()));
      },
      // An object that is only marked still exists, and is the answer.
      [raw = pending.get(), uid](const Outcome& outcome) {
        // For pods and services clients get the last state, as in Kubernetes.
        const bool returns_object =
            &raw->resource() == &api::kPods || &raw->resource() == &api::kServices;
        if (outcome.json && (returns_object || outcome.action != Next::Action::kDelete)) {
          return *outcome.json;
        }
        if (uid->empty() && outcome.json) {
          const auto object =
              text::ParseJson(*outcome.json);  // it was deleted before: see Mutation
          if (object) *uid = api::Uid(*object);
        }
        return DeletionStatus(raw->resource(), raw->call.rest.name, *uid);
      });
}

namespace {

// Counts down the deletions of a collection.
struct CollectionDeletion {
  Pending pending;
  std::atomic<size_t> left = 0;
  std::vector<std::shared_ptr<const std::string>> objects;
  std::optional<base::Error> error;
};

void AnswerCollection(CollectionDeletion& deletion) {
  const api::Resource& resource = deletion.pending->resource();
  auto& responder = deletion.pending->call.responder;
  if (deletion.error) return responder->Send(ToResponse(FromError(*deletion.error)));
  std::string body = fmt::format(
      R"({{"kind":"{}","apiVersion":"{}","metadata":{{"resourceVersion":""}},"items":[)",
      resource.list_kind(), resource.api_version());
  const char* separator = "";
  for (const auto& object : deletion.objects) {
    body += separator;
    body += *object;
    separator = ",";
  }
  body += "]}";
  responder->Send(JsonResponse(200, std::move(body)));
}

// Keys of the objects that match the request's selectors.
Answer<std::vector<store::Key>> MatchingKeys(store::Store& store, const RestRequest& rest) {
  const auto selection = Selection::Of(rest);
  if (!selection) return Refuse(selection.error());
  store::ListQuery query;
  query.resource = store::ResourceName(*rest.resource);
  query.namespace_name = rest.namespace_name;
  std::vector<store::Key> keys;
  auto listed = store.List(query, [&](const store::Row& row) {
    if (!selection->MatchesText(row.json)) return true;
    keys.push_back({query.resource, std::string(row.namespace_name), std::string(row.name)});
    return true;
  });
  if (!listed) return Refuse(FromError(listed.error()));
  return keys;
}

}  // namespace

void HandleDeleteCollection(Backend& backend, Call call) {
  auto pending = MakePending(backend, std::move(call));
  if (!pending) return;
  const RestRequest& rest = pending->call.rest;
  auto options = ParseDeleteOptions(rest, pending->call.http);
  if (!options) return pending->call.responder->Send(ToResponse(options.error()));
  pending->dry_run = pending->dry_run || options->is_dry_run;
  auto keys = MatchingKeys(*backend.store, rest);
  if (!keys) return pending->call.responder->Send(ToResponse(keys.error()));
  if (rest.resource == &api::kNamespaces) {
    return pending->call.responder->Send(ToResponse(MethodNotAllowed()));
  }
  auto deletion = std::make_shared<CollectionDeletion>();
  deletion->pending = pending;
  deletion->left = keys->size();
  if (keys->empty()) return AnswerCollection(*deletion);
  std::vector<std::pair<store::Mutation, store::Store::Done>> writes;
  for (store::Key& key : *keys) {
    store::Mutation mutation;
    mutation.key = std::move(key);
    mutation.dry_run = pending->dry_run;
    mutation.apply = [options = *options, clock = backend.clock](
                         View& view, std::optional<Record> current) -> base::Result<Next> {
      if (!current) return Next{};
      return Delete(view, std::move(*current), options, clock->Now());
    };
    writes.emplace_back(std::move(mutation), [deletion](base::Result<Outcome> outcome) {
      if (!outcome) deletion->error = std::move(outcome.error());
      if (outcome && outcome->json) deletion->objects.push_back(outcome->json);
      if (--deletion->left == 0) AnswerCollection(*deletion);
    });
  }
  backend.store->SubmitAll(std::move(writes));
}

}  // namespace local::server
