#include "local/node/plan/image_map.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "base/file.h"
#include "local/node/testing/pod_fixture.h"

namespace local::node {
namespace {

TEST(ImageMap, AnImageWithoutATagIsTheLatest) {
  EXPECT_EQ(FullImageName("mnist"), "mnist:latest");
  EXPECT_EQ(FullImageName("mnist:1"), "mnist:1");
  EXPECT_EQ(FullImageName("registry:5000/team/mnist"), "registry:5000/team/mnist:latest");
  EXPECT_EQ(FullImageName("registry:5000/team/mnist:1"), "registry:5000/team/mnist:1");
  EXPECT_EQ(FullImageName("mnist@sha256:ab"), "mnist@sha256:ab");
}

class ImageMapFile : public PodTest {
 protected:
  void SetUp() override {
    PodTest::SetUp();
    path_ = ImageMapPath(root_);
  }
  std::string path_;
};

TEST_F(ImageMapFile, KeepsWhatIsMappedUntilItIsUnmapped) {
  EXPECT_TRUE(LoadImageMap(path_)->empty());
  EXPECT_EQ(*MapImage(path_, "mnist:1", {"/code", "/opt/mnist"}), "");
  EXPECT_EQ(*MapImage(path_, "other", {"/a", ""}), "");
  EXPECT_EQ(*MapImage(path_, "other:latest", {"/b", ""}), "/a");
  const ImageMap map = *LoadImageMap(path_);
  EXPECT_EQ(map.size(), 2U);
  ASSERT_NE(FindImage(map, "mnist:1"), nullptr);
  EXPECT_EQ(FindImage(map, "mnist:1")->workdir, "/opt/mnist");
  ASSERT_NE(FindImage(map, "other"), nullptr);
  EXPECT_EQ(FindImage(map, "other")->directory, "/b");
  EXPECT_EQ(FindImage(map, "mnist:2"), nullptr);

  const base::Status absent = UnmapImages(path_, {"other", "absent"});
  ASSERT_FALSE(absent);
  EXPECT_NE(absent.error().message.find("absent"), std::string::npos);
  EXPECT_EQ(LoadImageMap(path_)->size(), 2U);  // all or none
  ASSERT_TRUE(UnmapImages(path_, {"other", "mnist:1"}));
  EXPECT_TRUE(LoadImageMap(path_)->empty());
}

TEST_F(ImageMapFile, CommandsAtOnceLoseNothing) {
  constexpr int kCommands = 8;
  std::vector<std::jthread> commands;
  for (int i = 0; i < kCommands; ++i) {
    commands.emplace_back(
        [this, i] { EXPECT_TRUE(MapImage(path_, "image" + std::to_string(i), {"/code", ""})); });
  }
  commands.clear();
  EXPECT_EQ(LoadImageMap(path_)->size(), static_cast<size_t>(kCommands));
}

TEST_F(ImageMapFile, ADamagedFileIsNamedAndNotOverwritten) {
  for (const char* content : {"[]", "{", R"({"mnist": {"directory": "relative"}})"}) {
    ASSERT_TRUE(base::WriteFileAtomic(path_, content, 0600, base::Durability::kNone));
    const auto loaded = LoadImageMap(path_);
    ASSERT_FALSE(loaded) << content;
    EXPECT_NE(loaded.error().message.find(path_), std::string::npos);
    EXPECT_FALSE(MapImage(path_, "other", {"/code", ""}));
    EXPECT_EQ(*base::ReadFile(path_), content);
  }
}

}  // namespace
}  // namespace local::node
