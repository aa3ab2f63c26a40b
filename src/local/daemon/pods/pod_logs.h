// Serves the API server's pod logs from the node's files.
#pragma once

#include <memory>
#include <string>

#include "local/node/logs/follower.h"
#include "local/server/backend/log_source.h"

namespace local::daemon {

class PodLogs : public server::LogSource {
 public:
  // For existing pods, and for deleted ones of remembered runs.
  static base::Result<std::unique_ptr<PodLogs>> Start(std::string state_directory);

  void Open(const text::Json& pod, const server::LogRequest& request,
            std::shared_ptr<server::LogSink> sink) override;

 private:
  PodLogs(std::string state_directory, std::unique_ptr<node::LogFollower> follower)
      : state_directory_(std::move(state_directory)), follower_(std::move(follower)) {}

  const std::string state_directory_;
  const std::unique_ptr<node::LogFollower> follower_;
};

}  // namespace local::daemon
