// Credentials: what a kubeconfig's user shows to the server, renewed when it runs out.
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

// Thread safe. Reads files and runs programs where the user's entry says so.
class Credentials {
 public:
  // Runs an exec plugin: its output. RunExecPlugin outside tests.
  using PluginRunner = std::function<base::Result<std::string>(
      const ExecPlugin& plugin, const std::string& exec_info, bool is_interactive)>;

  struct Options {
    KubeSelection selection;
    bool has_terminal = false;  // standard input is one
    PluginRunner run_plugin;
  };
  Credentials(Options options, base::Clock& clock) : options_(std::move(options)), clock_(clock) {}

  struct Shown {
    std::string authorization;      // header, "" is none
    std::string cert_pem, key_pem;  // "" is none
    std::string ca_pem;             // whom to trust; "" is the system's authorities
    int generation = 0;             // another one when something changed
  };
  // What to show now; blocks while a file is read or a program runs. Files are read again when they
  // have aged, and one that is being replaced counts as it was.
  base::Result<Shown> Show();
  // The server refused that generation (401): whether there is another to try.
  bool Refused(int generation);
  // No connection came about with that generation: whether the files say something else by now. No
  // program is run.
  bool HaveFilesChanged(int generation);
  // Of the user to act as; the same for every request.
  net::Headers ImpersonationHeaders() const;

  // For the user, after a 401: who was refused, and why that may be.
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

// A file that a kubeconfig names: `certificate-authority "/x": No such file or directory`.
base::Result<std::string> ReadNamedFile(std::string_view field, const std::string& path);

}  // namespace cluster
