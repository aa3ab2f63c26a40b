#include <gtest/gtest.h>

#include <functional>

#include "arena/submit/job/options.h"

namespace arena {
namespace {

std::string MountError(const std::function<void(SubmitFlags&)>& change) {
  cli::FlagSet set;
  SubmitFlags flags;
  flags.Declare(set);
  flags.name = "pt";
  change(flags);
  const base::Environment environment{{{"HOME", "/nowhere"}}};
  const auto checked = CheckSubmit(flags, {"true"}, environment);
  return checked ? "" : checked.error().message.substr(checked.error().message.find(": ") + 2);
}

TEST(Mounts, NoneIsTheRootHoweverItIsWritten) {
  const std::string words = "invalid specification: dataDir can't be '/'";
  for (const char* root : {"/", "//", "/.", "/./"}) {
    EXPECT_EQ(MountError([&](auto& f) { f.data = {std::string("xx:") + root}; }), words) << root;
    EXPECT_EQ(MountError([&](auto& f) { f.data_dirs = {std::string("/h:") + root}; }), words)
        << root;
    EXPECT_EQ(MountError([&](auto& f) { f.data_dirs = {root}; }), words) << root;
  }
  EXPECT_EQ(MountError([](auto& f) { f.config_files = {"/etc/hostname:///f"}; }),
            "--config-file \"///f\" is invalid: its directory cannot be /, nor hold '..'");
}

TEST(Mounts, NoneGoesUp) {
  EXPECT_EQ(MountError([](auto& f) { f.data = {"xx:/a/../.."}; }),
            "invalid dataDir: '/a/../..' must not hold '..'");
  EXPECT_EQ(MountError([](auto& f) { f.data_dirs = {"/h/..:/c"}; }),
            "invalid dataDir: '/h/..' must not hold '..'");
  EXPECT_EQ(MountError([](auto& f) { f.config_files = {"/etc/hostname:/a/../f"}; }),
            "--config-file \"/a/../f\" is invalid: its directory cannot be /, nor hold '..'");
  EXPECT_EQ(MountError([](auto& f) {
              f.working_dir = "/w/..";
              f.sync_mode = "git";
              f.sync_source = "https://h/r.git";
            }),
            "--working-dir is invalid: '/w/..' must not hold '..'");
  EXPECT_EQ(MountError([](auto& f) { f.data = {"xx:/a..b/.c"}; }), "");
}

TEST(Mounts, TheEventsHaveAPlaceOfTheirOwn) {
  const auto with_logdir = [](const char* logdir) {
    return MountError([=](auto& f) {
      f.tensorboard = true;
      f.logdir = logdir;
      f.data = {"xx:/data/"};
    });
  };
  for (const char* none : {"", "/", "//"}) {
    EXPECT_EQ(with_logdir(none), std::string("--logdir is invalid: '") + none +
                                     "' is not a directory for --tensorboard");
  }
  EXPECT_EQ(with_logdir("/a/.."), "--logdir is invalid: '/a/..' must not hold '..'");
  EXPECT_EQ(with_logdir("/dev/shm"), "--share-memory and --logdir would both be at /dev/shm");
  for (const char* good : {"/training_logs", "/data", "/data/logs", "logs"}) {
    EXPECT_EQ(with_logdir(good), "") << good;
  }
  // It is of no use without a TensorBoard, and of no harm.
  EXPECT_EQ(MountError([](auto& f) { f.logdir = "/"; }), "");
}

}  // namespace
}  // namespace arena
