#include "api/resources.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace api {
namespace {

TEST(Resources, AreFoundByPlaceAndByKind) {
  for (const Resource* const resource : AllResources()) {
    EXPECT_EQ(FindResource(resource->group, resource->version, resource->plural), resource);
    EXPECT_EQ(FindResourceByKind(resource->api_version(), resource->kind), resource);
    EXPECT_EQ(resource->list_kind(), std::string(resource->kind) + "List");
    const std::string api_version = resource->group.empty() ? std::string(resource->version)
                                                            : std::string(resource->group) + "/" +
                                                                  std::string(resource->version);
    EXPECT_EQ(resource->api_version(), api_version);
  }
}

TEST(Resources, UnknownOnesAreNotFound) {
  EXPECT_EQ(FindResource("kubeflow.org", "v2", "pytorchjobs"), nullptr);
  EXPECT_EQ(FindResource("", "v1", "pytorchjobs"), nullptr);
  EXPECT_EQ(FindResourceByKind("v1", "PyTorchJob"), nullptr);
}

TEST(Resources, KnowScopeAndStatus) {
  std::set<std::string_view> cluster_scoped;
  std::set<std::string_view> without_status;
  for (const Resource* const resource : AllResources()) {
    if (!resource->namespaced) cluster_scoped.insert(resource->plural);
    if (!resource->has_status) without_status.insert(resource->plural);
  }
  EXPECT_EQ(cluster_scoped, (std::set<std::string_view>{"namespaces", "nodes", "priorityclasses"}));
  EXPECT_EQ(without_status, (std::set<std::string_view>{"configmaps", "events", "leases",
                                                        "priorityclasses", "secrets"}));
}

TEST(Resources, CopiesSpellTheSame) {
  const Resource copy = kPyTorchJobs;
  EXPECT_EQ(copy.api_version(), "kubeflow.org/v1");
  EXPECT_EQ(copy.list_kind(), "PyTorchJobList");
}

}  // namespace
}  // namespace api
