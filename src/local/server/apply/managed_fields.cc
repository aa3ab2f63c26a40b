#include "local/server/apply/managed_fields.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <tuple>

#include "api/object.h"
#include "api/schema/schema.h"
#include "base/strings.h"
#include "local/server/apply/field_merge.h"
#include "local/server/apply/field_set.h"
#include "local/server/schema/field_validation.h"

namespace local::server {
namespace {

constexpr std::string_view kUpdate = "Update";
constexpr std::string_view kApply = "Apply";
// Owns the fields that an object had before they were recorded.
constexpr std::string_view kBeforeFirstApply = "before-first-apply";
constexpr std::string_view kAncientChanges = "ancient-changes";
// kubectl's name in server-side apply, and where its client-side apply keeps what it applied.
constexpr std::string_view kKubectl = "kubectl";
constexpr std::string_view kLastApplied = "kubectl.kubernetes.io/last-applied-configuration";

struct Manager {
  std::string name;
  std::string operation;
  std::string api_version;
  std::string subresource;

  auto operator<=>(const Manager&) const = default;
};
struct Owned {
  FieldSet fields;
  std::string time;
};
using Managers = std::map<Manager, Owned>;

Managers Decode(const text::Json* list) {
  Managers managers;
  if (list == nullptr || !list->is_array()) return managers;
  for (const text::Json& entry : list->get_array()) {
    const text::Json* fields = text::Find(entry, {"fieldsV1"});
    if (fields == nullptr) continue;
    const auto text = [&](std::string_view key) {
      return std::string(text::GetString(entry, {key}));
    };
    Owned& owned =
        managers[{text("manager"), text("operation"), text("apiVersion"), text("subresource")}];
    owned.fields.Add(FieldSet::FromJson(*fields));
    owned.time = text("time");
  }
  return managers;
}

void Encode(const Managers& managers, text::Json& object) {
  std::vector<const Managers::value_type*> sorted;
  for (const auto& entry : managers) sorted.push_back(&entry);
  const auto rank = [](const Managers::value_type& entry) {
    const auto& [manager, owned] = entry;
    return std::tie(manager.operation, owned.time, manager.name, manager.api_version,
                    manager.subresource);
  };
  std::sort(sorted.begin(), sorted.end(),
            [&](const auto* a, const auto* b) { return rank(*a) < rank(*b); });
  text::Array list;
  for (const auto* entry : sorted) {
    const auto& [manager, owned] = *entry;
    text::Object json{{"manager", manager.name},
                      {"operation", manager.operation},
                      {"apiVersion", manager.api_version}};
    if (!owned.time.empty()) json["time"] = owned.time;
    json["fieldsType"] = "FieldsV1";
    json["fieldsV1"] = owned.fields.ToJson();
    if (!manager.subresource.empty()) json["subresource"] = manager.subresource;
    list.push_back(std::move(json));
  }
  if (list.empty()) {
    text::Erase(object, {"metadata", "managedFields"});
  } else {
    text::Set(object, {"metadata", "managedFields"}, std::move(list));
  }
}

// The fields that nobody owns.
FieldSet ServersFields() {
  FieldSet set;
  for (const char* field : {"f:apiVersion", "f:kind", "f:metadata"}) set.Child(field).AddSelf();
  for (const char* field : {"f:name", "f:namespace", "f:creationTimestamp", "f:selfLink", "f:uid",
                            "f:generation", "f:managedFields", "f:resourceVersion"}) {
    set.Child("f:metadata").Child(field).AddSelf();
  }
  return set;
}

// Removes fields that a writer cannot own; only writers of the status own fields of it.
void Strip(const api::Resource& resource, std::string_view subresource, FieldSet& fields) {
  fields.Subtract(ServersFields());
  if (resource.has_status && subresource != "status") fields.Erase("f:status");
  fields.Prune();
}

// Fields that Kubernetes' own kinds always have, even if empty: setting them to empty is not
// recorded.
void DropAlwaysThere(FieldSet& fields) {
  constexpr std::array<std::string_view, 6> kAlways = {"f:spec",     "f:status",     "f:template",
                                                       "f:strategy", "f:containers", "f:source"};
  std::vector<std::string> names;
  for (const auto& [element, child] : fields.children()) names.push_back(element);
  for (const std::string& element : names) {
    FieldSet& child = fields.Child(element);
    const bool is_always = std::find(kAlways.begin(), kAlways.end(), element) != kAlways.end();
    if (is_always && !child.children().empty()) child.RemoveSelf();
    DropAlwaysThere(child);
  }
}

// An object before its creation; strings that an Event always has are empty.
text::Json EmptyObject(const api::Resource& resource) {
  text::Object empty{{"apiVersion", resource.api_version()}, {"kind", resource.kind}};
  if (&resource == &api::kEvents) {
    empty["reportingComponent"] = "";
    empty["reportingInstance"] = "";
  }
  return empty;
}

Comparison Changes(const api::Resource& resource, const text::Json& before,
                   const text::Json& after) {
  Comparison changes =
      Compare(before.is_null() ? EmptyObject(resource) : before, after, api::ShapeOf(resource));
  if (!api::IsCustom(resource)) DropAlwaysThere(changes.added);
  return changes;
}

void DropEmpty(Managers& managers) {
  std::erase_if(managers, [](const auto& entry) { return entry.second.fields.IsEmpty(); });
}

// Merges the oldest updates of one apiVersion into one entry until there are few enough.
void CapUpdates(Managers& managers) {
  while (true) {
    std::vector<Managers::value_type*> updates;
    for (auto& entry : managers) {
      if (entry.first.operation == kUpdate) updates.push_back(&entry);
    }
    if (updates.size() <= kMaxUpdateManagers) return;
    std::sort(updates.begin(), updates.end(), [](const auto* a, const auto* b) {
      return std::tie(a->second.time, a->first) < std::tie(b->second.time, b->first);
    });
    const Managers::value_type* first = updates[0];
    const auto second = std::find_if(updates.begin() + 1, updates.end(), [&](const auto* entry) {
      return entry->first.api_version == first->first.api_version;
    });
    if (second == updates.end()) return;
    Owned folded{first->second.fields, (*second)->second.time};
    folded.fields.Add((*second)->second.fields);
    const Manager bucket{std::string(kAncientChanges), std::string(kUpdate),
                         first->first.api_version, ""};
    const Manager gone[] = {first->first, (*second)->first};
    for (const Manager& manager : gone) managers.erase(manager);
    managers[bucket] = std::move(folded);
  }
}

std::string DescribeManager(const Managers::value_type& entry) {
  const auto& [manager, owned] = entry;
  std::string text = text::ToJson(text::Json(manager.name));
  if (!manager.subresource.empty()) {
    text += fmt::format(" with subresource \"{}\"", manager.subresource);
  }
  if (manager.operation == kUpdate) text += " using " + manager.api_version;
  return text;
}

ApiError ConflictError(const std::vector<std::pair<std::string, FieldSet>>& conflicts) {
  text::Array causes;
  std::vector<std::string> lines;
  for (const auto& [manager, fields] : conflicts) {
    lines.push_back(fmt::format("conflicts with {}:", manager));
    for (const std::string& path : fields.Paths()) {
      lines.push_back("- " + path);
      causes.push_back(text::Object{{"reason", "FieldManagerConflict"},
                                    {"message", "conflict with " + manager},
                                    {"field", path}});
    }
  }
  std::string message;
  if (causes.size() == 1) {
    message = fmt::format("Apply failed with 1 conflict: conflict with {}: {}",
                          conflicts.front().first, text::GetString(causes.front(), {"field"}));
  } else {
    message =
        fmt::format("Apply failed with {} conflicts: {}", causes.size(), base::Join(lines, "\n"));
  }
  return {409, "Conflict", std::move(message), text::Object{{"causes", std::move(causes)}}};
}

// The fields that the manager owned before and nobody owns now.
void AddAbandoned(const FieldSet& before, const FieldSet* now, FieldSet& out) {
  for (const auto& [element, child] : before.children()) {
    const FieldSet* still = now == nullptr ? nullptr : now->Find(element);
    if (still == nullptr && child.is_member()) {
      out.Child(element).AddSelf();
    } else {
      AddAbandoned(child, still, out.Child(element));
    }
  }
}

// The fields of the last client-side `kubectl apply`. Kubernetes lets kubectl's server-side apply
// take them from whoever owns them.
FieldSet LastAppliedFields(const api::Resource& resource, const text::Json& live) {
  const auto applied = text::ParseJson(api::Annotation(live, kLastApplied));
  if (!applied || !applied->is_object()) return {};
  FieldSet fields = FieldsOf(*applied, api::ShapeOf(resource));
  Strip(resource, "", fields);
  return fields;
}

// Takes the changed fields from the managers other than `self`, or returns the conflicts, unless
// all of them are in `allowed`.
Check TakeOver(const Comparison& changes, const Manager& self, bool force, const FieldSet& allowed,
               Managers& managers) {
  FieldSet taken = changes.modified;
  taken.Add(changes.added);
  std::vector<std::pair<std::string, FieldSet>> conflicts;
  bool are_allowed = true;
  for (auto& entry : managers) {
    if (entry.first == self) continue;
    FieldSet both = entry.second.fields.Intersection(taken);
    if (both.IsEmpty()) continue;
    FieldSet others = both;
    others.Subtract(allowed);
    are_allowed = are_allowed && others.IsEmpty();
    if (!force) conflicts.emplace_back(DescribeManager(entry), std::move(both));
  }
  if (!conflicts.empty() && !are_allowed) return Refuse(ConflictError(conflicts));
  for (auto& [manager, owned] : managers) {
    if (manager == self) continue;
    owned.fields.Subtract(taken);
    owned.fields.Subtract(changes.removed);
  }
  DropEmpty(managers);
  return {};
}

// So that the next client-side apply knows what this one has written.
void KeepLastApplied(const text::Json& applied, text::Json& object) {
  text::Json kept = applied;
  text::Erase(kept, {"metadata", "annotations", kLastApplied});
  api::SetAnnotation(object, kLastApplied, text::ToJson(kept) + "\n");
}

Managers DecodeSent(const text::Json& before, const text::Json& sent) {
  const text::Json* stored = text::Find(before, {"metadata", "managedFields"});
  if (!sent.is_array()) return Decode(stored);
  const text::Array& list = sent.get_array();
  const bool is_reset = list.empty() || (list.size() == 1 && list.front().is_object() &&
                                         list.front().get_object().empty());
  if (is_reset) return {};
  Managers managers = Decode(&sent);
  return managers.empty() ? Decode(stored) : managers;
}

}  // namespace

std::string FieldManagerOf(const RestRequest& request, const net::HttpRequest& http) {
  std::string_view name = request.target.Query("fieldManager");
  if (name.empty()) {
    name = net::FindHeader(http.headers, "User-Agent");
    name = name.substr(0, name.find('/'));
    if (name == "muster") return "";
  }
  return std::string(name.substr(0, kMaxManagerName));
}

void RecordUpdate(const api::Resource& resource, const FieldWriter& writer, base::Time now,
                  const text::Json& before, const text::Json& sent, text::Json& object) {
  if (writer.manager.empty()) {
    const text::Json* stored = text::Find(before, {"metadata", "managedFields"});
    if (stored != nullptr) text::Set(object, {"metadata", "managedFields"}, *stored);
    return;
  }
  Managers managers = DecodeSent(before, writer.subresource.empty() ? sent : text::Json());
  const Comparison changes = Changes(resource, before, object);
  (void)TakeOver(changes, {}, true, {}, managers);
  FieldSet own = changes.modified;
  own.Add(changes.added);
  Strip(resource, writer.subresource, own);
  if (!own.IsEmpty()) {
    Owned& owned = managers[{writer.manager, std::string(kUpdate),
                             std::string(resource.api_version()), writer.subresource}];
    owned.fields.Add(own);
    owned.time = base::FormatRfc3339(now);
  }
  CapUpdates(managers);
  Encode(managers, object);
}

Answer<text::Json> ApplyConfiguration(const api::Resource& resource, const FieldWriter& writer,
                                      base::Time now, bool force, const text::Json& live,
                                      const text::Json& applied) {
  const api::Shape shape = api::ShapeOf(resource);
  std::string why = UndeclaredFields(resource, applied);
  if (why.empty()) why = CheckLists(applied, shape, "");
  if (!why.empty()) {
    return Refuse({500,
                   "",
                   fmt::format("failed to create typed patch object ({}/{}; {}/{}, Kind={}): {}",
                               text::GetString(applied, {"metadata", "namespace"}),
                               text::GetString(applied, {"metadata", "name"}), resource.group,
                               resource.version, resource.kind, why),
                   {}});
  }
  const text::Json before = live.is_null() ? EmptyObject(resource) : live;
  Managers managers = Decode(text::Find(before, {"metadata", "managedFields"}));
  const Managers stored = managers;
  if (managers.empty() && !live.is_null()) {
    FieldSet all = Changes(resource, nullptr, live).added;
    Strip(resource, writer.subresource, all);
    managers[{std::string(kBeforeFirstApply), std::string(kUpdate),
              std::string(resource.api_version()), ""}] = {std::move(all),
                                                           base::FormatRfc3339(now)};
  }
  const Manager self{writer.manager, std::string(kApply), std::string(resource.api_version()),
                     writer.subresource};
  FieldSet fields = FieldsOf(applied, shape);
  Strip(resource, writer.subresource, fields);
  Owned& own = managers[self];
  const FieldSet last = std::exchange(own.fields, std::move(fields));

  text::Json next = Merged(before, applied, shape);
  FieldSet owned_now;
  for (const auto& [manager, owned] : managers) owned_now.Add(owned.fields);
  FieldSet abandoned;
  AddAbandoned(last, &owned_now, abandoned);
  RemoveFields(next, abandoned, shape);

  const bool is_same_set = own.fields == last;
  const bool is_kubectl = writer.manager == kKubectl && writer.subresource.empty() &&
                          !api::Annotation(before, kLastApplied).empty();
  const FieldSet allowed = is_kubectl ? LastAppliedFields(resource, before) : FieldSet();
  if (auto fine = TakeOver(Changes(resource, before, next), self, force, allowed, managers);
      !fine) {
    return Refuse(fine.error());
  }
  if (is_kubectl) KeepLastApplied(applied, next);
  if (next == before && is_same_set && !live.is_null() && !stored.empty()) return live;
  if (const auto found = managers.find(self); found != managers.end()) {
    found->second.time = base::FormatRfc3339(now);
  }
  Encode(managers, next);
  return next;
}

}  // namespace local::server
