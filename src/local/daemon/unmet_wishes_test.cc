#include "local/daemon/unmet_wishes.h"

#include <gtest/gtest.h>

namespace local::daemon {
namespace {

using Lines = std::vector<std::string>;

text::Json JobOf(std::string_view pod_spec) {
  text::Json job = *text::ParseJson(R"({"spec": {"pytorchReplicaSpecs": {
    "Master": {"replicas": 1, "template": {}}, "Worker": {"replicas": 3, "template": {}}}}})");
  for (const char* type : {"Master", "Worker"}) {
    text::Set(job, {"spec", "pytorchReplicaSpecs", type, "template", "spec"},
              *text::ParseJson(pod_spec));
  }
  return job;
}

const Abilities kNone{"no cgroup", [](int64_t gpus) {
                        return "the job asks for " + std::to_string(gpus) + ", there are none";
                      }};

constexpr std::string_view kManyWishes = R"({"nodeSelector": {"disk": "ssd", "zone": "a"},
    "schedulerName": "volcano", "containers": [{"name": "pytorch", "resources": {"limits":
    {"a.b/card": "1", "rdma/hca": "1", "nvidia.com/gpu": "2", "cpu": "4"}}}]})";

TEST(UnmetWishes, AreOneLineEachHoweverManyReplicasAskForIt) {
  text::Json job = JobOf(kManyWishes);
  text::Set(job, {"metadata", "labels", "release"}, "submitted");
  EXPECT_EQ(UnmetWishes(job, kNone),
            (Lines{"--gpus: the job asks for 8, there are none",
                   "--device has no effect here: this machine does not assign a.b/card",
                   "--rdma has no effect here: this machine does not assign RDMA devices, each pod "
                   "sees all of them",
                   "--cpu: the CPU limit is not enforced, it only sets OMP_NUM_THREADS: no "
                   "cgroup",
                   "--selector disk=ssd,zone=a has no effect here: there is only one machine",
                   "--scheduler volcano has no effect here: muster's own scheduler places every "
                   "pod"}));
}

TEST(UnmetWishes, OfAnObjectAreNamedByItsFields) {
  EXPECT_EQ(
      UnmetWishes(JobOf(kManyWishes), kNone),
      (Lines{"resources.limits[nvidia.com/gpu]: the job asks for 8, there are none",
             "resources.limits[a.b/card] has no effect here: this machine does not assign a.b/card",
             "resources.limits[rdma/hca] has no effect here: this machine does not assign RDMA "
             "devices, each pod sees all of them",
             "resources.limits[cpu]: the CPU limit is not enforced, it only sets OMP_NUM_THREADS: "
             "no cgroup",
             "template.spec.nodeSelector disk=ssd,zone=a has no effect here: there is only one "
             "machine",
             "template.spec.schedulerName volcano has no effect here: muster's own scheduler "
             "places every pod"}));
}

TEST(UnmetWishes, FieldsThatNothingHereReadsAreNamed) {
  constexpr std::string_view kSpec = R"({"affinity": {}, "containers": [
      {"name": "pytorch", "livenessProbe": {}, "lifecycle": {}}]})";
  const Lines line = {
      "affinity, lifecycle, livenessProbe of the pods: ignored, the embedded cluster has nothing "
      "like it"};
  EXPECT_EQ(UnmetWishes(JobOf(kSpec), {}), line);
  text::Json pod = text::Object{};
  text::Set(pod, {"spec"}, *text::ParseJson(kSpec));
  EXPECT_EQ(IgnoredOfPod(pod), line);
  EXPECT_EQ(IgnoredOfPod(text::Object{}), Lines{});
}

TEST(UnmetWishes, NothingIsSaidOfWhatIsDone) {
  const text::Json job = JobOf(R"({"schedulerName": "default-scheduler", "containers": [{"name":
      "pytorch", "resources": {"limits": {"nvidia.com/gpu": "1", "cpu": "1", "memory": "1Gi"}}}]})");
  EXPECT_EQ(UnmetWishes(job, {"", [](int64_t) { return std::string(); }}), Lines{});
  EXPECT_EQ(UnmetWishes(job, {}), Lines{});
  EXPECT_EQ(UnmetWishes(text::Object{}, kNone), Lines{});
  EXPECT_EQ(
      UnmetWishes(*text::ParseJson(R"({"spec": {"pytorchReplicaSpecs": {"Master": 1}}})"), kNone),
      Lines{});
}

}  // namespace
}  // namespace local::daemon
