#include "controller/operator/own_image.h"

#include <gtest/gtest.h>

namespace controller {
namespace {

TEST(OwnImage, IsThatOfTheOperatorsContainer) {
  const auto image = [](const char* containers) {
    return OwnImage(*text::ParseJson(std::string(R"({"spec":{"containers":)") + containers + "}}"));
  };
  EXPECT_EQ(image(R"([{"name":"operator","image":"r/muster:1"}])"), "r/muster:1");
  EXPECT_EQ(image(R"([{"name":"istio-proxy","image":"p"},{"name":"operator","image":"m"}])"), "m");
  EXPECT_EQ(image(R"([{"name":"a","image":"p"},{"name":"training-operator","image":"k"}])"), "k");
  EXPECT_EQ(image(R"([{"name":"other","image":"o"}])"), "o");
  EXPECT_EQ(image("[]"), "");
  EXPECT_EQ(OwnImage(text::Json()), "");
}

}  // namespace
}  // namespace controller
