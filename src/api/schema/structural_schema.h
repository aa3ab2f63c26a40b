// Checks values against the structural schema of a CustomResourceDefinition: types, required
// fields, quantities, lists that are maps, defaults. It knows the part of OpenAPI that
// deploy/crd.yaml uses; fields that the schema does not name pass. Immutable.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "text/json.h"

namespace api {

class StructuralSchema {
 public:
  // `schema` is an object of openAPIV3Schema, and well-formed, because it comes from a definition
  // of our own.
  explicit StructuralSchema(const text::Json& schema);

  // Adds the defaults of absent fields to objects that are present.
  void ApplyDefaults(text::Json& value) const;

  // The causes in the API server's words, `field: reason`: first type errors, then duplicates. CEL
  // rules run only on a value whose types are right.
  struct Findings {
    std::vector<std::string> causes;
    bool are_types_wrong = false;
  };
  Findings Check(const text::Json& value, std::string_view path) const;

 private:
  enum class Type { kString, kInteger, kBool, kQuantity, kArray, kObject };
  struct Field {
    std::string name;
    std::unique_ptr<StructuralSchema> schema;
    bool is_required = false;
    std::optional<text::Json> value_if_absent;
  };

  static std::string_view NameOf(Type type);
  static bool IsOfType(const text::Json& value, Type type);
  static void AddTypeError(const text::Json& value, const std::string& path, Type type,
                           Findings& out);
  void CheckTypes(const text::Json& value, const std::string& path, Findings& out) const;
  void CheckItems(const text::Json& value, const std::string& path, Findings& out) const;
  void CheckFields(const text::Object& object, const std::string& path, Findings& out) const;
  void CheckKeys(const text::Json& value, const std::string& path,
                 std::vector<std::string>& causes) const;

  Type type_;
  std::vector<Field> fields_;                // of an object, by name
  std::unique_ptr<StructuralSchema> items_;  // of an array, or of the other values of an object
  std::vector<std::string> keys_;            // of an array that is merged as a map
  std::string pattern_;                      // of a quantity
  bool is_int32_;                            // of an integer
  bool is_time_;                             // of a string
};

}  // namespace api
