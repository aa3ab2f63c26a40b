// Structured merge: what server-side apply does to objects, by the types of their fields
// (schema.h). As sigs.k8s.io/structured-merge-diff v4 does. Pure.
#pragma once

#include "api/schema/schema.h"
#include "local/server/apply/field_set.h"
#include "text/json.h"

namespace local::server {

// The fields that an applied configuration sets.
FieldSet FieldsOf(const text::Json& value, const api::Shape& shape);

struct Comparison {
  FieldSet added;
  FieldSet modified;
  FieldSet removed;
};
Comparison Compare(const text::Json& before, const text::Json& after, const api::Shape& shape);

// `live` with what `applied` says put into it.
text::Json Merged(const text::Json& live, const text::Json& applied, const api::Shape& shape);

// Takes the fields that are members of `gone` out of `value`, items with all that is in them.
void RemoveFields(text::Json& value, const FieldSet& gone, const api::Shape& shape);

// Why a list that is merged by keys cannot be: an item without one, or two with the same; "" when
// all is well.
std::string CheckLists(const text::Json& value, const api::Shape& shape, const std::string& path);

}  // namespace local::server
