#include "ads/config/opctl_config.h"

#include <gtest/gtest.h>

#include "ads/config/ini_file.h"
#include "ads/run/info.h"
#include "ads/testing/temporary_folder.h"

namespace ads {
namespace {

class OpctlConfigTest : public testing::Test {
 protected:
  void Write(const std::string& name, const std::string& text) const {
    ASSERT_TRUE(base::MakeDirs(base::DirectoryOf(home_.path() + "/" + name)));
    ASSERT_TRUE(
        base::WriteFileAtomic(home_.path() + "/" + name, text, 0600, base::Durability::kNone));
  }
  base::Environment Env(std::map<std::string, std::string> more = {}) const {
    more["HOME"] = home_.path();
    return base::Environment(std::move(more));
  }
  TemporaryFolder home_;
};

TEST_F(OpctlConfigTest, FlagsWinOverTheFile) {
  const auto built_in = ChooseLogin({}, Env());
  ASSERT_TRUE(built_in);
  EXPECT_EQ(built_in->auth, "api_key");
  EXPECT_EQ(built_in->profile, "DEFAULT");
  EXPECT_EQ(built_in->config_path, home_.path() + "/.oci/config");
  EXPECT_EQ(ChooseLogin({}, Env({{"JOB_RUN_OCID", "x"}}))->auth, "resource_principal");
  Write(".ads_ops/config.ini",
        "[OCI]\noci_config = ~/other\noci_profile = P\nauth = security_token\n");
  const auto of_file = ChooseLogin({}, Env());
  EXPECT_EQ(of_file->auth, "security_token");
  EXPECT_EQ(of_file->profile, "P");
  EXPECT_EQ(of_file->config_path, home_.path() + "/other");
  EXPECT_EQ(ChooseLogin({"api_key", "/c", "Q", ""}, Env())->profile, "Q");
  EXPECT_EQ(ChooseLogin({"", "", "", "/nowhere"}, Env())->auth, "api_key");
}

TEST_F(OpctlConfigTest, AContainersEnvironmentSaysWhoSignsIn) {
  const auto login = ChooseLogin({}, Env({{"JOB_RUN_OCID", "x"},
                                          {"OCI_IAM_TYPE", "api_key"},
                                          {"OCI_CONFIG_LOCATION", "~/there"},
                                          {"OCIFS_CONFIG_PROFILE", "P"}}));
  EXPECT_EQ(login->auth, "api_key");
  EXPECT_EQ(login->config_path, home_.path() + "/there");
  EXPECT_EQ(login->profile, "P");
}

TEST_F(OpctlConfigTest, AnotherFileIsTakenWhereTheUsualOneIsMissing) {
  const base::Environment named = Env({{"OCI_CONFIG_FILE", "/named"}});
  EXPECT_EQ(ChooseLogin({}, named)->config_path, "/named");
  Write(".oraclebmc/config", "");
  EXPECT_EQ(ChooseLogin({}, Env())->config_path, home_.path() + "/.oraclebmc/config");
  Write(".oci/config", "");
  EXPECT_EQ(ChooseLogin({}, named)->config_path, home_.path() + "/.oci/config");
}

TEST_F(OpctlConfigTest, AFlexibleShapeOfTheDefaultsWantsItsSize) {
  EXPECT_TRUE(CheckShapeDefault({}, Env()));
  Write(".ads_ops/ml_job_config.ini",
        "[DEFAULT]\nshape_name = VM.Standard.E3.Flex\nocpus = 2\n"
        "[P]\nshape_name = VM.GPU2.1\n"
        "[Q]\nshape_name = VM.Standard.E3.Flex\nocpus = 2\nmemory_in_gbs = 16\n");
  const auto refused = CheckShapeDefault({}, Env());
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message,
            "ValueError: Parameters `ocpus` and `memory_in_gbs` must be provided for using flex "
            "shape. Call `ads opctl configure` to specify.");
  EXPECT_TRUE(CheckShapeDefault({"", "", "P", ""}, Env()));
  EXPECT_TRUE(CheckShapeDefault({"", "", "Q", ""}, Env()));
  EXPECT_EQ(JobDefault({"", "", "Q", ""}, Env(), "ocpus").value_or(""), "2");
}

TEST(IniFile_Errors, NameTheLine) {
  EXPECT_EQ(IniFile::Parse("a = 1\n", "f").error().message,
            "f line 1: a [section] has to come before the first key");
  EXPECT_EQ(IniFile::Parse("[a]\n\nnonsense\n", "f").error().message, "f line 3: no `key = value`");
  const auto file = IniFile::Parse("[a]\nKey: x\n  y\n; c\nk = 1=2\n", "f");
  ASSERT_TRUE(file);
  EXPECT_EQ(file->Text(), "[a]\nkey = x\n\ty\n; c\nk = 1=2\n\n");
}

TEST_F(OpctlConfigTest, RunInfoIsReadBackEvenBehindABanner) {
  const RunInfo info{"ocid1.job", {"m", "ocid1.run1"}, {{"w_0", "ocid1.run2"}}, "oci://b@n/p"};
  const std::string text = RenderRunInfo(info, "ads");
  EXPECT_EQ(text,
            "jobId: ocid1.job\nmainJobRunId:\n  m: ocid1.run1\notherJobRunIds:\n- w_0: ocid1.run2\n"
            "workDir: oci://b@n/p\n# ⭐ To stream the logs of the main job run:\n"
            "# $ ads opctl watch ocid1.run1\n");
  Write("info.yaml", "..... Initializing the process ....\nSuccess: a: b\n" + text);
  const auto read = ReadRunInfoFile(home_.path() + "/info.yaml");
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->job_id, "ocid1.job");
  EXPECT_EQ(read->work_dir, "oci://b@n/p");
}

}  // namespace
}  // namespace ads
