// For tests that run real pods: a temporary directory, a builder, and waits with deadlines.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/file.h"
#include "base/uid.h"
#include "local/node/logs/line.h"
#include "local/node/pod/shim_client.h"
#include "process/inotify.h"
#include "process/pidfd.h"

namespace local::node {

inline constexpr std::chrono::seconds kTestWait{30};

inline std::string OwnExecutable() {
  std::string path(4096, '\0');
  const ssize_t count = ::readlink("/proc/self/exe", path.data(), path.size());
  path.resize(count < 0 ? 0 : static_cast<size_t>(count));
  return path;
}

class PodTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = "/tmp/muster-node-XXXXXX";
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    ::chmod(name.c_str(), 0755);
    root_ = name;
  }
  void TearDown() override {
    for (const PodSpec& spec : specs_) {
      auto shim = AdoptShim(spec.directory);
      if (shim && shim->has_value()) {
        EXPECT_TRUE((*shim)->Terminate(std::chrono::seconds(0)));
        EXPECT_TRUE(process::WaitForEnd((*shim)->pidfd(), kTestWait));
      }
      EXPECT_TRUE(KillStrays(spec.directory, spec.uid));
    }
    EXPECT_TRUE(base::RemoveTree(root_));
  }

  static ContainerSpec Program(std::string name, std::vector<std::string> argv) {
    ContainerSpec spec;
    spec.name = std::move(name);
    spec.argv = std::move(argv);
    spec.cwd = "/";
    spec.env = {{"PATH", "/usr/local/bin:/usr/bin:/bin"}, {"HOME", "/tmp"}};
    return spec;
  }
  static ContainerSpec Shell(const std::string& script) {
    return Program("pytorch", {"sh", "-c", script});
  }

  PodSpec Pod(std::vector<ContainerSpec> containers,
              PodRestartPolicy policy = PodRestartPolicy::kNever) {
    PodSpec spec;
    spec.uid = base::NewUid();
    spec.namespace_name = "default";
    spec.name = "job-master-0";
    spec.directory = fmt::format("{}/{}", root_, spec.uid);
    spec.restart_policy = policy;
    spec.restart_backoff = std::chrono::milliseconds(20);
    spec.containers = std::move(containers);
    specs_.push_back(spec);
    return spec;
  }

  static ShimHandle Start(const PodSpec& spec) {
    auto handle = StartShim(OwnExecutable(), spec, {});
    EXPECT_TRUE(handle) << handle.error().message;
    if (!handle) return ShimHandle(-1, base::Fd());
    return std::move(*handle);
  }

  // The first report that satisfies `wanted`.
  static PodReport AwaitReport(const std::string& directory,
                               const std::function<bool(const PodReport&)>& wanted) {
    auto inotify = process::Inotify::Create();
    EXPECT_TRUE(inotify);
    EXPECT_TRUE(inotify->Watch(directory, IN_MOVED_TO));
    const auto deadline = base::SystemClock().Steady() + kTestWait;
    while (true) {
      if (const auto report = ReadReport(directory); report && wanted(*report)) return *report;
      const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
          deadline - base::SystemClock().Steady());
      if (left.count() <= 0 || !process::WaitReadable(inotify->fd(), left)) {
        ADD_FAILURE() << "no such report in time; last: "
                      << base::ReadFile(directory + "/status.json").value_or("none")
                      << base::ReadFile(directory + "/shim.log").value_or("");
        return {};
      }
      inotify->Read();
    }
  }

  static PodReport AwaitEnd(const PodSpec& spec, const ShimHandle& handle) {
    EXPECT_TRUE(process::WaitForEnd(handle.pidfd(), kTestWait));
    const auto report = ReadReport(spec.directory);
    EXPECT_TRUE(report) << report.error().message
                        << base::ReadFile(spec.directory + "/shim.log").value_or("");
    return report.value_or(PodReport{});
  }

  PodReport Run(const PodSpec& spec) { return AwaitEnd(spec, Start(spec)); }

  // Waits until the file exists.
  static void AwaitFile(const std::string& path) {
    auto inotify = process::Inotify::Create();
    const std::string directory = path.substr(0, path.rfind('/'));
    ASSERT_TRUE(inotify && inotify->Watch(directory, IN_CREATE | IN_MOVED_TO));
    while (::access(path.c_str(), F_OK) != 0) {
      ASSERT_TRUE(process::WaitReadable(inotify->fd(), kTestWait)) << path;
      inotify->Read();
    }
  }

  // What the container printed to both streams, from the log; "" when it printed nothing.
  static std::string Log(const PodSpec& spec, const std::string& container, int restart = 0) {
    const auto content =
        base::ReadFile(fmt::format("{}/logs/{}/{}.log", spec.directory, container, restart));
    if (!content) return "";
    std::string text;
    std::string_view rest = *content;
    while (!rest.empty()) {
      const size_t newline = rest.find('\n');
      const auto line = ParseLogLine(rest.substr(0, newline));
      if (!line) return "<malformed: " + *content + ">";
      text += line->text;
      if (!line->is_partial) text += '\n';
      rest.remove_prefix(newline == std::string_view::npos ? rest.size() : newline + 1);
    }
    return text;
  }

  std::string root_;
  std::vector<PodSpec> specs_;
};

}  // namespace local::node
