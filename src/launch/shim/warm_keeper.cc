#include "launch/shim/warm_keeper.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <cerrno>
#include <chrono>
#include <utility>
#include <vector>

#include "base/strings.h"
#include "launch/machine/machine.h"
#include "launch/workers/worker_command.h"
#include "warm/broker.h"
#include "warm/key.h"
#include "warm/message.h"

namespace launch {
namespace {

constexpr std::chrono::milliseconds kLongestImport = std::chrono::minutes(2);
constexpr std::chrono::milliseconds kLongestEntry = std::chrono::seconds(30);

base::Error AsSaid(const warm::Message& message) {
  return {base::Code::kUnavailable, message.size() > 1 ? message[1] : "it said " + message[0], 0};
}

// Moves the keeper into the pod of this process.
base::Status BringIn(int connection, warm::MessageReader& reader) {
  std::vector<base::Fd> namespaces;
  std::vector<int> fds;
  for (const char* name : {"user", "mnt", "uts"}) {
    const std::string path = fmt::format("/proc/self/ns/{}", name);
    namespaces.emplace_back(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!namespaces.back()) return base::Fail(base::Errno(errno, path));
    fds.push_back(namespaces.back().get());
  }
  TRY(warm::SendMessage(connection, {"enter", warm::PlaceInside()}, fds));
  TRY_ASSIGN(const warm::Message answer, reader.Await(connection, kLongestEntry));
  if (answer[0] == "entered") return {};
  return base::Fail(AsSaid(answer));
}

}  // namespace

base::Result<Keeper> ConnectKeeper(const warm::Wish& wish, const std::string& broker) {
  TRY_ASSIGN(const std::string outside, warm::PlaceOutside(wish.python));
  while (true) {
    Keeper keeper;
    auto connection = broker.empty() ? warm::OpenResident(wish, outside + warm::PlaceInside())
                                     : warm::AskBroker(broker, wish, outside);
    if (!connection) return base::Fail(std::move(connection.error()));
    keeper.connection = std::move(*connection);
    warm::MessageReader reader;
    auto message = reader.Await(keeper.connection.get(), kLongestImport);
    if (!message) {
      return base::Fail(message.error().code, message.error().code == base::Code::kTimeout
                                                  ? "its imports take more than two minutes"
                                                  : "it ended while it imported");
    }
    const std::string& word = (*message)[0];
    if (word == "stale") continue;  // files have changed since, so it has ended
    if (word != "ready" || message->size() != 2) return base::Fail(AsSaid(*message));
    keeper.pid = static_cast<pid_t>(base::ParseInt((*message)[1]).value_or(0));
    if (!broker.empty()) TRY(BringIn(keeper.connection.get(), reader));
    return keeper;
  }
}

base::Result<Keeper> KeeperFor(const Options& options, const base::Environment& environment,
                               const std::string& executable) {
  if (options.kind == ProgramKind::kProgram) {
    return base::Fail(base::Code::kInvalidArgument, "--no-python starts a program");
  }
  if (options.kind == ProgramKind::kScript && options.program == "-") {
    return base::Fail(base::Code::kInvalidArgument, "the script is read from stdin");
  }
  if (!options.numa_binding.empty() && options.numa_binding != "none") {
    return base::Fail(base::Code::kInvalidArgument,
                      "--numa-binding gives each rank CPUs of its own, and libraries count them "
                      "when they are imported");
  }
  base::Environment shared = environment;
  SetVariablesOfTorch(options, executable, shared);
  (void)SetSharedVariables(options, UsableCpus(), shared);
  warm::Wish wish;
  wish.python = executable;
  wish.preload = options.preload;
  wish.idle = options.warm_idle;
  wish.kept = options.warm_kept;
  wish.environment = WorkerEnvironment(options, shared, Group(), 0, "");
  wish.runtime_dir = environment.RuntimeDir();
  if (const auto broker = environment.Get(kBrokerVariable)) {
    if (auto keeper = ConnectKeeper(wish, *broker)) return keeper;
  }
  return ConnectKeeper(wish, "");
}

}  // namespace launch
