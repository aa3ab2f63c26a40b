#include "launch/workers/worker_command.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "base/file.h"
#include "base/strings.h"
#include "launch/machine/machine.h"
#include "process/spawn.h"

namespace launch {
namespace {

// "12.34." with room to spare.
constexpr size_t kLongestVersion = 20;

// --run-path: what the original does in a child of multiprocessing, including the error file. The
// script's objects live until Python ends, after the functions of atexit.
constexpr const char* kRunPathProgram =
    "import os, runpy, sys\n"
    "sys.argv = sys.argv[1:]\n"
    "try:\n"
    "    kept = runpy.run_path(sys.argv[0], run_name='__main__')\n"
    "except SystemExit as e:\n"
    "    kept = e\n"
    "    raise\n"
    "except Exception as e:\n"
    "    import json, time, traceback\n"
    "    path = os.environ.get('TORCHELASTIC_ERROR_FILE')\n"
    "    if path:\n"
    "        with open(path, 'w') as f:\n"
    "            json.dump({'message': {'message': f'{type(e).__name__}: {e}', 'extraInfo': {\n"
    "                'py_callstack': traceback.format_exc(),\n"
    "                'timestamp': str(int(time.time()))}}}, f)\n"
    "    raise\n";

bool IsExecutableFile(const std::string& path) {
  struct stat info{};
  return ::stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode) &&
         ::access(path.c_str(), X_OK) == 0;
}

base::Status CheckScript(const std::string& script) {
  if (script == "-") return {};  // Python reads it from stdin
  struct stat info{};
  if (::stat(script.c_str(), &info) != 0) {
    std::error_code failed;
    const std::string here = std::filesystem::current_path(failed).string();
    return base::Fail(base::Code::kNotFound,
                      fmt::format("script \"{}\" is not here (working directory {})", script,
                                  failed ? "no longer exists" : here));
  }
  if (S_ISREG(info.st_mode) && ::access(script.c_str(), R_OK) != 0) {
    return base::Fail(base::Code::kPermissionDenied,
                      fmt::format("script \"{}\": Permission denied", script));
  }
  return {};
}

std::string ReplaceLocalRank(const std::string& text, int local_rank) {
  return ExpandTemplate(text, {{"local_rank", fmt::format("{}", local_rank)}});
}

// The worker's one device, in the variables of CUDA and ROCm.
void SetVirtualDevice(const base::Environment& environment, int local_rank,
                      std::map<std::string, std::string>& to) {
  const VisibleDevices visible = VisibleDevicesOf(environment);
  const auto index = static_cast<size_t>(local_rank);
  const std::string device =
      index < visible.devices.size() ? visible.devices[index] : fmt::format("{}", local_rank);
  to["CUDA_VISIBLE_DEVICES"] = device;
  to[visible.variable] = device;
}

}  // namespace

base::Result<std::string> FindPython(const std::string& asked, const base::Environment& environment,
                                     const std::string& launcher_dir) {
  const std::string path_list = environment.GetOr("PATH", "/usr/local/bin:/usr/bin:/bin");
  if (!asked.empty()) {
    auto found = process::FindProgram(asked, path_list);
    if (!found || !IsExecutableFile(*found)) {
      return base::Fail(base::Code::kNotFound,
                        fmt::format("python interpreter \"{}\" (--python, PYTHON_EXEC) is not an "
                                    "executable file",
                                    asked));
    }
    // Absolute, so that it works from any working directory, like torchrun's sys.executable.
    return std::filesystem::absolute(*found).string();
  }
  std::vector<std::string> candidates;
  for (const char* variable : {"VIRTUAL_ENV", "CONDA_PREFIX"}) {
    if (const auto prefix = environment.Get(variable))
      candidates.push_back(*prefix + "/bin/python");
  }
  // If the launcher is installed into an environment, as pip installs torchrun.
  if (::access((launcher_dir + "/../pyvenv.cfg").c_str(), R_OK) == 0) {
    candidates.insert(candidates.begin(), launcher_dir + "/python");
  }
  for (const std::string& candidate : candidates) {
    if (IsExecutableFile(candidate)) return candidate;
  }
  for (const char* name : {"python3", "python"}) {
    if (auto found = process::FindProgram(name, path_list)) return found;
  }
  return base::Fail(base::Code::kNotFound,
                    "no python3 or python on PATH: activate an environment, or name the "
                    "interpreter with --python");
}

base::Result<std::string> FindProgramOf(const Options& options,
                                        const base::Environment& environment,
                                        const std::string& launcher_dir) {
  if (options.kind == ProgramKind::kProgram) {
    auto found = process::FindProgram(options.program, environment.GetOr("PATH", "/usr/bin:/bin"));
    if (!found) {
      return base::Fail(found.error().code,
                        fmt::format("program \"{}\" (--no-python): {}", options.program,
                                    found.error().code == base::Code::kPermissionDenied
                                        ? "Permission denied"
                                        : "No such file or directory on PATH"));
    }
    if (!IsExecutableFile(*found)) {
      struct stat info{};
      const bool exists = ::stat(found->c_str(), &info) == 0;
      return base::Fail(exists ? base::Code::kPermissionDenied : base::Code::kNotFound,
                        fmt::format("program \"{}\" (--no-python): {}", options.program,
                                    exists ? "it is not executable (chmod +x, or omit "
                                             "--no-python for a Python script)"
                                           : "No such file or directory"));
    }
    return found;
  }
  for (int rank = 0; rank < options.nproc_per_node && options.kind != ProgramKind::kModule;
       ++rank) {
    const std::string script = ReplaceLocalRank(options.program, rank);
    TRY(CheckScript(script));
    if (script == options.program) break;  // the same for all
  }
  return FindPython(options.python, environment, launcher_dir);
}

std::vector<std::string> WorkerArguments(const Options& options, const std::string& executable,
                                         int local_rank, bool dashed_local_rank) {
  std::vector<std::string> words = {executable};
  const std::string program = ReplaceLocalRank(options.program, local_rank);
  switch (options.kind) {
    case ProgramKind::kScript:
      words.insert(words.end(), {"-u", program});
      break;
    case ProgramKind::kModule:
      words.insert(words.end(), {"-u", "-m", program});
      break;
    case ProgramKind::kRunPath:
      words.insert(words.end(), {"-u", "-c", kRunPathProgram, program});
      break;
    case ProgramKind::kProgram:
      words[0] = options.program;
      break;
  }
  if (options.passes_local_rank) {
    words.push_back(
        fmt::format("{}={}", dashed_local_rank ? "--local-rank" : "--local_rank", local_rank));
  }
  for (const std::string& arg : options.args) words.push_back(ReplaceLocalRank(arg, local_rank));
  return words;
}

std::vector<std::string> WorkerEnvironment(const Options& options,
                                           const base::Environment& environment, const Group& group,
                                           int local_rank, const std::string& error_file) {
  std::map<std::string, std::string> all = environment.values();
  const auto set = [&](const char* name, int value) { all[name] = fmt::format("{}", value); };
  set("RANK", group.first_rank + local_rank);
  set("LOCAL_RANK", options.has_virtual_local_rank ? 0 : local_rank);
  set("WORLD_SIZE", group.world_size);
  set("LOCAL_WORLD_SIZE", options.nproc_per_node);
  set("GROUP_RANK", group.group_rank);
  set("GROUP_WORLD_SIZE", group.group_world_size);
  set("ROLE_RANK", group.role_first_rank + local_rank);
  set("ROLE_WORLD_SIZE", group.role_world_size);
  all["ROLE_NAME"] = options.role;
  all["MASTER_ADDR"] = group.master_addr;
  set("MASTER_PORT", group.master_port);
  set("TORCHELASTIC_RESTART_COUNT", group.restart_count);
  set("TORCHELASTIC_MAX_RESTARTS", options.max_restarts);
  all["TORCHELASTIC_RUN_ID"] = options.run_id;
  all["TORCHELASTIC_USE_AGENT_STORE"] = "True";
  all["TORCHELASTIC_ERROR_FILE"] = error_file;
  all["TORCHELASTIC_SIGNALS_TO_HANDLE"] = options.signals_to_handle;
  all.try_emplace("TORCH_NCCL_ASYNC_ERROR_HANDLING", "1");
  if (options.has_virtual_local_rank) SetVirtualDevice(environment, local_rank, all);
  std::vector<std::string> entries;
  entries.reserve(all.size());
  for (const auto& [name, value] : all) entries.push_back(name + "=" + value);
  return entries;
}

std::string SetSharedVariables(const Options& options, int cpus, base::Environment& environment) {
  if (options.nproc_per_node < 2 || environment.values().contains("OMP_NUM_THREADS")) return "";
  const int threads = std::max(1, cpus / options.nproc_per_node);
  environment.Set("OMP_NUM_THREADS", fmt::format("{}", threads));
  return fmt::format("OMP_NUM_THREADS={} in each process ({} CPUs, {} processes); set it to choose",
                     threads, cpus, options.nproc_per_node);
}

std::string ExpandTemplate(std::string_view template_text,
                           const std::vector<std::pair<std::string, std::string>>& values) {
  std::string out;
  size_t at = 0;
  while (at < template_text.size()) {
    bool is_replaced = false;
    for (const auto& [name, value] : values) {
      const std::string braced = "${" + name + "}";
      const std::string_view rest = template_text.substr(at);
      const bool is_plain =
          rest.starts_with("$" + name) &&
          (rest.size() == name.size() + 1 ||
           (std::isalnum(static_cast<unsigned char>(rest[name.size() + 1])) == 0 &&
            rest[name.size() + 1] != '_'));
      if (!rest.starts_with(braced) && !is_plain) continue;
      out += value;
      at += is_plain ? name.size() + 1 : braced.size();
      is_replaced = true;
      break;
    }
    if (is_replaced) continue;
    // As in Python's string.Template: $$ is a $.
    if (template_text.substr(at).starts_with("$$")) ++at;
    out += template_text[at++];
  }
  return out;
}

std::string TitleOf(const Options& options) {
  return options.kind == ProgramKind::kRunPath ? "run_script_path" : options.program;
}

std::optional<std::pair<int, int>> TorchVersionOf(const std::string& python) {
  namespace fs = std::filesystem;
  std::error_code failed;
  std::vector<fs::path> libraries;
  for (const fs::path& prefix : {fs::path(python).parent_path().parent_path(),
                                 fs::canonical(python, failed).parent_path().parent_path()}) {
    for (const auto& entry : fs::directory_iterator(prefix / "lib", failed)) {
      if (!entry.path().filename().string().starts_with("python3")) continue;
      libraries.push_back(entry.path() / "site-packages");
      libraries.push_back(entry.path() / "dist-packages");
    }
  }
  constexpr std::string_view kBefore = "__version__ = '";
  for (const fs::path& library : libraries) {
    const auto text = base::ReadFile((library / "torch" / "version.py").string(), 1 << 16);
    const size_t at = text ? text->find(kBefore) : std::string::npos;
    if (at == std::string::npos) continue;
    const auto parts = base::Split(text->substr(at + kBefore.size(), kLongestVersion), '.');
    const auto major = base::ParseInt(parts[0]);
    const auto minor = parts.size() > 1 ? base::ParseInt(parts[1]) : std::nullopt;
    if (major && minor) return std::pair(static_cast<int>(*major), static_cast<int>(*minor));
  }
  return std::nullopt;
}

bool UsesDashedLocalRank(const std::string& python) {
  const auto version = TorchVersionOf(python);
  return !version || version->first >= 2;
}

void SetVariablesOfTorch(const Options& options, const std::string& python,
                         base::Environment& environment) {
  if (options.kind == ProgramKind::kProgram) return;
  const auto version = TorchVersionOf(python);
  const std::string name = "NCCL_ASYNC_ERROR_HANDLING";
  if (!version || *version >= std::pair(2, 2) || environment.values().contains(name)) return;
  environment.Set(name, "1");
}

}  // namespace launch
