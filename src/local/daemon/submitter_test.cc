#include "local/daemon/submitter.h"

#include <gtest/gtest.h>

#include "base/file.h"

namespace local::daemon {
namespace {

TEST(PodEnvironmentJson, PassesOnWhatProgramsNeedAndNothingElse) {
  const base::Environment environment({{"PATH", "/bin"},
                                       {"VIRTUAL_ENV", "/venv"},
                                       {"AWS_SECRET_ACCESS_KEY", "secret"},
                                       {"http_proxy", "http://proxy:3128"},
                                       {"https_proxy", "http://me:password@proxy:3128"}});
  EXPECT_EQ(PodEnvironmentJson(environment),
            R"({"PATH":"/bin","VIRTUAL_ENV":"/venv","http_proxy":"http://proxy:3128"})");
}

TEST(MissingTensorboard, SaysHowToInstallItUnlessItIsThere) {
  const std::string directory = testing::TempDir() + "/missing-tensorboard-test";
  ASSERT_TRUE(base::RemoveTree(directory));
  ASSERT_TRUE(base::MakeDirs(directory));
  const auto write = [&](const std::string& name) {
    ASSERT_TRUE(base::WriteFileAtomic(directory + "/" + name, "#!/bin/sh\nexit 1\n", 0700,
                                      base::Durability::kNone));
  };
  const base::Environment environment(
      {{"PATH", directory}, {"HOME", directory}, {"XDG_CONFIG_HOME", directory}});
  write("python3");
  EXPECT_EQ(MissingTensorboard(environment),
            "TensorBoard is not installed: neither " + directory + "/python3 nor PATH has it; `" +
                directory + "/python3 -m pip install tensorboard` installs it");
  write("tensorboard");
  EXPECT_EQ(MissingTensorboard(environment), "");
  EXPECT_TRUE(base::RemoveTree(directory));
}

}  // namespace
}  // namespace local::daemon
