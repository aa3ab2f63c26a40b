// The daemon's side of commands that run in a pod beside its own (kubectl exec): starts them
// through the pod's shim and carries their input and output, which the shim never sees.
//
//   client ──stdin──> Exec ──pipe or terminal──> command (a child of the shim)
//   client <─Output── loop <─pipes or terminal─┘
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/result.h"

namespace local::node {

struct ExecCommand {
  std::string pod_directory;
  std::string container;
  std::vector<std::string> argv;
  bool has_stdin = false;
  bool has_stdout = false;
  bool has_stderr = false;  // never with a terminal, which has one output
  bool has_terminal = false;
};

// The requester of a command. Called from the runner's thread; must not block.
struct ExecClient {
  std::function<void(bool is_stderr, std::string bytes)> output;
  // How much output it has not taken yet, and a function that calls back once that is at most
  // `limit`.
  std::function<size_t()> pending;
  std::function<void(size_t limit, std::function<void()> callback)> when_taken;
  // The command has taken `bytes` of its standard input, or they were dropped.
  std::function<void(size_t bytes)> stdin_used;
  // The last call, once: the exit code, 128 + n after signal n; or why the command did not start.
  std::function<void(base::Result<int> exit_code)> finish;
};

// A running command. Callable from any thread; without effect after the command's end.
class Exec {
 public:
  virtual ~Exec() = default;
  virtual void WriteStdin(std::string bytes) = 0;
  // The command's input ends: ^D on a terminal.
  virtual void CloseStdin() = 0;
  virtual void Resize(int columns, int rows) = 0;
  // The client has gone: `finish` is not called any more, and the command is hung up.
  virtual void HangUp() = 0;
};

// One thread for all commands. Thread safe.
class ExecRunner {
 public:
  static base::Result<std::unique_ptr<ExecRunner>> Create();
  // Hangs up running commands.
  ~ExecRunner();

  // Returns at once.
  std::shared_ptr<Exec> Start(ExecCommand command, ExecClient client);

 private:
  class Session;
  struct Core;

  explicit ExecRunner(std::shared_ptr<Core> core);

  const std::shared_ptr<Core> core_;
  std::jthread thread_;
};

}  // namespace local::node
