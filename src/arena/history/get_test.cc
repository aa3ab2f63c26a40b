#include <ctime>

#include "arena/testing/verb_test_base.h"

namespace arena {
namespace {

using std::chrono::hours;
using std::chrono::seconds;

// An event of the job pt.
text::Json EventOfPt(const std::string& name, const char* reason, const std::string& message) {
  return text::Object{
      {"metadata",
       text::Object{{"name", name}, {"namespace", "default"}, {"resourceVersion", name}}},
      {"involvedObject", text::Object{{"kind", "PyTorchJob"}, {"name", "pt"}, {"uid", "uid-pt"}}},
      {"type", "Warning"},
      {"reason", reason},
      {"message", message},
      {"lastTimestamp", "2026-07-30T09:59:50Z"}};
}

class GetTest : public VerbTest {
 protected:
  void PutRunning() {
    cluster_->Put(kJobs, MakeJob("pt-dist", "Running", seconds(60), 16));
    cluster_->Put(kPods, MakePod("pt-dist", "worker", 0, "Running", 8));
    cluster_->Put(kPods, MakePod("pt-dist", "master", 0, "Running", 8));
  }
  void PutTensorboard() {
    cluster_->Put(kServices,
                  Json(R"({"metadata": {"name": "pt-dist-tensorboard", "namespace": "default",
      "labels": {"release": "pt-dist", "role": "tensorboard"}},
      "spec": {"ports": [{"port": 6006, "nodePort": 31234}]}})"));
    cluster_->Put(kNodes, Json(R"({"metadata": {"name": "node-1"}, "status": {
      "addresses": [{"type": "InternalIP", "address": "10.0.0.10"}],
      "conditions": [{"type": "Ready", "status": "True"}]}})"));
  }
  // On Kubernetes: worker 0 has ended with that code, and was replaced. Returns its successor.
  text::Json PutSuccessor(int code) {
    is_this_machine_ = false;
    cluster_->Put(kJobs, MakeJob("pt", "Running", seconds(60)));
    cluster_->Put(kPods, MakePod("pt", "master", 0, "Running"));
    text::Json pod = MakePod("pt", "worker", 0, "Pending");
    text::Set(pod, {"spec", "nodeName"}, "n");
    cluster_->Put(kPods, pod);
    text::Json ended = EventOfPt(
        "1", "ExitedWithCode", "Pod: default.pt-worker-0 exited with code " + std::to_string(code));
    text::Set(ended, {"type"}, "Normal");
    cluster_->Put(kEvents, ended);
    return pod;
  }
};

TEST_F(GetTest, WithoutAFormatItPrintsWhatTheDocumentsPrint) {
  PutRunning();
  const Ended ended = Run({"get", "pt-dist"});
  EXPECT_EQ(ended.exit_code, 0);
  EXPECT_EQ(ended.out,
            "STATUS: RUNNING\n"
            "NAMESPACE: default\n"
            "PRIORITY: N/A\n"
            "TRAINING DURATION: 1m\n"
            "\n"
            "NAME     STATUS   TRAINER     AGE  INSTANCE          NODE\n"
            "pt-dist  RUNNING  PYTORCHJOB  1m   pt-dist-master-0  10.0.0.11\n"
            "pt-dist  RUNNING  PYTORCHJOB  1m   pt-dist-worker-0  10.0.0.11\n");
}

TEST_F(GetTest, WhoMayNotReadEventsSeesTheJob) {
  PutRunning();
  cluster_->refuse = [](const net::HttpRequest& request) -> std::optional<FakeCluster::Refusal> {
    if (request.target.find("/events") == std::string::npos) return std::nullopt;
    return {{403, "Forbidden", "events is forbidden"}};
  };
  const Ended ended = Run({"get", "pt-dist", "-e"});
  EXPECT_EQ(ended.exit_code, 0) << ended.log;
  EXPECT_NE(ended.out.find("pt-dist-master-0"), std::string::npos) << ended.out;
  EXPECT_NE(ended.log.find("the events are not known: events is forbidden"), std::string::npos)
      << ended.log;
}

TEST_F(GetTest, TheTimeGrowsWithTheInstancesAndNotWithTheirSquare) {
  const auto time_of = [this](const std::string& job, int workers) {
    cluster_->Put(kJobs, MakeJob(job, "Running", seconds(60)));
    for (int i = 0; i < workers; ++i) cluster_->Put(kPods, MakePod(job, "worker", i, "Running"));
    const std::clock_t begin = std::clock();
    EXPECT_EQ(Run({"get", job}).exit_code, 0);
    return std::clock() - begin;
  };
  const std::clock_t few = time_of("few", 500);
  EXPECT_LT(time_of("many", 4'000), 16 * few);
}

TEST_F(GetTest, AnInstanceThatIsBeingDeletedDoesNotRun) {
  PutRunning();
  text::Json pod = MakePod("pt-dist", "master", 0, "Running");
  text::Set(pod, {"metadata", "deletionTimestamp"}, "2026-07-30T10:00:30Z");
  cluster_->Put(kPods, pod);
  const std::string out = Run({"get", "pt-dist"}, "muster").out;
  EXPECT_TRUE(out.starts_with("STATUS: PENDING\n")) << out;
  EXPECT_NE(out.find("REASON: pt-dist-master-0 is being deleted\n"), std::string::npos) << out;
  EXPECT_NE(out.find("TERMINATING  PYTORCHJOB  1m   pt-dist-master-0"), std::string::npos) << out;
}

// A job whose worker has failed, and whose master was ended with it.
class GetFailedTest : public GetTest {
 protected:
  GetFailedTest() {
    text::Json job = MakeJob("pt", "Failed", seconds(60));
    text::Json& conditions = *text::Find(job, {"status", "conditions"});
    text::Set(conditions.as_array()[0], {"reason"}, "PyTorchJobFailed");
    text::Set(conditions.as_array()[0], {"message"}, "it failed");
    cluster_->Put(kJobs, job);
    text::Json worker = MakePod("pt", "worker", 0, "Failed");
    text::Json& statuses = *text::Find(worker, {"status", "containerStatuses"});
    text::Set(statuses.as_array()[0], {"state", "terminated", "message"},
              "Traceback:\n  File t.py\nValueError: x\n");
    cluster_->Put(kPods, worker);
    text::Json master = MakePod("pt", "master", 0, "Running");
    text::Set(master, {"metadata", "annotations", "muster.dev/end"}, "the job pt has ended");
    cluster_->Put(kPods, master);
  }
};

TEST_F(GetFailedTest, ShowsTheRankThatFailedFirst) {
  EXPECT_EQ(Run({"get", "pt"}, "muster").out,
            "STATUS: FAILED\n"
            "NAMESPACE: default\n"
            "PRIORITY: N/A\n"
            "TRAINING DURATION: 1m\n"
            "REASON: rank 1 (pt-worker-0) exited with code 1: ValueError: x\n"
            "\n"
            "NAME  STATUS       TRAINER     AGE  INSTANCE     NODE\n"
            "pt    FAILED       PYTORCHJOB  1m   pt-worker-0  10.0.0.11\n"
            "pt    TERMINATING  PYTORCHJOB  1m   pt-master-0  10.0.0.11\n"
            "\n"
            "The last lines of pt-worker-0 (`muster logs pt` prints its whole log):\n"
            "  Traceback:\n"
            "    File t.py\n"
            "  ValueError: x\n");
}

TEST_F(GetFailedTest, ShowsTheEndOfWhatWasSaidLast) {
  text::Json worker = MakePod("pt", "worker", 0, "Failed");
  text::Json& statuses = *text::Find(worker, {"status", "containerStatuses"});
  std::string log;
  for (int line = 1; line <= 24; ++line) log += "line " + std::to_string(line) + "\n";
  text::Set(statuses.as_array()[0], {"state", "terminated", "message"}, text::Json(log));
  cluster_->Put(kPods, worker);
  const std::string out = Run({"get", "pt"}, "muster").out;
  EXPECT_NE(out.find("whole log):\n  line 15\n"), std::string::npos) << out;
  EXPECT_TRUE(out.ends_with("  line 24\n")) << out;
}

TEST_F(GetFailedTest, HasFieldsForProgramsButUnderArenasName) {
  const text::Json ours = Json(Run({"get", "pt", "-o", "json"}, "muster").out);
  EXPECT_EQ(text::GetString(ours, {"reason"}),
            "rank 1 (pt-worker-0) exited with code 1: ValueError: x");
  EXPECT_EQ(text::GetString(ours, {"failedInstance"}), "pt-worker-0");
  EXPECT_EQ(text::GetInt(ours, {"rank"}), 1);
  EXPECT_EQ(text::GetInt(ours, {"exitCode"}), 1);
  const std::string arenas = Run({"get", "pt", "-o", "json"}).out;
  for (const char* const key : {"reason", "failedInstance", "rank", "exitCode"}) {
    EXPECT_EQ(arenas.find("\"" + std::string(key) + "\""), std::string::npos) << key;
  }
  EXPECT_EQ(Run({"get", "pt"}).out.find("last lines"), std::string::npos);
}

TEST_F(GetTest, ProgramsHearWhatThisMachineCannotGive) {
  text::Json job = MakeJob("pt", "Running", seconds(60));
  text::Set(job, {"metadata", "annotations", "muster.dev/unmet"}, "no CPU limit: x\nno GPU: y");
  cluster_->Put(kJobs, job);
  const text::Json json = Json(Run({"get", "pt", "-o", "json"}, "muster").out);
  EXPECT_EQ(json.at("warnings"), Json(R"(["no CPU limit: x", "no GPU: y"])"));
  EXPECT_EQ(Run({"get", "pt", "-o", "json"}).out.find("warnings"), std::string::npos)
      << "Arena has no such key";
}

TEST_F(GetTest, TensorboardIsSaidWhenThereIsOne) {
  PutRunning();
  PutTensorboard();
  EXPECT_TRUE(
      Run({"get", "pt-dist"})
          .out.ends_with("\n\nYour tensorboard will be available on:\nhttp://10.0.0.10:31234\n"));
}

TEST_F(GetTest, WideIsTheTextOfArena015) {
  PutRunning();
  PutTensorboard();
  EXPECT_EQ(Run({"get", "pt-dist", "-o", "wide", "-g"}).out,
            "Name:        pt-dist\n"
            "Status:      RUNNING\n"
            "Namespace:   default\n"
            "Priority:    N/A\n"
            "Trainer:     PYTORCHJOB\n"
            "Duration:    1m\n"
            "CreateTime:  2026-07-30 09:59:00\n"
            "EndTime:     \n"
            "\n"
            "Instances:\n"
            "  NAME              STATUS   AGE  IS_CHIEF  GPU(Requested)  NODE\n"
            "  ----              ------   ---  --------  --------------  ----\n"
            "  pt-dist-master-0  Running  1m   true      8               node-1\n"
            "  pt-dist-worker-0  Running  1m   false     8               node-1\n"
            "\n"
            "GPUs:\n"
            "  INSTANCE          NODE(IP)   GPU(Requested)  GPU(IndexId)  GPU(DutyCycle)  GPU "
            "Memory(Used/Total)\n"
            "  --------          --------   --------------  ------------  --------------  "
            "----------------------\n"
            "  pt-dist-master-0  10.0.0.11  8               N/A           N/A             N/A\n"
            "  pt-dist-worker-0  10.0.0.11  8               N/A           N/A             N/A\n"
            "\n"
            "  Allocated/Requested GPUs of Job: 16/16\n"
            "\n"
            "Tensorboard:\n"
            "  Your tensorboard will be available on: \n"
            "  http://10.0.0.10:31234\n");
}

// The instances were made a minute ago.
TEST_F(GetTest, ArenaPrintsTheJobsDurationAsTheAgeOfInstances) {
  text::Json job = MakeJob("pt", "Running", std::chrono::hours(3));
  cluster_->Put(kJobs, job);
  cluster_->Put(kPods, MakePod("pt", "master", 0, "Running"));
  EXPECT_NE(Run({"get", "pt", "-o", "wide"}).out.find("  pt-master-0  Running  3h   true"),
            std::string::npos);
  EXPECT_NE(
      Run({"get", "pt", "-o", "wide"}, "muster").out.find("  pt-master-0  Running  1m   true"),
      std::string::npos);
}

TEST_F(GetTest, EventsOfTheJobAndOfItsPodsAreShownOldestFirst) {
  PutRunning();
  cluster_->Put(kPods, MakePod("pt-dist", "worker", 0, "Running"));
  const auto put = [&](const char* name, const char* kind, const std::string& of,
                       const char* time) {
    cluster_->Put(kEvents,
                  text::Object{{"metadata", text::Object{{"name", name}, {"namespace", "default"}}},
                               {"involvedObject",
                                text::Object{{"kind", kind}, {"name", of}, {"uid", "uid-" + of}}},
                               {"type", "Warning"},
                               {"reason", "FailedScheduling"},
                               {"message", "0/3 nodes"},
                               {"lastTimestamp", time}});
  };
  put("a", "Pod", "pt-dist-master-0", "2026-07-30T09:59:55Z");
  put("b", "PyTorchJob", "pt-dist", "2026-07-30T09:59:50Z");
  put("c", "Pod", "another-pod", "2026-07-30T09:59:50Z");
  put("d", "Pod", "pt-dist-worker-0", "2026-07-30T09:59:56Z");
  put("e", "Pod", "pt-dist-master-0", "2026-07-30T09:59:57Z");
  const std::string muster = Run({"get", "pt-dist", "-e", "-o=wide"}, "muster").out;
  EXPECT_TRUE(
      muster.ends_with("\nEvents:\n"
                       "  SOURCE                TYPE     AGE  MESSAGE\n"
                       "  ------                ----     ---  -------\n"
                       "  pytorchjob/pt-dist    Warning  10s  [FailedScheduling] 0/3 nodes\n"
                       "  pod/pt-dist-master-0  Warning  5s   [FailedScheduling] 0/3 nodes\n"
                       "  pod/pt-dist-worker-0  Warning  4s   [FailedScheduling] 0/3 nodes\n"
                       "  pod/pt-dist-master-0  Warning  3s   [FailedScheduling] 0/3 nodes\n"))
      << muster;
  // A blank line ends Arena's columns.
  const std::string arena = Run({"get", "pt-dist", "-e", "-o=wide"}).out;
  EXPECT_TRUE(
      arena.ends_with("\nEvents:\n"
                      "  SOURCE              TYPE     AGE  MESSAGE\n"
                      "  ------              ----     ---  -------\n"
                      "  pytorchjob/pt-dist  Warning  10s  [FailedScheduling] 0/3 nodes\n"
                      "\n"
                      "  pod/pt-dist-master-0  Warning  5s  [FailedScheduling] 0/3 nodes\n"
                      "  pod/pt-dist-master-0  Warning  3s  [FailedScheduling] 0/3 nodes\n"
                      "\n"
                      "  pod/pt-dist-worker-0  Warning  4s  [FailedScheduling] 0/3 nodes\n"
                      "\n"))
      << arena;
}

TEST_F(GetTest, APendingOrFailedJobSaysWhy) {
  text::Json job = MakeJob("pt", "Failed", seconds(60));
  text::Json& condition = job.as_object()["status"].as_object()["conditions"].as_array()[0];
  condition.as_object()["reason"] = "PyTorchJobFailed";
  condition.as_object()["message"] = "PyTorchJob pt is failed because 1 Master replica(s) failed.";
  cluster_->Put(kJobs, job);
  cluster_->Put(kPods, MakePod("pt", "master", 0, "Failed"));
  const std::string out = Run({"get", "pt"}, "muster").out;
  EXPECT_TRUE(out.starts_with("STATUS: FAILED\n"));
  EXPECT_NE(out.find("\nREASON: "), std::string::npos) << out;
}

TEST_F(GetTest, APodOfAnotherOwnerIsNoInstanceButTheReason) {
  const char* const others[] = {"[]", R"([{"uid": "x", "kind": "Deployment"}])"};
  for (const char* const owners : others) {
    for (const char* const condition : {"Created", "Running"}) {
      cluster_->Put(kJobs, MakeJob("pt", condition, seconds(60)));
      cluster_->Put(kPods, MakePod("pt", "master", 0, "Running"));
      text::Json foreign = MakePod("pt", "worker", 0, "Running");
      text::Set(foreign, {"metadata", "ownerReferences"}, Json(owners));
      cluster_->Put(kPods, foreign);
      // Of a pod that exists by now.
      cluster_->Put(kEvents, EventOfPt("2", "FailedCreatePod",
                                       "Error creating: pods \"pt-master-0\" already exists"));
      EXPECT_EQ(Run({"get", "pt"}, "muster").out.find("REASON"), std::string::npos);
      cluster_->Put(kEvents, EventOfPt("1", "FailedCreatePod",
                                       "Error creating: pods \"pt-worker-0\" already exists"));
      const std::string out = Run({"get", "pt"}, "muster").out;
      EXPECT_NE(out.find("REASON: pod pt-worker-0 is needed, but a pod that is not this job's has "
                         "that name\n"),
                std::string::npos)
          << out;
      EXPECT_EQ(out.find("  pt-worker-0  "), std::string::npos) << out;
      cluster_->Remove(kEvents, "1");
    }
  }
}

TEST_F(GetTest, AServiceIsInTheWayOnlyWhileItIsThereAndAnothers) {
  cluster_->Put(kJobs, MakeJob("pt", "Created", seconds(60)));
  cluster_->Put(kPods, MakePod("pt", "master", 0, "Running"));
  cluster_->Put(kPods, MakePod("pt", "worker", 0, "Running"));
  cluster_->Put(kEvents, EventOfPt("1", "FailedCreateService",
                                   "Error creating: services \"pt-master-0\" already exists"));
  EXPECT_EQ(Run({"get", "pt"}, "muster").out.find("REASON"), std::string::npos);
  text::Json service =
      text::Object{{"metadata", text::Object{{"name", "pt-master-0"}, {"namespace", "default"}}}};
  cluster_->Put(kServices, service);
  EXPECT_NE(Run({"get", "pt"}, "muster").out.find("REASON: service pt-master-0 is needed, but"),
            std::string::npos);
  text::Set(service, {"metadata", "ownerReferences"},
            Json(R"([{"uid": "uid-pt", "controller": true}])"));
  cluster_->Put(kServices, service);
  EXPECT_EQ(Run({"get", "pt"}, "muster").out.find("REASON"), std::string::npos);
}

TEST_F(GetTest, WhatASuccessorWaitsForCountsMoreThanTheEndBeforeIt) {
  text::Json pod = PutSuccessor(3);
  const auto reason = [this] {
    const std::string out = Run({"get", "pt"}, "muster").out;
    const size_t begin = out.find("REASON: ");
    return begin == std::string::npos ? out : out.substr(begin, out.find('\n', begin) - begin);
  };
  EXPECT_EQ(reason(), "REASON: rank 1 (pt-worker-0) exited with code 3, and was replaced");
  text::Json late = EventOfPt("2", "FailedMount", "no volume");
  text::Set(late, {"involvedObject"},
            text::Object{{"kind", "Pod"}, {"name", "pt-worker-0"}, {"uid", "uid-pt-worker-0"}});
  cluster_->Put(kEvents, late);
  EXPECT_EQ(reason(), "REASON: pt-worker-0: FailedMount: no volume");
  cluster_->Remove(kEvents, "2");
  text::Set(pod, {"status", "initContainerStatuses"},
            Json(R"([{"name": "init-pytorch", "state": {"running": {}}}])"));
  cluster_->Put(kPods, pod);
  EXPECT_EQ(reason(), "REASON: pt-worker-0: its init container init-pytorch has not ended");
}

TEST_F(GetTest, AReplacedPodWasKilledForItsMemory) {
  PutSuccessor(137);
  const auto says = [this](const char* words) {
    return Run({"get", "pt"}, "muster").out.find(words) != std::string::npos;
  };
  EXPECT_TRUE(says("rank 1 (pt-worker-0) was killed by SIGKILL (exit code 137), and was replaced"));
  cluster_->Put(kEvents, EventOfPt("2", "OOMKilled",
                                   "Error pod pt-worker-0 container pytorch exitCode: 137 "
                                   "terminated message: "));
  EXPECT_TRUE(
      says("rank 1 (pt-worker-0) was killed by SIGKILL (OOMKilled: out of memory), and was "
           "replaced"));
}

// Neither the message of Failed nor a pod tells it.
TEST_F(GetTest, AFailedJobWhosePodsAreGoneNamesRankAndExitCode) {
  text::Json job = MakeJob("pt", "Failed", seconds(60));
  text::Json& condition = job.as_object()["status"].as_object()["conditions"].as_array()[0];
  condition.as_object()["reason"] = "PyTorchJobFailed";
  condition.as_object()["message"] = "PyTorchJob pt is failed because 1 Worker replica(s) failed.";
  cluster_->Put(kJobs, job);
  cluster_->Put(kEvents,
                EventOfPt("1", "ExitedWithCode", "Pod: default.pt-worker-0 exited with code 137"));
  cluster_->Put(kEvents,
                EventOfPt("2", "ExitedWithCode", "Pod: default.pt-worker-0 exited with code 3"));
  cluster_->Put(kEvents,
                EventOfPt("3", "ExitedWithCode", "Pod: default.pt-master-0 exited with code 0"));
  EXPECT_NE(
      Run({"get", "pt"}, "muster").out.find("\nREASON: rank 1 (pt-worker-0) exited with code 3\n"),
      std::string::npos);
  const text::Json json = Json(Run({"get", "pt", "-o", "json"}, "muster").out);
  EXPECT_EQ(text::GetInt(json, {"exitCode"}), 3);
  EXPECT_EQ(text::GetInt(json, {"rank"}), 1);
  condition.as_object()["message"] =
      "Job pt has failed because it was active longer than specified deadline";
  cluster_->Put(kJobs, job);
  EXPECT_NE(Run({"get", "pt"}, "muster").out.find("specified deadline\n"), std::string::npos);
}

TEST_F(GetTest, JsonHasTheStatusAtTheTop) {
  PutRunning();
  const text::Json json = Json(Run({"get", "pt-dist", "-o", "json"}).out);
  EXPECT_EQ(text::GetString(json, {"status"}), "RUNNING");
  EXPECT_EQ(text::GetString(json, {"chiefName"}), "pt-dist-master-0");
  cluster_->Put(kJobs, MakeJob("bare", "Created", seconds(1)));
  EXPECT_NE(Run({"get", "bare", "-o", "json"}).out.find("\n    \"instances\": [],\n"),
            std::string::npos);
}

TEST_F(GetTest, AJobThatIsNotThereIsSaidInArenasWords) {
  const Ended ended = Run({"get", "pt"});
  EXPECT_EQ(ended.exit_code, 1);
  EXPECT_EQ(ended.out, "");
  EXPECT_NE(
      ended.log.find(
          "Not found training job pt in namespace default,please use 'arena submit' to create it."),
      std::string::npos);
  EXPECT_NE(Run({"get", "pt"}, "muster").log.find("please use 'muster submit' to create it."),
            std::string::npos);
}

TEST_F(GetTest, WithoutAJobItSaysWhatIsMissing) {
  const Ended ended = Run({"get"}, "muster");
  EXPECT_EQ(ended.exit_code, 2);
  EXPECT_EQ(ended.out, "");
  EXPECT_NE(ended.log.find("JOB is missing: muster get JOB [flags]"), std::string::npos);
}

TEST_F(GetTest, UnderArenasNameItPrintsTheHelpWithoutAJob) {
  const Ended ended = Run({"get"});
  EXPECT_EQ(ended.exit_code, 2);
  EXPECT_NE(ended.out.find("Usage:\n  arena get JOB [flags]\n"), std::string::npos);
  EXPECT_NE(ended.log.find("not set job name,please set it"), std::string::npos);
}

}  // namespace
}  // namespace arena
