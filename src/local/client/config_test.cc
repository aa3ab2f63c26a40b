#include "local/client/config.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include "base/file.h"

namespace local::daemon {
namespace {

class ConfigTest : public ::testing::Test {
 protected:
  ConfigTest() {
    char folder[] = "/tmp/muster-config-XXXXXX";
    folder_ = mkdtemp(folder);
    environment_.Set("XDG_CONFIG_HOME", folder_);
  }
  ~ConfigTest() override { (void)base::RemoveTree(folder_); }

  base::Result<Config> Load(std::string_view content) {
    EXPECT_TRUE(base::MakeDirs(folder_ + "/muster"));
    EXPECT_TRUE(base::WriteFileAtomic(folder_ + "/muster/config.yaml", content, 0600,
                                      base::Durability::kNone));
    return LoadConfig(environment_);
  }

  std::string folder_;
  base::Environment environment_;
};

TEST_F(ConfigTest, HasDefaultsWithoutAFile) {
  const auto config = LoadConfig(environment_);
  ASSERT_TRUE(config);
  EXPECT_FALSE(config->cluster);
  EXPECT_EQ(config->gpus, GpuMode::kAuto);
  EXPECT_TRUE(config->redirects_launch);
  EXPECT_FALSE(config->has_podman);
  EXPECT_FALSE(config->is_warm);
  EXPECT_TRUE(config->takes_status_posts);
}

TEST_F(ConfigTest, NoSettingIsUnknownAndNoKeyIsUnlisted) {
  for (const Setting& setting : Settings()) {
    if (!setting.key.starts_with("local.")) continue;
    // No setting accepts a list, so the value is the error.
    const auto config = Load(fmt::format("local:\n  {}: [1]\n", setting.key.substr(6)));
    ASSERT_FALSE(config);
    EXPECT_EQ(config.error().message.find("unknown"), std::string::npos) << config.error().message;
    const auto other = Load("local:\n  zzz: x\n");
    EXPECT_NE(other.error().message.find(setting.key), std::string::npos);
  }
}

TEST_F(ConfigTest, ReadsEveryKey) {
  const auto config = Load(
      "cluster: local\nlocal:\n  python: /usr/bin/python3\n  gpus: strict\n"
      "  redirect_launch: false\n  images: podman\n  warm: true\n  progress: false\n");
  ASSERT_TRUE(config);
  EXPECT_EQ(config->cluster, "local");
  EXPECT_EQ(config->python, "/usr/bin/python3");
  EXPECT_EQ(config->gpus, GpuMode::kStrict);
  EXPECT_FALSE(config->redirects_launch);
  EXPECT_TRUE(config->has_podman);
  EXPECT_TRUE(config->is_warm);
  EXPECT_FALSE(config->takes_status_posts);
}

TEST_F(ConfigTest, ReadsTheTargetsToNotify) {
  const auto one = Load("notify: https://h/x\nnotify_on: fail\n");
  ASSERT_TRUE(one);
  EXPECT_EQ(one->notify, std::vector<std::string>{"https://h/x"});
  EXPECT_EQ(one->notify_on, "fail");
  const auto two = Load("notify: [desktop, cat >x]\n");
  ASSERT_TRUE(two);
  EXPECT_EQ(two->notify, (std::vector<std::string>{"desktop", "cat >x"}));
  EXPECT_EQ(two->notify_on, "end");
}

TEST_F(ConfigTest, NamesTheFileAndTheKeyOfAMistake) {
  for (const auto& [content, words] :
       std::map<std::string, std::string>{{"clutser: x\n", "clutser: unknown key"},
                                          {"local:\n  pyhton: /x\n", "local.pyhton: unknown key"},
                                          {"local:\n  wram: true\n", "local.wram: unknown key"},
                                          {"local:\n  python: python3\n", "absolute path"},
                                          {"local:\n  gpus: some\n", "auto, strict or optional"},
                                          {"local:\n  redirect_launch: 3\n", "true or false"},
                                          {"local:\n  images: docker\n", "host or podman"},
                                          {"local:\n  warm: often\n", "local.warm: must be"},
                                          {"notify: 3\n", "notify: must be"},
                                          {"notify: ['']\n", "notify: must be"},
                                          {"notify_on: never\n", "end, fail, hang or start"},
                                          {"local: 3\n", "local: must be a mapping"},
                                          {"a: [\n", "line"}}) {
    const auto config = Load(content);
    ASSERT_FALSE(config) << content;
    EXPECT_NE(config.error().message.find("config.yaml: "), std::string::npos);
    EXPECT_NE(config.error().message.find(words), std::string::npos) << config.error().message;
  }
}

}  // namespace
}  // namespace local::daemon
