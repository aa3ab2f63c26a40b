#include "local/node/agent/shims.h"

#include <unistd.h>

#include <utility>

#include "local/node/pod/shim_client.h"

namespace local::node {

namespace {

class ProcessShim : public RunningShim {
 public:
  explicit ProcessShim(ShimHandle handle) : handle_(std::move(handle)) {}
  pid_t pid() const override { return handle_.pid(); }
  int pidfd() const override { return handle_.pidfd(); }
  base::Status Terminate(std::chrono::seconds grace) override { return handle_.Terminate(grace); }
  base::Status Kill() override { return handle_.Kill(); }

 private:
  ShimHandle handle_;
};

class Launcher : public ShimLauncher {
 public:
  explicit Launcher(std::string executable) : executable_(std::move(executable)) {}

  base::Result<std::unique_ptr<RunningShim>> Start(const PodSpec& spec,
                                                   const std::vector<int>& locks) override {
    TRY_ASSIGN(ShimHandle handle, StartShim(executable_, spec, locks));
    return std::make_unique<ProcessShim>(std::move(handle));
  }
  bool WasStarted(const std::string& directory) override {
    return ::access((directory + "/shim.json").c_str(), F_OK) == 0;
  }
  base::Result<std::unique_ptr<RunningShim>> Adopt(const std::string& directory) override {
    TRY_ASSIGN(std::optional<ShimHandle> handle, AdoptShim(directory));
    if (!handle) return nullptr;
    return std::make_unique<ProcessShim>(std::move(*handle));
  }
  bool IsFromEarlierBoot(const std::string& directory) override {
    return node::IsFromEarlierBoot(directory);
  }
  base::Result<PodReport> ReadReport(const std::string& directory) override {
    return node::ReadReport(directory);
  }
  base::Status KillStrays(const std::string& directory, std::string_view pod_uid) override {
    return node::KillStrays(directory, pod_uid);
  }

 private:
  const std::string executable_;
};

}  // namespace

std::unique_ptr<ShimLauncher> ProcessShims(std::string executable) {
  return std::make_unique<Launcher>(std::move(executable));
}

}  // namespace local::node
