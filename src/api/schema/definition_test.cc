#include "api/schema/definition.h"

#include <gtest/gtest.h>

#include "api/schema/schema.h"
#include "base/strings.h"

namespace api {
namespace {

// The field at that path, through maps and lists.
const TypeField& FieldAt(std::string_view path) {
  const ObjectType* type = FindType("PyTorchJob");
  const TypeField* field = nullptr;
  for (const std::string& name : base::Split(path, '.')) {
    field = type->FindField(name);
    if (field == nullptr) throw std::runtime_error("no field " + name);
    type = field->shape.type;
  }
  return *field;
}

constexpr std::string_view kContainers = "spec.pytorchReplicaSpecs.template.spec.containers";

TEST(DefinitionTest, EachFieldHasTheShapeThatItsSchemaSays) {
  EXPECT_EQ(FieldAt("spec.runPolicy.ttlSecondsAfterFinished").shape.scalar, 'i');
  EXPECT_EQ(FieldAt("spec.runPolicy.activeDeadlineSeconds").shape.scalar, 'l');
  EXPECT_EQ(FieldAt("spec.runPolicy.suspend").shape.scalar, 'b');
  EXPECT_EQ(FieldAt("spec.nprocPerNode").shape.scalar, 's');
  EXPECT_EQ(FieldAt("status.startTime").shape.scalar, 't');
  const Shape& amounts = FieldAt("spec.runPolicy.schedulingPolicy.minResources").shape;
  EXPECT_EQ(amounts.kind, Shape::Kind::kMap);
  EXPECT_EQ(amounts.scalar, 'q');
  EXPECT_EQ(FieldAt("spec.pytorchReplicaSpecs").shape.kind, Shape::Kind::kMap);
  EXPECT_EQ(FieldAt("spec.pytorchReplicaSpecs.template.spec.affinity").shape.kind,
            Shape::Kind::kAny);
  EXPECT_EQ(FieldAt("metadata").shape.type, FindType("ObjectMeta"));
}

TEST(DefinitionTest, AListIsMergedByItsKeysOrAsAWhole) {
  const Shape& containers = FieldAt(kContainers).shape;
  EXPECT_EQ(containers.keys, std::vector<std::string_view>({"name"}));
  EXPECT_FALSE(containers.is_atomic);
  EXPECT_EQ(FieldAt(std::string(kContainers) + ".ports").shape.keys,
            std::vector<std::string_view>({"containerPort", "protocol"}));
  EXPECT_TRUE(FieldAt("status.conditions").shape.is_atomic);
}

TEST(DefinitionTest, OnlyWhatThePodTemplateContainsKeepsUnknownFields) {
  EXPECT_TRUE(FieldAt(kContainers).shape.type->keeps_unknown);
  EXPECT_FALSE(FieldAt("spec.runPolicy").shape.type->keeps_unknown);
}

TEST(DefinitionTest, AFieldOfAPodThatTheDefinitionDoesNotDescribeIsDescribedAsKubernetesOwn) {
  EXPECT_EQ(FieldAt(kContainers).description,
            FindType("PodSpec")->FindField("containers")->description);
  EXPECT_NE(FieldAt(std::string(kContainers) + ".workingDir").description, "");
  EXPECT_EQ(FieldAt("status.completionTime").description, "When the job ended.");
}

TEST(DefinitionTest, TypesAreNamedByTheirPath) {
  EXPECT_EQ(FieldAt("spec.runPolicy").shape.type->name, "PyTorchJob.Spec.RunPolicy");
  EXPECT_EQ(FindType("PyTorchJob")->Find("kind"), nullptr);
}

}  // namespace
}  // namespace api
