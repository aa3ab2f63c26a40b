#include "local/server/writes/pending_write.h"

#include <fmt/format.h>

#include <algorithm>

#include "api/job/pytorch_job.h"
#include "api/object.h"
#include "api/write_id.h"
#include "base/strings.h"
#include "local/server/apply/managed_fields.h"
#include "local/server/apply/strategic_merge.h"
#include "local/server/kinds/object_rules.h"
#include "local/server/schema/field_validation.h"
#include "local/server/writes/deletion.h"
#include "text/patch.h"
#include "text/same.h"

namespace local::server {
namespace {

using store::Next;
using store::Outcome;
using store::Record;
using store::View;

void AnswerWrite(PendingWrite& pending, const base::Result<Outcome>& outcome, const Body& body) {
  net::HttpResponse response;
  if (!outcome) {
    response = ToResponse(pending.refusal ? *pending.refusal : FromError(outcome.error()));
  } else {
    std::string text = body ? body(*outcome) : outcome->json ? *outcome->json : "{}";
    response = JsonResponse(pending.success_status, std::move(text));
    if (!body) response.parsed = outcome->object;
  }
  for (const std::string& warning : pending.field_warnings) {
    response.headers.emplace_back("Warning", WarningHeader(warning));
  }
  for (const std::string& warning : pending.warnings) {
    response.headers.emplace_back("Warning", WarningHeader(warning));
  }
  pending.call.responder->Send(std::move(response));
}

}  // namespace

Check CheckName(const text::Json& object, std::string_view name) {
  if (api::Name(object) == name) return {};
  return Refuse(
      BadRequest(fmt::format("the name of the object ({}) does not match the name on the URL ({})",
                             api::Name(object), name)));
}

namespace {

Check CheckSameObject(const PendingWrite& pending, const Record& current, const text::Json& next) {
  const api::Resource& resource = pending.resource();
  const std::string& name = current.key.name;
  if (!next.is_object() || text::FindObject(next, {"metadata"}) == nullptr) {
    return Refuse(BadRequest(
        fmt::format("the object provided is unrecognized (must be of type {})", resource.kind)));
  }
  if (auto same = CheckName(next, name); !same) return same;
  const std::string_view uid = api::Uid(next);
  if (!uid.empty() && uid != current.uid) {
    return Refuse(
        Conflict(resource, name,
                 fmt::format("Precondition failed: UID in precondition: {}, UID in object meta: {}",
                             uid, current.uid)));
  }
  const std::string_view version = api::ResourceVersion(next);
  if (!version.empty() && version != std::to_string(current.version)) {
    return Refuse(StaleVersion(resource, name));
  }
  return {};
}

Check CheckNamespace(View& view, const api::Resource& resource, const RestRequest& rest) {
  if (!resource.namespaced) return {};
  auto record = view.Get({"namespaces", "", rest.namespace_name});
  if (!record) return Refuse(FromError(record.error()));
  if (!*record) return Refuse(NotFound(api::kNamespaces, rest.namespace_name));
  if (!api::IsDeleting((*record)->object)) return {};
  return Refuse(Forbidden(
      resource, rest.name,
      fmt::format("unable to create new content in namespace {} because it is being terminated",
                  rest.namespace_name)));
}

// Kubernetes' Priority plugin, which finds its own classes without objects.
Check CheckPriorityClass(View& view, const api::Resource& resource, const text::Json& object) {
  if (&resource != &api::kPods) return {};
  const std::string name(text::GetString(object, {"spec", "priorityClassName"}));
  if (name.empty() || name.starts_with("system-")) return {};
  auto record = view.Get({store::ResourceName(api::kPriorityClasses), "", name});
  if (!record) return Refuse(FromError(record.error()));
  if (*record) return {};
  return Refuse(Forbidden(resource, api::Name(object),
                          fmt::format("no PriorityClass with name {} was found", name)));
}

text::Json TakeManagedFields(text::Json& object) {
  text::Json* sent = text::Find(object, {"metadata", "managedFields"});
  if (sent == nullptr) return nullptr;
  text::Json taken = std::move(*sent);
  text::Erase(object, {"metadata", "managedFields"});
  return taken;
}

void SetManagedFields(PendingWrite& pending, const text::Json& before, text::Json sent,
                      text::Json& object) {
  if (pending.is_apply) {
    text::Set(object, {"metadata", "managedFields"}, std::move(sent));
    return;
  }
  const RestRequest& rest = pending.call.rest;
  RecordUpdate(pending.resource(), {FieldManagerOf(rest, pending.call.http), rest.subresource},
               pending.backend->clock->Now(), before, sent, object);
}

// The controller could not read a status of other types.
Check CheckStatus(const api::Resource& resource, const text::Json& object) {
  if (&resource != &api::kPyTorchJobs) return {};
  const std::vector<std::string> causes = api::CheckPyTorchJobStatus(object);
  if (causes.empty()) return {};
  return Refuse(Invalid(resource, api::Name(object), causes));
}

// A larger object would hold up the writer each time that it is written.
Check CheckSize(const PendingWrite& pending, const text::Json& next, size_t bytes_before) {
  const size_t bytes = text::MeasureJson(next).bytes;
  if (bytes <= std::max(text::kMaxPatchedBytes, bytes_before)) return {};
  return Refuse(Invalid(
      pending.resource(), pending.call.rest.name,
      {fmt::format("metadata: Too long: may not be more than {} bytes", text::kMaxPatchedBytes)}));
}

}  // namespace

Answer<Next> CreateObject(PendingWrite& pending, text::Json object, View& view) {
  const api::Resource& resource = pending.resource();
  if (auto fine = CheckNamespace(view, resource, pending.call.rest); !fine) {
    return Refuse(fine.error());
  }
  const base::Time now = pending.backend->clock->Now();
  text::Json sent = TakeManagedFields(object);
  PrepareCreate(resource, now, object);
  if (auto fine = CheckSpec(resource, object); !fine) return Refuse(fine.error());
  if (auto known = CheckPriorityClass(view, resource, object); !known) {
    return Refuse(known.error());
  }
  SetManagedFields(pending, nullptr, std::move(sent), object);
  FillIn(resource, now, object);
  auto warnings = Admit(pending.backend->admission, Operation::kCreate, resource, pending.call.http,
                        pending.validation, object, nullptr);
  if (!warnings) return Refuse(std::move(warnings.error()));
  pending.warnings = std::move(*warnings);
  Next next{Next::Action::kPut, std::move(object), {}};
  auto orphan = CollectIfOrphaned(view, pending.call.rest.key(), next.object, now);
  if (!orphan) return Refuse(FromError(orphan.error()));
  next.then = std::move(*orphan);
  return next;
}

Answer<Next> UpdateObject(PendingWrite& pending, Part part, const Change& change, View& view,
                          Record current) {
  const api::Resource& resource = pending.resource();
  auto changed = change(current.object);
  if (!changed) return Refuse(std::move(changed.error()));
  text::Json next = std::move(*changed);
  if (auto same = CheckSameObject(pending, current, next); !same) return Refuse(same.error());
  text::Json sent = TakeManagedFields(next);
  if (part == Part::kStatus) {
    PrepareStatusUpdate(current.object, next);
    if (auto fine = CheckStatus(resource, next); !fine) return Refuse(fine.error());
  } else {
    next.get_object()["apiVersion"] = resource.api_version();
    next.get_object()["kind"] = resource.kind;
    if (auto fine = PrepareUpdate(resource, current.object, next); !fine) {
      return Refuse(fine.error());
    }
    if (auto fine = CheckMetadata(resource, next, &current.object); !fine) {
      return Refuse(fine.error());
    }
    // An earlier version may have stored what is refused now.
    if (!HasSameContent(current.object, next)) {
      if (auto fine = CheckSpec(resource, next); !fine) return Refuse(fine.error());
    }
  }
  SetManagedFields(pending, current.object, std::move(sent), next);
  if (part == Part::kMain) {
    auto warnings = Admit(pending.backend->admission, Operation::kUpdate, resource,
                          pending.call.http, pending.validation, next, &current.object);
    if (!warnings) return Refuse(std::move(warnings.error()));
    pending.warnings = std::move(*warnings);
  }
  const bool is_waiting_pod =
      current.key.resource == "pods" &&
      text::GetInt(next, {"metadata", "deletionGracePeriodSeconds"}).value_or(0) > 0;
  if (api::IsDeleting(next) && !HasFinalizers(next) && HasFinalizers(current.object) &&
      !is_waiting_pod) {
    current.object = std::move(next);
    return Lift(
        Remove(view, std::move(current), Propagation::kBackground, pending.backend->clock->Now()));
  }
  if (text::IsSame(next, current.object)) return Next{};
  return Next{Next::Action::kPut, std::move(next), {}};
}

Pending MakePending(Backend& backend, Call call) {
  auto dry_run = call.rest.IsDryRun(call.http.method);
  if (!dry_run) {
    call.responder->Send(ToResponse(dry_run.error()));
    return nullptr;
  }
  const auto validation = call.rest.HowToValidate(call.http.method);
  if (!validation) {
    call.responder->Send(ToResponse(validation.error()));
    return nullptr;
  }
  auto pending = std::make_shared<PendingWrite>();
  pending->backend = &backend;
  pending->call = std::move(call);
  pending->dry_run = *dry_run;
  pending->validation = *validation;
  return pending;
}

Check CheckSentTypes(const PendingWrite& pending, const text::Json& object) {
  // This process makes no such objects.
  if (pending.call.http.parsed) return {};
  return CheckTypes(pending.resource(), object);
}

bool CheckFields(PendingWrite& pending, text::Json& object) {
  if (auto fine = CheckSentTypes(pending, object); !fine) {
    pending.call.responder->Send(ToResponse(fine.error()));
    return false;
  }
  auto faults = TakeFieldFaults(pending.validation, pending.resource(), pending.call.http, object);
  if (pending.validation == FieldValidation::kStrict && !faults.empty()) {
    pending.call.responder->Send(ToResponse(StrictDecoding(pending.resource(), faults)));
    return false;
  }
  pending.field_warnings = std::move(faults);
  return true;
}

void SubmitWrite(const Pending& pending, Apply apply, Body body, std::function<bool()> retry) {
  store::Mutation mutation;
  mutation.key = pending->call.rest.key();
  mutation.dry_run = pending->dry_run;
  mutation.id = net::FindHeader(pending->call.http.headers, api::kWriteIdHeader);
  mutation.apply = [pending, apply = std::move(apply)](
                       View& view, std::optional<Record> current) -> base::Result<Next> {
    pending->refusal.reset();
    pending->warnings.clear();
    const size_t bytes_before = current ? current->json->size() : 0;
    auto next = apply(view, std::move(current));
    if (next && next->action == Next::Action::kPut) {
      if (auto fits = CheckSize(*pending, next->object, bytes_before); !fits) {
        next = Refuse(fits.error());
      }
    }
    if (next) return std::move(*next);
    pending->refusal = std::move(next.error());
    return base::Fail(ToError(*pending->refusal));
  };
  pending->backend->store->Submit(
      std::move(mutation),
      [pending, body = std::move(body), retry = std::move(retry)](base::Result<Outcome> outcome) {
        if (pending->refusal && retry && retry()) return;
        AnswerWrite(*pending, outcome, body);
      });
}

void SubmitUpdate(const Pending& pending, Part part, Change change, Body body) {
  SubmitWrite(
      pending,
      [raw = pending.get(), part, change = std::move(change)](
          View& view, std::optional<Record> current) -> Answer<Next> {
        if (!current) return Refuse(NotFound(raw->resource(), raw->call.rest.name));
        return UpdateObject(*raw, part, change, view, std::move(*current));
      },
      std::move(body));
}

Answer<Change> ParsePatch(const net::HttpRequest& http, bool is_custom) {
  const std::string type = base::ToLower(net::FindHeader(http.headers, "Content-Type"));
  const std::string_view media = base::Trim(std::string_view(type).substr(0, type.find(';')));
  const bool is_strategic = media == "application/strategic-merge-patch+json";
  if ((is_strategic && is_custom) || (!is_strategic && media != "application/merge-patch+json" &&
                                      media != "application/json-patch+json")) {
    return Refuse(UnsupportedMediaType(fmt::format(
        "the body of the request was in an unknown format - accepted media types include: "
        "application/json-patch+json, application/merge-patch+json, {}application/apply-patch+yaml",
        is_custom ? "" : "application/strategic-merge-patch+json, ")));
  }
  auto parsed = DecodeBody(http, "couldn't read the patch");
  if (!parsed) return Refuse(parsed.error());
  auto patch = std::make_shared<const text::Json>(std::move(*parsed));
  if (media == "application/json-patch+json") {
    return [patch](const text::Json& current) -> Answer<text::Json> {
      text::Json next = current;
      if (auto applied = text::JsonPatch(next, *patch); !applied) {
        return Refuse({422,
                       "Invalid",
                       "the server rejected our request due to an error in our request: " +
                           applied.error().message,
                       {}});
      }
      return next;
    };
  }
  if (!patch->is_object()) return Refuse(BadRequest("a merge patch must be an object"));
  if (media == "application/merge-patch+json") {
    return [patch](const text::Json& current) -> Answer<text::Json> {
      text::Json next = current;
      text::MergePatch(next, *patch);
      return next;
    };
  }
  return [patch](const text::Json& current) -> Answer<text::Json> {
    text::Json next = current;
    if (auto merged = StrategicMerge(next, *patch); !merged) {
      const bool is_too_long = merged.error().code == base::Code::kExhausted;
      if (is_too_long) return Refuse({422, "Invalid", merged.error().message, {}});
      return Refuse(BadRequest(merged.error().message));
    }
    return next;
  };
}

}  // namespace local::server
