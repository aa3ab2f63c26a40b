// Credentials: what a kubeconfig's user presents to the server; renewed when they expire.
#pragma once

#include <chrono>
#include <functional>
#include <mutex>
#include <optional>
#include <string>

#include "base/clock.h"
#include "base/environment.h"
#include "base/result.h"
#include "cluster/kubeconfig/exec_plugin.h"
#include "cluster/kubeconfig/kubeconfig.h"
#include "net/http/types.h"

namespace cluster {

// Thread safe. Reads files and runs programs if the user's entry says so.
class Credentials {
 public:
  // Runs an exec plugin and returns its output. RunExecPlugin, except in tests.
  using PluginRunner = std::function<base::Result<std::string>(
      const ExecPlugin& plugin, const std::string& exec_info, bool is_interactive)>;

  struct Options {
    KubeSelection selection;
    bool has_terminal = false;  // standard input is a terminal
    PluginRunner run_plugin;
  };
  Credentials(Options options, base::Clock& clock) : options_(std::move(options)), clock_(clock) {}

  struct Shown {
    std::string authorization;      // header; "": none
    std::string cert_pem, key_pem;  // "": none
    std::string ca_pem;             // trusted authorities; "": the system's
    int generation = 0;             // changes whenever something changed
  };
  // The present credentials; blocks while a file is read or a program runs. Files are read again
  // after a while; one that is being replaced counts as unchanged.
  base::Result<Shown> Show();
  // The server refused that generation (401): returns whether there is another one to try.
  bool Refused(int generation);
  // No connection could be made with that generation: returns whether the files have changed. Runs
  // no program.
  bool HaveFilesChanged(int generation);
  // Headers for the impersonated user; the same for every request.
  net::Headers ImpersonationHeaders() const;

  // For the user, after a 401: who was refused, and a possible reason.
  std::string WhyRefused();

 private:
  base::Status LoadAuthorities();
  base::Status LoadCertificate();
  base::Status LoadToken();
  base::Status LoadBasic();
  base::Status RunPlugin();
  bool IsStale() const;
  bool HasFiles() const;

  const Options options_;
  base::Clock& clock_;
  std::mutex mutex_;
  bool is_loaded_ = false;
  Shown shown_;
  std::optional<base::Time> expires_;
  std::chrono::steady_clock::time_point loaded_at_{};
};

// A file named in a kubeconfig: `certificate-authority "/x": No such file or directory`.
base::Result<std::string> ReadNamedFile(std::string_view field, const std::string& path);

}  // namespace cluster
