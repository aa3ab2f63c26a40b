#include "ads/config/image_config.h"

#include <gtest/gtest.h>

namespace ads {
namespace {

constexpr const char* kPath = "config.ini";
constexpr ImageNeed kBuild = ImageNeed::kNameAndDockerfile;

std::string IniText(const std::optional<std::string>& existing, const ImageFlags& flags,
                    const std::string& image, ImageNeed need) {
  const auto file = UpdateImageIni(existing, kPath, flags, image, need);
  return file ? file->Text() : file.error().message;
}

TEST(ImageConfig_Split, TakesTheLastColonThatIsNoPort) {
  EXPECT_EQ(SplitImage("iad.ocir.io/ns/x:1.0").registry, "iad.ocir.io/ns/x");
  EXPECT_EQ(SplitImage("iad.ocir.io/ns/x:1.0").tag, "1.0");
  EXPECT_EQ(SplitImage("iad.ocir.io/ns/x").tag, "latest");
  EXPECT_EQ(SplitImage("localhost:5000/img").registry, "localhost:5000/img");
  EXPECT_EQ(SplitImage("localhost:5000/img:2").tag, "2");
}

TEST(ImageConfig_NewFile, HasTheExactText) {
  EXPECT_EQ(IniText(std::nullopt, {"v1", "iad.ocir.io/ns/repo", "Dockerfile", "src"}, "", kBuild),
            "[main]\ntag = v1\nregistry = iad.ocir.io/ns/repo\ndockerfile = Dockerfile\n"
            "source_folder = src\n; mount oci keys for local testing\n"
            "oci_key_mnt = ~/.oci:/home/oci_dist_training/.oci\n\n");
}

TEST(ImageConfig_MissingValues, AreNamed) {
  const auto begins = [](const std::string& text, const std::string& with) {
    EXPECT_TRUE(text.starts_with(with)) << text;
  };
  begins(IniText(std::nullopt, {"", "r", "D", ""}, "", kBuild), "ValueError: tag arg is missing");
  begins(IniText(std::nullopt, {"1", "", "D", ""}, "@image", kBuild),
         "ValueError: registry arg is missing");
  begins(IniText(std::nullopt, {"1", "r", "", ""}, "", kBuild),
         "ValueError: dockerfile arg is missing");
}

TEST(ImageConfig_MissingValues, AreNotMissedWhereTheImageIsNotUsed) {
  EXPECT_NE(IniText(std::nullopt, {"", "", "", "src"}, "@image", ImageNeed::kNothing)
                .find("source_folder = src\n"),
            std::string::npos);
}

TEST(ImageConfig_NoBuild, WritesADummyThatALaterBuildRefuses) {
  const std::string text = IniText(std::nullopt, {}, "r/x:1", ImageNeed::kName);
  EXPECT_NE(text.find("dockerfile = DUMMY_PATH\nsource_folder = .\n"), std::string::npos) << text;
  EXPECT_NE(IniText(std::nullopt, {"", "", "", "src"}, "r/x:1", ImageNeed::kName)
                .find("dockerfile = DUMMY_PATH\nsource_folder = src\n"),
            std::string::npos);
  EXPECT_TRUE(
      IniText(text, {}, "r/x:1", kBuild).starts_with("ValueError: dockerfile arg is missing"));
  EXPECT_NE(IniText(text, {"", "", "DF", ""}, "r/x:1", kBuild).find("dockerfile = DF\n"),
            std::string::npos);
}

TEST(ImageConfig_Precedence, FlagThenYamlThenFile) {
  const std::string file =
      "[main]\ntag = t1\nregistry = reg/x\ndockerfile = DF\nsource_folder = src\n";
  EXPECT_NE(IniText(file, {}, "@image", kBuild).find("tag = t1\nregistry = reg/x\n"),
            std::string::npos);
  EXPECT_NE(IniText(file, {}, "other/y:2", kBuild).find("tag = 2\nregistry = other/y\n"),
            std::string::npos);
  EXPECT_NE(
      IniText(file, {"3", "", "", ""}, "other/y:2", kBuild).find("tag = 3\nregistry = other/y\n"),
      std::string::npos);
  // Missing keys are added; everything else stays.
  EXPECT_NE(IniText(file + "; mine\nextra = 50%\n", {}, "@image", kBuild)
                .find("; mine\nextra = 50%\n; mount oci keys for local testing\n"),
            std::string::npos);
}

TEST(ImageConfig_IncrementTag, KeepsTheWidth) {
  EXPECT_EQ(IncrementTag("mytag"), "mytag_v_1");
  EXPECT_EQ(IncrementTag("mytag_v_1"), "mytag_v_2");
  EXPECT_EQ(IncrementTag("mytag_v_11"), "mytag_v_12");
  EXPECT_EQ(IncrementTag("mytag_v_09"), "mytag_v_10");
  EXPECT_EQ(IncrementTag("mytag_v_x"), "mytag_v_x_v_1");
  EXPECT_EQ(IncrementTag("mytag_v_"), "mytag_v__v_1");
}

}  // namespace
}  // namespace ads
