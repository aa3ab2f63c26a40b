#include "dashboard/dash.h"

#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <memory>
#include <optional>
#include <thread>

#include "base/defer.h"
#include "base/file.h"
#include "base/log.h"
#include "dashboard/server.h"
#include "process/signals.h"
#include "process/spawn.h"

namespace dashboard {
namespace {

using base::Code;
using base::Fail;

constexpr int64_t kMostPort = 65535;

struct DashFlags {
  int64_t port = 0;
  bool no_open = false, all_namespaces = false;
};

// Everyone can read a process's arguments, so the browser gets a file that redirects to the link.
// Returns the path of the file, which only this user can read.
base::Result<std::string> WriteLink(const arena::Context& context, const std::string& link) {
  const std::string folder = context.environment.RuntimeDir();
  TRY(base::MakeDirs(folder));
  const std::string path = fmt::format("{}/dash-{}.html", folder, ::getpid());
  TRY(base::WriteFileAtomic(
      path,
      fmt::format("<!doctype html><meta charset=\"utf-8\"><title>muster</title>"
                  "<meta http-equiv=\"refresh\" content=\"0;url={}\">\n",
                  link),
      0600, base::Durability::kNone));
  return path;
}

// kNotFound if there is no screen, or no program that opens pages.
base::Status OpenInBrowser(const arena::Context& context, const std::string& path) {
  const bool has_screen =
      context.environment.Get("DISPLAY") || context.environment.Get("WAYLAND_DISPLAY");
  if (!has_screen) return Fail(Code::kNotFound, "no screen");
  process::SpawnOptions options;
  TRY_ASSIGN(options.path,
             process::FindProgram("xdg-open", context.environment.GetOr("PATH", "/usr/bin")));
  options.argv = {"xdg-open", path};
  options.env = context.environment.AsList();
  options.group = process::SpawnOptions::Group::kSession;
  options.is_detached = true;
  TRY(process::SpawnQuietly(std::move(options)));
  return {};
}

constexpr std::initializer_list<int> kEndingSignals = {SIGINT, SIGTERM, SIGHUP};

// Blocks until one of the signals comes. The next one ends the program at once, because a request
// to a cluster that does not answer takes long.
void AwaitSignal(int signals) {
  pollfd waited{signals, POLLIN, 0};
  while (::poll(&waited, 1, -1) < 0 && errno == EINTR) {
  }
  (void)process::ReadSignal(signals);
  sigset_t set;
  ::sigemptyset(&set);
  for (const int signal : kEndingSignals) ::sigaddset(&set, signal);
  ::pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
}

base::Result<int> RunDash(arena::Context& context, const DashFlags& flags, cli::Invocation& call) {
  // Before other threads exist.
  TRY_ASSIGN(const base::Fd signals, process::OpenSignalFd(kEndingSignals));
  TRY_ASSIGN(cluster::Client * client, context.connect(context));
  TRY_ASSIGN(
      const std::unique_ptr<Server> server,
      Server::Start(*client, context, {static_cast<uint16_t>(flags.port), flags.all_namespaces}));
  TRY(call.out.Write(fmt::format("{}\n", server->Link())));
  base::LogInfo("this link is good once, for {} minutes; Ctrl-C ends the page",
                kLinkLifetime.count());
  std::optional<std::string> path;
  const base::Defer forget([&path] {
    if (path) ::unlink(path->c_str());
  });
  if (!flags.no_open) {
    TRY_ASSIGN(path, WriteLink(context, server->Link()));
    if (const base::Status opened = OpenInBrowser(context, *path); !opened) {
      base::LogInfo("open it in your browser ({})", opened.error().message);
    }
  }
  // The verbs' messages have no reader here.
  arena::KeepOutputPure(context);
  std::jthread serving([&server] { server->Run(); });
  AwaitSignal(signals.get());
  server->Stop();
  return cli::kExitInterrupted;
}

}  // namespace

void AddDash(cli::Command& root, arena::Context& context) {
  cli::Command& verb =
      root.Add("dash", "Open a page with jobs, logs, history and the machine in a browser")
          .Args(cli::NoArgs())
          .Help("dashboard/dash", context.program);
  auto flags = std::make_shared<DashFlags>();
  cli::FlagSet& set = verb.flags();
  set.Int(&flags->port, "port", 0, "port of 127.0.0.1; 0 for any free port");
  set.Bool(&flags->no_open, "no-open", false, "print the link without opening a browser");
  set.Bool(&flags->all_namespaces, "all-namespaces", false, "jobs in every namespace").Short('A');
  verb.Check([flags](cli::Invocation&) -> base::Status {
    if (flags->port >= 0 && flags->port <= kMostPort) return {};
    return Fail(Code::kInvalidArgument,
                fmt::format("--port {} is invalid: a number from 0 to {}", flags->port, kMostPort));
  });
  verb.Run([flags, &context](cli::Invocation& call) { return RunDash(context, *flags, call); });
}

}  // namespace dashboard
