// A pod's `tensorboard` on this machine: which program it is, and where it listens. The objects are
// the same as on any cluster (compat/arena.md 3.3); what only this machine needs is added here.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/environment.h"
#include "base/result.h"
#include "local/node/programs/interpreter.h"
#include "text/json.h"

namespace local::node {

// TensorBoard's default port.
inline constexpr int kTensorboardPort = 6006;

// Whether the command is TensorBoard's own program, by its name.
bool IsTensorboard(const std::vector<std::string>& argv);
// Whether a container of the pod runs such a command.
bool RunsTensorboard(const text::Json& pod);

// Whether `interpreter` can import TensorBoard; runs it, for a few seconds at most.
using HasTensorboard = std::function<bool(const std::string& interpreter)>;
bool CanImportTensorboard(const std::string& interpreter, const base::Environment& environment);

// The command that replaces `tensorboard`: from the interpreter's environment, otherwise from
// `path`. kNotFound says how to install it. `interpreter` "": the machine has none.
base::Result<std::vector<std::string>> FindTensorboard(const std::string& interpreter,
                                                       std::string_view path,
                                                       const FileProbe& files,
                                                       const HasTensorboard& has_tensorboard);

// The port in the command, otherwise TensorBoard's default.
int PortOfTensorboard(const std::vector<std::string>& argv);
// The command with its first word replaced by `program`, listening on `port` of loopback only.
std::vector<std::string> TensorboardCommand(const std::vector<std::string>& argv,
                                            const std::vector<std::string>& program, int port);

}  // namespace local::node
