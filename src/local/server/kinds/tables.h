// Objects in the form in which a Kubernetes server prints them (meta.k8s.io/v1 Table).
#pragma once

#include <string>
#include <string_view>

#include "api/resources.h"
#include "base/clock.h"
#include "local/server/kinds/job_summaries.h"
#include "text/json.h"

namespace local::server {

// The format that the client accepts.
enum class Form { kObject, kTable, kPartial };
Form FormOf(std::string_view accept);
// The contents of a row's `object`.
enum class IncludeObject { kNone, kMetadata, kObject };
// kMetadata unless the query's includeObject says otherwise.
IncludeObject IncludeObjectOf(std::string_view text);

// Builds a Table as JSON text, row by row.
class TableBuilder {
 public:
  TableBuilder(const api::Resource& resource, IncludeObject include, base::Time now)
      : resource_(resource), include_(include), now_(now) {}

  void Add(const text::Json& object);
  // Adds a PyTorchJob's row; `object` is needed for IncludeObject::kObject only.
  void Add(const JobRow& row, std::string_view object = {});
  // `metadata`: JSON of the list's metadata. Leaves the columns out when the watch has sent them
  // already.
  std::string Finish(std::string_view metadata, bool with_columns = true);

 private:
  void AddObject(std::string_view json, std::string_view metadata);

  const api::Resource& resource_;
  const IncludeObject include_;
  const base::Time now_;
  std::string rows_;
};

// The object as {"kind":"PartialObjectMetadata", ...}.
std::string PartialObject(const text::Json& object);

}  // namespace local::server
