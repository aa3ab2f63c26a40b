// A JSON text, with its value where that is known already, so that nobody parses it again.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "text/json.h"
#include "text/projection.h"

namespace text {

// The part of a value that ParsePart reads from its text.
Json PartOf(const Json& value, const Projection& parts);
// The text of that part.
std::string PartToJson(const Json& value, const Projection& parts);

// Borrows the text and the value. Converts to the text, for readers that do not need the value. One
// thread at a time.
class Document {
 public:
  // `value` is what the text says, or null. "": the value has no text yet.
  explicit Document(std::string_view text, const Json* value = nullptr)
      : text_(text), value_(value) {}

  operator std::string_view() const;
  // A copy of the value, or the text parsed.
  base::Result<Json> Whole() const;
  base::Result<Json> Part(const Projection& parts) const;

 private:
  std::string_view text_;
  const Json* value_;
  mutable std::string made_;  // the text of a value that came without one
};

}  // namespace text
