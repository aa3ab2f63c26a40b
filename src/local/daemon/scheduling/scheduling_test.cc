#include "local/daemon/scheduling/scheduling.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include "api/pod.h"
#include "base/file.h"
#include "local/node/testing/agent_fake_cluster.h"
#include "local/node/testing/agent_pod_builder.h"

namespace local::daemon {
namespace {

using node::PodBuilder;
using text::Array;
using text::GetString;
using text::Object;
using Maybe = std::optional<text::Json>;

class SchedulingTest : public testing::Test {
 protected:
  SchedulingTest() : locks_(MakeFolder()), client_(cluster_.Connect()), gpus_(locks_) {}
  ~SchedulingTest() override { EXPECT_TRUE(base::RemoveTree(locks_)); }

  static std::string MakeFolder() {
    std::string folder = testing::TempDir() + "sched-gpu-XXXXXX";
    EXPECT_NE(::mkdtemp(folder.data()), nullptr);
    return folder;
  }
  void SetGpus(int count) { gpus_.SetInventory(Inventory(count)); }
  static gpu::Inventory Inventory(int count) {
    gpu::Inventory inventory;
    for (int i = 0; i < count; ++i) {
      inventory.devices.push_back(
          {i, "GPU-" + std::to_string(i), "NVIDIA Test", 1, 0, {}, false, {}});
    }
    return inventory;
  }
  void Start(scheduler::GpuPolicy policy = scheduler::GpuPolicy::kAuto) {
    SchedulingOptions options;
    options.node_name = "here";
    options.gpu_policy = policy;
    options.locked_gpu_interval = std::chrono::milliseconds(20);
    scheduling_ =
        std::make_unique<Scheduling>(client_, gpus_, base::SystemClock(), std::move(options));
  }

  // Creates the job, then its pods, as the controller does.
  void Submit(const std::string& name, int workers, int gpus) {
    const auto replicas = [](int count) {
      return Object{
          {"replicas", count},
          {"template",
           {{"spec", {{"containers", Array{Object{{"name", "pytorch"}, {"image", "i"}}}}}}}}};
    };
    Object specs{{"Master", replicas(1)}};
    if (workers > 0) specs["Worker"] = replicas(workers);
    cluster_.Put(api::kPyTorchJobs, Object{{"metadata",
                                            {{"name", name},
                                             {"namespace", "default"},
                                             {"uid", "uid-job-" + name},
                                             {"creationTimestamp", NextTime()}}},
                                           {"spec", {{"pytorchReplicaSpecs", std::move(specs)}}}});
    PutReplica(name, "master", 0, gpus);
    for (int i = 0; i < workers; ++i) PutReplica(name, "worker", i, gpus);
  }
  void PutReplica(const std::string& job, const std::string& type, int index, int gpus) {
    PodBuilder pod(job + "-" + type + "-" + std::to_string(index));
    pod.OfJob(job)
        .Label("training.kubeflow.org/replica-type", type)
        .Label("training.kubeflow.org/replica-index", std::to_string(index))
        .Set({"spec", "nodeName"}, "");
    if (gpus > 0) {
      pod.With({"resources", "limits"}, Object{{"nvidia.com/gpu", std::to_string(gpus)}});
    }
    cluster_.Put(api::kPods, pod);
  }
  text::Json NextTime() {
    time_ += std::chrono::seconds(1);
    return text::Json(base::FormatRfc3339(time_));
  }
  void Finish(const std::string& pod) {
    text::Json object = *cluster_.Find(api::kPods, "default", pod);
    text::Set(object, {"status", "phase"}, "Succeeded");
    gpus_.Release(std::string(api::Uid(object)));
    cluster_.Put(api::kPods, object);
  }

  bool WaitPod(const std::string& name, const std::function<bool(const text::Json&)>& is_wanted) {
    return cluster_.WaitFor(api::kPods, "default", name,
                            [&](const Maybe& pod) { return pod && is_wanted(*pod); });
  }
  // The GPUs with which it was bound; "(unbound)" after ten seconds.
  std::string WaitBound(const std::string& name) {
    if (!WaitPod(name, [](const text::Json& pod) { return api::NodeName(pod) == "here"; })) {
      return "(unbound)";
    }
    return std::string(
        api::Annotation(*cluster_.Find(api::kPods, "default", name), "muster.dev/gpus"));
  }
  std::string WaitMessage(const std::string& name) {
    std::string message;
    WaitPod(name, [&](const text::Json& pod) {
      const text::Json* condition = api::FindCondition(pod, "PodScheduled");
      if (condition != nullptr && GetString(*condition, {"reason"}) == "Unschedulable") {
        message = GetString(*condition, {"message"});
      }
      return !message.empty();
    });
    return message;
  }
  bool WaitEvent(std::string_view reason) {
    return cluster_.WaitForAny(api::kEvents, [&](const text::Json& event) {
      return GetString(event, {"reason"}) == reason;
    });
  }

  const std::string locks_;
  base::Time time_{std::chrono::seconds(1'800'000'000)};
  node::FakeCluster cluster_;
  cluster::Client client_;
  node::GpuAllocator gpus_;
  std::unique_ptr<Scheduling> scheduling_;
};

TEST_F(SchedulingTest, BindsAJobOnceAllItsPodsAreThere) {
  SetGpus(0);
  Start();
  Submit("j", 2, 0);
  EXPECT_EQ(WaitBound("j-master-0"), "");
  EXPECT_EQ(WaitBound("j-worker-0"), "");
  EXPECT_EQ(WaitBound("j-worker-1"), "");
}

TEST_F(SchedulingTest, ACordonedNodeWaitsForItsUncordoning) {
  SetGpus(0);
  const auto put = [this](bool is_unschedulable) {
    cluster_.Put(api::kNodes, Object{{"metadata", {{"name", "here"}, {"uid", "n"}}},
                                     {"spec", {{"unschedulable", is_unschedulable}}}});
  };
  put(true);
  Start();
  Submit("j", 0, 0);
  EXPECT_NE(WaitMessage("j-master-0").find("here is cordoned"), std::string::npos);
  put(false);
  EXPECT_EQ(WaitBound("j-master-0"), "");
}

TEST_F(SchedulingTest, GivesGpusAndLocksThem) {
  SetGpus(3);
  Start();
  Submit("j", 1, 1);
  EXPECT_EQ(WaitBound("j-master-0"), "0");
  EXPECT_EQ(WaitBound("j-worker-0"), "1");
  node::GpuAllocator theirs(locks_);
  theirs.SetInventory(Inventory(3));
  const std::string holder = node::DescribeHolder(::geteuid());
  EXPECT_EQ(theirs.HoldersElsewhere(), (std::vector<std::string>{holder, holder, ""}));
}

TEST_F(SchedulingTest, SaysWhyAJobWaitsAndStartsItWhenItCan) {
  SetGpus(1);
  Start();
  Submit("first", 0, 1);
  EXPECT_EQ(WaitBound("first-master-0"), "0");
  Submit("second", 0, 1);
  EXPECT_EQ(WaitMessage("second-master-0"),
            "0/1 nodes are available: 1 Insufficient nvidia.com/gpu: the job asks for 1, 1 of 1 is "
            "in use by default/first; it is first in the queue");
  EXPECT_TRUE(WaitEvent("FailedScheduling"));
  const size_t writes = cluster_.writes();
  Submit("third", 0, 0);
  EXPECT_EQ(WaitBound("third-master-0"), "");
  EXPECT_LE(cluster_.writes(), writes + 2) << "an unchanged message is not written again";
  Finish("first-master-0");
  EXPECT_EQ(WaitBound("second-master-0"), "0");
}

TEST_F(SchedulingTest, AnotherUsersGpuIsInUseUntilItIsFree) {
  node::GpuAllocator theirs(locks_);
  theirs.SetInventory(Inventory(1));
  ASSERT_TRUE(theirs.Lock("their-pod", {0}));
  SetGpus(1);
  Start();
  Submit("j", 0, 1);
  EXPECT_EQ(WaitMessage("j-master-0"),
            "0/1 nodes are available: 1 Insufficient nvidia.com/gpu: the job asks for 1, 1 of 1 is "
            "in use by " +
                node::DescribeHolder(::geteuid()) + "; it is first in the queue");
  theirs.Release("their-pod");
  EXPECT_EQ(WaitBound("j-master-0"), "0");
}

TEST_F(SchedulingTest, WaitsForTheDiscoveryOfGpus) {
  Start();
  Submit("cpu", 0, 0);
  Submit("gpu", 0, 1);
  EXPECT_EQ(WaitBound("cpu-master-0"), "");
  EXPECT_EQ(api::NodeName(*cluster_.Find(api::kPods, "default", "gpu-master-0")), "");
  SetGpus(1);
  scheduling_->GpusAreKnown();
  EXPECT_EQ(WaitBound("gpu-master-0"), "0");
}

TEST_F(SchedulingTest, WithoutAGpuTheWishIsIgnoredAndThatIsSaidOnce) {
  SetGpus(0);
  Start();
  Submit("j", 1, 1);
  EXPECT_EQ(WaitBound("j-master-0"), "");
  EXPECT_EQ(WaitBound("j-worker-0"), "");
  EXPECT_TRUE(WaitEvent("GpusIgnored"));
  size_t said = 0;
  for (const text::Json& event : cluster_.List(api::kEvents)) {
    if (GetString(event, {"reason"}) != "GpusIgnored") continue;
    ++said;
    EXPECT_EQ(GetString(event, {"involvedObject", "kind"}), "PyTorchJob");
    EXPECT_EQ(GetString(event, {"type"}), "Warning");
  }
  EXPECT_EQ(said, 1u);
}

TEST_F(SchedulingTest, CountsWhatRanBeforeItStarted) {
  SetGpus(2);
  Submit("old", 0, 1);
  text::Json pod = *cluster_.Find(api::kPods, "default", "old-master-0");
  text::Set(pod, {"spec", "nodeName"}, "here");
  text::Set(pod, {"metadata", "annotations"}, Object{{"muster.dev/gpus", "0"}});
  cluster_.Put(api::kPods, pod);
  Submit("new", 0, 1);
  Start();
  EXPECT_EQ(WaitBound("new-master-0"), "1");
}

TEST_F(SchedulingTest, BindsWhenTheApiIsBack) {
  SetGpus(1);
  Start();
  Submit("first", 0, 0);
  EXPECT_EQ(WaitBound("first-master-0"), "");
  cluster_.SetAway(true);
  Submit("j", 0, 1);
  EXPECT_TRUE(cluster_.WaitRefused());
  cluster_.SetAway(false);
  EXPECT_EQ(WaitBound("j-master-0"), "0");
}

}  // namespace
}  // namespace local::daemon
