#include "local/daemon/pods/pod_execs.h"

#include <utility>

namespace local::daemon {
namespace {

class NodeExec final : public server::RunningExec {
 public:
  explicit NodeExec(std::shared_ptr<node::Exec> exec) : exec_(std::move(exec)) {}
  void WriteStdin(std::string bytes) override { exec_->WriteStdin(std::move(bytes)); }
  void CloseStdin() override { exec_->CloseStdin(); }
  void Resize(int columns, int rows) override { exec_->Resize(columns, rows); }
  void HangUp() override { exec_->HangUp(); }

 private:
  const std::shared_ptr<node::Exec> exec_;
};

}  // namespace

base::Result<std::unique_ptr<PodExecs>> PodExecs::Start(std::string pods_directory) {
  TRY_ASSIGN(auto runner, node::ExecRunner::Create());
  return std::unique_ptr<PodExecs>(new PodExecs(std::move(pods_directory), std::move(runner)));
}

std::shared_ptr<server::RunningExec> PodExecs::Start(const text::Json& pod,
                                                     server::ExecRequest request,
                                                     std::shared_ptr<server::ExecSink> sink) {
  node::ExecCommand command;
  command.pod_directory =
      pods_directory_ + "/" + std::string(text::GetString(pod, {"metadata", "uid"}));
  command.container = std::move(request.container);
  command.argv = std::move(request.command);
  command.has_stdin = request.has_stdin;
  command.has_stdout = request.has_stdout;
  command.has_stderr = request.has_stderr;
  command.has_terminal = request.has_terminal;
  node::ExecClient client;
  client.output = [sink](bool is_stderr, std::string bytes) {
    sink->Write(is_stderr, std::move(bytes));
  };
  client.pending = [sink] { return sink->PendingBytes(); };
  client.when_taken = [sink](size_t limit, std::function<void()> callback) {
    sink->WhenTaken(limit, std::move(callback));
  };
  client.stdin_used = [sink](size_t bytes) { sink->StdinUsed(bytes); };
  client.finish = [sink](base::Result<int> exit_code) { sink->Finish(std::move(exit_code)); };
  return std::make_shared<NodeExec>(runner_->Start(std::move(command), std::move(client)));
}

}  // namespace local::daemon
