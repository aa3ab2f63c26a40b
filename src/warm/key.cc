#include "warm/key.h"

#include <fmt/format.h>
#include <sched.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <initializer_list>

#include "base/digest/hmac.h"
#include "base/file.h"
#include "base/strings.h"

namespace warm {
namespace {

constexpr std::array<std::string_view, 13> kOfOneRank = {
    "RANK",          "LOCAL_RANK",       "WORLD_SIZE",  "LOCAL_WORLD_SIZE",
    "GROUP_RANK",    "GROUP_WORLD_SIZE", "ROLE_RANK",   "ROLE_WORLD_SIZE",
    "ROLE_NAME",     "MASTER_ADDR",      "MASTER_PORT", "MUSTER_STACKS",
    "MUSTER_LOG_DIR"};

// Read only when a device is first used.
constexpr std::array<std::string_view, 3> kReadLater = {
    "CUDA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "NVIDIA_VISIBLE_DEVICES"};

// Python's tempfile keeps its first result, and so do modules that use it while they are imported.
constexpr std::array<std::string_view, 3> kKept = {"TMPDIR", "TEMP", "TMP"};

// Variables of the loader, the C library, Python, and the libraries that torch and numpy bring; and
// the ones that distinguish pods, because a pod ends with everything that it started.
// OMP_NUM_THREADS is included, because libgomp and OpenBLAS read it once, and a later
// omp_set_num_threads does not apply to threads made after it. NCCL and Gloo are not included: they
// read their variables when a process group is created.
constexpr std::array<std::string_view, 44> kLibraryPrefixes = {
    "LD_",      "LC_",     "LANG",    "TZ",     "GLIBC_",   "MALLOC_", "PYTHON",
    "OMP_",     "GOMP_",   "KMP_",    "MKL_",   "OPENBLAS", "GOTO",    "BLIS_",
    "VECLIB",   "NUMEXPR", "NPY_",    "NUMPY_", "TORCH",    "PYTORCH", "ATEN_",
    "C10_",     "CUDA",    "NVIDIA_", "CUBLAS", "CUDNN",    "TP_",     "HIP_",
    "ROC",      "HSA_",    "ONEDNN",  "DNNL",   "TRITON",   "KINETO",  "FX_",
    "UCX_",     "XLA_",    "OMPI_",   "I_MPI_", "TBB_",     "JE_",     "MUSTER_POD_UID",
    "TCMALLOC", "MIMALLOC"};

std::string_view NameOf(std::string_view entry) { return entry.substr(0, entry.find('=')); }

// The lines of /proc/self/status that show a process's rights and restrictions.
std::string LinesOfStatus(std::initializer_list<const char*> fields) {
  const auto status = base::ReadFile("/proc/self/status", 1 << 16);
  std::string lines;
  for (const std::string& line : base::Split(status ? *status : std::string(), '\n')) {
    for (const char* field : fields) {
      if (line.starts_with(field)) lines += line + "\n";
    }
  }
  return lines;
}

std::string Target(const std::string& link) {
  std::error_code failed;
  return std::filesystem::read_symlink(link, failed).string() + "\n";
}

// What numactl, ionice, setarch and the like set, and an exec keeps.
std::string InheritedHabits() {
  constexpr int kIoprioOfProcess = 1;
  int memory_policy = 0;
  std::array<unsigned long, 16> memory_nodes{};  // 1024: the most that Linux can have
  ::syscall(SYS_get_mempolicy, &memory_policy, memory_nodes.data(), memory_nodes.size() * 64, 0, 0);
  std::string habits = fmt::format("memory {}", memory_policy);
  for (const unsigned long nodes : memory_nodes) habits += fmt::format(" {:x}", nodes);
  return habits + fmt::format("\nio {} personality {:x} slack {} huge pages {}\n",
                              ::syscall(SYS_ioprio_get, kIoprioOfProcess, 0),
                              ::personality(0xffffffff), ::prctl(PR_GET_TIMERSLACK),
                              ::prctl(PR_GET_THP_DISABLE, 0, 0, 0, 0));
}

}  // namespace

bool IsOfOneRank(std::string_view name) {
  return std::find(kOfOneRank.begin(), kOfOneRank.end(), name) != kOfOneRank.end() ||
         name.starts_with("TORCHELASTIC_");
}

bool IsReadByLibraries(std::string_view name) {
  if (IsOfOneRank(name)) return false;
  if (std::find(kReadLater.begin(), kReadLater.end(), name) != kReadLater.end()) return false;
  if (std::find(kKept.begin(), kKept.end(), name) != kKept.end()) return true;
  return std::any_of(kLibraryPrefixes.begin(), kLibraryPrefixes.end(),
                     [&](std::string_view prefix) { return name.starts_with(prefix); });
}

std::vector<std::string> EnvironmentOfResident(const std::vector<std::string>& environment) {
  std::vector<std::string> kept;
  for (const std::string& entry : environment) {
    if (!IsOfOneRank(NameOf(entry))) kept.push_back(entry);
  }
  return kept;
}

std::string Key(std::string_view python, std::string_view option, std::string_view preload,
                const std::vector<std::string>& environment, std::string_view place) {
  std::string text;
  const auto add = [&](std::string_view part) {
    text += fmt::format("{}:{}\n", part.size(), part);
  };
  for (const std::string_view part :
       {kWarmResident, kWarmEnding, kWarmIdle, kWarmImports, kWarmMeeting, kWarmMemory, kWarmPod,
        kWarmRank, kWarmRecorder, kWarmSettings, kWarmStacks})
    add(part);
  add(python);
  add(option);
  add(preload);
  add(place);
  for (const std::string& entry : environment) {
    if (IsReadByLibraries(NameOf(entry))) add(entry);
  }
  return base::Hex(base::Sha256(text)).substr(0, 32);
}

base::Result<std::string> PlaceOutside(const std::string& python) {
  struct stat info{};
  if (::stat(python.c_str(), &info) != 0) {
    return base::Fail(base::Errno(errno, fmt::format("\"{}\"", python)));
  }
  std::string place = fmt::format("{} {} {}.{}\n", info.st_dev, info.st_ino, info.st_mtim.tv_sec,
                                  info.st_mtim.tv_nsec);
  for (const char* name : {"cgroup", "ipc", "net", "pid", "time"}) {
    place += Target(fmt::format("/proc/self/ns/{}", name));
  }
  for (const char* name : {"cgroup", "limits", "oom_score_adj", "coredump_filter"}) {
    place += base::ReadFile(fmt::format("/proc/self/{}", name), 1 << 16).value_or("");
  }
  place +=
      LinesOfStatus({"Uid:", "Gid:", "NoNewPrivs:", "Seccomp:", "Cpus_allowed:", "Mems_allowed:"});
  place += fmt::format("{} {}\n", ::getpriority(PRIO_PROCESS, 0), ::sched_getscheduler(0));
  return place + InheritedHabits();
}

std::string PlaceInside() {
  std::string place;
  for (const char* name : {"ns/user", "ns/mnt", "ns/uts", "root"}) {
    place += Target(fmt::format("/proc/self/{}", name));
  }
  return place + LinesOfStatus({"Groups:", "Cap"});
}

}  // namespace warm
