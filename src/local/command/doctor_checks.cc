#include "local/command/doctor_checks.h"

#include <fmt/format.h>
#include <netdb.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <optional>

#include "api/resources.h"
#include "base/file.h"
#include "base/machine/disk.h"
#include "base/machine/host_name.h"
#include "base/strings.h"
#include "local/client/config.h"
#include "local/client/connect.h"
#include "local/node/devices/gpu.h"
#include "local/node/pod/cgroup.h"
#include "local/node/programs/interpreter.h"
#include "local/node/view/namespace_limits.h"
#include "process/program_output.h"
#include "text/json.h"

namespace local::command {
namespace {

using State = Finding::State;

constexpr double kGigabyte = 1e9;
constexpr uint64_t kLittleDisk = 5'000'000'000;
constexpr uint64_t kLittleShm = 1 << 30;
constexpr rlim_t kFewDescriptors = 4096;
constexpr std::chrono::seconds kDriverPatience{15};

// Ends by itself, because a driver or a network may block it for ever.
constexpr const char* kPythonProbe = R"(
import json, signal, sys
signal.alarm(60)
facts = {"version": sys.version.split()[0]}
try:
    import torch
    facts["torch"] = torch.__version__
    facts["gpus"] = torch.cuda.device_count() if torch.cuda.is_available() else 0
    import torch.distributed as dist
    if dist.is_available():
        dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
        dist.all_reduce(torch.ones(1))
        facts["gloo"] = True
except BaseException as error:
    facts["error"] = type(error).__name__ + ": " + str(error).strip().split("\n")[0]
print(json.dumps(facts))
)";

Finding CheckFolder(const char* name, const std::string& path) {
  const base::Status made = base::MakeDirs(path, 0700);
  if (!made || ::access(path.c_str(), W_OK) != 0) {
    return {State::kBad, name, fmt::format("{} cannot be written to", path),
            made ? "give yourself write permission" : made.error().message};
  }
  const base::DiskSpace space = base::DiskSpaceOf(path);
  const std::string text =
      fmt::format("{}, {:.1f} GB free", path, static_cast<double>(space.free) / kGigabyte);
  if (space.free >= kLittleDisk) return {State::kGood, name, text, ""};
  return {State::kPoor, name, text,
          "make room: `muster prune --size=5G`, or another XDG_STATE_HOME"};
}

Finding CheckRuntimeFolder(const daemon::Paths& paths) {
  if (const base::Status made = daemon::MakePrivateDirs(paths); !made) {
    return {State::kBad, "sockets", paths.runtime, made.error().message};
  }
  return {State::kGood, "sockets", paths.runtime, ""};
}

// In a child process, so that this one stays in its namespaces.
Finding CheckNamespaces() {
  const int wanted = CLONE_NEWNS | CLONE_NEWPID | (::geteuid() == 0 ? 0 : CLONE_NEWUSER);
  const pid_t child = ::fork();
  if (child == 0) ::_exit(::unshare(wanted) == 0 ? 0 : errno);
  int status = 0;
  while (child > 0 && ::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (child > 0 && status == 0) {
    return {State::kGood, "namespaces", "pods get their own view of the machine", ""};
  }
  const int why = child < 0 ? errno : WEXITSTATUS(status);
  return {State::kBad, "namespaces", "cannot be created",
          node::ExplainForbidden("make a namespace", why, node::ReadLimits()).message};
}

Finding CheckCgroups(const base::Environment& environment) {
  const node::CgroupPlace place = node::FindCgroupPlace(::geteuid(), environment);
  if (place.has_cpu && place.has_memory) {
    return {State::kGood, "cgroups", "the kernel enforces --memory and --cpu", ""};
  }
  return {State::kPoor, "cgroups", place.why,
          place.has_memory ? "--cpu is not enforced"
                           : "--memory is enforced by monitoring, --cpu is not enforced"};
}

// Does not wait for a driver that hangs.
Finding CheckGpus(const base::Environment& environment) {
  struct Shared {
    std::mutex mutex;
    std::condition_variable known;
    std::optional<gpu::Inventory> inventory;
  };
  const auto shared = std::make_shared<Shared>();
  const node::GpuDiscovery discovery(gpu::Places::Of(environment),
                                     [shared](gpu::Inventory inventory) {
                                       const std::lock_guard lock(shared->mutex);
                                       shared->inventory = std::move(inventory);
                                       shared->known.notify_all();
                                     });
  std::unique_lock lock(shared->mutex);
  shared->known.wait_for(lock, kDriverPatience, [&] { return shared->inventory.has_value(); });
  if (!shared->inventory) {
    return {State::kBad, "gpus", "the driver does not answer",
            "check whether `nvidia-smi` answers: if it hangs, reboot the machine"};
  }
  const gpu::Inventory& inventory = *shared->inventory;
  if (inventory.devices.empty()) {
    return {State::kPoor, "gpus", "none", inventory.reason + "; jobs run on the CPU"};
  }
  const std::string text = fmt::format("{} ({}), driver {}", inventory.devices.size(),
                                       inventory.devices.front().name, inventory.driver_version);
  std::vector<std::string> troubles;
  for (const gpu::Device& device : inventory.devices) {
    std::vector<std::string> one = gpu::TroublesOf(device, nullptr);
    std::move(one.begin(), one.end(), std::back_inserter(troubles));
  }
  if (!troubles.empty()) {
    return {State::kPoor, "gpus", text,
            fmt::format("{}: have it looked at before it gets work", fmt::join(troubles, "; "))};
  }
  if (inventory.reason.empty()) return {State::kGood, "gpus", text, ""};
  return {State::kPoor, "gpus", text, inventory.reason};
}

Finding CheckShm() {
  const base::DiskSpace space = base::DiskSpaceOf("/dev/shm");
  const std::string text =
      fmt::format("{:.1f} GB in /dev/shm", static_cast<double>(space.total) / kGigabyte);
  if (space.total >= kLittleShm) return {State::kGood, "shm", text, ""};
  return {State::kPoor, "shm", text,
          "PyTorch's data loaders pass batches through it: `mount -o remount,size=8G /dev/shm`, or "
          "start the container with --shm-size=8g"};
}

Finding CheckDescriptors() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) limit.rlim_max = 0;
  const std::string text = limit.rlim_max == RLIM_INFINITY
                               ? "no limit of open files"
                               : fmt::format("{} open files", limit.rlim_max);
  if (limit.rlim_max >= kFewDescriptors) return {State::kGood, "limits", text, ""};
  return {State::kPoor, "limits", text,
          fmt::format("a large job needs more: `nofile {}` in /etc/security/limits.conf",
                      kFewDescriptors)};
}

Finding CheckPrograms(const base::Environment& environment) {
  struct Program {
    const char* name;
    const char* what_for;
  };
  constexpr std::array<Program, 4> kPrograms = {{{"git", "--sync-mode=git"},
                                                 {"rsync", "--sync-mode=rsync"},
                                                 {"tar", "`run` on another cluster"},
                                                 {"diff", "`diff` and `compare --diff`"}}};
  std::vector<std::string> missing;
  std::string packages;
  for (const Program& program : kPrograms) {
    if (process::OutputOf({program.name, "--version"}, environment)) continue;
    missing.push_back(fmt::format("{} ({})", program.name, program.what_for));
    packages +=
        fmt::format(" {}", program.name == std::string_view("diff") ? "diffutils" : program.name);
  }
  if (missing.empty()) return {State::kGood, "programs", "git, rsync, tar, diff", ""};
  return {State::kPoor, "programs", "missing: " + base::Join(missing, ", "),
          "`apt-get install" + packages + "`"};
}

Finding CheckLauncher() {
  const auto self = daemon::OwnExecutable();
  const std::string path = self ? base::DirectoryOf(*self) + "/muster-launch" : "muster-launch";
  if (::access(path.c_str(), X_OK) == 0) return {State::kGood, "launcher", path, ""};
  return {State::kPoor, "launcher", path + " does not exist",
          "install it beside muster: without it, pods use PyTorch's own torchrun"};
}

// Gloo and the rendezvous of the ranks look up the host's own name.
Finding CheckHostName() {
  const std::string name = base::HostName();
  addrinfo* found = nullptr;
  const int failed = ::getaddrinfo(name.c_str(), nullptr, nullptr, &found);
  if (failed == 0) {
    ::freeaddrinfo(found);
    return {State::kGood, "host name", name + " has an address", ""};
  }
  return {State::kPoor, "host name",
          fmt::format("{} has no address: {}", name, ::gai_strerror(failed)),
          fmt::format("add `127.0.1.1 {}` to /etc/hosts, or set GLOO_SOCKET_IFNAME=lo", name)};
}

}  // namespace

std::vector<Finding> CheckMachine(const base::Environment& environment) {
  const daemon::Paths paths = daemon::PathsOf(environment);
  return {CheckFolder("state", paths.state),
          CheckRuntimeFolder(paths),
          CheckNamespaces(),
          CheckCgroups(environment),
          CheckGpus(environment),
          CheckShm(),
          CheckDescriptors(),
          CheckPrograms(environment),
          CheckLauncher(),
          CheckHostName()};
}

Finding CheckPython(const base::Environment& environment) {
  const auto config = daemon::LoadConfig(environment);
  if (!config) return {State::kBad, "python", "config.yaml", config.error().message};
  const auto chosen =
      node::ChooseInterpreter(config->python.value_or(""), environment, node::SystemFiles());
  if (!chosen) return {State::kBad, "python", "none", chosen.error().message};
  const auto asked = process::OutputOf({*chosen, "-c", kPythonProbe}, environment);
  if (!asked) return {State::kBad, "python", *chosen, asked.error().message};
  // A Python may print a greeting of its own first.
  const std::string_view out = base::Trim(asked->out);
  const auto facts = text::ParseJson(out.substr(out.rfind('\n') + 1));
  if (!facts) {
    const std::string_view err = base::Trim(asked->err);
    return {State::kBad, "python", fmt::format("{} ends with {}", *chosen, asked->exit_code),
            asked->exit_code == 128 + SIGALRM ? "it did not answer within a minute"
            : err.empty() ? fmt::format("see what `{} -c 'import torch'` does", *chosen)
                          : std::string(err)};
  }
  const std::string_view error = text::GetString(*facts, {"error"});
  std::string text = fmt::format("{} {}", *chosen, text::GetString(*facts, {"version"}));
  const std::string_view torch = text::GetString(*facts, {"torch"});
  if (torch.empty()) {
    // Debian's package is seen by Debian's Python alone.
    const std::string install = chosen->starts_with("/usr/bin/")
                                    ? "apt-get install python3-torch"
                                    : *chosen + " -m pip install torch";
    return {State::kPoor, "python", text + ", no torch",
            fmt::format("{}: `{}`, or activate a virtualenv that has it", error, install)};
  }
  text += fmt::format(", torch {}", torch);
  if (const int64_t gpus = text::GetInt(*facts, {"gpus"}).value_or(0); gpus > 0) {
    text += fmt::format(", {} GPUs", gpus);
  }
  if (text::GetBool(*facts, {"gloo"}).value_or(false)) {
    return {State::kGood, "python", text + ", gloo works", ""};
  }
  return {State::kBad, "python", text + ", gloo does not work",
          fmt::format("{}: try GLOO_SOCKET_IFNAME=lo",
                      error.empty() ? "torch is built without distributed" : error)};
}

std::vector<Finding> CheckKubernetes(cluster::Client& client, const std::string& namespace_name) {
  cluster::ListOptions options;
  options.namespace_name = namespace_name;
  options.limit = 1;
  const auto listed = client.List(api::kPyTorchJobs, options);
  if (!listed && listed.error().code == base::Code::kNotFound) {
    return {{State::kBad, "cluster", "it has no PyTorchJobs", "run `muster install`"}};
  }
  if (!listed)
    return {{State::kBad, "cluster", "does not answer, or refuses the request",
             listed.error().message}};
  const text::Json container =
      text::Object{{"name", "pytorch"}, {"image", "none"}, {"command", text::Array{"true"}}};
  const text::Json job = text::Object{
      {"apiVersion", api::kPyTorchJobs.api_version()},
      {"kind", api::kPyTorchJobs.kind},
      {"metadata", text::Object{{"generateName", "doctor-"}, {"namespace", namespace_name}}},
      {"spec",
       text::Object{
           {"pytorchReplicaSpecs",
            text::Object{
                {"Master",
                 text::Object{
                     {"replicas", 1},
                     {"template",
                      text::Object{
                          {"spec", text::Object{{"containers", text::Array{container}}}}}}}}}}}}};
  const auto made = client.Create(api::kPyTorchJobs, namespace_name, job, true);
  if (!made) {
    return {{State::kBad, "cluster", fmt::format("no job can be created in {}", namespace_name),
             made.error().message}};
  }
  return {{State::kGood, "cluster",
           fmt::format("PyTorchJobs can be listed and created in {}", namespace_name), ""}};
}

}  // namespace local::command
