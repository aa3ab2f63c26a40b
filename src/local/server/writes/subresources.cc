#include <fmt/format.h>

#include "api/object.h"
#include "api/pod.h"
#include "api/schema/schema.h"
#include "local/server/kinds/object_rules.h"
#include "local/server/writes/pending_write.h"

namespace local::server {
namespace {

// Where the objects of a kind keep their number of replicas.
struct ScaledKind {
  text::Path replicas;         // wanted
  std::string_view negative;   // the message when fewer than none are wanted
  text::Path status_replicas;  // there
  text::Path parent;           // contains `replicas`; without it the object cannot be scaled
  std::string_view lacking;    // the message in that case
};

const ScaledKind& KindOf(const api::Resource& resource) {
  // compat/pytorchjob.md 1.1
  static const ScaledKind kJob = {
      {"spec", "pytorchReplicaSpecs", "Worker", "replicas"},
      ".spec.pytorchReplicaSpecs.Worker.replicas: Invalid value: {}: should be a non-negative "
      "integer",
      {"status", "replicaStatuses", "Worker", "active"},
      {"spec", "pytorchReplicaSpecs", "Worker"},
      "spec.pytorchReplicaSpecs[Worker]: Required value: the job has no workers to scale"};
  static const ScaledKind kDeployment = {
      {"spec", "replicas"},
      "spec.replicas: Invalid value: {}: must be greater than or equal to 0",
      {"status", "replicas"},
      {"spec"},
      "spec: Required value"};
  return &resource == &api::kDeployments ? kDeployment : kJob;
}

// Selects the counted pods, in the format of a list's labelSelector.
std::string SelectorText(const api::Resource& resource, const text::Json& object) {
  if (&resource != &api::kDeployments) {
    return std::string(
        text::GetString(object, {"status", "replicaStatuses", "Worker", "selector"}));
  }
  std::string selector;
  for (const auto& [key, value] : text::Members(object, {"spec", "selector", "matchLabels"})) {
    if (!value.is_string()) continue;
    selector += fmt::format("{}{}={}", selector.empty() ? "" : ",", std::string_view(key),
                            std::string_view(value.get_string()));
  }
  return selector;
}

// autoscaling/v1 Scale.
text::Json ScaleOf(const api::Resource& resource, const text::Json& object) {
  const ScaledKind& kind = KindOf(resource);
  text::Object metadata;
  for (const char* key : {"name", "namespace", "uid", "resourceVersion", "creationTimestamp"}) {
    metadata[key] = text::GetString(object, {"metadata", key});
  }
  text::Object status{{"replicas", text::GetInt(object, kind.status_replicas).value_or(0)}};
  if (std::string selector = SelectorText(resource, object); !selector.empty()) {
    status["selector"] = std::move(selector);
  }
  text::Object spec;
  if (const auto replicas = text::GetInt(object, kind.replicas); replicas.value_or(0) != 0) {
    spec["replicas"] = *replicas;
  }
  return text::Object{{"kind", "Scale"},
                      {"apiVersion", "autoscaling/v1"},
                      {"metadata", std::move(metadata)},
                      {"spec", std::move(spec)},
                      {"status", std::move(status)}};
}

std::string ScaleBody(const api::Resource& resource,
                      const std::shared_ptr<const std::string>& json) {
  const auto object = json ? text::ParseJson(*json) : base::Result<text::Json>(text::Json());
  return text::ToJson(ScaleOf(resource, object ? *object : text::Json()));
}

// Applies a changed Scale to the object.
Answer<text::Json> Rescale(const api::Resource& resource, const text::Json& object,
                           const text::Json& scale) {
  if (const auto kind = text::GetString(scale, {"kind"}); kind != "Scale" && !kind.empty()) {
    return Refuse(BadRequest(fmt::format("{} cannot be handled as a Scale", kind)));
  }
  if (!api::Name(scale).empty()) {
    if (auto same = CheckName(scale, api::Name(object)); !same) return Refuse(same.error());
  }
  const ScaledKind& kind = KindOf(resource);
  const text::Json* const written = text::Find(scale, {"spec", "replicas"});
  const auto replicas = written == nullptr || written->is_null() ? std::optional<int64_t>(0)
                                                                 : text::GetInt(*written, {});
  if (!replicas || *replicas < 0) {
    return Refuse(Invalid(resource, api::Name(object),
                          {fmt::format(fmt::runtime(kind.negative), text::ToJson(*written))}));
  }
  if (text::FindObject(object, kind.parent) == nullptr) {
    return Refuse(Invalid(resource, api::Name(object), {std::string(kind.lacking)}));
  }
  text::Json next = object;
  text::Set(next, kind.replicas, *replicas);
  if (const auto version = api::ResourceVersion(scale); !version.empty()) {
    text::Set(next, {"metadata", "resourceVersion"}, text::Json(version));
  }
  return next;
}

}  // namespace

void HandleScale(Backend& backend, Call call) {
  if (call.http.method == "GET") {
    auto json = backend.store->Get(call.rest.key());
    if (!json) {
      const bool is_absent = json.error().code == base::Code::kNotFound;
      return call.responder->Send(ToResponse(
          is_absent ? NotFound(*call.rest.resource, call.rest.name) : FromError(json.error())));
    }
    return call.responder->Send(JsonResponse(
        200,
        ScaleBody(*call.rest.resource, std::make_shared<const std::string>(std::move(*json)))));
  }
  auto pending = MakePending(backend, std::move(call));
  if (!pending) return;
  const api::Resource& resource = pending->resource();
  Change change;
  if (pending->call.http.method == "PATCH") {
    auto patch = ParsePatch(pending->call.http, api::IsCustom(resource));
    if (!patch) return pending->call.responder->Send(ToResponse(patch.error()));
    change = [&resource,
              patch = std::move(*patch)](const text::Json& object) -> Answer<text::Json> {
      auto scale = patch(ScaleOf(resource, object));
      if (!scale) return scale;
      return Rescale(resource, object, *scale);
    };
  } else {
    auto scale = DecodeBody(pending->call.http, "couldn't read the Scale");
    if (!scale) return pending->call.responder->Send(ToResponse(scale.error()));
    change = [&resource, scale = std::move(*scale)](const text::Json& object) {
      return Rescale(resource, object, scale);
    };
  }
  SubmitUpdate(
      pending, Part::kScale, std::move(change),
      [&resource](const store::Outcome& outcome) { return ScaleBody(resource, outcome.json); });
}

void HandleBinding(Backend& backend, Call call) {
  auto pending = MakePending(backend, std::move(call));
  if (!pending) return;
  auto body = DecodeBody(pending->call.http, "couldn't read the Binding");
  if (!body) return pending->call.responder->Send(ToResponse(body.error()));
  pending->success_status = 201;
  const std::string node(text::GetString(*body, {"target", "name"}));
  if (node.empty()) {
    return pending->call.responder->Send(
        ToResponse({422,
                    "Invalid",
                    fmt::format("Binding \"{}\" is invalid: target.name: Required value",
                                pending->call.rest.name),
                    {}}));
  }
  SubmitWrite(
      pending,
      [raw = pending.get(), binding = std::move(*body), node](
          store::View&, std::optional<store::Record> current) -> Answer<store::Next> {
        const api::Resource& resource = raw->resource();
        const std::string& name = raw->call.rest.name;
        if (!current) return Refuse(NotFound(resource, name));
        text::Json pod = std::move(current->object);
        const std::string_view uid = api::Uid(binding);
        if (!uid.empty() && uid != current->uid) {
          return Refuse(Conflict(
              resource, name,
              fmt::format("Precondition failed: UID in precondition: {}, UID in object meta: {}",
                          uid, current->uid)));
        }
        if (api::IsDeleting(pod)) {
          return Refuse(
              Conflict(resource, name,
                       fmt::format("pod {} is being deleted, cannot be assigned to a host", name)));
        }
        if (!api::NodeName(pod).empty()) {
          return Refuse(Conflict(
              resource, name,
              fmt::format("pod {} is already assigned to node \"{}\"", name, api::NodeName(pod))));
        }
        text::Set(pod, {"spec", "nodeName"}, text::Json(node));
        for (const auto& [key, value] : api::Annotations(binding)) {
          api::SetAnnotation(pod, key, value);
        }
        text::Array conditions;
        for (const text::Json& condition : text::Items(pod, {"status", "conditions"})) {
          if (text::GetString(condition, {"type"}) != "PodScheduled") {
            conditions.push_back(condition);
          }
        }
        conditions.push_back(
            text::Object{{"type", "PodScheduled"},
                         {"status", "True"},
                         {"lastTransitionTime", base::FormatRfc3339(raw->backend->clock->Now())}});
        text::Set(pod, {"status", "conditions"}, std::move(conditions));
        return store::Next{store::Next::Action::kPut, std::move(pod), {}};
      },
      [](const store::Outcome&) {
        return std::string(
            R"({"kind":"Status","apiVersion":"v1","metadata":{},"status":"Success","code":201})");
      });
}

}  // namespace local::server
