// Interface by which the server runs commands in a pod's containers.
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
  bool has_stderr = false;  // never with a terminal
  bool has_terminal = false;
};

// The requester of a command. Called from the source's thread.
class ExecSink {
 public:
  virtual ~ExecSink() = default;
  virtual void Write(bool is_stderr, std::string bytes) = 0;
  virtual size_t PendingBytes() const = 0;
  // Like net::Responder::WhenTaken.
  virtual void WhenTaken(size_t limit, std::function<void()> callback) = 0;
  virtual void StdinUsed(size_t bytes) = 0;
  // The last call, once: the exit code, or why the command could not run.
  virtual void Finish(base::Result<int> exit_code) = 0;
};

// A running command; thread safe, never blocks.
class RunningExec {
 public:
  virtual ~RunningExec() = default;
  virtual void WriteStdin(std::string bytes) = 0;
  virtual void CloseStdin() = 0;
  virtual void Resize(int columns, int rows) = 0;
  // The requester has gone: ends the command.
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
