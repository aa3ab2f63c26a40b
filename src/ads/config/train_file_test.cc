#include "ads/config/train_file.h"

#include <gtest/gtest.h>

namespace ads {
namespace {

TEST(TrainFile, AUrlIsShownWithoutItsSecrets) {
  EXPECT_EQ(ShownTrainFile("https://os/p/s3cret/n/x.yaml"), "https://os/p/.../n/x.yaml");
  EXPECT_EQ(ShownTrainFile("oci://bucket@namespace/x?y"), "oci://bucket@namespace/x?y");
  EXPECT_EQ(ShownTrainFile("/p/folder/n/x"), "/p/folder/n/x");
}

}  // namespace
}  // namespace ads
