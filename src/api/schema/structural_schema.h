// What the structural schema of a CustomResourceDefinition says of values: types, required fields,
// quantities, lists that are maps, defaults. Of OpenAPI it knows as much as deploy/crd.yaml uses;
// what the schema does not name passes. Immutable.
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
  // `schema` is an object of openAPIV3Schema, and well-formed: a definition of our own.
  explicit StructuralSchema(const text::Json& schema);

  // Puts the defaults of absent fields into objects that are there.
  void ApplyDefaults(text::Json& value) const;

  // Causes as the API server words them, `field: reason`, first of types, then of duplicates. Rules
  // in CEL run only on a value whose types are right.
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
  std::unique_ptr<StructuralSchema> items_;  // of an array, or of an object's other values
  std::vector<std::string> keys_;            // of an array that is a map
  std::string pattern_;                      // of a quantity
};

}  // namespace api
