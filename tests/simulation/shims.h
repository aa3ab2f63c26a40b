// Shims as processes of the simulation. They write what real ones write (shim.json, status.json,
// the logs), with the real writers; their programs are modelled.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/fd.h"
#include "local/node/agent/shims.h"
#include "processes.h"
#include "threads.h"

namespace simulation {

class Machine;

// The command of a program that runs until it is asked to end.
inline constexpr const char* kServe = "serve";
// A program's variable that says how many settings it is to find (users.cc): variables whose names
// begin with kSetting, and folders of kSettings with a file kSettingKey.
inline constexpr const char* kSettingCount = "SETTINGS";
inline constexpr const char* kSetting = "SETTING_";
inline constexpr const char* kSettings = "/settings/";
inline constexpr const char* kSettingKey = "key";
inline constexpr const char* kSettingValue = "value";

// A shim's process. SIGTERM asks it to end with the grace that comes along, SIGQUIT at once
// (local/node/pod/shim_files.h).
struct Shim : public KernelProcess {
  pid_t pid() const override { return process.pid; }
  void Signal(int signal, const siginfo_t* info) override;

  Process process;
  local::node::PodSpec spec;
  std::vector<base::Fd> locks;
  base::Fd lock;  // of its folder
  bool is_ready = false;
  bool is_over = false;
  bool is_asked_to_end = false;
  Nanos kill_at = kNever;
  bool has_stray = false;  // its program lives although it is gone
};

class Shims : public local::node::ShimLauncher {
 public:
  explicit Shims(Machine& machine);
  ~Shims() override;

  base::Result<std::unique_ptr<local::node::RunningShim>> Start(
      const local::node::PodSpec& spec, const std::vector<int>& locks) override;
  bool WasStarted(const std::string& directory) override;
  base::Result<std::unique_ptr<local::node::RunningShim>> Adopt(
      const std::string& directory) override;
  bool IsFromEarlierBoot(const std::string& directory) override;
  base::Result<local::node::PodReport> ReadReport(const std::string& directory) override;
  base::Status KillStrays(const std::string& directory, std::string_view pod_uid) override;

  // One that runs, by the dice; false when none does.
  bool KillOne();
  void KillAll();    // with their programs
  void AwaitEnds();  // of those that are dead or have said their last word
  size_t Running() const;
  bool Runs(const std::string& pod_uid) const;
  std::string Describe() const;
  // Whether the pod's program succeeded, once its last report was on the disk; nullopt before.
  std::optional<bool> Ended(const std::string& pod_uid) const;

 private:
  void Run(Shim& shim);
  void RunContainers(Shim& shim);
  void CheckSettings(const Shim& shim) const;
  void End(Shim& shim);
  pid_t FreeNumber();

  Machine& machine_;
  // The product's own, for all but the start of a process.
  const std::unique_ptr<local::node::ShimLauncher> real_;
  uint64_t starts_ = 0;
  std::vector<std::unique_ptr<Shim>> shims_;
  std::set<std::string> begun_;         // uids of pods whose program has run
  std::map<std::string, int> printed_;  // lines, by uid
  std::map<std::string, bool> ended_;   // by uid
};

}  // namespace simulation
