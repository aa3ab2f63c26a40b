#include "local/node/programs/packages.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <algorithm>
#include <filesystem>

#include "base/file.h"
#include "text/json.h"

namespace local::node {
namespace {

namespace fs = std::filesystem;
using Packages = std::vector<std::string>;

class PackagesTest : public testing::Test {
 protected:
  PackagesTest() {
    char path[] = "/tmp/muster-packages-XXXXXX";
    folder_ = ::mkdtemp(path);
    environment_.Set("HOME", folder_ + "/home");
    fs::create_directories(folder_ + "/venv/bin");
    Write("/venv/pyvenv.cfg", "home = /usr/bin\ninclude-system-site-packages = false\n");
  }
  ~PackagesTest() override { fs::remove_all(folder_); }

  void Write(const std::string& name, std::string_view content) {
    ASSERT_TRUE(base::WriteFileAtomic(folder_ + name, content, 0644, base::Durability::kNone));
  }
  void Install(const std::string& lib, const std::string& entry) {
    fs::create_directories(folder_ + lib + "/" + entry);
  }

  std::string folder_;
  base::Environment environment_{std::map<std::string, std::string>{}};
};

TEST_F(PackagesTest, AVirtualEnvironmentsOwnAreRead) {
  const std::string lib = "/venv/lib/python3.11/site-packages";
  Install(lib, "torch-2.1.0+cpu.dist-info");
  Install(lib, "numpy-1.26.4.dist-info");
  Install(lib, "old-0.1-py3.11.egg-info");
  Install(lib, "torch");
  Install("/home/.local/lib/python3.11/site-packages", "mine-1.dist-info");
  EXPECT_EQ(PackagesOf(folder_ + "/venv/bin/python", environment_),
            Packages({"numpy 1.26.4", "old 0.1", "torch 2.1.0+cpu"}));
  Write("/venv/pyvenv.cfg", "include-system-site-packages = true\n");
  const Packages all = PackagesOf(folder_ + "/venv/bin/python", environment_);
  EXPECT_NE(std::find(all.begin(), all.end(), "mine 1"), all.end());
}

TEST_F(PackagesTest, APyenvShimIsTheVersionThatItStarts) {
  Write("/version", "3.12.1\n");
  Install("/versions/3.12.1/lib/python3.12/site-packages", "torch-2.2.dist-info");
  Install("/versions/3.11/lib/python3.11/site-packages", "torch-2.0.dist-info");
  EXPECT_EQ(PackagesOf(folder_ + "/shims/python", environment_), Packages({"torch 2.2"}));
  environment_.Set("PYENV_VERSION", "3.11");
  EXPECT_EQ(PackagesOf(folder_ + "/shims/python", environment_), Packages({"torch 2.0"}));
}

TEST_F(PackagesTest, EqualListsAreKeptOnce) {
  Install("/venv/lib/python3.11/site-packages", "torch-2.1.dist-info");
  for (const char* pod : {"/pods/a", "/pods/b"}) {
    ASSERT_TRUE(
        NotePython(folder_ + "/venv/bin/python", environment_, folder_ + "/state", folder_ + pod));
  }
  const auto note = text::ParseJson(base::ReadFile(folder_ + "/pods/b/python.json").value());
  ASSERT_TRUE(note);
  EXPECT_EQ(text::GetString(*note, {"python"}), folder_ + "/venv/bin/python");
  const std::string hash(text::GetString(*note, {"packages"}));
  EXPECT_EQ(base::ReadFile(folder_ + "/state/packages/" + hash).value(), "torch 2.1\n");
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_ + "/state/packages"), {}), 1);
}

}  // namespace
}  // namespace local::node
