#include "local/daemon/submitter.h"

#include <fmt/format.h>

#include <array>
#include <string_view>

#include "local/client/config.h"
#include "local/client/connect.h"
#include "local/daemon/admission.h"
#include "local/node/programs/interpreter.h"
#include "local/node/programs/tensorboard.h"
#include "process/spawn.h"
#include "text/json.h"

namespace local::daemon {
namespace {

constexpr std::array<std::string_view, 9> kPassedOn = {
    "PATH", "VIRTUAL_ENV", "CONDA_PREFIX", "CONDA_DEFAULT_ENV", "LD_LIBRARY_PATH",
    "LANG", "LC_ALL",      "TZ",           "PYENV_VERSION"};
constexpr std::array<std::string_view, 8> kProxies = {"http_proxy", "https_proxy", "no_proxy",
                                                      "all_proxy",  "HTTP_PROXY",  "HTTPS_PROXY",
                                                      "NO_PROXY",   "ALL_PROXY"};

}  // namespace

std::string PodEnvironmentJson(const base::Environment& environment) {
  text::Object variables;
  for (const std::string_view name : kPassedOn) {
    if (const auto value = environment.Get(name)) variables[name] = *value;
  }
  for (const std::string_view name : kProxies) {
    const auto value = environment.Get(name);
    // Everybody who may read the job may read its annotations, so they must not contain a password.
    if (value && value->find('@') == std::string::npos) variables[name] = *value;
  }
  return text::ToJson(variables);
}

base::Result<net::Headers> SubmitterHeaders(const base::Environment& environment,
                                            const Config& config) {
  TRY_ASSIGN(const std::string python,
             node::ChooseInterpreter(config.python.value_or(""), environment, node::SystemFiles()));
  return net::Headers{
      {std::string(kPythonHeader), python},
      {std::string(kEnvironmentHeader), PodEnvironmentJson(environment)},
      {std::string(kUmaskHeader), fmt::format("{:04o}", process::CurrentUmask())},
      {std::string(kSessionBusHeader), environment.GetOr("DBUS_SESSION_BUS_ADDRESS", "")}};
}

std::string MissingTensorboard(const base::Environment& environment) {
  const auto config = LoadConfig(environment);
  if (!config) return "";  // reported when the cluster was looked for
  const auto python =
      node::ChooseInterpreter(config->python.value_or(""), environment, node::SystemFiles());
  const auto found = node::FindTensorboard(
      python ? *python : "", environment.GetOr("PATH", ""), node::SystemFiles(),
      [&](const std::string& each) { return node::CanImportTensorboard(each, environment); });
  return found ? "" : found.error().message;
}

}  // namespace local::daemon
