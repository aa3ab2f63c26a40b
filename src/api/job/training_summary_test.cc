#include "api/job/training_summary.h"

#include <gtest/gtest.h>

#include "api/job/wait_for.h"
#include "api/names.h"
#include "api/object.h"
#include "api/testing/metadata.h"

namespace api {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

constexpr std::string_view kCreated = "2026-07-30T10:00:00Z";

base::Time At(std::string_view time) { return base::ParseRfc3339(time).value(); }
const base::Time kNow = At("2026-07-30T10:02:00Z");

text::Json MakeJob() {
  text::Json job = text::Object();
  text::Set(job, {"metadata"}, MakeMetadata("pt", "default"));
  text::Set(job, {"metadata", "uid"}, "uid-1");
  text::Set(job, {"metadata", "creationTimestamp"}, text::Json(kCreated));
  text::Set(job, {"spec", "pytorchReplicaSpecs", "Master"}, text::Object());
  return job;
}

void AddCondition(text::Json& object, std::string_view type, std::string_view status = "True",
                  std::string_view reason = "", std::string_view message = "") {
  text::Json& conditions = text::Ensure(object, {"status", "conditions"});
  if (!conditions.is_array()) conditions.emplace_array();
  conditions.get_array().push_back(
      {{"type", type}, {"status", status}, {"reason", reason}, {"message", message}});
}

text::Json MakePod(std::string_view type, int index, std::string_view phase = "Running",
                   std::string_view created = kCreated) {
  text::Json pod = text::Object();
  text::Set(pod, {"metadata"},
            MakeMetadata(ReplicaName("pt", type, index), "default",
                         {{std::string(kOperatorNameLabel), std::string(kControllerName)},
                          {std::string(kJobNameLabel), "pt"},
                          {std::string(kReplicaTypeLabel), std::string(type)},
                          {std::string(kReplicaIndexLabel), std::to_string(index)}}));
  text::Set(pod, {"metadata", "creationTimestamp"}, text::Json(created));
  text::Set(pod, {"metadata", "ownerReferences"},
            text::Array{text::Object{{"uid", "uid-1"}, {"controller", true}}});
  text::Set(pod, {"spec", "nodeName"}, "node-1");
  text::Set(pod, {"spec", "containers"},
            {{{"name", "pytorch"}, {"resources", {{"limits", {{"nvidia.com/gpu", "8"}}}}}}});
  text::Set(pod, {"status", "phase"}, text::Json(phase));
  text::Set(pod, {"status", "hostIP"}, "10.0.0.11");
  text::Set(pod, {"status", "startTime"}, text::Json(kCreated));
  return pod;
}

void Terminate(text::Json& pod, int exit_code, std::string_view finished,
               std::string_view message = "", std::string_view reason = "Error",
               std::string_view container = kContainerName,
               std::string_view statuses = "containerStatuses") {
  text::Json& list = text::Ensure(pod, {"status", statuses});
  if (!list.is_array()) list.emplace_array();
  list.get_array().push_back({{"name", container},
                              {"state",
                               {{"terminated",
                                 {{"exitCode", exit_code},
                                  {"reason", reason},
                                  {"message", message},
                                  {"finishedAt", finished}}}}}});
}

std::vector<const text::Json*> Borrow(const std::vector<text::Json>& pods) {
  std::vector<const text::Json*> out;
  for (const text::Json& pod : pods) out.push_back(&pod);
  return out;
}

// A table of jobs shows the same, although it reads little of the pods.
void ExpectOutlineLike(const TrainingSummary& whole, const text::Json& job,
                       const std::vector<text::Json>& pods) {
  std::vector<text::Json> outlined;
  for (const text::Json& pod : pods) {
    outlined.push_back(text::ParsePart(text::ToJson(pod), OutlinedParts()).value());
    EXPECT_EQ(IsPodOfJob(outlined.back(), job), IsPodOfJob(pod, job));
  }
  const TrainingSummary outline = Outline(job, Borrow(outlined), kNow);
  EXPECT_EQ(outline.status, whole.status);
  EXPECT_EQ(outline.start_time, whole.start_time);
  EXPECT_EQ(outline.completion_time, whole.completion_time);
  EXPECT_EQ(outline.duration, whole.duration);
  EXPECT_EQ(outline.chief_host_ip, whole.chief_host_ip);
  EXPECT_EQ(outline.requested_gpus, whole.requested_gpus);
  EXPECT_EQ(outline.allocated_gpus, whole.allocated_gpus);
}

TrainingSummary Of(const text::Json& job, const std::vector<text::Json>& pods = {}) {
  TrainingSummary whole = Summarize(job, Borrow(pods), kNow);
  ExpectOutlineLike(whole, job, pods);
  return whole;
}

// Except for Suspended, which is PENDING only under Arena's name (arena/jobs/jobs.h).
TEST(TrainingSummary, S1_StatusFollowsConditions) {
  using Conditions = std::vector<std::pair<std::string_view, std::string_view>>;
  const std::pair<Conditions, std::string_view> cases[] = {
      {{}, "PENDING"},
      {{{"Created", "True"}}, "PENDING"},
      {{{"Created", "True"}, {"Running", "True"}}, "RUNNING"},
      {{{"Created", "True"}, {"Running", "False"}, {"Succeeded", "True"}}, "SUCCEEDED"},
      {{{"Created", "True"}, {"Running", "False"}, {"Failed", "True"}}, "FAILED"},
      {{{"Created", "True"}, {"Queueing", "True"}}, "PENDING"},
      {{{"Created", "True"}, {"Queueing", "False"}, {"Running", "True"}}, "RUNNING"},
      {{{"Queueing", "False"}, {"Running", "True"}, {"Succeeded", "True"}}, "SUCCEEDED"},
      {{{"Running", "True"}, {"Failed", "True"}}, "FAILED"},
      {{{"Queuing", "True"}}, "QUEUING"},
      {{{"Running", "False"}, {"Suspended", "True"}}, "SUSPENDED"},
      {{{"Restarting", "True"}}, "PENDING"},
  };
  for (const auto& [conditions, status] : cases) {
    text::Json job = MakeJob();
    for (const auto& [type, is] : conditions) AddCondition(job, type, is);
    EXPECT_EQ(Of(job).status, status);
  }
}

TEST(TrainingSummary, OfSeveralConditionsOfATypeATrueOneCounts) {
  text::Json job = MakeJob();
  AddCondition(job, "Running", "False");
  AddCondition(job, "Running");
  EXPECT_EQ(TrueCondition(job, "Running"), &text::FindArray(job, {"status", "conditions"})->at(1));
  EXPECT_EQ(Summarize(job, {}, kNow).status, "RUNNING");
}

TEST(TrainingSummary, RunningWithAPendingPodIsPending) {
  text::Json job = MakeJob();
  AddCondition(job, "Running");
  EXPECT_EQ(Of(job, {MakePod("master", 0), MakePod("worker", 0, "Pending")}).status, "PENDING");
  EXPECT_EQ(Of(job, {MakePod("master", 0), MakePod("worker", 0)}).status, "RUNNING");
}

TEST(TrainingSummary, DurationFollowsTheTimesOfTheStatus) {
  text::Json job = MakeJob();
  EXPECT_EQ(Of(job).duration, seconds(0));
  text::Set(job, {"status", "startTime"}, "2026-07-30T10:01:00Z");
  EXPECT_EQ(Of(job).duration, minutes(1));
  AddCondition(job, "Failed");
  EXPECT_EQ(Of(job).duration, minutes(1));
  std::vector<text::Json> pods = {MakePod("master", 0, "Failed")};
  text::Set(pods[0], {"status", "conditions"},
            {{{"type", "Ready"}, {"lastTransitionTime", "2026-07-30T10:01:30Z"}},
             {{"type", "PodScheduled"}, {"lastTransitionTime", "2026-07-30T10:00:05Z"}}});
  EXPECT_EQ(Of(job, pods).duration, seconds(90));
  text::Set(job, {"status", "completionTime"}, "2026-07-30T12:01:00Z");
  EXPECT_EQ(Of(job, pods).duration, hours(2));
}

TEST(TrainingSummary, CountsGpus) {
  text::Json job = MakeJob();
  std::vector<text::Json> pods = {MakePod("master", 0), MakePod("worker", 0)};
  EXPECT_EQ(Of(job).requested_gpus, 0);
  EXPECT_EQ(Of(job, pods).requested_gpus, 16);
  EXPECT_EQ(Of(job, pods).allocated_gpus, 16);
  EXPECT_EQ(Of(job, pods).instances[0].requested_gpus, 8);
  SetAnnotation(pods[0], kRequestGpusAnnotation, "24");
  text::Set(pods[1], {"status", "phase"}, "Succeeded");
  EXPECT_EQ(Of(job, pods).requested_gpus, 24);
  EXPECT_EQ(Of(job, pods).allocated_gpus, 8);
  SetAnnotation(pods[0], kRequestGpusAnnotation, "0");
  text::Erase(pods[0], {"status", "startTime"});
  EXPECT_EQ(Of(job, pods).requested_gpus, 16);
  EXPECT_EQ(Of(job, pods).allocated_gpus, 0);
}

TEST(TrainingSummary, ChiefIsTheNewestMasterPastPending) {
  const text::Json job = MakeJob();
  std::vector<text::Json> pods = {MakePod("worker", 0)};
  EXPECT_EQ(Of(job, pods).chief_name, "");
  EXPECT_EQ(Of(job, pods).chief_host_ip, "N/A");
  pods.push_back(MakePod("master", 0, "Pending", "2026-07-30T10:01:00Z"));
  EXPECT_EQ(Of(job, pods).chief_name, "pt-master-0");
  EXPECT_EQ(Of(job, pods).chief_host_ip, "N/A");
  pods.push_back(MakePod("master", 0, "Failed", "2026-07-30T09:00:00Z"));
  text::Set(pods.back(), {"metadata", "name"}, "older");
  EXPECT_EQ(Of(job, pods).chief_name, "older");
  EXPECT_EQ(Of(job, pods).chief_host_ip, "10.0.0.11");
}

TEST(TrainingSummary, ListsMasterThenWorkersByIndex) {
  const TrainingSummary summary =
      Of(MakeJob(), {MakePod("worker", 10), MakePod("worker", 2, "Pending"), MakePod("master", 0)});
  ASSERT_EQ(summary.instances.size(), 3U);
  EXPECT_EQ(summary.instances[0].name, "pt-master-0");
  EXPECT_TRUE(summary.instances[0].is_chief);
  EXPECT_EQ(summary.instances[0].node, "node-1");
  EXPECT_EQ(summary.instances[1].name, "pt-worker-2");
  EXPECT_EQ(summary.instances[1].node, "N/A");
  EXPECT_EQ(summary.instances[1].age, minutes(2));
  EXPECT_EQ(summary.instances[2].name, "pt-worker-10");
  EXPECT_FALSE(summary.instances[2].is_chief);
}

TEST(TrainingSummary, InstanceAgeRunsFromFirstStartToLastEnd) {
  text::Json pod = MakePod("master", 0);
  text::Set(
      pod, {"status", "containerStatuses"},
      {{{"name", "pytorch"}, {"state", {{"running", {{"startedAt", "2026-07-30T10:01:00Z"}}}}}}});
  EXPECT_EQ(Of(MakeJob(), {pod}).instances[0].age, minutes(1));
  text::Set(pod, {"status", "phase"}, "Succeeded");
  text::Set(
      pod, {"status", "containerStatuses"},
      {{{"name", "pytorch"},
        {"state",
         {{"terminated",
           {{"startedAt", "2026-07-30T10:01:00Z"}, {"finishedAt", "2026-07-30T10:01:20Z"}}}}}}});
  EXPECT_EQ(Of(MakeJob(), {pod}).instances[0].age, seconds(20));
}

TEST(TrainingSummary, PriorityIsTheMasters) {
  text::Json job = MakeJob();
  EXPECT_EQ(Of(job).priority, "N/A");
  text::Set(job, {"spec", "pytorchReplicaSpecs", "Master", "template", "spec", "priorityClassName"},
            "high");
  EXPECT_EQ(Of(job).priority, "high");
}

TEST(PendingReason, SaysWhyThePodsWait) {
  text::Json job = MakeJob();
  std::vector<text::Json> pods = {MakePod("master", 0, "Pending"),
                                  MakePod("worker", 0, "Pending", "2026-07-30T10:00:01Z")};
  EXPECT_EQ(Of(job, pods).reason, "");
  text::Set(pods[0], {"status", "containerStatuses"},
            {{{"name", "pytorch"},
              {"state",
               {{"waiting",
                 {{"reason", "ImagePullBackOff"}, {"message", "Back-off pulling\n image x"}}}}}}});
  EXPECT_EQ(Of(job, pods).reason, "ImagePullBackOff: Back-off pulling image x");
  AddCondition(pods[1], "PodScheduled", "False", "Unschedulable", "0/1 nodes: 8 GPUs wanted");
  EXPECT_EQ(Of(job, pods).reason, "0/1 nodes: 8 GPUs wanted");
  AddCondition(job, "Suspended", "True", "PyTorchJobSuspended", "PyTorchJob pt is suspended.");
  EXPECT_EQ(Of(job, pods).reason, "PyTorchJob pt is suspended.");
}

TEST(PendingReason, SaysThatTheCodeSyncFails) {
  text::Json pod = MakePod("master", 0, "Pending");
  Terminate(pod, 128, kCreated, "Cloning into 'r'...\nfatal: repository 'x' not found\n", "Error",
            kArenaCodeContainer, "initContainerStatuses");
  EXPECT_EQ(Of(MakeJob(), {pod}).reason,
            "code sync failed in pt-master-0: fatal: repository 'x' not found");
}

TEST(PendingReason, SaysHowAnInitContainerEndedThatIsStartedAgain) {
  text::Json pod = MakePod("master", 0, "Pending");
  text::Set(pod, {"status", "initContainerStatuses"},
            *text::ParseJson(R"([{"name": "first", "state": {"terminated": {"exitCode": 0}}},
                {"name": "fetch", "restartCount": 4,
                "state": {"waiting": {"reason": "CrashLoopBackOff", "message": "back-off 40s"}},
                "lastState": {"terminated": {"exitCode": 2, "message": "no such bucket"}}}])"));
  EXPECT_EQ(Of(MakeJob(), {pod}).reason,
            "init container fetch of pt-master-0 exited with code 2: no such bucket");
}

TEST(PendingReason, SaysTheCodeSyncsTellingLine) {
  const std::pair<const char*, const char*> cases[] = {
      {"ssh: connect to host h port 22: Connection refused\nfatal: Could not read from remote "
       "repository.\n\nPlease make sure you have the correct access rights\nand the repository "
       "exists.\n",
       "ssh: connect to host h port 22: Connection refused"},
      {"fatal: '/x.git' does not appear to be a git repository\nfatal: Could not read from remote "
       "repository.\n",
       "fatal: '/x.git' does not appear to be a git repository"},
      {"@ERROR: auth failed on module m\nrsync error: error starting client-server protocol (code "
       "5) at main.c(1954) [Receiver=3.5.0]\n",
       "@ERROR: auth failed on module m"},
      {"receiving incremental file list\nrsync: [sender] link_stat \"/x\" (in m) failed: No such "
       "file or directory (2)\nrsync error: some files could not be transferred (code 23)\n",
       "rsync: [sender] link_stat \"/x\" (in m) failed: No such file or directory (2)"},
  };
  for (const auto& [log, line] : cases) {
    text::Json pod = MakePod("master", 0, "Pending");
    Terminate(pod, 1, kCreated, log, "Error", kArenaCodeContainer, "initContainerStatuses");
    EXPECT_EQ(Of(MakeJob(), {pod}).reason, std::string("code sync failed in pt-master-0: ") + line);
  }
}

TEST(PendingReason, SaysWhoHoldsTheJob) {
  text::Json job = MakeJob();
  AddCondition(job, "Suspended", "True", "PyTorchJobSuspended", "PyTorchJob pt is suspended.");
  EXPECT_EQ(Of(job).reason, "PyTorchJob pt is suspended.");
  text::Json resumed = job;
  text::Set(resumed, {"spec", "runPolicy", "suspend"}, text::Json(false));
  EXPECT_EQ(Of(resumed).reason, "") << "the condition has not followed yet";
  text::Set(job, {"metadata", "labels", kKueueQueueLabel}, "team-a");
  EXPECT_EQ(Of(job).reason, "waits for Kueue to admit it, in queue team-a");
  text::Json remote = MakeJob();
  text::Set(remote, {"spec", "runPolicy", "managedBy"}, text::Json(kManagedByMultiKueue));
  EXPECT_EQ(Of(remote).reason, "managed by kueue.x-k8s.io/multikueue");
}

TEST(TrainingSummary, AJobWhosePodsAreGoingDoesNotRun) {
  text::Json job = MakeJob();
  AddCondition(job, "Running");
  std::vector<text::Json> pods = {MakePod("master", 0), MakePod("worker", 0)};
  text::Set(pods[1], {"metadata", "deletionTimestamp"}, text::Json(kCreated));
  EXPECT_EQ(Of(job, pods).status, "RUNNING") << "an elastic job that shrinks";
  text::Set(pods[0], {"metadata", "deletionTimestamp"}, text::Json(kCreated));
  EXPECT_EQ(Of(job, pods).status, "PENDING");
  EXPECT_EQ(Of(job, pods).reason, "pt-master-0 is being deleted");
}

TEST(RunningReason, NamesASidecarThatKeepsAPodWhoseProgramHasEnded) {
  text::Json job = MakeJob();
  AddCondition(job, "Running");
  const auto make = [](const std::string& type, const std::string& state) {
    text::Json pod = MakePod(type, 0);
    text::Set(pod, {"spec", "containers"},
              *text::ParseJson(R"([{"name": "proxy"}, {"name": "pytorch"}])"));
    text::Set(pod, {"status", "containerStatuses"},
              *text::ParseJson(R"([{"name": "proxy", "state": {"running": {}}},
                  {"name": "pytorch", "state": )" +
                               state + "}]"));
    return pod;
  };
  const std::string running = R"({"running": {}})";
  const std::string failed = R"({"terminated": {"exitCode": 3}})";
  const std::string done = R"({"terminated": {"exitCode": 0}})";
  const auto reason = [&](const std::string& master, const std::string& worker) {
    const text::Json pods[] = {make("master", master), make("worker", worker)};
    return Summarize(job, {&pods[0], &pods[1]}, kNow).reason;
  };
  EXPECT_EQ(reason(running, running), "");
  EXPECT_EQ(reason(running, done), "");  // the job ends with its master
  EXPECT_EQ(
      reason(running, failed),
      "pt-worker-0 exited with code 3, but its container proxy runs on: the pod does not end");
  EXPECT_EQ(
      reason(done, done),
      "pt-master-0 exited with code 0, but its container proxy runs on: the pod does not end");
  EXPECT_EQ(reason(running, running.substr(0, 1) + R"("waiting": {"reason": "x"}})"), "");
  text::Erase(job, {"spec", "pytorchReplicaSpecs", "Master"});
  const text::Json pod = make("worker", done);
  EXPECT_EQ(
      Summarize(job, {&pod}, kNow).reason,
      "pt-worker-0 exited with code 0, but its container proxy runs on: the pod does not end");
}

TEST(RunningReason, DoesNotTakeASidecarForTheProgram) {
  text::Json job = MakeJob();
  AddCondition(job, "Running");
  text::Json pod = MakePod("master", 0);
  text::Set(pod, {"spec", "containers"},
            *text::ParseJson(R"([{"name": "proxy"}, {"name": "pytorch"}])"));
  text::Set(pod, {"status", "containerStatuses"},
            *text::ParseJson(R"([{"name": "proxy", "restartCount": 4,
                "state": {"waiting": {"reason": "CrashLoopBackOff", "message": "back-off 10s"}},
                "lastState": {"terminated": {"exitCode": 1}}},
                {"name": "pytorch", "state": {"running": {}}}])"));
  EXPECT_EQ(Summarize(job, {&pod}, kNow).reason,
            "the container proxy of pt-master-0 exited with code 1, starts again (restart 5)");
  text::Set(pod, {"status", "containerStatuses"},
            *text::ParseJson(R"([{"name": "proxy", "state": {"waiting": {"reason": "x"}},
                "lastState": {"terminated": {"exitCode": 1}}},
                {"name": "pytorch", "state": {"waiting": {"reason": "x"}},
                "lastState": {"terminated": {"exitCode": 3}}}])"));
  EXPECT_EQ(Summarize(job, {&pod}, kNow).reason,
            "pt-master-0 exited with code 3, starts again (restart 1)");
}

TEST(RunningReason, SaysThatTheContainerHadTooLittleMemory) {
  text::Json job = MakeJob();
  AddCondition(job, "Running");
  text::Json pod = MakePod("master", 0);
  text::Set(pod, {"status", "containerStatuses"},
            *text::ParseJson(R"([{"name": "pytorch", "state": {"waiting": {"reason": "x"}},
                "lastState": {"terminated": {"exitCode": 137, "reason": "OOMKilled"}}}])"));
  EXPECT_EQ(Summarize(job, {&pod}, kNow).reason,
            "pt-master-0 was killed by SIGKILL (OOMKilled: out of memory), starts again "
            "(restart 1)");
}

TEST(Reason, OfAJobThatItsFinalizersHold) {
  text::Json job = MakeJob();
  AddCondition(job, "Running");
  text::Set(job, {"metadata", "finalizers"}, text::Array{"foregroundDeletion", "x.io/a", "x.io/b"});
  EXPECT_EQ(Summarize(job, {}, kNow).reason, "");
  text::Set(job, {"metadata", "deletionTimestamp"}, "2026-07-30T10:00:30Z");
  EXPECT_EQ(Summarize(job, {}, kNow).reason,
            "it is being deleted, and goes when its finalizers are removed: x.io/a, x.io/b");
}

TEST(RunningReason, SaysWhichProgramWaitsToBeStartedAgain) {
  text::Json job = MakeJob();
  AddCondition(job, "Running");
  text::Json pod = MakePod("master", 0);
  text::Set(pod, {"status", "containerStatuses"},
            *text::ParseJson(R"([{"name": "pytorch", "restartCount": 0,
                "state": {"waiting": {"reason": "CrashLoopBackOff", "message": "back-off 10s"}},
                "lastState": {"terminated": {"exitCode": 3}}}])"));
  EXPECT_EQ(Summarize(job, {&pod}, kNow).reason,
            "pt-master-0 exited with code 3, starts again (restart 1)");
  text::Set(job, {"metadata", "annotations", kStallAnnotation},
            "stalled 2026-07-30T10:01:00Z rank 1");
  EXPECT_NE(Summarize(job, {&pod}, kNow).reason.find("rank 1"), std::string::npos)
      << "the stall is the cause";
}

TEST(Instances, SayWhyTheyWaitAndHowTheyEndedBefore) {
  const auto instance_of = [](const char* statuses) {
    text::Json job = MakeJob();
    text::Json pod = MakePod("worker", 0);
    text::Set(pod, {"status"}, *text::ParseJson(statuses));
    return Summarize(job, {&pod}, kNow).instances.at(0);
  };
  const InstanceSummary killed = instance_of(R"({"phase": "Running", "containerStatuses": [
      {"name": "pytorch", "restartCount": 2, "state": {"running": {}},
       "lastState": {"terminated": {"exitCode": 137, "reason": "OOMKilled"}}},
      {"name": "side", "restartCount": 1, "state": {"running": {}},
       "lastState": {"terminated": {"exitCode": 1}}}]})");
  EXPECT_EQ(killed.restarts, 3);
  EXPECT_EQ(killed.last_end, "OOMKilled") << "of the one that was restarted most";
  EXPECT_EQ(killed.waits, "");
  const InstanceSummary failed = instance_of(R"({"phase": "Running", "containerStatuses": [
      {"name": "pytorch", "restartCount": 1,
       "state": {"waiting": {"reason": "CrashLoopBackOff", "message": "back-off 10s"}},
       "lastState": {"terminated": {"exitCode": 3, "reason": "Error"}}}]})");
  EXPECT_EQ(failed.last_end, "exit code 3");
  EXPECT_EQ(failed.waits, "CrashLoopBackOff: back-off 10s");
  EXPECT_EQ(instance_of(R"({"phase": "Pending", "initContainerStatuses": [
      {"name": "init-pytorch", "restartCount": 0, "state": {"running": {}}}]})")
                .waits,
            "its init container init-pytorch has not ended");
  EXPECT_EQ(instance_of(R"({"phase": "Failed", "conditions": [
      {"type": "PodScheduled", "status": "False", "message": "no node"}]})")
                .waits,
            "")
      << "it has ended";
}

TEST(PendingReason, NamesTheAwaitedJobsFromTheStart) {
  text::Json job = MakeJob();
  text::Set(job, {"spec", "runPolicy", "suspend"}, text::Json(true));
  text::Set(job, {"metadata", "annotations", kWaitForAnnotation}, "prepare=1,base=2");
  EXPECT_EQ(Of(job).reason, "waits for prepare, base to succeed");
}

TEST(PendingReason, SaysThatNoOperatorIsThere) {
  text::Json job = MakeJob();
  EXPECT_EQ(Summarize(job, {}, kNow).reason,
            "no operator has taken it: see whether one runs (`muster install` brings muster's)");
  EXPECT_EQ(Summarize(job, {}, At(kCreated) + seconds(2)).reason, "") << "it will be there";
  AddCondition(job, "Created");
  EXPECT_EQ(Summarize(job, {}, kNow).reason, "");
}

TEST(PendingReason, SaysThatNoSchedulerHasLookedAtAPod) {
  text::Json job = MakeJob();
  AddCondition(job, "Created");
  text::Json pod = *text::ParseJson(
      R"({"metadata": {"name": "a-master-0"}, "spec": {"schedulerName": "volcano"},
          "status": {"phase": "Pending"}})");
  text::Set(pod, {"metadata", "creationTimestamp"}, text::Json(kCreated));
  const auto reason_at = [&](base::Time now) { return Summarize(job, {&pod}, now).reason; };
  EXPECT_EQ(reason_at(kNow), "no scheduler has looked at a-master-0: see whether volcano runs");
  EXPECT_EQ(reason_at(At(kCreated) + seconds(2)), "") << "it will";
  text::Set(pod, {"spec", "nodeName"}, "n1");
  EXPECT_EQ(reason_at(kNow), "") << "its kubelet has it";
}

TEST(PendingReason, SaysThatTheJobRestarts) {
  text::Json job = MakeJob();
  AddCondition(job, "Restarting", "True", "PyTorchJobRestarting", "job pt is restarting");
  EXPECT_EQ(Of(job).reason, "job pt is restarting");
}

class FailedReason : public testing::Test {
 protected:
  FailedReason() { AddCondition(job_, "Failed", "True", "PyTorchJobFailed", "2 replicas failed."); }
  std::string Reason() const { return Of(job_, pods_).reason; }

  text::Json job_ = MakeJob();
  std::vector<text::Json> pods_ = {MakePod("master", 0, "Failed"), MakePod("worker", 0, "Failed")};
};

TEST_F(FailedReason, IsTheConditionsWhenThePodsDoNotShowIt) {
  EXPECT_EQ(Reason(), "2 replicas failed.");
  pods_.clear();
  EXPECT_EQ(Reason(), "2 replicas failed.");
}

TEST_F(FailedReason, NamesTheRankThatEndedFirst) {
  Terminate(pods_[0], 1, "2026-07-30T10:01:05Z", "Connection reset by peer");
  Terminate(pods_[1], 3, "2026-07-30T10:01:00Z", "Traceback\n  ...\nValueError: no data\n\n");
  EXPECT_EQ(Reason(), "rank 1 (pt-worker-0) exited with code 3: ValueError: no data");
}

TEST_F(FailedReason, IsNotTheDiskThatTheLogDidNotFitOn) {
  Terminate(pods_[1], 4, kCreated, "last line");
  text::Set(pods_[1], {"status", "message"}, "pytorch: log truncated: the disk is nearly full");
  EXPECT_EQ(Reason(), "rank 1 (pt-worker-0) exited with code 4: last line");
}

TEST_F(FailedReason, SaysTheExitCodeOfALaunchersReportOnce) {
  const std::string head = "x.py: rank 1 of 2 failed first (local rank 1, host h)\n  why       : ";
  Terminate(pods_[1], 3, kCreated, head + "exit code 3, its last line: no data\n");
  EXPECT_EQ(Reason(), "rank 1 (pt-worker-0) exited with code 3: its last line: no data");
  pods_[1] = MakePod("worker", 0, "Failed");
  Terminate(pods_[1], 3, kCreated, head + "exit code 3\n");
  EXPECT_EQ(Reason(), "rank 1 (pt-worker-0) exited with code 3");
}

TEST_F(FailedReason, CountsRanksWithoutAMaster) {
  text::Set(job_, {"spec", "pytorchReplicaSpecs"}, {{"Worker", text::Object()}});
  pods_ = {MakePod("worker", 1, "Failed")};
  Terminate(pods_[0], 2, kCreated);
  EXPECT_EQ(Reason(), "rank 1 (pt-worker-1) exited with code 2");
}

TEST_F(FailedReason, NamesSignals) {
  const std::tuple<int, std::string_view, std::string_view> cases[] = {
      {137, "OOMKilled", "was killed by SIGKILL (OOMKilled: out of memory): m"},
      {137, "Error", "was killed by SIGKILL (exit code 137): m"},
      {139, "Error", "segfaulted (SIGSEGV, exit code 139): m"},
      {134, "Error", "aborted (SIGABRT, exit code 134): m"},
      {135, "Error", "was killed by SIGBUS (a full /dev/shm does that, exit code 135): m"},
      {143, "Error", "was killed by SIGTERM (exit code 143): m"},
      {255, "Error", "exited with code 255: m"},
      {128, "StartError", "exited with code 128: m"},
  };
  for (const auto& [code, reason, text] : cases) {
    pods_[1] = MakePod("worker", 0, "Failed");
    Terminate(pods_[1], code, kCreated, "m", reason);
    EXPECT_EQ(Reason(), "rank 1 (pt-worker-0) " + std::string(text));
  }
}

TEST_F(FailedReason, NamesNoRankOfSeveralThatEndedTogether) {
  pods_[1] = MakePod("worker", 0, "Failed");
  Terminate(pods_[1], 137, kCreated, "rank 3 loss 0.5", "OOMKilled");
  text::Set(
      pods_[1], {"spec", "containers"},
      text::Array{text::Object{
          {"name", "pytorch"},
          {"env", text::Array{text::Object{{"name", "PET_NPROC_PER_NODE"}, {"value", "4"}}}}}});
  const std::string reason = Reason();
  EXPECT_EQ(reason,
            "pod pt-worker-0 was killed by SIGKILL (OOMKilled: out of memory): rank 3 loss 0.5");
  const FailedReplica read = ReadFailure(reason);
  EXPECT_EQ(read.instance, "pt-worker-0");
  EXPECT_EQ(read.rank, std::nullopt);
  EXPECT_EQ(read.exit_code, 137);
}

TEST_F(FailedReason, BlamesNoPeerOfTheOneThatFailedInTheSameSecond) {
  const std::string_view of_peers[] = {
      "RuntimeError: [gloo/transport/tcp/pair.cc:534] Connection closed by peer [::1]:1234",
      "DistStoreError: Connection reset by peer", "recvBytes failed: Broken pipe",
      "Stopped because the node of rank 1 failed with exit code 5"};
  for (const std::string_view last : of_peers) {
    pods_ = {MakePod("master", 0, "Failed"), MakePod("worker", 0, "Failed")};
    Terminate(pods_[0], 1, kCreated, last);
    Terminate(pods_[1], 5, kCreated, "ValueError: no data");
    EXPECT_EQ(Reason(), "rank 1 (pt-worker-0) exited with code 5: ValueError: no data") << last;
  }
}

TEST_F(FailedReason, IsTheProgramsLastLineNotTheNodes) {
  const std::string_view log =
      "Training Epoch 1\nno such column: y\nError Running the code: exit code 5\n"
      "Stopping the process. Reason: Code Execution Failure\nExiting with exit code: 5\n";
  Terminate(pods_[1], 5, kCreated, log);
  EXPECT_EQ(Reason(), "rank 1 (pt-worker-0) exited with code 5: no such column: y");
  pods_[1] = MakePod("worker", 0, "Failed");
  Terminate(pods_[1], 5, kCreated, "WORLD_SIZE: 2\nRANK: 1\nError Running the code: exit code 5\n");
  EXPECT_EQ(Reason(), "rank 1 (pt-worker-0) exited with code 5") << "the program printed nothing";
}

TEST_F(FailedReason, IsTheLineThatNamesAnExceptionWhoseMessageHasMore) {
  const auto reason_of = [this](std::string_view log) {
    pods_[0] = MakePod("master", 0, "Failed");
    Terminate(pods_[0], 1, kCreated, log);
    return Reason();
  };
  constexpr std::string_view kFrames =
      "loading\nTraceback (most recent call last):\n  File \"/w/t.py\", line 3, in <module>\n"
      "    model.load_state_dict(state)\n";
  EXPECT_EQ(reason_of(std::string(kFrames) +
                      "RuntimeError: Error(s) in loading state_dict for Net:\n"
                      "\tMissing key(s): \"a\".\n\n\tsize mismatch for bias: [4] and [3].\n"),
            "rank 0 (pt-master-0) exited with code 1: RuntimeError: Error(s) in loading state_dict "
            "for Net:");
  EXPECT_EQ(reason_of(std::string(kFrames) + "KeyError: 'a'\n  more\ngiving up\n"),
            "rank 0 (pt-master-0) exited with code 1: giving up");
  EXPECT_EQ(reason_of("a list:\n  its last entry\n"),
            "rank 0 (pt-master-0) exited with code 1: its last entry");
  const std::string of_accelerate =
      "Traceback (most recent call last):\n  File \"/venv/bin/accelerate\", line 6, in <module>\n"
      "subprocess.CalledProcessError: Command '['python', 't.py']' returned non-zero exit status "
      "1.\n";
  EXPECT_EQ(reason_of(std::string(kFrames) + "AssertionError: shape is wrong\n" + of_accelerate),
            "rank 0 (pt-master-0) exited with code 1: AssertionError: shape is wrong");
  EXPECT_TRUE(reason_of("loading\n" + of_accelerate)
                  .starts_with("rank 0 (pt-master-0) exited with code 1: subprocess.Called"));
}

TEST_F(FailedReason, BlamesTheCrashAmongEndsOfTheSameSecond) {
  pods_.push_back(MakePod("worker", 1, "Failed"));
  Terminate(pods_[0], 143, kCreated);
  Terminate(pods_[1], 1, kCreated, "RuntimeError: NCCL");
  Terminate(pods_[2], 139, kCreated);
  EXPECT_EQ(Reason(), "rank 2 (pt-worker-1) segfaulted (SIGSEGV, exit code 139)");
}

TEST_F(FailedReason, NamesTheCodeSync) {
  Terminate(pods_[0], 128, kCreated, "fatal: could not read Username\nhint: x", "Error",
            kArenaCodeContainer, "initContainerStatuses");
  EXPECT_EQ(Reason(), "code sync failed in pt-master-0: fatal: could not read Username");
  pods_[0] = MakePod("master", 0, "Failed");
  Terminate(pods_[0], 1, kCreated, "", "Error", kArenaCodeContainer, "initContainerStatuses");
  EXPECT_EQ(Reason(), "code sync failed in pt-master-0: exited with code 1");
}

TEST_F(FailedReason, NamesOtherContainers) {
  Terminate(pods_[0], 1, kCreated, "", "Error", "init-pytorch", "initContainerStatuses");
  EXPECT_EQ(Reason(), "init container init-pytorch of pt-master-0 exited with code 1");
  pods_[0] = MakePod("master", 0, "Failed");
  Terminate(pods_[0], 4, kCreated, "", "Error", "sidecar");
  EXPECT_EQ(Reason(), "rank 0 (pt-master-0) container sidecar exited with code 4");
}

TEST_F(FailedReason, NamesWhatEndedThePod) {
  text::Set(pods_[1], {"status", "reason"}, "Evicted");
  text::Set(pods_[1], {"status", "message"}, "The node was low on memory.");
  Terminate(pods_[1], 137, kCreated);
  Terminate(pods_[0], 1, "2026-07-30T10:01:00Z");
  EXPECT_EQ(Reason(), "rank 1 (pt-worker-0) failed: Evicted: The node was low on memory.");
}

TEST_F(FailedReason, DoesNotTakeTheKubeletsCodeOfALostContainerForASignal) {
  Terminate(pods_[0], 137, kCreated, "The container could not be located",
            "ContainerStatusUnknown");
  EXPECT_EQ(Reason(),
            "rank 0 (pt-master-0) was lost by its node (ContainerStatusUnknown): The container "
            "could not be located");
  EXPECT_EQ(Of(job_, pods_).last_lines, "");
}

TEST_F(FailedReason, IgnoresPodsThatWereStopped) {
  Terminate(pods_[0], 137, kCreated);
  text::Set(pods_[0], {"metadata", "deletionTimestamp"}, text::Json(kCreated));
  EXPECT_EQ(Reason(), "2 replicas failed.");
}

TEST_F(FailedReason, FallsBackToEndsBeforeARestart) {
  text::Set(pods_[1], {"status", "containerStatuses"},
            {{{"name", "pytorch"},
              {"state", {{"waiting", {{"reason", "CrashLoopBackOff"}}}}},
              {"lastState", {{"terminated", {{"exitCode", 5}}}}}}});
  EXPECT_EQ(Reason(), "rank 1 (pt-worker-0) exited with code 5");
}

// A worker was killed and restarted in place; the master ended two seconds later.
TEST_F(FailedReason, MayLieBeforeARestartInPlace) {
  const auto restart_at = [this](std::string_view finished) {
    pods_[1] = MakePod("worker", 0);
    text::Json last = text::Object{{"exitCode", 137}, {"reason", "Error"}};
    text::Set(last, {"finishedAt"}, text::Json(finished));
    text::Set(pods_[1], {"status", "containerStatuses"},
              {{{"name", "pytorch"},
                {"state", {{"running", text::Object()}}},
                {"lastState", {{"terminated", last}}}}});
  };
  Terminate(pods_[0], 1, "2026-07-30T14:12:01Z", "ValueError: x");
  text::Set(pods_[0].at("status").at("containerStatuses").as_array()[0],
            {"state", "terminated", "startedAt"}, "2026-07-30T14:00:00Z");
  const std::string of_worker = "rank 1 (pt-worker-0) was killed by SIGKILL (exit code 137)";
  const std::string of_master = "rank 0 (pt-master-0) exited with code 1: ValueError: x";
  restart_at("2026-07-30T14:11:59Z");
  EXPECT_EQ(Reason(), of_worker);
  restart_at("2026-07-30T14:02:00Z");
  EXPECT_EQ(Reason(), of_worker) << "watchdogs take their time";
  restart_at("2026-07-30T14:12:02Z");
  EXPECT_EQ(Reason(), of_master) << "it followed";
  restart_at("2026-07-30T13:59:59Z");
  EXPECT_EQ(Reason(), of_master) << "the master began after it";
}

TEST_F(FailedReason, LooksNoFurtherBackThanWatchdogsWait) {
  pods_[1] = MakePod("worker", 0);
  text::Set(pods_[1], {"status", "containerStatuses"},
            {{{"name", "pytorch"},
              {"lastState",
               {{"terminated", {{"exitCode", 137}, {"finishedAt", "2026-07-30T10:00:00Z"}}}}}}});
  Terminate(pods_[0], 1, "2026-07-30T14:12:01Z", "ValueError: x");
  EXPECT_EQ(Reason(), "rank 0 (pt-master-0) exited with code 1: ValueError: x");
}

TEST_F(FailedReason, NamesADisruption) {
  text::Set(pods_[1], {"metadata", "deletionTimestamp"}, "2026-07-30T10:00:40Z");
  text::Set(pods_[1], {"status", "conditions"},
            {{{"type", "DisruptionTarget"},
              {"status", "True"},
              {"reason", "PreemptionByScheduler"},
              {"message", "default-scheduler: preempting"},
              {"lastTransitionTime", "2026-07-30T10:00:10Z"}}});
  Terminate(pods_[0], 1, "2026-07-30T10:00:12Z", "Connection reset by peer");
  EXPECT_EQ(Reason(), "rank 1 (pt-worker-0) was preempted (default-scheduler: preempting)");
  Terminate(pods_[1], 1, "2026-07-30T10:00:05Z", "ValueError: y");
  text::Erase(pods_[1], {"metadata", "deletionTimestamp"});
  EXPECT_EQ(Reason(), "rank 1 (pt-worker-0) exited with code 1: ValueError: y") << "before it";
}

TEST_F(FailedReason, IgnoresPodsThatTheJobsEndHasEnded) {
  text::Set(pods_[0], {"status", "reason"}, text::Json(kJobEndedReason));
  text::Set(pods_[0], {"status", "message"}, "ended by muster");
  Terminate(pods_[0], 143, kCreated);
  Terminate(pods_[1], 1, kCreated, "ValueError: x");
  EXPECT_EQ(Reason(), "rank 1 (pt-worker-0) exited with code 1: ValueError: x");
}

TEST_F(FailedReason, ComesWithTheReplicaThatFailedFirst) {
  const std::string traceback = "Traceback\n  File \"t.py\"\nValueError: rank 7 (x) code 9";
  Terminate(pods_[0], 1, "2026-07-30T10:01:05Z", "Connection reset by peer");
  Terminate(pods_[1], 3, "2026-07-30T10:01:00Z", traceback);
  const TrainingSummary summary = Of(job_, pods_);
  EXPECT_EQ(summary.first_failure.instance, "pt-worker-0");
  EXPECT_EQ(summary.first_failure.rank, 1);
  EXPECT_EQ(summary.first_failure.exit_code, 3);
  EXPECT_EQ(summary.last_lines, traceback);
  ASSERT_EQ(summary.instances.size(), 2U);
  EXPECT_EQ(summary.instances[0].name, "pt-worker-0");
  EXPECT_TRUE(summary.instances[1].is_chief);
}

// The pods are gone; the operator has kept their last lines.
TEST_F(FailedReason, AndItsLastLinesOutliveThePods) {
  pods_.clear();
  text::Set(job_, {"status", "conditions"}, text::Array());
  AddCondition(job_, "Failed", "True", "PyTorchJobFailed",
               "Job pt has failed because it has reached the specified backoff limit: rank 1 "
               "(pt-worker-0) was killed by SIGKILL (OOMKilled: out of memory): epoch 3\nIts last "
               "lines:\nepoch 2\nepoch 3");
  const TrainingSummary summary = Of(job_, pods_);
  EXPECT_TRUE(summary.reason.ends_with("out of memory): epoch 3")) << summary.reason;
  EXPECT_EQ(summary.first_failure.instance, "pt-worker-0");
  EXPECT_EQ(summary.first_failure.exit_code, 137);
  EXPECT_EQ(summary.last_lines, "epoch 2\nepoch 3");
}

TEST(FailedReplica, IsReadOffTheLineThatNamesIt) {
  struct Case {
    std::string_view line, instance;
    std::optional<int> rank, exit_code;
  };
  const Case cases[] = {
      {"rank 0 (j-master-0) container side exited with code 4", "j-master-0", 0, 4},
      {"rank 2 (j-worker-1) segfaulted (SIGSEGV, exit code 139)", "j-worker-1", 2, 139},
      {"rank 1 (j-worker-0) was killed by SIGKILL (exit code 137): m", "j-worker-0", 1, 137},
      {"rank 1 (j-worker-0) failed: Evicted: exit code 3", "j-worker-0", 1, std::nullopt},
      {"code sync failed in j-master-0: exited with code 1", "j-master-0", {}, {}},
      {"init container c of j-worker-0 exited with code 1: x", "j-worker-0", {}, 1},
      {"the cluster was stopped", "", {}, {}},
      {"rank x (y) exited with code 1", "", {}, {}}};
  for (const Case& test : cases) {
    const FailedReplica read = ReadFailure(test.line);
    EXPECT_EQ(read.instance, test.instance) << test.line;
    EXPECT_EQ(read.rank, test.rank) << test.line;
    EXPECT_EQ(read.exit_code, test.exit_code) << test.line;
  }
}

TEST(FirstFailure, KeepsTheEndOfALongLog) {
  text::Json pod = MakePod("worker", 0, "Failed");
  std::string log;
  for (int line = 0; line < 100; ++line) log += "line " + std::to_string(line) + "\n";
  Terminate(pod, 1, kCreated, log);
  const std::string kept = FindFirstFailure({&pod}, true).last_lines;
  EXPECT_TRUE(kept.starts_with("line 36\n")) << kept;
  EXPECT_TRUE(kept.ends_with("\nline 99")) << kept;
  Terminate(pod, 1, kCreated, std::string(3 * kMaxLastLineBytes, 'x') + "\nend");
  EXPECT_LE(FindFirstFailure({&pod}, true).last_lines.size(), kMaxLastLineBytes);
}

TEST_F(FailedReason, IsWhatTheLauncherSaysOfIt) {
  const std::string end =
      "            : ValueError: boom\n  what to do: fix it\n  report    : /tmp/failure.json\n";
  Terminate(pods_[0], 1, kCreated,
            "  why       : ValueError: boom\n  evidence  : Traceback\n" + end);
  EXPECT_TRUE(Reason().ends_with(" exited with code 1: ValueError: boom")) << Reason();
  Terminate(pods_[0], 1, kCreated, end);  // the beginning did not fit
  EXPECT_TRUE(Reason().ends_with(" exited with code 1: ValueError: boom")) << Reason();
}

TEST_F(FailedReason, IsTheExceptionAboveWhatPythonWroteOnlyWhenItEnded) {
  const std::string raised =
      "Traceback (most recent call last):\n  File \"/w/a.py\", line 3, in <module>\n"
      "KeyError: 'lr'\n";
  const auto reason_of = [this](int code, const std::string& log) {
    pods_[0] = MakePod("master", 0, "Failed");
    Terminate(pods_[0], code, kCreated, log);
    return Reason();
  };
  EXPECT_EQ(reason_of(1, raised + "step 1 loss 0.5\nstep 2 loss 0.4\n"),
            "rank 0 (pt-master-0) exited with code 1: KeyError: 'lr'");
  EXPECT_EQ(reason_of(1, raised + "no checkpoint found\n"),
            "rank 0 (pt-master-0) exited with code 1: no checkpoint found");
  EXPECT_EQ(reason_of(3, raised + "step 1 loss 0.5\n"),
            "rank 0 (pt-master-0) exited with code 3: step 1 loss 0.5");
}

TEST_F(FailedReason, NamesTheRankThatTheLauncherNames) {
  Terminate(pods_[0], 1, kCreated,
            "bad.py: rank 13 of 16 failed first (local rank 5, pid 7, host h)\n"
            "  why       : ValueError: boom\n");
  EXPECT_TRUE(Reason().starts_with("rank 13 (pt-")) << Reason();
}

TEST_F(FailedReason, NamesThePodOnWhichTheRankFailedThatAllLaunchersName) {
  const std::string report =
      "bad.py: rank 2 of 4 failed first (local rank 0, pid 7, host pt-worker-0)\n"
      "  why       : ValueError: boom\n";
  Terminate(pods_[0], 1, kCreated, report);
  EXPECT_EQ(Reason(), "rank 2 (pt-worker-0) exited with code 1: ValueError: boom");
  Terminate(pods_[1], 1, kCreated, report);
  EXPECT_EQ(Reason(), "rank 2 (pt-worker-0) exited with code 1: ValueError: boom");
  std::string elsewhere = report;
  elsewhere.replace(elsewhere.find("pt-worker-0"), 11, "node7");
  pods_ = {MakePod("master", 0, "Failed"), MakePod("worker", 0, "Failed")};
  Terminate(pods_[0], 1, kCreated, elsewhere);
  EXPECT_EQ(Reason(), "rank 2 (pt-master-0) exited with code 1: ValueError: boom");
}

TEST_F(FailedReason, NamesThePodsRankWhereTheLogNamesNone) {
  Terminate(pods_[0], 1, kCreated, "no failed first (local rank \n");
  EXPECT_TRUE(Reason().starts_with("rank 0 (pt-")) << Reason();
}

TEST_F(FailedReason, LetsDeadlinesAndStopsExplainThemselves) {
  Terminate(pods_[0], 143, kCreated);
  text::Set(job_, {"status", "conditions"}, text::Array());
  const std::string_view deadline =
      "Job pt has failed because it was active longer than specified deadline";
  AddCondition(job_, "Failed", "True", "PyTorchJobFailed", deadline);
  EXPECT_EQ(Reason(), deadline);
  text::Set(job_, {"status", "conditions"}, text::Array());
  AddCondition(job_, "Failed", "True", "ClusterStopped", "the cluster was stopped");
  EXPECT_EQ(Reason(), "the cluster was stopped");
}

TEST_F(FailedReason, NamesThePodWhoseOwnDeadlinePassed) {
  text::Set(pods_[0], {"status", "reason"}, "DeadlineExceeded");
  const std::string words = "Pod was active on the node longer than the specified deadline";
  text::Set(pods_[0], {"status", "message"}, text::Json(words));
  text::Set(job_, {"status", "conditions"}, text::Array());
  const std::string said = "rank 0 (pt-master-0) failed: DeadlineExceeded: " + words;
  AddCondition(job_, "Failed", "True", "PyTorchJobFailed",
               "PyTorchJob pt is failed because 1 Master replica(s) failed. " + said);
  EXPECT_EQ(Reason(), said);
}

TEST(IsPodOfJob, GoesByLabelsNamespaceAndOwner) {
  const text::Json job = MakeJob();
  EXPECT_TRUE(IsPodOfJob(MakePod("master", 0), job));
  text::Json pod = MakePod("master", 0);
  text::Set(pod, {"metadata", "namespace"}, "other");
  EXPECT_FALSE(IsPodOfJob(pod, job));
  pod = MakePod("master", 0);
  SetLabel(pod, kJobNameLabel, "other");
  EXPECT_FALSE(IsPodOfJob(pod, job));
  SetLabel(pod, "release", "pt");
  EXPECT_TRUE(IsPodOfJob(pod, job));
  SetLabel(pod, kOperatorNameLabel, "tfjob-controller");
  EXPECT_FALSE(IsPodOfJob(pod, job));
  SetLabel(pod, "group-name", "kubeflow.org");
  EXPECT_TRUE(IsPodOfJob(pod, job));
  text::Set(pod, {"metadata", "ownerReferences"}, {{{"uid", "uid-0"}, {"controller", true}}});
  EXPECT_FALSE(IsPodOfJob(pod, job));
  text::Set(pod, {"metadata", "ownerReferences"}, {{{"uid", "uid-1"}, {"controller", true}}});
  EXPECT_TRUE(IsPodOfJob(pod, job));
  // Nobody's, as of somebody who copied the labels.
  text::Set(pod, {"metadata", "ownerReferences"}, text::Array());
  EXPECT_FALSE(IsPodOfJob(pod, job));
}

}  // namespace
}  // namespace api
