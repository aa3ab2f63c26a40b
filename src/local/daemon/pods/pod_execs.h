// Runs the API server's commands in pods, through the node's shims.
#pragma once

#include <memory>
#include <string>

#include "local/node/exec/runner.h"
#include "local/server/backend/exec_source.h"

namespace local::daemon {

class PodExecs : public server::ExecSource {
 public:
  // `pods_directory` contains one directory for each pod, named by its uid.
  static base::Result<std::unique_ptr<PodExecs>> Start(std::string pods_directory);

  std::shared_ptr<server::RunningExec> Start(const text::Json& pod, server::ExecRequest request,
                                             std::shared_ptr<server::ExecSink> sink) override;

 private:
  PodExecs(std::string pods_directory, std::unique_ptr<node::ExecRunner> runner)
      : pods_directory_(std::move(pods_directory)), runner_(std::move(runner)) {}

  const std::string pods_directory_;
  const std::unique_ptr<node::ExecRunner> runner_;
};

}  // namespace local::daemon
