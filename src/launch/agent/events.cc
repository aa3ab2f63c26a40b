// The events of --event-log-handler=console, each a line of JSON with torchrun's keys.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>

#include "launch/agent/agent.h"
#include "text/json.h"

namespace launch {
namespace {

// As torchrun says it of a worker that recorded nothing.
constexpr std::string_view kNoRecord =
    R"({"message": "<NONE>", "errorTraits": {"category": "system_terminated_error", )"
    R"("retryability": "False"}})";

}  // namespace

void Agent::PrintEvent(std::string_view state, std::optional<int> local_rank,
                       const Failure* failure) {
  if (!options_.prints_events) return;
  const Group group = MakeGroup();
  text::Object details{{"group_world_size", group.group_world_size},
                       {"entry_point", std::filesystem::path(executable_).filename().string()}};
  text::Json rank;
  text::Json worker;
  if (local_rank) {
    rank = group.first_rank + *local_rank;
    worker = fmt::format("{}", workers_[static_cast<size_t>(*local_rank)].pid);
    details["local_rank"] = text::Array{*local_rank};
    details["role_rank"] = text::Array{group.role_first_rank + *local_rank};
    details["role_world_size"] = text::Array{group.role_world_size};
    details["exit_code"] = text::Array{failure ? text::Json(failure->exit_code) : nullptr};
    details["worker_pid"] = text::Array{failure ? text::Json(failure->pid) : nullptr};
  }
  text::Json error;
  if (failure != nullptr) {
    error = failure->error_file_text.empty() ? std::string(kNoRecord) : failure->error_file_text;
  }
  const bool has_ended = state != "START";
  const auto seconds =
      std::chrono::duration_cast<std::chrono::seconds>(clock_.Steady() - began_).count();
  const text::Object event{
      {"name", fmt::format("torchelastic.worker.status.{}", state)},
      {"source", local_rank ? "WORKER" : "AGENT"},
      {"timestamp", 0},
      {"metadata", text::Object{{"run_id", options_.run_id},
                                {"global_rank", rank},
                                {"group_rank", group.group_rank},
                                {"worker_id", worker},
                                {"role", options_.role},
                                {"hostname", ReportedHost()},
                                {"state", state},
                                {"total_run_time", has_ended ? seconds : 0},
                                {"rdzv_backend", options_.is_static ? "static" : "c10d"},
                                {"raw_error", error},
                                {"metadata", text::ToJson(details)},
                                {"agent_restarts", restarts_},
                                {"duration_ms", nullptr}}}};
  output_->Say(text::ToJson(event) + "\n");
}

void Agent::PrintLastEvents(bool has_succeeded) {
  // A node on standby has started none.
  const int count = static_cast<int>(workers_.size());
  for (int local_rank = 0; local_rank < count; ++local_rank) {
    const auto failure = std::find_if(failures_.begin(), failures_.end(), [&](const Failure& one) {
      return one.local_rank == local_rank && !one.is_elsewhere && !one.was_stopped_by_us;
    });
    if (failure != failures_.end()) {
      PrintEvent("FAILED", local_rank, &*failure);
    } else {
      PrintEvent(has_succeeded ? "SUCCEEDED" : "TERMINATED", local_rank, nullptr);
    }
  }
  // The agent has done its work, whatever its workers did.
  PrintEvent("SUCCEEDED", std::nullopt, nullptr);
}

}  // namespace launch
