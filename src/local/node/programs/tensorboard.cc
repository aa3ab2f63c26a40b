#include "local/node/programs/tensorboard.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "base/file.h"
#include "base/strings.h"
#include "process/child_command.h"

namespace local::node {

namespace {

constexpr std::chrono::seconds kImportWait{20};
// Prints where a module is, without running it.
constexpr const char* kFindModule =
    "import importlib.util, sys; sys.exit(importlib.util.find_spec('tensorboard.main') is None)";

// TensorBoard's options for the address; all but the last take a value.
constexpr std::array<std::string_view, 3> kListening = {"--host", "--port", "--bind_all"};

// pyenv has a shim for every program that any of its versions has.
bool IsShim(const std::string& path) { return base::DirectoryOf(path).ends_with("/shims"); }

std::optional<std::string> OnPath(std::string_view path, const FileProbe& files) {
  for (const std::string& directory : base::Split(path, ':')) {
    if (!directory.starts_with('/')) continue;
    std::string program = directory + (directory.ends_with('/') ? "" : "/") + "tensorboard";
    if (!IsShim(program) && files.IsExecutable(program)) return program;
  }
  return std::nullopt;
}

}  // namespace

bool IsTensorboard(const std::vector<std::string>& argv) {
  return !argv.empty() && argv[0].substr(argv[0].rfind('/') + 1) == "tensorboard";
}

bool RunsTensorboard(const text::Json& pod) {
  return std::ranges::any_of(text::Items(pod, {"spec", "containers"}), [](const auto& container) {
    const text::Array& command = text::Items(container, {"command"});
    return !command.empty() && IsTensorboard({std::string(text::GetString(command[0], {}))});
  });
}

bool CanImportTensorboard(const std::string& interpreter, const base::Environment& environment) {
  process::ChildCommand command;
  command.argv = {interpreter, "-c", kFindModule};
  for (const auto& [name, value] : environment.values()) {
    command.env.push_back(fmt::format("{}={}", name, value));
  }
  command.cwd = "/";
  command.timeout = kImportWait;
  const auto ended = process::RunToEnd(command, [](std::string_view) {});
  return ended && *ended == 0;
}

base::Result<std::vector<std::string>> FindTensorboard(const std::string& interpreter,
                                                       std::string_view path,
                                                       const FileProbe& files,
                                                       const HasTensorboard& has_tensorboard) {
  if (!interpreter.empty()) {
    const std::string beside = base::DirectoryOf(interpreter) + "/tensorboard";
    if ((!IsShim(beside) && files.IsExecutable(beside)) || has_tensorboard(interpreter)) {
      return std::vector<std::string>{interpreter, "-m", "tensorboard.main"};
    }
  }
  if (auto program = OnPath(path, files)) return std::vector<std::string>{std::move(*program)};
  const std::string python = interpreter.empty() ? "python3" : interpreter;
  return base::Fail(base::Code::kNotFound,
                    fmt::format("TensorBoard is not installed: neither {0} nor PATH has it; "
                                "`{0} -m pip install tensorboard` installs it",
                                python));
}

int PortOfTensorboard(const std::vector<std::string>& argv) {
  int64_t port = kTensorboardPort;
  for (size_t i = 1; i < argv.size(); ++i) {
    std::optional<int64_t> given;
    if (argv[i].starts_with("--port=")) given = base::ParseInt(argv[i].substr(7));
    if (argv[i] == "--port" && i + 1 < argv.size()) given = base::ParseInt(argv[i + 1]);
    if (given && *given > 0 && *given <= 65535) port = *given;
  }
  return static_cast<int>(port);
}

std::vector<std::string> TensorboardCommand(const std::vector<std::string>& argv,
                                            const std::vector<std::string>& program, int port) {
  std::vector<std::string> command = program;
  for (size_t i = 1; i < argv.size(); ++i) {
    const std::string name = argv[i].substr(0, argv[i].find('='));
    if (std::find(kListening.begin(), kListening.end(), name) == kListening.end()) {
      command.push_back(argv[i]);
    } else if (name.size() == argv[i].size() && name != "--bind_all") {
      ++i;  // skips its value
    }
  }
  command.insert(command.end(), {"--host", "127.0.0.1", "--port", std::to_string(port)});
  return command;
}

}  // namespace local::node
