// What the agent logs with LOGLEVEL=INFO (compat/torchrun.md 2.2).
#include <fmt/format.h>

#include "base/strings.h"
#include "launch/agent/agent.h"

namespace launch {
namespace {

std::string EndpointOf(const Options& options) {
  return options.endpoint_host.empty()
             ? std::string()
             : fmt::format("{}:{}", options.endpoint_host, options.endpoint_port);
}

std::string NumbersFrom(int first, int count) {
  std::string text;
  for (int i = 0; i < count; ++i) text += fmt::format("{}{}", i == 0 ? "" : ", ", first + i);
  return text;
}

}  // namespace

void Agent::SayDetail(const std::string& text) {
  if (says_details_) SayLater(text);
}

void Agent::SaySettings() {
  const std::string level = base::ToLower(environment_.GetOr("LOGLEVEL", ""));
  says_details_ = level == "info" || level == "debug";
  if (!says_details_) return;
  Say("launch config:");
  const auto line = [this](const char* name, const std::string& value) {
    Say(fmt::format("  {:<16} : {}", name, value));
  };
  line("entrypoint", TitleOf(options_));
  line("min_nodes", fmt::format("{}", options_.min_nodes));
  line("max_nodes", fmt::format("{}", options_.max_nodes));
  line("nproc_per_node", fmt::format("{}", options_.nproc_per_node));
  line("run_id", options_.run_id);
  line("rdzv_backend", options_.is_static ? "static" : "c10d");
  line("rdzv_endpoint", EndpointOf(options_));
  line("max_restarts", fmt::format("{}", options_.max_restarts));
  line("log_dir", options_.has_logs ? folder_->run_path() : "");
  line("binary", executable_);
}

void Agent::SayGroup(const Group& group) {
  if (!says_details_) return;
  Say("rendezvous complete:");
  const auto line = [this](const char* name, const std::string& value) {
    Say(fmt::format("  {:<16} : {}", name, value));
  };
  line("restart_count", fmt::format("{}", group.restart_count));
  line("master_addr", group.master_addr);
  line("master_port", fmt::format("{}", group.master_port));
  line("group_rank", fmt::format("{}", group.group_rank));
  line("group_world_size", fmt::format("{}", group.group_world_size));
  line("local_ranks", NumbersFrom(0, options_.nproc_per_node));
  line("global_ranks", NumbersFrom(group.first_rank, options_.nproc_per_node));
  line("world_size", fmt::format("{}", group.world_size));
}

}  // namespace launch
