// One write between its request and its answer.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "local/server/routing/api_error.h"
#include "local/server/routing/backend.h"
#include "local/server/routing/writes.h"
#include "local/store/object.h"

namespace local::server {

// Touched by one thread at a time: the one that handles the request, then the store's writer.
struct PendingWrite {
  Backend* backend = nullptr;
  Call call;
  bool dry_run = false;
  FieldValidation validation = FieldValidation::kWarn;
  bool is_apply = false;  // the next object comes with its managedFields
  int success_status = 200;
  std::vector<std::string> field_warnings;  // of what came, before those of admission
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

// nullptr after it has answered, when the query is wrong.
Pending MakePending(Backend& backend, Call call);

// Takes out of `object`, which the request brought, the fields that its kind does not know, and
// warns of them; false after it has answered, when the request wants them refused.
bool CheckFields(PendingWrite& pending, text::Json& object);

// `apply`'s refusal becomes the answer, unless `retry` is set and says that it has submitted the
// write once more; otherwise `body` (by default the object) does.
void SubmitWrite(const Pending& pending, Apply apply, Body body = {},
                 std::function<bool()> retry = {});

// The part of Update that PUT, PATCH, scale and binding share: `change` makes the next object out
// of the stored one; rules, admission and the store's versions are seen to here.
using Change = std::function<Answer<text::Json>(const text::Json& current)>;
// kScale: as kMain, but admission is not asked.
enum class Part { kMain, kStatus, kScale };
void SubmitUpdate(const Pending& pending, Part part, Change change, Body body = {});

// The parts of a write that decide inside the store's transaction: POST's (and a server-side
// apply's of what does not exist), and SubmitUpdate's.
Answer<store::Next> CreateObject(PendingWrite& pending, text::Json object, store::View& view);
Answer<store::Next> UpdateObject(PendingWrite& pending, Part part, const Change& change,
                                 store::View& view, store::Record current);

// How a PATCH's body changes an object.
// `is_custom`: of a kind that a CRD defines, which has no strategic merge.
Answer<Change> ParsePatch(const net::HttpRequest& http, bool is_custom = false);

// A Refusal from what went wrong in a store call.
template <typename T>
Answer<T> Lift(base::Result<T> result) {
  if (!result) return Refuse(FromError(result.error()));
  return std::move(*result);
}

}  // namespace local::server
