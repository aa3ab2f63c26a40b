#include "local/node/programs/tensorboard.h"

#include <gtest/gtest.h>

#include <set>

#include "base/file.h"

namespace local::node {
namespace {

using Strings = std::vector<std::string>;

class BoardFiles : public FileProbe {
 public:
  explicit BoardFiles(std::set<std::string> programs) : programs_(std::move(programs)) {}
  bool IsExecutable(const std::string& path) const override { return programs_.contains(path); }
  bool Exists(const std::string& path) const override { return programs_.contains(path); }
  std::string Canonical(const std::string& path) const override { return path; }

 private:
  const std::set<std::string> programs_;
};

bool Never(const std::string&) { return false; }
bool Always(const std::string&) { return true; }

Strings Found(const std::string& interpreter, std::set<std::string> programs,
              const HasTensorboard& has_tensorboard = Never) {
  auto found = FindTensorboard(interpreter, "relative:/usr/local/bin:/usr/bin",
                               BoardFiles(std::move(programs)), has_tensorboard);
  return found ? *found : Strings{found.error().message};
}

TEST(FindTensorboard, PrefersTheInterpretersOwn) {
  const Strings own = {"/venv/bin/python", "-m", "tensorboard.main"};
  EXPECT_EQ(Found("/venv/bin/python", {"/venv/bin/tensorboard", "/usr/bin/tensorboard"}), own);
  EXPECT_EQ(Found("/venv/bin/python", {"/usr/bin/tensorboard"}, Always), own)
      << "installed without a program of that name beside it";
}

TEST(FindTensorboard, FallsBackToPath) {
  EXPECT_EQ(Found("/venv/bin/python", {"/usr/bin/tensorboard"}), Strings{"/usr/bin/tensorboard"});
  EXPECT_EQ(Found("", {"/usr/bin/tensorboard"}, Always), Strings{"/usr/bin/tensorboard"});
}

TEST(FindTensorboard, AShimIsNoProofOfAProgram) {
  const std::string shims = "/home/u/.pyenv/shims";
  EXPECT_TRUE(Found(shims + "/python", {shims + "/tensorboard"})[0].starts_with("TensorBoard is "));
  EXPECT_EQ(Found(shims + "/python", {shims + "/tensorboard"}, Always),
            (Strings{shims + "/python", "-m", "tensorboard.main"}));
}

TEST(FindTensorboard, SaysHowToInstallIt) {
  EXPECT_EQ(Found("/venv/bin/python", {}),
            Strings{"TensorBoard is not installed: neither /venv/bin/python nor PATH has it; "
                    "`/venv/bin/python -m pip install tensorboard` installs it"});
}

TEST(TensorboardCommand, ListensOnLoopbackAtThePort) {
  const Strings program = {"python", "-m", "tensorboard.main"};
  EXPECT_EQ(TensorboardCommand({"tensorboard", "--logdir", "/l", "--host", "0.0.0.0"}, program, 7),
            (Strings{"python", "-m", "tensorboard.main", "--logdir", "/l", "--host", "127.0.0.1",
                     "--port", "7"}));
  EXPECT_EQ(TensorboardCommand({"tensorboard", "--port=1", "--bind_all", "--logdir=/l",
                                "--host=0.0.0.0", "--port", "2", "--reload_interval", "1"},
                               {"/bin/tensorboard"}, 7),
            (Strings{"/bin/tensorboard", "--logdir=/l", "--reload_interval", "1", "--host",
                     "127.0.0.1", "--port", "7"}));
}

TEST(TensorboardCommand, IsKnownByItsName) {
  EXPECT_TRUE(IsTensorboard({"tensorboard"}));
  EXPECT_TRUE(IsTensorboard({"/opt/bin/tensorboard", "--logdir=x"}));
  EXPECT_FALSE(IsTensorboard({"sh", "-c", "tensorboard"}));
  EXPECT_FALSE(IsTensorboard({}));
  EXPECT_EQ(PortOfTensorboard({"tensorboard"}), 6006);
  EXPECT_EQ(PortOfTensorboard({"tensorboard", "--port=8080"}), 8080);
  EXPECT_EQ(PortOfTensorboard({"tensorboard", "--port", "8081"}), 8081);
  EXPECT_EQ(PortOfTensorboard({"tensorboard", "--port", "many"}), 6006);
}

TEST(CanImportTensorboard, AsksTheInterpreter) {
  const std::string directory = testing::TempDir() + "/tensorboard-test";
  ASSERT_TRUE(base::MakeDirs(directory));
  const auto write = [&](const std::string& name, const std::string& body) {
    ASSERT_TRUE(base::WriteFileAtomic(directory + "/" + name, "#!/bin/sh\n" + body, 0700,
                                      base::Durability::kNone));
  };
  write("has", "echo \"$2\" | grep -q tensorboard.main");
  write("lacks", "exit 1");
  const base::Environment environment(
      std::map<std::string, std::string>{{"PATH", "/usr/bin:/bin"}});
  EXPECT_TRUE(CanImportTensorboard(directory + "/has", environment));
  EXPECT_FALSE(CanImportTensorboard(directory + "/lacks", environment));
  EXPECT_FALSE(CanImportTensorboard(directory + "/absent", environment));
  EXPECT_TRUE(base::RemoveTree(directory));
}

}  // namespace
}  // namespace local::node
