// Where the server has commands run in a pod's containers.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "text/json.h"

namespace local::server {

struct ExecRequest {
  std::string container;  // resolved, exists in the pod
  std::vector<std::string> command;
  bool has_stdin = false;
  bool has_stdout = false;
  bool has_stderr = false;  // not with a terminal
  bool has_terminal = false;
};

// Who asked for a command. Called from the source's thread.
class ExecSink {
 public:
  virtual ~ExecSink() = default;
  virtual void Write(bool is_stderr, std::string bytes) = 0;
  virtual size_t PendingBytes() const = 0;
  // As net::Responder::WhenTaken.
  virtual void WhenTaken(size_t limit, std::function<void()> callback) = 0;
  virtual void StdinUsed(size_t bytes) = 0;
  // Once, the last call: the exit code, or why the command could not be run.
  virtual void Finish(base::Result<int> exit_code) = 0;
};

// A command under way; thread safe, nothing blocks.
class RunningExec {
 public:
  virtual ~RunningExec() = default;
  virtual void WriteStdin(std::string bytes) = 0;
  virtual void CloseStdin() = 0;
  virtual void Resize(int columns, int rows) = 0;
  // Nobody listens any more: the command ends.
  virtual void HangUp() = 0;
};

// Thread safe; Start returns at once.
class ExecSource {
 public:
  virtual ~ExecSource() = default;
  virtual std::shared_ptr<RunningExec> Start(const text::Json& pod, ExecRequest request,
                                             std::shared_ptr<ExecSink> sink) = 0;
};

}  // namespace local::server
