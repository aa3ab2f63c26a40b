#include "arena/model_registry.h"

#include <gtest/gtest.h>

namespace arena {
namespace {

TEST(TrackingUri, NamesHostPortAndPath) {
  const RegistryAddress address = *ParseTrackingUri("http://ml.example:5000/mlflow/");
  EXPECT_EQ(address.host, "ml.example");
  EXPECT_EQ(address.port, 5000);
  EXPECT_EQ(address.path, "/mlflow");
  const RegistryAddress short_form = *ParseTrackingUri("HTTP://tom:tiger@h");
  EXPECT_EQ(short_form.host, "h");
  EXPECT_EQ(short_form.port, 80);
  EXPECT_EQ(short_form.path, "");
  EXPECT_EQ(short_form.credentials, "tom:tiger");
  EXPECT_EQ(ParseTrackingUri("http://[::1]:5000")->host, "::1");
  EXPECT_EQ(ParseTrackingUri("http://[::1]")->host, "::1");
}

TEST(TrackingUri, RefusesWhatItCannotSpeak) {
  const std::pair<const char*, const char*> cases[] = {
      {"https://h", "not https yet"},     {"file:///x", "http://host:5000"},
      {"databricks", "http://host:5000"}, {"http://h:x", "\"x\" is no port"},
      {"http://h:99999", "is no port"},   {"http:///x", "names no host"},
  };
  for (const auto& [uri, words] : cases) {
    const auto address = ParseTrackingUri(uri);
    ASSERT_FALSE(address) << uri;
    EXPECT_TRUE(address.error().message.starts_with("MLFLOW_TRACKING_URI")) << uri;
    EXPECT_NE(address.error().message.find(words), std::string::npos) << address.error().message;
  }
}

TEST(RegisterModel, SaysWhatIsMissing) {
  const auto version = RegisterModelVersion(base::Environment(), {"m", "s", "d"});
  ASSERT_FALSE(version);
  EXPECT_NE(version.error().message.find("MLFLOW_TRACKING_URI is not set"), std::string::npos);
}

}  // namespace
}  // namespace arena
