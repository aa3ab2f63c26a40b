// Structured merge: how server-side apply changes objects, by the types of their fields (schema.h).
// Follows sigs.k8s.io/structured-merge-diff v4. Pure.
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

// `live` with the values of `applied` merged into it.
text::Json Merged(const text::Json& live, const text::Json& applied, const api::Shape& shape);

// Removes the fields in `gone` from `value`, and removed items with everything in them.
void RemoveFields(text::Json& value, const FieldSet& gone, const api::Shape& shape);

// Why a list that is merged by keys cannot be merged: an item has no key, or two have the same; ""
// when all lists are valid.
std::string CheckLists(const text::Json& value, const api::Shape& shape, const std::string& path);

}  // namespace local::server
