#include <pwd.h>
#include <unistd.h>

#include "arena/install/build_info.h"
#include "arena/listing/repeat_display.h"
#include "arena/testing/verb_test_base.h"

namespace arena {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

class TopTest : public VerbTest {
 protected:
  void PutNode(const std::string& name, const std::string& address, const std::string& role,
               int gpus, bool is_schedulable = true) {
    text::Object labels;
    if (!role.empty()) labels["node-role.kubernetes.io/" + role] = "";
    text::Object resources{{"cpu", "8"}};
    if (gpus > 0) resources["nvidia.com/gpu"] = std::to_string(gpus);
    text::Object spec;
    if (!is_schedulable) spec["unschedulable"] = true;
    cluster_->Put(
        kNodes,
        text::Object{
            {"metadata", text::Object{{"name", name}, {"labels", labels}}},
            {"spec", spec},
            {"status", text::Object{{"capacity", resources},
                                    {"allocatable", resources},
                                    {"addresses", text::Array{text::Object{{"type", "InternalIP"},
                                                                           {"address", address}}}},
                                    {"conditions", text::Array{text::Object{
                                                       {"type", "Ready"}, {"status", "True"}}}}}}});
  }
  void PutPodOn(const std::string& job, int index, const std::string& node, int64_t gpus,
                const std::string& phase = "Running") {
    text::Json pod = MakePod(job, "worker", index, phase, gpus);
    text::Set(pod, {"spec", "nodeName"}, text::Json(node));
    cluster_->Put(kPods, pod);
  }
};

TEST_F(TopTest, NodesOfTheDocument) {
  for (const char* last : {"205", "206", "207"}) {
    PutNode(std::string("cn-huhehaote.172.16.0.") + last, std::string("172.16.0.") + last, "master",
            0);
  }
  for (const char* last : {"208", "209", "210"}) {
    PutNode(std::string("cn-huhehaote.172.16.0.") + last, std::string("172.16.0.") + last, "", 4);
  }
  EXPECT_EQ(
      Run({"top", "node"}).out,
      "NAME                       IPADDRESS     ROLE    STATUS  GPU(Total)  GPU(Allocated)\n"
      "cn-huhehaote.172.16.0.205  172.16.0.205  master  ready   0           0\n"
      "cn-huhehaote.172.16.0.206  172.16.0.206  master  ready   0           0\n"
      "cn-huhehaote.172.16.0.207  172.16.0.207  master  ready   0           0\n"
      "cn-huhehaote.172.16.0.208  172.16.0.208  <none>  ready   4           0\n"
      "cn-huhehaote.172.16.0.209  172.16.0.209  <none>  ready   4           0\n"
      "cn-huhehaote.172.16.0.210  172.16.0.210  <none>  ready   4           0\n"
      "-----------------------------------------------------------------------------------------\n"
      "Allocated/Total GPUs In Cluster:\n"
      "0/12 (0%)\n");
  PutPodOn("a", 0, "cn-huhehaote.172.16.0.208", 4);
  PutPodOn("a", 1, "cn-huhehaote.172.16.0.209", 1);
  PutPodOn("a", 2, "cn-huhehaote.172.16.0.209", 2, "Succeeded");
  EXPECT_TRUE(Run({"top", "node"}).out.ends_with("Allocated/Total GPUs In Cluster:\n5/12 (41%)\n"));
}

TEST_F(TopTest, NodesOfArena015) {
  PutNode("cpu-1", "10.0.0.10", "control-plane", 0);
  PutNode("gpu-1", "10.0.0.11", "", 8);
  PutNode("gpu-2", "10.0.0.12", "", 8, false);
  PutPodOn("a", 0, "gpu-1", 8);
  PutPodOn("a", 1, "gpu-2", 8);
  EXPECT_EQ(
      Run({"top", "node", "-o", "wide"}).out,
      "NAME   IPADDRESS  ROLE           STATUS                    GPU(Total)  GPU(Allocated)\n"
      "cpu-1  10.0.0.10  control-plane  Ready                     0           0\n"
      "gpu-1  10.0.0.11  <none>         Ready                     8           8\n"
      "gpu-2  10.0.0.12  <none>         Ready,SchedulingDisabled  8           8\n" +
          std::string(99, '-') +
          "\nAllocated/Total GPUs In Cluster:\n"
          "16/16 (100.0%)\n");
  EXPECT_EQ(Run({"top", "node", "gpu-1", "-o", "wide"}).out,
            "NAME   IPADDRESS  ROLE    STATUS  GPU(Total)  GPU(Allocated)\n"
            "gpu-1  10.0.0.11  <none>  Ready   8           8\n" +
                std::string(99, '-') +
                "\nAllocated/Total GPUs of nodes which own resource nvidia.com/gpu In Cluster:\n"
                "8/8 (100.0%)\n");
  EXPECT_EQ(Run({"top", "node", "-m=none", "-o", "wide"}).out,
            "NAME   IPADDRESS  ROLE           STATUS  GPU(Total)  GPU(Allocated)\n"
            "cpu-1  10.0.0.10  control-plane  Ready   0           0\n");
}

TEST_F(TopTest, NodeDetails) {
  PutNode("gpu-1", "10.0.0.11", "", 8);
  PutPodOn("a", 0, "gpu-1", 2);
  const std::string out = Run({"top", "node", "-d"}).out;
  EXPECT_TRUE(
      out.starts_with("\nName:    gpu-1\nStatus:  Ready\nRole:    <none>\nType:    "
                      "GPUExclusive\nAddress: 10.0.0.11\nDescription:\n"))
      << out;
  EXPECT_TRUE(
      out.ends_with("Instances:\n"
                    "  NAMESPACE  NAME        STATUS   GPU(Requested)\n"
                    "  ---------  ----        ------   --------------\n"
                    "  default    a-worker-0  Running  2\n"
                    "GPU Summary:\n"
                    "  Total GPUs:     8\n"
                    "  Allocated GPUs: 2\n"
                    "  Unhealthy GPUs: 0\n\n"))
      << out;
}

TEST_F(TopTest, NodesAsJsonHaveTheFourKinds) {
  PutNode("cpu-1", "10.0.0.10", "", 0);
  PutNode("gpu-1", "10.0.0.11", "", 8);
  const text::Json json = Json(Run({"top", "node", "-d", "-o", "json"}).out);
  std::vector<std::string> keys;
  for (const auto& [key, value] : json.as_object()) keys.emplace_back(key);
  EXPECT_EQ(keys, (std::vector<std::string>{"gpuExclusiveNodes", "gpuShareNodes",
                                            "gpuTopologyNodes", "normalNodes"}));
  EXPECT_EQ(text::FindArray(json, {"gpuExclusiveNodes"})->size(), 1u);
}

TEST_F(TopTest, NodesThatAreNotThere) {
  const Ended ended = Run({"top", "node", "x"});
  EXPECT_EQ(ended.exit_code, 1);
  EXPECT_NE(ended.log.find("failed to display nodes's informations: not found nodes"),
            std::string::npos);
  EXPECT_EQ(Run({"top", "node", "-m", "x"}).exit_code, 2);
}

TEST_F(TopTest, JobsOfTheDocument) {
  const auto put = [&](const char* name, const char* condition, seconds age, int64_t gpus) {
    cluster_->Put(kJobs, MakeJob(name, condition, age, gpus));
    const bool runs = std::string_view(condition) == "Running";
    for (int i = 0; i < gpus; ++i) {
      cluster_->Put(kPods, MakePod(name, i == 0 ? "master" : "worker", i == 0 ? 0 : i - 1,
                                   runs ? "Running" : "Succeeded", 1));
    }
  };
  put("pytorch-git", "Succeeded", minutes(46), 1);
  put("pytorch-dist", "Running", seconds(29), 3);
  put("torch-old", "Succeeded", hours(14), 2);
  EXPECT_EQ(Run({"top", "job"}).out,
            "NAME          GPU(Requests)  GPU(Allocated)  STATUS     TRAINER     AGE  NODE\n"
            "pytorch-dist  3              3               RUNNING    pytorchjob  29s  10.0.0.11\n"
            "torch-old     2              0               SUCCEEDED  pytorchjob  14h  N/A\n"
            "pytorch-git   1              0               SUCCEEDED  pytorchjob  46m  N/A\n"
            "\n\n"
            "Total Allocated GPUs of Training Job:\n"
            "3\n"
            "\n"
            "Total Requested GPUs of Training Job:\n"
            "6\n");
  const std::string wide = Run({"top", "job", "-o", "wide"}).out;
  EXPECT_TRUE(wide.starts_with(
      "NAME          STATUS     TRAINER     AGE  GPU(Requested)  GPU(Allocated)  NODE\n"))
      << wide;
  EXPECT_TRUE(wide.ends_with("\n\nTotal Allocated/Requested GPUs of Training Jobs: 3/3\n")) << wide;
}

TEST_F(TopTest, OneJob) {
  cluster_->Put(kJobs, MakeJob("pt", "Running", seconds(60), 1));
  cluster_->Put(kPods, MakePod("pt", "master", 0, "Running", 1));
  EXPECT_TRUE(Run({"top", "job", "pt"})
                  .out.ends_with("\n\nInstances:\n"
                                 "  NAME         STATUS   GPU(Request)  NODE       "
                                 "GPU(DeviceIndex)  GPU(DutyCycle)  GPU_MEMORY(Used/Total)\n"
                                 "  ----         ------   ------------  ----       "
                                 "----------------  --------------  ---------------\n"
                                 "  pt-master-0  Running  1             10.0.0.11  N/A             "
                                 "  N/A             N/A\n"
                                 "\nGPUs:\n"
                                 "  Allocated/Requested GPUs of Job: 1/1\n"));
}

// Takes so many writes, and then no more.
class FullOutput : public cli::Output {
 public:
  explicit FullOutput(int room) : room_(room) {}
  base::Status Write(std::string_view text) override {
    if (room_-- == 0) return base::Fail(base::Code::kExhausted, "full");
    text_ += text;
    return {};
  }
  const std::string& text() const { return text_; }

 private:
  int room_;
  std::string text_;
};

TEST_F(TopTest, RefreshSeparatesByTheTimeAndGoesOnAfterAnError) {
  SharedClock& clock = clock_;
  Context context{.environment = base::Environment(environment_),
                  .clock = clock,
                  .program = "arena",
                  .flags = {},
                  .connect = {},
                  .cluster_is_this_machine = true,
                  .cluster_namespace = "",
                  .find_user_name = {},
                  .pause = [&clock](base::Duration time) { clock.Advance(time); }};
  FullOutput out(4);
  int calls = 0;
  testing::internal::CaptureStderr();
  const base::Status status =
      ShowRepeatedly(context, out, true, "--", "---", [&]() -> base::Status {
        if (++calls == 2) return base::Fail(base::Code::kUnavailable, "gone for a while");
        return out.Write("row\n");
      });
  EXPECT_NE(testing::internal::GetCapturedStderr().find("gone for a while"), std::string::npos);
  EXPECT_FALSE(status);
  EXPECT_EQ(out.text(), "row\n-- 2026-07-30 10:00:00 ---\n-- 2026-07-30 10:00:02 ---\nrow\n");
}

TEST_F(TopTest, RefreshNeedsAJob) {
  const Ended ended = Run({"top", "job", "-r"});
  EXPECT_NE(ended.exit_code, 0);
  EXPECT_NE(ended.log.find("you must specify the job name when using `-r` flag"),
            std::string::npos);
  EXPECT_EQ(Run({"top", "node", "-r"}).exit_code, 2);
}

class DataTest : public VerbTest {};

TEST_F(DataTest, ListIsTheTableOfTheDocument) {
  cluster_->Put(kClaims, Json(R"({"metadata": {"name": "training-data", "namespace": "default",
    "creationTimestamp": "2026-07-30T09:25:00Z"}, "spec": {"accessModes": ["ReadWriteMany"]},
    "status": {"phase": "Bound"}})"));
  cluster_->Put(
      kClaims,
      Json(
          R"({"metadata": {"name": "waiting", "namespace": "default"}, "status": {"phase": "Pending"}})"));
  EXPECT_EQ(Run({"data", "list"}).out,
            "NAME           ACCESSMODE     DESCRIPTION  OWNER  AGE\n"
            "training-data  ReadWriteMany                      35m\n");
  EXPECT_TRUE(Run({"data", "list", "--allNamespaces"})
                  .out.starts_with("NAME           NAMESPACE  ACCESSMODE"));
}

TEST_F(DataTest, CreateMakesAClaimThatStandsForADirectory) {
  const Ended ended = Run(
      {"data", "create", "training-data", "--path", testing::TempDir(), "--description=digits"});
  EXPECT_EQ(ended.exit_code, 0) << ended.log;
  EXPECT_EQ(ended.out, "persistentvolumeclaim/training-data created\n");
  const text::Json claim = *cluster_->Find(kClaims, "training-data");
  EXPECT_EQ(text::GetString(claim, {"metadata", "annotations", "muster.dev/path"}),
            testing::TempDir());
  EXPECT_EQ(Run({"data", "create", "training-data", "--path", "/"}).exit_code, 1);
  EXPECT_EQ(Run({"data", "delete", "training-data", "other"}).out,
            "persistentvolumeclaim/training-data deleted\n");
  EXPECT_EQ(cluster_->ObjectCount(), 0u);
}

TEST_F(DataTest, CreateNeedsADirectoryOfThisMachine) {
  EXPECT_EQ(Run({"data", "create", "x"}).exit_code, 2);
  EXPECT_EQ(Run({"data", "create", "x", "--path", "rel"}).exit_code, 2);
  EXPECT_EQ(Run({"data", "create", "x", "--path", "/no/such"}).exit_code, 2);
  EXPECT_EQ(Run({"data", "create", "x", "--path", "/etc/passwd"}).exit_code, 2);
  EXPECT_EQ(connects_, 0);
  is_this_machine_ = false;
  EXPECT_EQ(Run({"data", "create", "x", "--path", "/"}).exit_code, 1);
}

TEST_F(DataTest, DeleteLeavesVolumesOfOthersAlone) {
  cluster_->Put(kClaims, Json(R"({"metadata": {"name": "nas", "namespace": "default"}})"));
  EXPECT_EQ(Run({"data", "delete", "nas"}).exit_code, 1);
  EXPECT_TRUE(cluster_->Find(kClaims, "nas"));
}

TEST_F(DataTest, OneThatIsForReadersSaysSo) {
  EXPECT_EQ(Run({"data", "create", "d", "--path=/", "--read-only"}).exit_code, 0);
  EXPECT_EQ(text::ToJson(*text::Find(*cluster_->Find(kClaims, "d"), {"spec", "accessModes"})),
            R"(["ReadOnlyMany"])");
}

TEST_F(DataTest, DeleteRefusesWhileSomethingUsesIt) {
  const text::Json volumes = Json(R"([{"name": "d",
                                       "persistentVolumeClaim": {"claimName": "d"}}])");
  ASSERT_EQ(Run({"data", "create", "d", "--path", "/"}).exit_code, 0);
  text::Json job = MakeJob("mnist", "Running", seconds(1));
  text::Set(job, {"spec", "pytorchReplicaSpecs", "Worker", "template", "spec", "volumes"}, volumes);
  cluster_->Put(kJobs, job);
  const Ended used = Run({"data", "delete", "d"});
  EXPECT_EQ(used.exit_code, 1);
  EXPECT_NE(used.log.find("the data d is in use by job mnist: delete that first"),
            std::string::npos)
      << used.log;
  text::Set(job, {"status", "conditions"}, Json(R"([{"type": "Succeeded", "status": "True"}])"));
  cluster_->Put(kJobs, job);
  text::Json board = Json(R"({"metadata": {"name": "b", "labels": {"release": "old"}},
                              "status": {"phase": "Running"}})");
  text::Set(board, {"spec", "volumes"}, volumes);
  cluster_->Put(kPods, board);
  text::Json other = Json(R"({"metadata": {"name": "other"}})");
  text::Set(other, {"spec", "volumes"}, volumes);
  cluster_->Put(kPods, other);
  EXPECT_NE(Run({"data", "delete", "d"})
                .log.find("the data d is in use by job old, pod other: delete those first"),
            std::string::npos);
  cluster_->Remove(kPods, "b");
  cluster_->Remove(kPods, "other");
  EXPECT_EQ(Run({"data", "delete", "d"}).exit_code, 0);
}

TEST_F(DataTest, AListThatFailsSaysSo) {
  cluster_->refuse = [](const net::HttpRequest&) {
    return FakeCluster::Refusal{500, "InternalError", "broken"};
  };
  const Ended ended = Run({"data", "list"});
  EXPECT_EQ(ended.exit_code, 1);
  EXPECT_NE(ended.log.find("failed to list data volume due to broken"), std::string::npos);
}

class MetaTest : public VerbTest {};

TEST_F(MetaTest, VersionAndWhoami) {
  EXPECT_EQ(Run({"version", "--short"}).out, "arena: v" MUSTER_VERSION "\n");
  EXPECT_TRUE(
      Run({"version"}, "muster").out.starts_with("muster: v" MUSTER_VERSION "\n  BuildDate: "));
  const text::Json version = Json(Run({"version", "-o", "json"}).out);
  EXPECT_EQ(text::GetString(version, {"version"}), "v" MUSTER_VERSION);
  EXPECT_EQ(text::GetString(version, {"gitCommit"}), kBuildInfo.commit);
  EXPECT_EQ(connects_, 0);
  EXPECT_EQ(
      Run({"whoami"}).out,
      "{\"Name\":\"tom\",\"Id\":\"34b7da764b21d298ef307d04d8152dc5\",\"IsAdminUser\":false}\n");
}

// As in a service's environment, or a container's.
TEST_F(MetaTest, TheUserHasANameWithoutAnEnvironment) {
  environment_.erase("USER");
  const passwd* const known = getpwuid(getuid());
  const std::string name = known != nullptr ? known->pw_name : "uid-" + std::to_string(getuid());
  EXPECT_EQ(text::GetString(Json(Run({"whoami"}).out), {"Name"}), name);
}

TEST_F(MetaTest, JobNamesAreCompleted) {
  cluster_->Put(kJobs, MakeJob("mnist", "Running", seconds(1)));
  EXPECT_EQ(Run({"__complete", "get", "m"}).out, "mnist\n:4\n");
  EXPECT_EQ(Run({"__complete", "list", "-o", "j"}).out, "json\n:4\n");
}

}  // namespace
}  // namespace arena
