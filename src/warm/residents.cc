#include "warm/residents.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/file.h"
#include "process/spawn.h"
#include "warm/key.h"

namespace warm {
namespace {

constexpr int kBacklog = 64;
// What a training program will import anyway, if it is installed: the first step of an optimizer
// imports the last one.
constexpr std::string_view kUsualModules = "?torch,?torch.distributed,?torch._dynamo";

struct Places {
  base::Fd folder;
  std::string path;  // of the folder
  std::string key;
  std::string socket() const { return fmt::format("{}/{}.socket", path, key); }
  std::string lock() const { return fmt::format("{}/{}.lock", path, key); }
  std::string program() const { return fmt::format("{}/{}", path, key); }
};

// By way of the folder, so that a path of any length fits.
sockaddr_un AddressOf(const Places& places) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string name =
      fmt::format("/proc/self/fd/{}/{}.socket", places.folder.get(), places.key);
  std::memcpy(address.sun_path, name.c_str(), std::min(name.size(), sizeof address.sun_path - 1));
  return address;
}

base::Result<base::Fd> NewSocket() {
  base::Fd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!fd) return base::Fail(base::Errno(errno, "socket"));
  return fd;
}

// An empty Fd when nobody listens.
base::Result<base::Fd> Connect(const Places& places) {
  TRY_ASSIGN(base::Fd fd, NewSocket());
  const sockaddr_un address = AddressOf(places);
  if (::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) {
    if (!IsOwnUsers(fd.get())) {
      return base::Fail(base::Code::kPermissionDenied,
                        fmt::format("\"{}\" belongs to another user", places.socket()));
    }
    return fd;
  }
  if (errno == ENOENT || errno == ECONNREFUSED) return base::Fd();
  return base::Fail(base::Errno(errno, fmt::format("connect \"{}\"", places.socket())));
}

base::Result<base::Fd> Listen(const Places& places) {
  ::unlink(places.socket().c_str());
  TRY_ASSIGN(base::Fd fd, NewSocket());
  const sockaddr_un address = AddressOf(places);
  if (::bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      ::listen(fd.get(), kBacklog) != 0) {
    return base::Fail(base::Errno(errno, fmt::format("listen on \"{}\"", places.socket())));
  }
  return fd;
}

base::Status StartResident(const Wish& wish, const Places& places) {
  TRY_ASSIGN(const base::Fd listener, Listen(places));
  TRY(base::MakeDirs(places.program(), 0700));
  for (const auto& [name, text] :
       {std::pair("sitecustomize", kWarmResident), std::pair("muster_warm_ending", kWarmEnding),
        std::pair("muster_warm_idle", kWarmIdle), std::pair("muster_warm_imports", kWarmImports),
        std::pair("muster_warm_meeting", kWarmMeeting),
        std::pair("muster_warm_memory", kWarmMemory), std::pair("muster_warm_pod", kWarmPod),
        std::pair("muster_warm_rank", kWarmRank), std::pair("muster_warm_recorder", kWarmRecorder),
        std::pair("muster_warm_settings", kWarmSettings),
        std::pair("muster_warm_stacks", kWarmStacks)}) {
    TRY(base::WriteFileAtomic(fmt::format("{}/{}.py", places.program(), name), text, 0600,
                              base::Durability::kNone));
  }
  const base::Fd null(::open("/dev/null", O_RDWR | O_CLOEXEC));
  // The output of the imports belongs to no rank, but it must be known that there was some.
  const base::Fd output(::memfd_create("imports", MFD_CLOEXEC));
  if (!null || !output) return base::Fail(base::Errno(errno, "start it"));

  process::SpawnOptions spawn;
  spawn.path = wish.python;
  spawn.argv = {wish.python};
  if (!wish.option.empty()) spawn.argv.push_back(wish.option);
  spawn.argv.push_back("/muster-warm/" + places.key);
  spawn.cwd = "/";
  spawn.fds = {{null.get(), 0}, {output.get(), 1}, {output.get(), 2}, {listener.get(), 3}};
  if (wish.lifeline >= 0) spawn.fds.push_back({wish.lifeline, 4});
  spawn.group = process::SpawnOptions::Group::kSession;
  spawn.is_detached = true;
  std::string modules;  // ":" and PYTHONPATH, if set
  for (const std::string& entry : EnvironmentOfResident(wish.environment)) {
    if (entry.starts_with("PYTHONPATH=")) {
      modules = ":" + entry.substr(entry.find('=') + 1);
    } else if (!entry.starts_with("MUSTER_WARM=")) {
      spawn.env.push_back(entry);
    }
  }
  spawn.env.push_back("PYTHONPATH=" + places.program() + modules);
  spawn.env.push_back(fmt::format(
      "MUSTER_WARM=python={}\noption={}\nsocket={}\nlock={}\nidle={}\nkept={}\nlifeline={}"
      "\npythonpath={}\npreload={}{}"
      "{}",
      wish.python, wish.option, places.socket(), places.lock(), wish.idle.count(), wish.kept,
      wish.lifeline >= 0 ? "4" : "", modules, kUsualModules, wish.preload.empty() ? "" : ",",
      wish.preload));
  auto started = process::Spawn(spawn);
  if (!started) return base::Fail(std::move(started.error()));
  return {};
}

// Holds a lock, so that only one of two launchers starts it, and it does not end meanwhile.
base::Result<base::Fd> ConnectOrStart(const Wish& wish, const Places& places) {
  const base::Fd lock(::open(places.lock().c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (!lock || ::flock(lock.get(), LOCK_EX) != 0) {
    return base::Fail(base::Errno(errno, fmt::format("lock \"{}\"", places.lock())));
  }
  TRY_ASSIGN(base::Fd fd, Connect(places));
  if (fd) return fd;
  TRY(StartResident(wish, places));
  TRY_ASSIGN(fd, Connect(places));
  if (!fd) return base::Fail(base::Code::kUnavailable, "it ended at once");
  return fd;
}

}  // namespace

bool IsOwnUsers(int fd) {
  ucred peer{};
  socklen_t size = sizeof peer;
  return ::getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && peer.uid == ::geteuid();
}

base::Result<base::Fd> OpenPrivateFolder(const std::string& path) {
  TRY(base::MakeDirs(path, 0700));
  base::Fd folder(::open(path.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  struct stat info{};
  if (!folder || ::fstat(folder.get(), &info) != 0) {
    return base::Fail(base::Errno(errno, fmt::format("\"{}\"", path)));
  }
  if (info.st_uid != ::geteuid() || (info.st_mode & 077) != 0) {
    return base::Fail(base::Code::kPermissionDenied,
                      fmt::format("others can access \"{}\" (chmod 700)", path));
  }
  return folder;
}

base::Result<base::Fd> OpenResident(const Wish& wish, const std::string& place) {
  Places places;
  places.path = wish.runtime_dir + "/warm";
  TRY_ASSIGN(places.folder, OpenPrivateFolder(places.path));
  places.key = Key(wish.python, wish.option, wish.preload, wish.environment, place);
  return ConnectOrStart(wish, places);
}

}  // namespace warm
