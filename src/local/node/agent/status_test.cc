#include "local/node/agent/status.h"

#include <gtest/gtest.h>

#include "api/pod.h"
#include "local/node/testing/agent_pod_builder.h"

namespace local::node {
namespace {

using std::chrono::seconds;
using Phase = ContainerState::Phase;
using text::GetString;

constexpr base::Time kStart{seconds(1'800'000'000)};
constexpr base::Time kNow = kStart + seconds(60);

ContainerState Running() {
  ContainerState state;
  state.phase = Phase::kRunning;
  state.started_at = kStart + seconds(1);
  return state;
}

ContainerState Ended(int exit_code, std::string reason = "Completed", int signal = 0) {
  ContainerState state;
  state.phase = Phase::kTerminated;
  state.exit_code = exit_code;
  state.signal = signal;
  state.reason = std::move(reason);
  state.started_at = kStart + seconds(1);
  state.finished_at = kStart + seconds(5);
  return state;
}

ContainerReport Report(std::string name, ContainerState state, int restarts = 0) {
  ContainerReport report;
  report.name = std::move(name);
  report.state = std::move(state);
  report.restart_count = restarts;
  return report;
}

struct Input {
  text::Json pod = PodBuilder("p");
  std::optional<PodReport> report = {};
  std::optional<NotReady> not_ready = {};
  std::optional<PodFailure> failure = {};
  bool has_ended = false;
  text::Json previous = nullptr;
};

// The complete pod, for code that reads pods.
text::Json Pod(const Input& input) {
  StatusInput status{input.pod};
  if (input.report) status.report = &*input.report;
  if (input.not_ready) status.not_ready = &*input.not_ready;
  if (input.failure) status.failure = &*input.failure;
  status.has_ended = input.has_ended;
  status.start_time = kStart;
  if (!input.previous.is_null()) status.previous_status = &input.previous;
  text::Json pod = input.pod;
  text::Set(pod, {"status"}, MakeStatus(status, kNow));
  return pod;
}

std::string ConditionOf(const text::Json& pod, std::string_view type) {
  const text::Json* condition = api::FindCondition(pod, type);
  if (condition == nullptr) return "";
  std::string text(GetString(*condition, {"status"}));
  for (std::string_view key : {"reason", "message"}) {
    const std::string_view value = GetString(*condition, {key});
    if (!value.empty()) text += " " + std::string(value);
  }
  return text;
}

TEST(MakeStatus, ARunningPod) {
  PodReport report;
  report.containers = {Report("pytorch", Running())};
  const text::Json pod = Pod({.report = report});
  EXPECT_EQ(api::Phase(pod), "Running");
  EXPECT_EQ(ConditionOf(pod, "Ready"), "True");
  EXPECT_EQ(ConditionOf(pod, "ContainersReady"), "True");
  EXPECT_EQ(ConditionOf(pod, "Initialized"), "True");
  EXPECT_EQ(ConditionOf(pod, "PodScheduled"), "True");
  EXPECT_EQ(GetString(pod, {"status", "hostIP"}), "127.0.0.1");
  EXPECT_EQ(GetString(pod, {"status", "podIP"}), "127.0.0.1");
  EXPECT_EQ(GetString(pod, {"status", "startTime"}), "2027-01-15T08:00:00Z");
  const auto statuses = api::ContainerStatuses(pod);
  ASSERT_EQ(statuses.size(), 1u);
  EXPECT_TRUE(statuses[0].is_running);
  EXPECT_TRUE(statuses[0].is_ready);
  EXPECT_EQ(statuses[0].running_since, kStart + seconds(1));
}

TEST(MakeStatus, APodBeforeItsFirstReport) {
  const text::Json pod = Pod({});
  EXPECT_EQ(api::Phase(pod), "Pending");
  EXPECT_EQ(ConditionOf(pod, "Ready"),
            "False ContainersNotReady containers with unready status: [pytorch]");
  EXPECT_EQ(api::ContainerStatuses(pod)[0].waiting_reason, "ContainerCreating");
}

TEST(MakeStatus, APodWhoseInitContainerRuns) {
  PodReport report;
  report.init_containers = {Report("init-code", Running())};
  ContainerState waiting;
  waiting.reason = "PodInitializing";
  report.containers = {Report("pytorch", waiting)};
  const text::Json pod = Pod({.pod = PodBuilder("p").InitContainer("init-code"), .report = report});
  EXPECT_EQ(api::Phase(pod), "Pending");
  EXPECT_EQ(ConditionOf(pod, "Initialized"),
            "False ContainersNotInitialized containers with incomplete status: [init-code]");
  EXPECT_TRUE(api::InitContainerStatuses(pod)[0].is_running);
  EXPECT_FALSE(api::InitContainerStatuses(pod)[0].is_ready);
  EXPECT_EQ(api::ContainerStatuses(pod)[0].waiting_reason, "PodInitializing");
}

TEST(MakeStatus, APodThatCannotStartSaysWhy) {
  const NotReady why{"CreateContainerConfigError", "secret \"s\" not found", {}};
  const text::Json plain = Pod({.not_ready = why});
  EXPECT_EQ(api::Phase(plain), "Pending");
  EXPECT_EQ(api::ContainerStatuses(plain)[0].waiting_reason, "CreateContainerConfigError");
  EXPECT_EQ(api::ContainerStatuses(plain)[0].waiting_message, "secret \"s\" not found");
  const text::Json with_init = Pod({.pod = PodBuilder("p").InitContainer("i"), .not_ready = why});
  EXPECT_EQ(api::InitContainerStatuses(with_init)[0].waiting_message, "secret \"s\" not found");
  EXPECT_EQ(api::ContainerStatuses(with_init)[0].waiting_reason, "PodInitializing");
}

TEST(MakeStatus, TheEndIsDecidedWhenTheShimIsGone) {
  PodReport report;
  report.containers = {Report("pytorch", Ended(0))};
  report.is_finished = report.has_succeeded = true;
  EXPECT_EQ(api::Phase(Pod({.report = report})), "Running");
  const text::Json pod = Pod({.report = report, .has_ended = true});
  EXPECT_EQ(api::Phase(pod), "Succeeded");
  EXPECT_EQ(ConditionOf(pod, "Ready"), "False PodCompleted");
  EXPECT_EQ(ConditionOf(pod, "Initialized"), "True PodCompleted");
  const auto ended = api::ContainerStatuses(pod)[0].terminated;
  ASSERT_TRUE(ended);
  EXPECT_EQ(ended->reason, "Completed");
  EXPECT_EQ(ended->finished, kStart + seconds(5));
}

TEST(MakeStatus, AFailureNamesCodeSignalAndWords) {
  PodReport report;
  ContainerState killed = Ended(137, "OOMKilled", 9);
  killed.message = "last words";
  report.containers = {Report("pytorch", killed, 2)};
  report.containers[0].last_termination = Ended(1, "Error");
  report.is_finished = true;
  const text::Json pod = Pod({.report = report, .has_ended = true});
  EXPECT_EQ(api::Phase(pod), "Failed");
  EXPECT_EQ(ConditionOf(pod, "ContainersReady"), "False PodFailed");
  const api::ContainerStatus status = api::ContainerStatuses(pod)[0];
  EXPECT_EQ(status.restart_count, 2);
  EXPECT_EQ(status.terminated->exit_code, 137);
  EXPECT_EQ(status.terminated->signal, 9);
  EXPECT_EQ(status.terminated->reason, "OOMKilled");
  EXPECT_EQ(status.terminated->message, "last words");
  EXPECT_EQ(status.last_terminated->exit_code, 1);
}

TEST(MakeStatus, APodBetweenTwoRunsIsRunning) {
  ContainerState waiting;
  waiting.reason = "CrashLoopBackOff";
  PodReport report;
  report.containers = {Report("pytorch", waiting)};
  report.containers[0].last_termination = Ended(1, "Error");
  const text::Json pod = Pod({.report = report});
  EXPECT_EQ(api::Phase(pod), "Running");
  EXPECT_EQ(api::ContainerStatuses(pod)[0].waiting_reason, "CrashLoopBackOff");
}

TEST(MakeStatus, WhatRanWhenTheShimWasLostIsTerminated) {
  PodReport report;
  report.containers = {Report("pytorch", Running()), Report("done", Ended(0))};
  const text::Json pod = Pod({.pod = PodBuilder("p").Container("done").Command({"x"}),
                              .report = report,
                              .failure = NodeRebootedFailure(),
                              .has_ended = true});
  EXPECT_EQ(api::Phase(pod), "Failed");
  EXPECT_EQ(GetString(pod, {"status", "reason"}), "NodeRebooted");
  const auto statuses = api::ContainerStatuses(pod);
  EXPECT_EQ(statuses[0].terminated->exit_code, 137);
  EXPECT_EQ(statuses[0].terminated->reason, "NodeRebooted");
  EXPECT_EQ(statuses[1].terminated->reason, "Completed");
}

TEST(MakeStatus, TimesOfConditionsThatStandAreKept) {
  PodReport report;
  report.containers = {Report("pytorch", Running())};
  const text::Json first = Pod({.report = report});
  text::Json previous = *text::Find(first, {"status"});
  for (text::Json& condition : text::Find(previous, {"conditions"})->get_array()) {
    text::Set(condition, {"lastTransitionTime"}, "2027-01-15T08:00:30Z");
  }
  report.containers = {Report("pytorch", Ended(0))};
  const text::Json second = Pod({.report = report, .previous = previous});
  EXPECT_EQ(GetString(*api::FindCondition(second, "PodScheduled"), {"lastTransitionTime"}),
            "2027-01-15T08:00:30Z");
  EXPECT_EQ(GetString(*api::FindCondition(second, "Ready"), {"lastTransitionTime"}),
            "2027-01-15T08:01:00Z");
}

TEST(HasEverStarted, ByTheContainersStatuses) {
  EXPECT_FALSE(HasEverStarted(PodBuilder("p")));
  EXPECT_FALSE(HasEverStarted(Pod({})));
  PodReport report;
  report.containers = {Report("pytorch", Running())};
  EXPECT_TRUE(HasEverStarted(Pod({.report = report})));
}

}  // namespace
}  // namespace local::node
