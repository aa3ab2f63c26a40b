#include "local/server/writes/deletion.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "api/object.h"
#include "api/pod.h"
#include "api/schema/schema.h"
#include "api/schema/type_fault.h"
#include "base/strings.h"
#include "local/server/kinds/object_rules.h"

namespace local::server {
namespace {

using store::Key;
using store::Mutation;
using store::Next;
using store::Record;
using store::View;

bool IsPod(const Key& key) { return key.resource == "pods"; }
bool IsNamespace(const Key& key) { return key.resource == "namespaces"; }

// Deletes the object at `key`, if there is one.
Mutation DeleteLater(Key key, DeleteOptions options, base::Time now) {
  return {std::move(key),
          [options = std::move(options), now](View& view,
                                              std::optional<Record> current) -> base::Result<Next> {
            if (!current) return Next{};
            return Delete(view, std::move(*current), options, now);
          }};
}

// Whether another owner of `object` than `gone` still exists.
base::Result<bool> HasOtherOwner(View& view, const text::Json& object, std::string_view gone) {
  for (const text::Json& owner : text::Items(object, {"metadata", "ownerReferences"})) {
    const std::string_view uid = text::GetString(owner, {"uid"});
    if (uid == gone) continue;
    TRY_ASSIGN(const auto record, view.GetByUid(uid));
    if (record) return true;
  }
  return false;
}

void DropOwner(text::Json& object, std::string_view uid) {
  text::Json* owners = text::Find(object, {"metadata", "ownerReferences"});
  if (owners == nullptr || !owners->is_array()) return;
  text::Array left;
  for (text::Json& owner : owners->get_array()) {
    if (text::GetString(owner, {"uid"}) != uid) left.push_back(std::move(owner));
  }
  if (left.empty()) {
    text::Erase(object, {"metadata", "ownerReferences"});
  } else {
    *owners = std::move(left);
  }
}

// What happens to a dependant when its owner is deleted.
Mutation ReleaseLater(Key key, std::string owner_uid, Propagation propagation, base::Time now) {
  return {std::move(key),
          [owner_uid = std::move(owner_uid), propagation, now](
              View& view, std::optional<Record> current) -> base::Result<Next> {
            if (!current || current->owner != owner_uid) return Next{};
            bool is_kept = propagation == Propagation::kOrphan;
            if (!is_kept) {
              TRY_ASSIGN(is_kept, HasOtherOwner(view, current->object, owner_uid));
            }
            if (is_kept) {
              text::Json object = std::move(current->object);
              DropOwner(object, owner_uid);
              return Next{Next::Action::kPut, std::move(object), {}};
            }
            DeleteOptions options;
            options.propagation = propagation;
            return Delete(view, std::move(*current), options, now);
          }};
}

base::Result<std::vector<Mutation>> ReleaseDependants(View& view, const std::string& uid,
                                                      Propagation propagation, base::Time now) {
  std::vector<Mutation> mutations;
  if (uid.empty()) return mutations;
  TRY_ASSIGN(std::vector<Key> keys, view.OwnedBy(uid));
  for (Key& key : keys) {
    mutations.push_back(ReleaseLater(std::move(key), uid, propagation, now));
  }
  return mutations;
}

// An owner that waits (foreground) is deleted after its last dependant.
base::Result<std::vector<Mutation>> FinishOwner(View& view, const std::string& owner_uid,
                                                base::Time now) {
  std::vector<Mutation> mutations;
  if (owner_uid.empty()) return mutations;
  TRY_ASSIGN(const auto owner, view.GetByUid(owner_uid));
  if (!owner || !HasFinalizer(owner->object, kForegroundFinalizer)) return mutations;
  mutations.push_back(
      {owner->key,
       [owner_uid, now](View& later, std::optional<Record> current) -> base::Result<Next> {
         if (!current || current->uid != owner_uid) return Next{};
         TRY_ASSIGN(const bool is_owner, later.OwnsAny(owner_uid));
         if (is_owner || !api::IsDeleting(current->object)) return Next{};
         RemoveFinalizer(current->object, kForegroundFinalizer);
         if (!HasFinalizers(current->object)) {
           return Remove(later, std::move(*current), Propagation::kBackground, now);
         }
         return Next{Next::Action::kPut, std::move(current->object), {}};
       }});
  return mutations;
}

// A namespace that is being deleted is removed with its last object.
base::Result<std::vector<Mutation>> FinishNamespace(View& view, const std::string& name) {
  std::vector<Mutation> mutations;
  if (name.empty()) return mutations;
  const Key key{"namespaces", "", name};
  TRY_ASSIGN(const auto found, view.Get(key));
  if (!found || !api::IsDeleting(found->object)) return mutations;
  mutations.push_back(
      {key, [name](View& later, std::optional<Record> current) -> base::Result<Next> {
         if (!current || !api::IsDeleting(current->object)) return Next{};
         TRY_ASSIGN(const bool is_full, later.HoldsAny(name));
         if (is_full) return Next{};
         return Next{Next::Action::kDelete, nullptr, {}};
       }});
  return mutations;
}

void Append(std::vector<Mutation>& to, std::vector<Mutation> more) {
  std::move(more.begin(), more.end(), std::back_inserter(to));
}

void Mark(text::Json& object, base::Time now, int64_t grace) {
  text::Json& metadata = text::Ensure(object, {"metadata"});
  const int64_t generation = text::GetInt(metadata, {"generation"}).value_or(0);
  if (generation > 0 && !api::IsDeleting(object)) {
    text::Set(metadata, {"generation"}, generation + 1);
  }
  text::Set(metadata, {"deletionTimestamp"},
            text::Json(base::FormatRfc3339(now + std::chrono::seconds(grace))));
  text::Set(metadata, {"deletionGracePeriodSeconds"}, grace);
}

int64_t GraceOf(const text::Json& pod, const DeleteOptions& options) {
  if (api::NodeName(pod).empty() || api::IsPodFinished(pod)) return 0;
  const int64_t own =
      text::GetInt(pod, {"spec", "terminationGracePeriodSeconds"}).value_or(kDefaultGraceSeconds);
  return std::clamp<int64_t>(options.grace_period_seconds.value_or(own), 0, 365 * 86'400);
}

base::Result<Next> DeletePod(View& view, Record current, const DeleteOptions& options,
                             base::Time now) {
  const int64_t grace = GraceOf(current.object, options);
  if (grace == 0 && !HasFinalizers(current.object)) {
    Mark(current.object, now, 0);
    return Remove(view, std::move(current), options.propagation, now);
  }
  if (api::IsDeleting(current.object)) {
    // A second request can only shorten the wait.
    const auto before = text::GetInt(current.object, {"metadata", "deletionGracePeriodSeconds"});
    if (before && *before <= grace) return Next{};
  }
  Mark(current.object, now, grace);
  return Next{Next::Action::kPut, std::move(current.object), {}};
}

base::Result<Next> DeleteNamespace(View& view, Record current, base::Time now) {
  TRY_ASSIGN(std::vector<Key> content, view.InNamespace(current.key.name));
  if (content.empty()) return Next{Next::Action::kDelete, nullptr, {}};
  Next next;
  for (Key& key : content) next.then.push_back(DeleteLater(std::move(key), {}, now));
  if (api::IsDeleting(current.object)) return next;
  Mark(current.object, now, 0);
  text::Set(current.object, {"status", "phase"}, "Terminating");
  next.action = Next::Action::kPut;
  next.object = std::move(current.object);
  return next;
}

Answer<Propagation> ParsePropagation(std::string_view text) {
  if (text.empty() || text == "Background") return Propagation::kBackground;
  if (text == "Foreground") return Propagation::kForeground;
  if (text == "Orphan") return Propagation::kOrphan;
  return Refuse(InvalidRequestOption(
      "DeleteOptions", "propagationPolicy",
      fmt::format("Unsupported value: \"{}\": supported values: \"Foreground\", \"Background\", "
                  "\"Orphan\", \"nil\"",
                  text)));
}

}  // namespace

Answer<DeleteOptions> ParseDeleteOptions(const RestRequest& request, const net::HttpRequest& http) {
  DeleteOptions options;
  auto grace = request.Number("gracePeriodSeconds");
  if (!grace) return Refuse(grace.error());
  options.grace_period_seconds = *grace;
  std::string policy(request.target.Query("propagationPolicy"));
  if (policy.empty() && request.Flag("orphanDependents")) policy = "Orphan";
  if (!base::Trim(http.body).empty()) {
    auto body = DecodeBody(http, "couldn't read DeleteOptions");
    if (!body) return Refuse(body.error());
    if (!body->is_object() && !body->is_null()) {
      return Refuse(BadRequest("the body of a DELETE must be DeleteOptions"));
    }
    const std::string_view kind = text::GetString(*body, {"kind"});
    if (!kind.empty() && kind != "DeleteOptions") {
      return Refuse(BadRequest(fmt::format("{} cannot be handled as DeleteOptions", kind)));
    }
    api::Shape shape;
    shape.kind = api::Shape::Kind::kObject;
    shape.type = api::FindType("DeleteOptions");
    if (const std::string fault = api::TypeFault(*body, shape); !fault.empty()) {
      return Refuse(BadRequest(fault));
    }
    for (const text::Json& value : text::Items(*body, {"dryRun"})) {
      if (text::GetString(value, {}) != "All") {
        return Refuse(InvalidRequestOption(
            "DeleteOptions", "dryRun",
            fmt::format("Unsupported value: []string{{{}}}: supported values: \"All\"",
                        text::ToJson(value))));
      }
      options.is_dry_run = true;
    }
    options.uid = text::GetString(*body, {"preconditions", "uid"});
    options.resource_version = text::GetString(*body, {"preconditions", "resourceVersion"});
    if (const auto seconds = text::GetInt(*body, {"gracePeriodSeconds"})) {
      options.grace_period_seconds = seconds;
    }
    if (const auto given = text::GetString(*body, {"propagationPolicy"}); !given.empty()) {
      policy = given;
    } else if (text::GetBool(*body, {"orphanDependents"}).value_or(false)) {
      policy = "Orphan";
    }
  }
  if (options.grace_period_seconds.value_or(0) < 0) options.grace_period_seconds = 1;
  auto propagation = ParsePropagation(policy);
  if (!propagation) return Refuse(propagation.error());
  options.propagation = *propagation;
  return options;
}

Check CheckPreconditions(const api::Resource& resource, const text::Json& object,
                         const DeleteOptions& options) {
  const std::string_view name = api::Name(object);
  const auto refuse = [&](const std::string& why) {
    ApiError conflict = Conflict(resource, name, why);
    const std::string kind = resource.group.empty()
                                 ? std::string(resource.kind)
                                 : fmt::format("{}.{}", resource.kind, resource.group);
    conflict.message =
        fmt::format("Operation cannot be fulfilled on {} \"{}\": {}", kind, name, why);
    text::Set(conflict.details, {"kind"}, text::Json(resource.kind));
    return Refuse(std::move(conflict));
  };
  if (!options.uid.empty() && options.uid != api::Uid(object)) {
    return refuse(
        fmt::format("the UID in the precondition ({}) does not match the UID in record ({}). The "
                    "object might have been deleted and then recreated",
                    options.uid, api::Uid(object)));
  }
  if (!options.resource_version.empty() &&
      options.resource_version != api::ResourceVersion(object)) {
    return refuse(fmt::format(
        "the ResourceVersion in the precondition ({}) does not match the ResourceVersion in record "
        "({}). The object might have been modified",
        options.resource_version, api::ResourceVersion(object)));
  }
  return {};
}

base::Result<Next> Remove(View& view, Record current, Propagation propagation, base::Time now) {
  Next next{Next::Action::kDelete, nullptr, {}};
  TRY_ASSIGN(next.then, ReleaseDependants(view, current.uid, propagation, now));
  TRY_ASSIGN(std::vector<Mutation> owner, FinishOwner(view, current.owner, now));
  TRY_ASSIGN(std::vector<Mutation> home, FinishNamespace(view, current.key.namespace_name));
  Append(next.then, std::move(owner));
  Append(next.then, std::move(home));
  next.object = std::move(current.object);
  return next;
}

base::Result<Next> Delete(View& view, Record current, const DeleteOptions& options,
                          base::Time now) {
  if (IsNamespace(current.key)) return DeleteNamespace(view, std::move(current), now);
  if (IsPod(current.key)) return DeletePod(view, std::move(current), options, now);

  std::vector<Mutation> dependants;
  if (options.propagation == Propagation::kForeground) {
    TRY_ASSIGN(dependants, ReleaseDependants(view, current.uid, options.propagation, now));
    if (!dependants.empty()) AddFinalizer(current.object, kForegroundFinalizer);
  }
  if (!HasFinalizers(current.object)) {
    return Remove(view, std::move(current), options.propagation, now);
  }
  Next next;
  next.then = std::move(dependants);
  if (api::IsDeleting(current.object)) return next;
  Mark(current.object, now, 0);
  next.action = Next::Action::kPut;
  next.object = std::move(current.object);
  return next;
}

base::Result<std::vector<Mutation>> CollectIfOrphaned(View& view, const Key& key,
                                                      const text::Json& object, base::Time now) {
  std::vector<Mutation> mutations;
  const text::Array& owners = text::Items(object, {"metadata", "ownerReferences"});
  if (owners.empty()) return mutations;
  TRY_ASSIGN(const bool has_owner, HasOtherOwner(view, object, ""));
  if (!has_owner) {
    DeleteOptions options;
    options.uid = api::Uid(object);
    mutations.push_back(DeleteLater(key, options, now));
  }
  for (const text::Json& owner : owners) {
    const std::string uid(text::GetString(owner, {"uid"}));
    TRY_ASSIGN(const auto record, view.GetByUid(uid));
    if (record && HasFinalizer(record->object, kForegroundFinalizer)) {
      mutations.push_back(ReleaseLater(key, uid, Propagation::kForeground, now));
    }
  }
  return mutations;
}

}  // namespace local::server
