#include "local/node/agent/status.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "api/names.h"
#include "api/object.h"
#include "api/pod.h"
#include "base/strings.h"
#include "local/node/plan/pod.h"

namespace local::node {

namespace {

using Phase = ContainerState::Phase;
using text::GetString;

constexpr int kLostExitCode = 137;  // as after SIGKILL: kubelet's code for a container that it lost

std::string ContainerId(const text::Json& pod, const ContainerReport& report) {
  return fmt::format("muster://{}/{}/{}", api::Uid(pod), report.name, report.restart_count);
}

text::Object StateJson(const ContainerState& state, const std::string& id) {
  text::Object fields;
  if (state.phase == Phase::kTerminated) {
    fields["exitCode"] = state.exit_code;
    if (state.signal != 0) fields["signal"] = state.signal;
  }
  if (!state.reason.empty()) fields["reason"] = state.reason;
  if (!state.message.empty()) fields["message"] = state.message;
  // With fractions, which clients of Kubernetes read: runs shorter than a second have a ledger.
  if (state.started_at) fields["startedAt"] = base::FormatRfc3339Micro(*state.started_at);
  if (state.finished_at) fields["finishedAt"] = base::FormatRfc3339Micro(*state.finished_at);
  text::Object json;
  switch (state.phase) {
    case Phase::kWaiting:
      json["waiting"] = std::move(fields);
      break;
    case Phase::kRunning:
      fields.erase("reason");
      fields.erase("message");
      json["running"] = std::move(fields);
      break;
    case Phase::kTerminated:
      fields["containerID"] = id;
      json["terminated"] = std::move(fields);
      break;
  }
  return json;
}

class StatusMaker {
 public:
  StatusMaker(const StatusInput& input, base::Time now) : input_(input), now_(now) {
    Collect("initContainers", init_);
    Collect("containers", main_);
  }

  text::Json Make() {
    DecidePhase();
    text::Object status;
    status["phase"] = phase_;
    if (std::string reason = Reason(); !reason.empty()) status["reason"] = std::move(reason);
    if (std::string message = Message(); !message.empty()) status["message"] = std::move(message);
    status["conditions"] = Conditions();
    status["hostIP"] = kHostIp;
    status["hostIPs"] = text::Array{text::Object{{"ip", kHostIp}}};
    status["podIP"] = kHostIp;
    status["podIPs"] = text::Array{text::Object{{"ip", kHostIp}}};
    if (input_.start_time) status["startTime"] = base::FormatRfc3339(*input_.start_time);
    if (!init_.empty()) status["initContainerStatuses"] = Statuses(init_, true);
    status["containerStatuses"] = Statuses(main_, false);
    if (const text::Json* qos = text::Find(input_.pod, {"status", "qosClass"})) {
      status["qosClass"] = *qos;
    }
    return status;
  }

 private:
  struct Container {
    const text::Json* spec = nullptr;
    ContainerReport report;
  };

  // Collects every container of the specification with its state in the shim's report, or with a
  // state of our own before there is one.
  void Collect(std::string_view list, std::vector<Container>& into) {
    const bool is_init = list == "initContainers";
    for (const text::Json& spec : text::Items(input_.pod, {"spec", list})) {
      Container container;
      container.spec = &spec;
      container.report.name = GetString(spec, {"name"});
      if (const ContainerReport* report = Reported(container.report.name, is_init)) {
        container.report = *report;
      } else {
        container.report.state = Unreported(is_init);
      }
      if (input_.failure != nullptr && container.report.state.phase == Phase::kRunning) {
        MarkLost(container.report.state);
      }
      into.push_back(std::move(container));
    }
  }

  const ContainerReport* Reported(std::string_view name, bool is_init) const {
    if (input_.report == nullptr) return nullptr;
    const auto& reports = is_init ? input_.report->init_containers : input_.report->containers;
    for (const ContainerReport& report : reports) {
      if (report.name == name) return &report;
    }
    return nullptr;
  }

  ContainerState Unreported(bool is_init) const {
    ContainerState state;
    const bool has_init = text::FindArray(input_.pod, {"spec", "initContainers"}) != nullptr;
    state.reason = has_init ? "PodInitializing" : "ContainerCreating";
    // If there are init containers, the first of them is the one that does not start.
    if (input_.not_ready != nullptr && is_init == has_init) {
      state.reason = input_.not_ready->reason;
      state.message = input_.not_ready->message;
    }
    return state;
  }

  void MarkLost(ContainerState& state) const {
    state.phase = Phase::kTerminated;
    state.exit_code = kLostExitCode;
    state.reason = input_.failure->reason;
    state.message = input_.failure->message;
    state.finished_at = now_;
  }

  static bool IsDone(const Container& container) {
    return container.report.state.phase == Phase::kTerminated &&
           container.report.state.exit_code == 0;
  }

  void DecidePhase() {
    has_initialized_ = std::all_of(init_.begin(), init_.end(), IsDone);
    const bool has_any_started =
        std::any_of(main_.begin(), main_.end(), [](const Container& container) {
          return container.report.state.phase != Phase::kWaiting ||
                 container.report.restart_count > 0 || container.report.last_termination;
        });
    if (input_.failure != nullptr) {
      phase_ = "Failed";
    } else if (input_.has_ended && input_.report != nullptr && input_.report->is_finished) {
      phase_ = input_.report->has_succeeded ? "Succeeded" : "Failed";
    } else {
      phase_ = has_initialized_ && has_any_started ? "Running" : "Pending";
    }
  }

  std::string Reason() const {
    if (input_.failure != nullptr) return std::string(input_.failure->reason);
    return input_.report == nullptr ? "" : input_.report->reason;
  }

  std::string Message() const {
    if (input_.failure != nullptr) return input_.failure->message;
    if (input_.report == nullptr) return "";
    if (!input_.report->message.empty()) return input_.report->message;
    for (const ContainerReport& container : input_.report->containers) {
      if (!container.log_loss.empty()) return container.name + ": " + container.log_loss;
    }
    return "";
  }

  static std::string Names(const std::vector<Container>& containers,
                           bool (*is_fine)(const Container&)) {
    std::vector<std::string> names;
    for (const Container& container : containers) {
      if (!is_fine(container)) names.push_back(container.report.name);
    }
    return base::Join(names, " ");
  }

  static bool IsReady(const Container& container) {
    return container.report.state.phase == Phase::kRunning;
  }

  // Types, reasons and messages are those of kubelet's status package.
  text::Array Conditions() const {
    text::Array conditions;
    const std::string unready = Names(main_, IsReady);
    std::string reason, message;
    if (phase_ == "Succeeded") {
      reason = "PodCompleted";
    } else if (phase_ == "Failed") {
      reason = "PodFailed";
    } else if (!unready.empty()) {
      reason = "ContainersNotReady";
      message = fmt::format("containers with unready status: [{}]", unready);
    }
    if (has_initialized_) {
      conditions.push_back(Condition("Initialized", true, phase_ == "Succeeded" ? reason : "", ""));
    } else {
      conditions.push_back(
          Condition("Initialized", false, "ContainersNotInitialized",
                    fmt::format("containers with incomplete status: [{}]", Names(init_, IsDone))));
    }
    conditions.push_back(Condition("Ready", reason.empty(), reason, message));
    conditions.push_back(Condition("ContainersReady", reason.empty(), reason, message));
    conditions.push_back(Condition("PodScheduled", true, "", ""));
    return conditions;
  }

  text::Object Condition(std::string_view type, bool is_true, const std::string& reason,
                         const std::string& message) const {
    text::Object condition;
    condition["type"] = type;
    condition["status"] = is_true ? "True" : "False";
    condition["lastProbeTime"] = nullptr;
    condition["lastTransitionTime"] = TransitionTime(type, is_true ? "True" : "False");
    if (!reason.empty()) condition["reason"] = reason;
    if (!message.empty()) condition["message"] = message;
    return condition;
  }

  std::string TransitionTime(std::string_view type, std::string_view status) const {
    const auto time_in = [&](const text::Json* conditions) -> std::string_view {
      if (conditions == nullptr || !conditions->is_array()) return "";
      for (const text::Json& condition : conditions->get_array()) {
        if (GetString(condition, {"type"}) == type && GetString(condition, {"status"}) == status) {
          return GetString(condition, {"lastTransitionTime"});
        }
      }
      return "";
    };
    std::string_view time;
    if (input_.previous_status != nullptr) {
      time = time_in(text::Find(*input_.previous_status, {"conditions"}));
    } else {
      time = time_in(text::Find(input_.pod, {"status", "conditions"}));
    }
    return time.empty() ? base::FormatRfc3339(now_) : std::string(time);
  }

  text::Array Statuses(const std::vector<Container>& containers, bool is_init) const {
    text::Array statuses;
    for (const Container& container : containers) {
      const ContainerReport& report = container.report;
      const std::string id = ContainerId(input_.pod, report);
      text::Object status;
      status["name"] = report.name;
      status["state"] = StateJson(report.state, id);
      status["lastState"] =
          report.last_termination ? StateJson(*report.last_termination, id) : text::Object();
      status["ready"] = is_init ? IsDone(container) : IsReady(container);
      status["restartCount"] = report.restart_count;
      status["image"] = GetString(*container.spec, {"image"});
      status["imageID"] = "";
      if (report.state.phase != Phase::kWaiting || report.last_termination) {
        status["containerID"] = id;
      }
      status["started"] = report.state.phase == Phase::kRunning;
      statuses.push_back(std::move(status));
    }
    return statuses;
  }

  const StatusInput& input_;
  const base::Time now_;
  std::vector<Container> init_;
  std::vector<Container> main_;
  bool has_initialized_ = false;
  std::string phase_;
};

}  // namespace

PodFailure ShimLostFailure() {
  return {kShimLost,
          "the pod's shim process ended without a report (killed?): its programs were "
          "ended with it"};
}

PodFailure NodeRebootedFailure() {
  return {kNodeRebooted, "the machine was rebooted while the pod ran"};
}

PodFailure DeadlineFailure() {
  return {kDeadlineExceeded, "Pod was active on the node longer than the specified deadline"};
}

PodFailure JobEndedFailure(std::string why) {
  return {api::kJobEndedReason, "ended by muster: " + std::move(why)};
}

text::Json MakeStatus(const StatusInput& input, base::Time now) {
  return StatusMaker(input, now).Make();
}

bool HasEverStarted(const text::Json& pod) {
  for (const auto& statuses : {api::InitContainerStatuses(pod), api::ContainerStatuses(pod)}) {
    for (const api::ContainerStatus& status : statuses) {
      if (status.is_running || status.terminated || status.last_terminated ||
          status.restart_count > 0) {
        return true;
      }
    }
  }
  return false;
}

}  // namespace local::node
