// One write between its request and its answer.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "local/server/backend/backend.h"
#include "local/server/request/api_error.h"
#include "local/server/writes/writes.h"
#include "local/store/object.h"

namespace local::server {

// Used by one thread at a time: the one that handles the request, then the store's writer.
struct PendingWrite {
  Backend* backend = nullptr;
  Call call;
  bool dry_run = false;
  FieldValidation validation = FieldValidation::kWarn;
  bool is_apply = false;  // the next object already has its managedFields
  int success_status = 200;
  std::vector<std::string> field_warnings;  // about the request's fields; sent before the warnings
                                            // of admission
  // Set by the mutation.
  std::optional<ApiError> refusal;
  std::vector<std::string> warnings;

  const api::Resource& resource() const { return *call.rest.resource; }
};
using Pending = std::shared_ptr<PendingWrite>;

using Apply =
    std::function<Answer<store::Next>(store::View& view, std::optional<store::Record> current)>;
// The body of a successful answer.
using Body = std::function<std::string(const store::Outcome& outcome)>;

// Whether the object has that name, which is the one in its request's path.
Check CheckName(const text::Json& object, std::string_view name);

// Answers and returns nullptr when the query is invalid.
Pending MakePending(Backend& backend, Call call);

// Whether the object of a request has values of the right types, if another process sent it.
Check CheckSentTypes(const PendingWrite& pending, const text::Json& object);

// Removes unknown fields from the request's `object` and adds warnings; when the request wants them
// refused, or a value has a wrong type, answers and returns false.
bool CheckFields(PendingWrite& pending, text::Json& object);

// Submits the write. A refusal of `apply` is the answer, unless `retry` returns true because it has
// submitted the write again; otherwise `body` (by default the object) is.
void SubmitWrite(const Pending& pending, Apply apply, Body body = {},
                 std::function<bool()> retry = {});

// What PUT, PATCH, scale and binding share: `change` makes the next object from the stored one;
// rules, admission and resource versions are handled here.
using Change = std::function<Answer<text::Json>(const text::Json& current)>;
// kScale: like kMain, but without admission.
enum class Part { kMain, kStatus, kScale };
void SubmitUpdate(const Pending& pending, Part part, Change change, Body body = {});

// The parts that run inside the store's transaction: of POST (and of a server-side apply to a new
// object), and of SubmitUpdate.
Answer<store::Next> CreateObject(PendingWrite& pending, text::Json object, store::View& view);
Answer<store::Next> UpdateObject(PendingWrite& pending, Part part, const Change& change,
                                 store::View& view, store::Record current);

// How a PATCH's body changes an object. `is_custom`: a CRD defines the kind, so it has no strategic
// merge.
Answer<Change> ParsePatch(const net::HttpRequest& http, bool is_custom = false);

// Turns a failed store call into a Refusal.
template <typename T>
Answer<T> Lift(base::Result<T> result) {
  if (!result) return Refuse(FromError(result.error()));
  return std::move(*result);
}

}  // namespace local::server
