// The API server's pod logs, from the node's files.
#pragma once

#include <memory>
#include <string>

#include "local/node/logs/follower.h"
#include "local/server/streams/log_source.h"

namespace local::daemon {

class PodLogs : public server::LogSource {
 public:
  // `pods_directory` holds one directory per pod, named by its uid.
  static base::Result<std::unique_ptr<PodLogs>> Start(std::string pods_directory);

  void Open(const text::Json& pod, const server::LogRequest& request,
            std::shared_ptr<server::LogSink> sink) override;

 private:
  PodLogs(std::string pods_directory, std::unique_ptr<node::LogFollower> follower)
      : pods_directory_(std::move(pods_directory)), follower_(std::move(follower)) {}

  const std::string pods_directory_;
  const std::unique_ptr<node::LogFollower> follower_;
};

}  // namespace local::daemon
