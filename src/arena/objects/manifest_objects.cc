#include "arena/objects/manifest_objects.h"

#include <fmt/format.h>

#include <utility>

#include "api/object.h"
#include "base/log.h"

namespace arena {
namespace {

using base::Code;
using base::Fail;

base::Result<std::string> NeededText(const text::Json& object, text::Path path,
                                     std::string_view field) {
  const text::Json* const value = text::Find(object, path);
  if (value == nullptr || value->is_null()) {
    return Fail(Code::kInvalidArgument, fmt::format("{} is missing", field));
  }
  if (!value->is_string()) {
    return Fail(Code::kInvalidArgument, fmt::format("{}: {} is not a string: put it in quotes",
                                                    field, text::ToJson(*value)));
  }
  const std::string_view text = value->get_string();
  if (text.empty()) return Fail(Code::kInvalidArgument, fmt::format("{} is empty", field));
  return std::string(text);
}

base::Status SetNamespace(const Context& context, const api::Resource& resource,
                          text::Json& object) {
  if (!resource.namespaced) {
    text::Erase(object, {"metadata", "namespace"});
    return {};
  }
  const text::Json* const given = text::Find(object, {"metadata", "namespace"});
  if (given == nullptr || given->is_null() || *given == text::Json("")) {
    text::Set(object, {"metadata", "namespace"}, text::Json(context.Namespace()));
    return {};
  }
  TRY_ASSIGN(const std::string own,
             NeededText(object, {"metadata", "namespace"}, "metadata.namespace"));
  const std::string& asked = context.flags.namespace_name;
  if (asked.empty() || asked == own) return {};
  return Fail(Code::kInvalidArgument,
              fmt::format("metadata.namespace is \"{}\", which is not the \"{}\" of --namespace: "
                          "give -n {}, or leave one of the two out",
                          own, asked, own));
}

bool EndsEverything(Code code) {
  return code == Code::kUnavailable || code == Code::kTimeout || code == Code::kUnauthenticated;
}

}  // namespace

std::string ManifestObject::Label() const {
  const std::string_view dot = resource->group.empty() ? "" : ".";
  return fmt::format("{}{}{}/{}", resource->singular, dot, resource->group, api::Name(object));
}

base::Result<ManifestObject> PrepareObject(const Context& context, KindFinder& kinds,
                                           text::Json object) {
  TRY_ASSIGN(const std::string api_version, NeededText(object, {"apiVersion"}, "apiVersion"));
  TRY_ASSIGN(const std::string kind, NeededText(object, {"kind"}, "kind"));
  if (text::Find(object, {"metadata", "name"}) == nullptr &&
      text::Find(object, {"metadata", "generateName"}) != nullptr) {
    return Fail(Code::kInvalidArgument,
                "metadata.generateName makes a new object each time: apply needs metadata.name");
  }
  TRY(NeededText(object, {"metadata", "name"}, "metadata.name"));
  ManifestObject ready;
  TRY_ASSIGN(ready.resource, kinds.Find(api_version, kind));
  TRY(SetNamespace(context, *ready.resource, object));
  // From `get -o yaml`: the server maintains this field and refuses it in requests.
  text::Erase(object, {"metadata", "managedFields"});
  ready.object = std::move(object);
  return ready;
}

base::Result<std::optional<text::Json>> FindLive(cluster::Client& client,
                                                 const ManifestObject& wanted) {
  auto live = client.Get(*wanted.resource, api::Namespace(wanted.object), api::Name(wanted.object));
  if (live) return std::optional<text::Json>(std::move(*live));
  if (live.error().code == Code::kNotFound) return std::optional<text::Json>();
  return Fail(std::move(live.error()));
}

bool IsSameContent(const api::Resource& resource, text::Json before, text::Json after) {
  if (!api::ResourceVersion(before).empty() &&
      api::ResourceVersion(before) == api::ResourceVersion(after) && before == after) {
    return true;
  }
  for (text::Json* const object : {&before, &after}) {
    text::Erase(*object, {"metadata", "managedFields"});
    text::Erase(*object, {"metadata", "resourceVersion"});
    if (resource.has_status) text::Erase(*object, {"status"});
  }
  return before == after;
}

base::Result<AppliedObject> ApplyObject(cluster::Client& client, const ManifestObject& wanted,
                                        const ApplyOptions& options) {
  TRY_ASSIGN(const auto live, FindLive(client, wanted));
  auto object = client.Apply(*wanted.resource, wanted.object, options.field_manager,
                             options.force_conflicts, options.is_dry_run, options.field_validation);
  if (!object && object.error().code == Code::kConflict) {
    base::Error error = std::move(object.error());
    error.message += " (--force-conflicts takes these fields over)";
    return Fail(std::move(error));
  }
  if (!object) return Fail(std::move(object.error()));
  if (!live) return AppliedObject{std::move(*object), "created"};
  const bool is_same = IsSameContent(*wanted.resource, *live, *object);
  return AppliedObject{std::move(*object), is_same ? "unchanged" : "configured"};
}

bool ForEachObject(const Context& context, KindFinder& kinds, std::vector<Manifest> manifests,
                   const VisitObject& visit) {
  bool is_fine = true;
  for (size_t i = 0; i < manifests.size(); ++i) {
    std::string place = manifests[i].place;
    auto ready = PrepareObject(context, kinds, std::move(manifests[i].object));
    base::Status done;
    if (!ready) {
      done = Fail(std::move(ready.error()));
    } else {
      place += ": " + ready->Label();
      done = visit(*ready);
    }
    if (done) continue;
    is_fine = false;
    base::LogError("{}", done.error().Wrap(place).message);
    const size_t left = manifests.size() - i - 1;
    if (left > 0 && EndsEverything(done.error().code)) {
      base::LogError("{} more objects were not tried", left);
      break;
    }
  }
  return is_fine;
}

}  // namespace arena
