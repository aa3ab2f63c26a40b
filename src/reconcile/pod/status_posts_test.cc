#include "reconcile/pod/status_posts.h"

#include <gtest/gtest.h>

#include "api/status_posts.h"
#include "reconcile/testing/fake_cluster.h"

namespace reconcile {
namespace {

const StatusPosts kPosts{"https://o.n.svc:9444", "PEM"};

// A pod with these fields of its container.
text::Json PodWith(const std::string& container, const std::string& spec = "{}") {
  text::Json pod = Parse(R"({"metadata": {"name": "p"}, "spec": )" + spec + "}");
  text::Json main = Parse(container);
  text::Set(main, {"name"}, text::Json("pytorch"));
  text::Set(pod, {"spec", "containers"}, text::Array{main});
  return pod;
}

text::Json Added(text::Json pod, const StatusPosts& posts = kPosts) {
  api::PyTorchJob job;
  job.name = "j";
  job.namespace_name = "team";
  AddStatusPosts(posts, job, pod);
  return pod;
}

TEST(AddStatusPosts, ReportsWhereAndGivesTokenAndAuthority) {
  const text::Json pod = Added(PodWith("{}"));
  const text::Json& container = pod.at("spec").at("containers").at(0);
  EXPECT_EQ(
      text::ToJson(container.at("env")),
      R"([{"name":"KUBEFLOW_TRAINER_SERVER_URL","value":"https://o.n.svc:9444/apis/)"
      R"(trainer.kubeflow.org/v1alpha1/namespaces/team/trainjobs/j/status"},)"
      R"({"name":"KUBEFLOW_TRAINER_SERVER_TOKEN","value":"/var/run/muster/status/token"},)"
      R"({"name":"KUBEFLOW_TRAINER_SERVER_CA_CERT","value":"/var/run/muster/status/ca.crt"}])");
  EXPECT_EQ(text::ToJson(container.at("volumeMounts")),
            R"([{"name":"muster-status","mountPath":"/var/run/muster/status","readOnly":true}])");
  EXPECT_EQ(text::ToJson(pod.at("spec").at("volumes")),
            R"([{"name":"muster-status","projected":{"sources":[{"serviceAccountToken":)"
            R"({"audience":"muster.dev/status","expirationSeconds":3600,"path":"token"}},)"
            R"({"downwardAPI":{"items":[{"path":"ca.crt","fieldRef":{"apiVersion":"v1",)"
            R"("fieldPath":"metadata.annotations['muster.dev/status-authority']"}}]}}]}}])");
  EXPECT_EQ(text::GetString(pod, {"metadata", "annotations", "muster.dev/status-authority"}),
            "PEM");
}

TEST(AddStatusPosts, LeavesAPodAloneThatReportsElsewhereOrUsesItsNames) {
  for (const text::Json& pod :
       {PodWith(R"({"env": [{"name": "KUBEFLOW_TRAINER_SERVER_TOKEN", "value": ""}]})"),
        PodWith("{}", R"({"volumes": [{"name": "muster-status", "emptyDir": {}}]})"),
        PodWith(R"({"volumeMounts": [{"name": "x", "mountPath": "/var/run/muster/status"}]})")}) {
    EXPECT_EQ(Added(pod), pod);
  }
  EXPECT_EQ(Added(PodWith("{}"), {}), PodWith("{}"));
}

TEST(AddStatusPosts, IsPartOfTheReconciledPods) {
  Options options;
  options.init_container = false;
  options.status_posts = kPosts;
  const text::Json job = TestJob{.workers = 1}.Build();
  Observed observed;
  observed.job = &job;
  int pods = 0;
  for (const Write& write : Reconcile(observed, options, TestTime()).writes) {
    if (write.resource != &api::kPods) continue;
    ++pods;
    EXPECT_EQ(text::FindArray(write.object, {"spec", "volumes"})->size(), 1u);
  }
  EXPECT_EQ(pods, 2);
}

}  // namespace
}  // namespace reconcile
