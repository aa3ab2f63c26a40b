#include "warm/broker.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "base/log.h"
#include "base/strings.h"
#include "warm/key.h"
#include "warm/message.h"

namespace warm {
namespace {

constexpr int kListener = 3;
constexpr size_t kFixedFields = 7;  // those before the environment
// Between processes of one machine.
constexpr std::chrono::milliseconds kLongestWish = std::chrono::seconds(5);
constexpr std::chrono::milliseconds kLongestReply = std::chrono::seconds(10);
// The variable differs for each pod; the pod's processes are found by it and ended.
constexpr std::string_view kOfOnePod = "MUSTER_POD_UID=";

struct UnixAddress {
  sockaddr_un address{};
  base::Fd folder;  // a path relative to it fits, however long the folder's own is
};

base::Result<UnixAddress> AddressAt(const std::string& path) {
  UnixAddress made;
  const std::filesystem::path whole(path);
  made.folder = base::Fd(::open(whole.parent_path().c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!made.folder) return base::Fail(base::Errno(errno, fmt::format("\"{}\"", path)));
  const std::string name =
      fmt::format("/proc/self/fd/{}/{}", made.folder.get(), whole.filename().string());
  if (name.size() >= sizeof made.address.sun_path) {
    return base::Fail(base::Code::kInvalidArgument, fmt::format("\"{}\": too long", path));
  }
  made.address.sun_family = AF_UNIX;
  std::memcpy(made.address.sun_path, name.c_str(), name.size());
  return made;
}

base::Result<base::Fd> ResidentFor(const Message& request, const std::string& runtime_dir,
                                   int lifeline) {
  if (request.size() < kFixedFields || request[0] != "wish") {
    return base::Fail(base::Code::kInvalidArgument, "the launcher in the pod has another version");
  }
  Wish wish;
  wish.python = request[1];
  wish.option = request[2];
  wish.preload = request[3];
  wish.idle = std::chrono::seconds(base::ParseInt(request[4]).value_or(1));
  wish.kept = base::ParseInt(request[5]).value_or(1);
  wish.environment.assign(request.begin() + kFixedFields, request.end());
  wish.runtime_dir = runtime_dir;
  wish.lifeline = lifeline;
  TRY_ASSIGN(const std::string place, PlaceOutside(wish.python));
  if (place != request[6]) {
    return base::Fail(base::Code::kUnavailable,
                      "this pod has other limits, rights or another interpreter than outside");
  }
  // Kept apart from the interpreters of launchers outside of pods, which outlive a daemon.
  return OpenResident(wish, place + "pods");
}

void Answer(const base::Fd& connection, const std::string& runtime_dir, int lifeline) {
  if (!IsOwnUsers(connection.get())) return;
  MessageReader reader;
  const auto request = reader.Await(connection.get(), kLongestWish);
  if (!request) return;
  const auto resident = ResidentFor(*request, runtime_dir, lifeline);
  // A launcher that has disconnected meanwhile needs no answer.
  if (resident) {
    (void)SendMessage(connection.get(), {"resident"}, {resident->get()});
  } else {
    (void)SendMessage(connection.get(), {"refused", resident.error().message}, {});
  }
}

}  // namespace

base::Result<base::Fd> AskBroker(const std::string& path, const Wish& wish,
                                 const std::string& place) {
  TRY_ASSIGN(const UnixAddress at, AddressAt(path));
  base::Fd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!fd ||
      ::connect(fd.get(), reinterpret_cast<const sockaddr*>(&at.address), sizeof at.address) != 0) {
    return base::Fail(base::Errno(errno, fmt::format("connect \"{}\"", path)));
  }
  if (!IsOwnUsers(fd.get())) {
    return base::Fail(base::Code::kPermissionDenied,
                      fmt::format("\"{}\" belongs to another user", path));
  }
  Message request = {"wish",
                     wish.python,
                     wish.option,
                     wish.preload,
                     fmt::format("{}", wish.idle.count()),
                     fmt::format("{}", wish.kept),
                     place};
  for (const std::string& entry : EnvironmentOfResident(wish.environment)) {
    if (!entry.starts_with(kOfOnePod)) request.push_back(entry);
  }
  TRY(SendMessage(fd.get(), request, {}));
  MessageReader reader;
  TRY_ASSIGN(const Message answer, reader.Await(fd.get(), kLongestReply));
  base::Fd resident = reader.TakeFd();
  if (answer[0] == "resident" && resident) return resident;
  return base::Fail(base::Code::kUnavailable,
                    answer.size() > 1 ? answer[1] : "the broker has no interpreter");
}

int BrokerMain(const std::vector<std::string>& args) {
  if (args.size() != 1) {
    base::LogError("{}: needs a runtime directory", kBrokerName);
    return 2;
  }
  ::signal(SIGPIPE, SIG_IGN);
  const base::Fd listener(kListener);
  std::array<int, 2> ends{};
  if (::fcntl(kListener, F_SETFD, FD_CLOEXEC) != 0 || ::pipe2(ends.data(), O_CLOEXEC) != 0) {
    base::LogError("{}: {}", kBrokerName, std::strerror(errno));
    return 1;
  }
  const base::Fd lifeline(ends[0]);
  const base::Fd cut_at_the_end(ends[1]);
  while (true) {
    const base::Fd connection(::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
    if (connection) {
      Answer(connection, args[0], lifeline.get());
    } else if (errno != EINTR && errno != ECONNABORTED) {
      base::LogError("{}: accept: {}", kBrokerName, std::strerror(errno));
      return 1;
    }
  }
}

}  // namespace warm
