#include "api/schema/structural_schema.h"

#include <gtest/gtest.h>

#include "text/yaml.h"

namespace api {
namespace {

using Causes = std::vector<std::string>;

constexpr std::string_view kSchema = R"(
type: object
required: [ports]
properties:
  size:
    anyOf: [{type: integer}, {type: string}]
    pattern: ^[0-9]+$
  names: {type: object, additionalProperties: {type: string}}
  count: {type: integer, format: int32}
  seconds: {type: integer, format: int64}
  free: {type: object, x-kubernetes-preserve-unknown-fields: true}
  ports:
    type: array
    x-kubernetes-list-map-keys: [port, protocol]
    items:
      type: object
      properties:
        port: {type: integer}
        protocol: {type: string, default: TCP}
)";

class StructuralSchemaTest : public testing::Test {
 protected:
  static text::Json Parsed(std::string_view yaml) { return text::ParseYaml(yaml).value(); }
  Causes CausesOf(std::string_view yaml) const {
    return schema_.Check(Parsed(yaml), "spec").causes;
  }

  const StructuralSchema schema_{Parsed(kSchema)};
};

TEST_F(StructuralSchemaTest, WhatItDoesNotNamePasses) {
  EXPECT_EQ(CausesOf("{ports: [], other: 1, free: {x: [1, a]}, names: {a: b}}"), Causes());
}

TEST_F(StructuralSchemaTest, TypesAreNamedWithTheirPath) {
  EXPECT_EQ(
      CausesOf("{ports: [{port: a}], names: {x: 1}}"),
      Causes({"spec.names.x: Invalid value: \"integer\": spec.names.x in body must be of type "
              "string: \"integer\"",
              "spec.ports[0].port: Invalid value: \"string\": spec.ports[0].port in body must "
              "be of type integer: \"string\""}));
}

TEST_F(StructuralSchemaTest, AnIntegerHasTheRangeOfItsFormat) {
  EXPECT_EQ(CausesOf("{ports: [], count: 2147483647, seconds: 9223372036854775807}"), Causes());
  EXPECT_EQ(CausesOf("{ports: [], count: -2147483648, seconds: 2147483648}"), Causes());
  const Causes of_count = {
      "<nil>: Invalid value: \"\": Checked value must be of type integer with format int32 in "
      "spec.count"};
  EXPECT_EQ(CausesOf("{ports: [], count: 2147483648}"), of_count);
  EXPECT_EQ(CausesOf("{ports: [], count: -2147483649}"), of_count);
  EXPECT_EQ(CausesOf("{ports: [], seconds: 9223372036854775808}"),
            Causes({"spec.seconds: Invalid value: \"number\": spec.seconds in body must be of type "
                    "integer: \"number\""}));
}

TEST_F(StructuralSchemaTest, AQuantityMatchesThePatternOfTheSchema) {
  EXPECT_EQ(CausesOf("{ports: [], size: 1Gi}"), Causes());
  EXPECT_EQ(
      CausesOf("{ports: [], size: much}"),
      Causes({"spec.size: Invalid value: \"much\": spec.size in body should match '^[0-9]+$'"}));
}

TEST_F(StructuralSchemaTest, RequiredFieldsMayNotBeNull) {
  EXPECT_EQ(CausesOf("{ports: null}"), Causes({"spec.ports: Required value"}));
}

TEST_F(StructuralSchemaTest, DefaultsMakeDuplicatesOfAListThatIsAMap) {
  text::Json value = Parsed("{ports: [{port: 80}, {port: 80, protocol: UDP}, {port: 80}]}");
  schema_.ApplyDefaults(value);
  EXPECT_EQ(schema_.Check(value, "spec").causes,
            Causes({"spec.ports[2]: Duplicate value: map[string]interface "
                    "{}{\"port\":80, \"protocol\":\"TCP\"}"}));
}

}  // namespace
}  // namespace api
