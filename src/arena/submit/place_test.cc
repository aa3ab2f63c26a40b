#include "arena/submit/place.h"

#include "api/names.h"
#include "arena/testing/verb_test_base.h"

namespace arena {
namespace {

class SharedLogdirTest : public VerbTest {
 protected:
  SharedLogdirTest() {
    options_.flags.tensorboard = true;
    options_.flags.logdir = "/data/team/logs/a";
    text::Json claim = Json(R"({"metadata": {"name": "c", "namespace": "default"}})");
    text::Set(claim, {"metadata", "annotations", api::kVolumePathAnnotation}, "/claim");
    cluster_->Put(kClaims, claim);
  }
  std::string Shared(std::vector<HostDir> folders, std::vector<DataMount> claims) {
    options_.data_dirs = std::move(folders);
    options_.data = std::move(claims);
    return SharedLogdir(client_.get(), options_, "default", true);
  }

  SubmitOptions options_;
};

TEST_F(SharedLogdirTest, IsInTheDeepestMountOfBothKinds) {
  EXPECT_EQ(Shared({{"/outer", "/data"}, {"/inner", "/data/team"}}, {}), "/inner/logs/a");
  EXPECT_EQ(Shared({{"/inner", "/data/team/"}, {"/outer", "/data"}}, {}), "/inner/logs/a");
  EXPECT_EQ(Shared({{"/outer", "/data"}}, {{"c", "/data/team/logs"}}), "/claim/a");
  EXPECT_EQ(Shared({{"/inner", "/data/team/logs"}}, {{"c", "/data"}}), "/inner/a");
  EXPECT_EQ(Shared({{"/outer", "/data"}}, {{"absent", "/data/team"}}), "");
}

}  // namespace
}  // namespace arena
