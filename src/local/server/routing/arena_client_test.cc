// What the real Arena client requests from a cluster, in its order: its bootstrap, then list, get,
// top, logs, submit (Helm's rendering, then kubectl's apply) and delete.
#include <gtest/gtest.h>

#include "base/strings.h"
#include "local/server/testing/test_server.h"

namespace local::server {
namespace {

using text::GetBool;
using text::GetString;

const net::Headers kArena = {{"Authorization", "Bearer the-token"},
                             {"User-Agent", "arena/v0.0.0 (linux/amd64) kubernetes/$Format"}};

class ArenaClient : public testing::Test {
 protected:
  text::Json Get(int status, const std::string& path) {
    return server_.Expect(status, "GET", path, nullptr, kArena);
  }
  text::Json ReviewToken(const std::string& token) {
    return server_.Expect(201, "POST", "/apis/authentication.k8s.io/v1/tokenreviews",
                          text::Object{{"kind", "TokenReview"},
                                       {"apiVersion", "authentication.k8s.io/v1"},
                                       {"metadata", text::Object{{"creationTimestamp", nullptr}}},
                                       {"spec", text::Object{{"token", token}}},
                                       {"status", text::Object{{"user", text::Object{}}}}},
                          kArena);
  }
  // A job as Arena's chart renders it, with a pod as the operator creates it.
  void Submit(const std::string& name) {
    const text::Object labels{
        {"app", "pytorchjob"}, {"release", name}, {"createdBy", "PyTorchJob"}};
    text::Json job = JobObject(name);
    text::Set(job, {"metadata", "labels"}, labels);
    server_.Expect(201, "POST", kJobsPath, job, kArena);
    text::Json pod = PodObject(name + "-master-0");
    text::Object pod_labels = labels;
    pod_labels["training.kubeflow.org/operator-name"] = "pytorchjob-controller";
    text::Set(pod, {"metadata", "labels"}, pod_labels);
    server_.Expect(201, "POST", kPodsPath, pod, kArena);
  }
  static size_t Items(const text::Json& list) { return text::FindArray(list, {"items"})->size(); }

  TestServer server_;
};

TEST_F(ArenaClient, FindsOutWhoItIs) {
  const text::Json own = ReviewToken("the-token");
  EXPECT_EQ(GetBool(own, {"status", "authenticated"}), true);
  EXPECT_EQ(GetString(own, {"status", "user", "username"}), "admin");
  const text::Json other = ReviewToken("another");
  EXPECT_EQ(GetBool(other, {"status", "authenticated"}), false);
  EXPECT_EQ(text::Find(other, {"status", "user"}), nullptr);
  const text::Json access = server_.Expect(
      201, "POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
      *text::ParseJson(R"({"kind":"SelfSubjectAccessReview","spec":{"resourceAttributes":
                           {"namespace":"default","verb":"create","resource":"pods"}}})"),
      kArena);
  EXPECT_EQ(GetBool(access, {"status", "allowed"}), true);
  // The namespace must exist; its settings may be absent.
  Get(404, "/api/v1/namespaces/arena-system/configmaps/arena-config");
  EXPECT_EQ(GetString(Get(200, "/api/v1/namespaces/default"), {"kind"}), "Namespace");
}

TEST_F(ArenaClient, FindsWhatJobsThereMayBe) {
  const std::string path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/";
  const text::Json definition = Get(200, path + "pytorchjobs.kubeflow.org");
  EXPECT_EQ(GetString(definition, {"spec", "names", "kind"}), "PyTorchJob");
  // This shows it where to put the clean-up policy and time limits.
  const text::Json& version = text::FindArray(definition, {"spec", "versions"})->front();
  EXPECT_NE(text::Find(version, {"schema", "openAPIV3Schema", "properties", "spec", "properties",
                                 "runPolicy", "properties", "cleanPodPolicy"}),
            nullptr);
  for (const char* absent :
       {"tfjobs.kubeflow.org", "mpijobs.kubeflow.org", "trainingjobs.kai.alibabacloud.com",
        "etjobs.kai.alibabacloud.com", "jobs.batch.volcano.sh", "rayjobs.ray.io",
        "sparkapplications.sparkoperator.k8s.io"}) {
    EXPECT_EQ(GetString(Get(404, path + absent), {"reason"}), "NotFound") << absent;
  }
  EXPECT_GE(Items(Get(200, "/apis/apiextensions.k8s.io/v1/customresourcedefinitions")), 1U);
}

TEST_F(ArenaClient, DefinitionsOfItsKindsAreAppliedInVainAndOthersRefused) {
  const std::string path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
  const std::string ours = path + "/pytorchjobs.kubeflow.org";
  const text::Json definition = Get(200, ours);
  server_.Expect(409, "POST", path, definition);
  for (const char* const method : {"PUT", "PATCH"}) {
    const net::HttpResponse response = server_.Send(method, ours, "{}");
    EXPECT_EQ(response.status, 200) << method;
    EXPECT_EQ(net::FindHeader(response.headers, "Warning"),
              R"(299 - "the embedded cluster already has pytorchjobs.kubeflow.org: its definition )"
              R"(is not changed")");
  }
  EXPECT_EQ(Get(200, ours), definition);
  text::Json other = definition;
  text::Set(other, {"metadata", "name"}, text::Json("rayjobs.ray.io"));
  const text::Json refused = server_.Expect(405, "POST", path, other);
  const std::string_view message = GetString(refused, {"message"});
  EXPECT_TRUE(
      message.starts_with("CustomResourceDefinition \"rayjobs.ray.io\": the embedded "
                          "cluster accepts no definitions of other kinds"))
      << message;
  EXPECT_NE(message.find("pytorchjobs.kubeflow.org"), std::string_view::npos) << message;
  server_.Expect(405, "PATCH", path + "/rayjobs.ray.io", text::Object());
  server_.Expect(405, "DELETE", ours);
}

TEST_F(ArenaClient, ListsGetsAndTops) {
  Submit("pt");
  server_.Expect(201, "POST", kJobsPath, JobObject("of-somebody-else"), kArena);
  EXPECT_EQ(Items(Get(200, std::string(kJobsPath) + "?labelSelector=app%3Dpytorchjob%2Crelease")),
            1U);
  EXPECT_EQ(Items(Get(200, std::string(kPodsPath) + "?labelSelector=app%3Dpytorchjob")), 1U);
  EXPECT_EQ(GetString(Get(200, Path(kJobsPath, "pt")), {"metadata", "name"}), "pt");
  const text::Json pods =
      Get(200, std::string(kPodsPath) + "?labelSelector=release%3Dpt%2Capp%3Dpytorchjob");
  EXPECT_EQ(Items(pods), 1U);
  EXPECT_EQ(Items(Get(200, "/api/v1/services?labelSelector=release%3Dpt%2Crole%3Dtensorboard")),
            0U);
  EXPECT_EQ(Items(Get(200,
                      "/api/v1/services?labelSelector=kubernetes.io%2Fservice-name%3D"
                      "prometheus-server")),
            0U);
  Get(200, "/api/v1/nodes");
  Get(404, Path(kJobsPath, "none"));
}

TEST_F(ArenaClient, ReadsALog) {
  Submit("pt");
  server_.Patch(200, Path(kPodsPath, "pt-master-0/status"),
                *text::ParseJson(R"({"status":{"phase":"Running"}})"));
  const auto log = server_.Send(
      "GET", Path(kPodsPath, "pt-master-0/log?container=pytorch&follow=true&tailLines=10"), "",
      kArena);
  EXPECT_EQ(log.status, 200) << log.body;
}

// Helm asks whether the cluster can be reached, what it has, and whether the objects exist already.
TEST_F(ArenaClient, RendersWithHelm) {
  Get(200, "/version");
  const text::Json groups = Get(200, "/apis");
  for (const text::Json& group : *text::FindArray(groups, {"groups"})) {
    const std::string version(GetString(group, {"preferredVersion", "groupVersion"}));
    Get(200, "/apis/" + version);
  }
  Get(200, "/openapi/v3");
  Get(404, Path(kJobsPath, "pt"));
  for (const char* accept :
       {"", "*/*", "application/json", "application/com.github.proto-openapi.spec.v2@v1.0+protobuf",
        "application/com.github.proto-openapi.spec.v2@v1.0+protobuf,"
        "application/json"}) {
    EXPECT_EQ(server_.Send("GET", "/openapi/v2", "", {{"Accept", accept}}).status, 200) << accept;
  }
}

// The ConfigMap that lists the job's objects, kubectl's apply, then the owner of each object.
TEST_F(ArenaClient, SubmitsAndDeletes) {
  const char* const maps = "/api/v1/namespaces/default/configmaps";
  Get(404, Path(maps, "pt-pytorchjob"));
  server_.Expect(201, "POST", maps,
                 *text::ParseJson(R"({"metadata":{"name":"pt-pytorchjob","labels":
                                      {"createdBy":"arena"}},
                                      "data":{"pytorchjob":"0.5.2","values":"",
                                              "app":"pytorchjob.kubeflow.org/pt"}})"),
                 kArena);
  server_.Expect(201, "POST", std::string(kJobsPath) + "?dryRun=All&fieldManager=kubectl-create",
                 JobObject("pt"), kArena);
  Get(404, Path(kJobsPath, "pt"));
  server_.Expect(
      201, "POST",
      std::string(kJobsPath) + "?fieldManager=kubectl-client-side-apply&fieldValidation=Strict",
      JobObject("pt"), kArena);
  const text::Json owner = OwnerReference(Get(200, Path(kJobsPath, "pt")));
  const text::Json owned = server_.Patch(
      200, Path(maps, "pt-pytorchjob"),
      text::Array{text::Object{
          {"op", "add"}, {"path", "/metadata/ownerReferences"}, {"value", text::Array{owner}}}},
      "application/json-patch+json");
  EXPECT_EQ(text::FindArray(owned, {"metadata", "ownerReferences"})->size(), 1U);
  // Delete: reads the map, deletes the objects that it names, then the map.
  const text::Json map = Get(200, Path(maps, "pt-pytorchjob"));
  EXPECT_EQ(GetString(map, {"data", "app"}), "pytorchjob.kubeflow.org/pt");
  server_.Expect(200, "DELETE", Path(kJobsPath, "pt"),
                 *text::ParseJson(R"({"propagationPolicy":"Background"})"), kArena);
  const auto gone = server_.Send("DELETE", Path(maps, "pt-pytorchjob"), "", kArena);
  EXPECT_TRUE(gone.status == 200 || gone.status == 404) << gone.body;
  Get(404, Path(kJobsPath, "pt"));
}

}  // namespace
}  // namespace local::server
