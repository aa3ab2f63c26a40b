#include "local/daemon/scheduling/scheduling_view.h"

#include <gtest/gtest.h>

#include <tuple>

#include "local/node/testing/agent_pod_builder.h"

namespace local::daemon {
namespace {

using node::PodBuilder;
using text::Array;
using text::Object;

text::Json Job(std::string_view name, int workers, int gpus, Object status = {}) {
  const text::Json container =
      Object{{"name", "pytorch"},
             {"image", "i"},
             {"resources", {{"limits", {{"nvidia.com/gpu", std::to_string(gpus)}}}}}};
  const auto replicas = [&](int count) {
    return Object{{"replicas", count},
                  {"template", {{"spec", {{"containers", Array{container}}}}}}};
  };
  Object specs{{"Master", replicas(1)}};
  if (workers > 0) specs["Worker"] = replicas(workers);
  return Object{{"apiVersion", "kubeflow.org/v1"},
                {"kind", "PyTorchJob"},
                {"metadata",
                 {{"name", name},
                  {"namespace", "default"},
                  {"uid", "uid-job-" + std::string(name)},
                  {"creationTimestamp", "2026-07-30T10:00:00Z"}}},
                {"spec", {{"pytorchReplicaSpecs", std::move(specs)}}},
                {"status", std::move(status)}};
}

PodBuilder Replica(const std::string& job, const std::string& type, int index, int gpus) {
  PodBuilder pod(job + "-" + type + "-" + std::to_string(index));
  pod.OfJob(job)
      .Label("training.kubeflow.org/replica-type", type)
      .Label("training.kubeflow.org/replica-index", std::to_string(index))
      .Set({"spec", "nodeName"}, "");
  if (gpus > 0) {
    pod.With({"resources", "limits"}, Object{{"nvidia.com/gpu", std::to_string(gpus)}});
  }
  return pod;
}

Object Condition(std::string_view type) {
  return {{"conditions", Array{Object{{"type", type}, {"status", "True"}}}}};
}

// "default/j started=0 pods=[j-master-0 j-worker-0*] missing=1/2": * means bound.
std::string Describe(const scheduler::Gang& gang) {
  std::string pods;
  for (const scheduler::Pod& pod : gang.pods) {
    pods += (pods.empty() ? "" : " ") + pod.name + (pod.is_bound ? "*" : "");
  }
  return gang.key + (gang.is_started ? " started" : "") + " [" + pods + "] missing " +
         std::to_string(gang.missing_pods) + " with " + std::to_string(gang.missing.gpus);
}

std::vector<std::string> Describe(const SchedulingView& view) {
  std::vector<std::string> gangs;
  for (const scheduler::Gang& gang : view.Gangs()) gangs.push_back(Describe(gang));
  return gangs;
}

using Strings = std::vector<std::string>;

// As the store returns it.
text::Json Stored(const text::Json& pod) {
  return *SchedulingView::ReadPod(text::Document(text::ToJson(pod)));
}

struct Case {
  std::string name;
  std::vector<text::Json> jobs;
  std::vector<text::Json> pods;
  Strings gangs;
};

TEST(SchedulingView, PutsGangsTogether) {
  const std::vector<Case> cases = {
      {"a pod of no job is its own gang",
       {},
       {PodBuilder("p").Set({"spec", "nodeName"}, "")},
       {"default/p [p] missing 0 with 0"}},
      {"a job with some of its pods",
       {Job("j", 2, 1)},
       {Replica("j", "worker", 1, 1), Replica("j", "master", 0, 1)},
       {"default/j [j-master-0 j-worker-1] missing 1 with 1"}},
      {"a job with no pods yet is nobody's business", {Job("j", 2, 1)}, {}, {}},
      {"pods whose job is not known wait", {}, {Replica("j", "master", 0, 1)}, {}},
      {"but what runs of them is counted",
       {},
       {Replica("j", "master", 0, 1).Set({"spec", "nodeName"}, "here")},
       {"default/j [j-master-0*] missing 0 with 0"}},
      {"a started gang that misses a failed pod keeps its place",
       {Job("j", 1, 2, Condition("Running"))},
       {Replica("j", "master", 0, 2).Set({"spec", "nodeName"}, "here"),
        Replica("j", "worker", 0, 2)
            .Set({"spec", "nodeName"}, "here")
            .Set({"status", "phase"}, "Failed")},
       {"default/j started [j-master-0*] missing 1 with 2"}},
      {"one that has succeeded is not missed",
       {Job("j", 1, 2, Condition("Running"))},
       {Replica("j", "master", 0, 2).Set({"spec", "nodeName"}, "here"),
        Replica("j", "worker", 0, 2)
            .Set({"spec", "nodeName"}, "here")
            .Set({"status", "phase"}, "Succeeded")},
       {"default/j started [j-master-0*] missing 0 with 0"}},
      {"a restarting job keeps its place without a pod",
       {Job("j", 0, 2, Condition("Restarting"))},
       {},
       {"default/j started [] missing 1 with 2"}},
      {"nothing of a finished job starts",
       {Job("j", 1, 1, Condition("Failed"))},
       {Replica("j", "worker", 0, 1)},
       {}},
      {"a pod that is being deleted holds what it has until it has ended",
       {Job("j", 0, 1)},
       {Replica("j", "master", 0, 1)
            .Set({"spec", "nodeName"}, "here")
            .Set({"metadata", "deletionTimestamp"}, "2026-07-30T10:00:00Z")},
       {"default/j started [j-master-0*] missing 0 with 0"}},
      {"pods of other nodes are not ours",
       {},
       {PodBuilder("p").Set({"spec", "nodeName"}, "there")},
       {}},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    SchedulingView view("here");
    for (const text::Json& job : c.jobs) view.PutJob(job);
    for (const text::Json& pod : c.pods) view.PutPod(Stored(pod));
    EXPECT_EQ(Describe(view), c.gangs);
  }
}

TEST(SchedulingView, ReadsPriorityDeadlineAndMinimum) {
  text::Json job = Job("j", 2, 1, {{"startTime", "2026-07-30T10:00:05Z"}});
  text::Set(job, {"spec", "runPolicy"},
            Object{{"activeDeadlineSeconds", 60},
                   {"schedulingPolicy", {{"minAvailable", 2}, {"priorityClass", "high"}}}});
  SchedulingView view("here");
  view.PutJob(job);
  view.PutPod(Replica("j", "master", 0, 1));
  EXPECT_EQ(view.Gangs()[0].priority, 0);
  view.PutPriorityClass(Object{{"metadata", {{"name", "high"}}}, {"value", 1000}});
  const scheduler::Gang gang = view.Gangs()[0];
  EXPECT_EQ(gang.priority, 1000);
  EXPECT_EQ(gang.min_available, 2);
  EXPECT_EQ(gang.active_deadline, std::chrono::seconds(60));
  EXPECT_EQ(gang.active_since, *base::ParseRfc3339("2026-07-30T10:00:05Z"));
  EXPECT_EQ(gang.running_since, std::nullopt) << "it waits";
  EXPECT_EQ(gang.created, *base::ParseRfc3339("2026-07-30T10:00:00Z"));
}

TEST(SchedulingView, AJobRunsSinceItsConditionAndNotSinceItWaits) {
  SchedulingView view("here");
  text::Json job = Job("j", 0, 1, Condition("Running"));
  text::Set(job, {"status", "startTime"}, "2026-07-30T10:00:05Z");
  job.at_pointer("/status/conditions/0").as_object()["lastTransitionTime"] = "2026-07-30T11:00:00Z";
  view.PutJob(job);
  view.PutPod(Replica("j", "master", 0, 1));
  EXPECT_EQ(view.Gangs()[0].active_since, *base::ParseRfc3339("2026-07-30T10:00:05Z"));
  EXPECT_EQ(view.Gangs()[0].running_since, *base::ParseRfc3339("2026-07-30T11:00:00Z"));
}

TEST(SchedulingView, TheDefaultPriorityIsForThoseWithoutAClass) {
  SchedulingView view("here");
  view.PutPod(PodBuilder("p").Set({"spec", "nodeName"}, ""));
  view.PutPriorityClass(
      Object{{"metadata", {{"name", "usual"}}}, {"value", 7}, {"globalDefault", true}});
  EXPECT_EQ(view.Gangs()[0].priority, 7);
  EXPECT_TRUE(view.RemovePriorityClass("usual"));
  EXPECT_EQ(view.Gangs()[0].priority, 0);
}

TEST(SchedulingView, WhatIsReadOfAStoredPodIsAllThatItNeeds) {
  PodBuilder pod = Replica("j", "worker", 3, 2);
  pod.Set({"metadata", "creationTimestamp"}, "2026-07-30T10:00:00Z")
      .Set({"metadata", "deletionTimestamp"}, "2026-07-30T11:00:00Z")
      .Set({"metadata", "annotations", "muster.dev/gpus"}, "1,2")
      .Set({"spec", "nodeName"}, "here")
      .Set({"spec", "priority"}, 7)
      .Set({"spec", "priorityClassName"}, "high")
      .Set({"spec", "overhead"}, Object{{"cpu", "1"}})
      .Set({"spec", "initContainers"},
           Array{Object{{"restartPolicy", "Always"},
                        {"resources", {{"requests", {{"memory", "1Gi"}}}}}}})
      .Set({"status"}, Object{{"phase", "Pending"},
                              {"qosClass", "Burstable"},
                              {"conditions", Array{Object{{"type", "PodScheduled"},
                                                          {"status", "False"},
                                                          {"message", "no room"}}}}});
  SchedulingView whole("here");
  SchedulingView part("here");
  whole.PutPod(pod);
  part.PutPod(Stored(pod));
  const ScheduledPod& expected = *whole.FindPod("uid-j-worker-3");
  const ScheduledPod& read = *part.FindPod("uid-j-worker-3");
  EXPECT_EQ(expected.message, "no room");
  EXPECT_EQ(expected.requests.cpu_milli, 1000);
  const auto all_of = [](const ScheduledPod& p) {
    return std::tie(p.uid, p.namespace_name, p.name, p.job_uid, p.job_name, p.replica_type,
                    p.replica_index, p.requests.gpus, p.requests.cpu_milli, p.requests.memory,
                    p.priority_class, p.priority, p.created, p.node, p.gpus, p.phase, p.is_deleting,
                    p.message, p.qos_class);
  };
  EXPECT_TRUE(all_of(read) == all_of(expected));
}

TEST(SchedulingView, WhatAListDoesNotHoldIsGone) {
  SchedulingView view("here");
  for (const char* name : {"a", "b", "c"}) view.PutPod(PodBuilder(name));
  view.PutJob(Job("j", 1, 1));
  view.PutJob(Job("k", 1, 1));
  EXPECT_EQ(view.KeepPods({"uid-b", "uid-of-another"}), (Strings{"uid-a", "uid-c"}));
  EXPECT_NE(view.FindPod("uid-b"), nullptr);
  view.KeepJobs({"uid-job-k"});
  EXPECT_EQ(view.FindJob("uid-job-j"), nullptr);
  EXPECT_NE(view.FindJob("uid-job-k"), nullptr);
}

TEST(SchedulingView, AnOldEventDoesNotUndoABinding) {
  const text::Json pod = PodBuilder("p").Set({"spec", "nodeName"}, "");
  SchedulingView view("here");
  EXPECT_TRUE(view.PutPod(pod));
  view.Assume("uid-p", {1});
  EXPECT_FALSE(view.PutPod(pod));
  EXPECT_EQ(view.Gangs()[0].pods[0].gpus, (std::vector<int>{1}));
  EXPECT_TRUE(view.Gangs()[0].pods[0].is_bound);
  view.Unassume("uid-p");
  EXPECT_FALSE(view.Gangs()[0].pods[0].is_bound);
}

TEST(SchedulingView, ReportsWhatIsOfNoInterest) {
  SchedulingView view("here");
  text::Json pod = PodBuilder("p");
  EXPECT_TRUE(view.PutPod(pod));
  text::Set(pod, {"status"}, Object{{"phase", "Running"}, {"podIP", "127.0.0.1"}});
  EXPECT_FALSE(view.PutPod(pod));
  text::Set(pod, {"status"}, Object{{"phase", "Succeeded"}});
  EXPECT_TRUE(view.PutPod(pod));
  EXPECT_TRUE(view.RemovePod("uid-p"));
  EXPECT_FALSE(view.RemovePod("uid-p"));
  EXPECT_TRUE(view.PutJob(Job("j", 1, 1)));
  EXPECT_FALSE(view.PutJob(Job("j", 1, 1)));
  EXPECT_TRUE(view.PutJob(Job("j", 1, 1, Condition("Succeeded"))));
}

}  // namespace
}  // namespace local::daemon
