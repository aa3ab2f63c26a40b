// Checks and changes of an object before it is stored.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "api/resources.h"
#include "api/schema/unknown_fields.h"
#include "base/result.h"
#include "local/server/request/api_error.h"
#include "net/http/types.h"
#include "text/json.h"

namespace local::server {

enum class Operation { kCreate, kUpdate };

// Called on the store's writer thread, also for dry runs and perhaps several times for one write:
// it must be quick, must not wait for the server, and may change only `object`. `old` is the stored
// object (kUpdate). Not called for subresources. Returns warnings for the client. An error refuses
// the write: 403 for kPermissionDenied, 422 for kInvalidArgument, otherwise by its code.
using Admission = std::function<base::Result<std::vector<std::string>>(
    Operation operation, const api::Resource& resource, const net::HttpRequest& request,
    text::Json& object, const text::Json* old)>;

// Runs the checks of the CRD's schema (422) and of the webhook (403), then `admission` if it is
// set. `validation` says how the request treats unknown fields. compat/pytorchjob.md 1.5
Answer<std::vector<std::string>> Admit(const Admission& admission, Operation operation,
                                       const api::Resource& resource,
                                       const net::HttpRequest& request,
                                       api::FieldValidation validation, text::Json& object,
                                       const text::Json* old);

}  // namespace local::server
