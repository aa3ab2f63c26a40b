#include "arena/submit/model_registry.h"

#include <gtest/gtest.h>

namespace arena {
namespace {

base::Environment Variables(std::map<std::string, std::string> values) {
  return base::Environment(std::move(values));
}

TEST(RegisterModel, RefusesAnAddressThatIsNoneAndKeepsItsPassword) {
  for (const char* uri : {"file:///x", "databricks", "http://tom:tiger@h:x", "http://h:99999",
                          "http:///x", "https://tom:tiger@:5000"}) {
    const auto version =
        RegisterModelVersion(Variables({{"MLFLOW_TRACKING_URI", uri}}), {"m", "s", "d"});
    ASSERT_FALSE(version) << uri;
    EXPECT_EQ(version.error().message,
              "MLFLOW_TRACKING_URI: it should look like http://host:5000 or https://host");
  }
}

TEST(RegisterModel, NamesACertificateFileThatIsNotThere) {
  const auto version =
      RegisterModelVersion(Variables({{"MLFLOW_TRACKING_URI", "https://h"},
                                      {"MLFLOW_TRACKING_SERVER_CERT_PATH", "/no/such/file"}}),
                           {"m", "s", "d"});
  ASSERT_FALSE(version);
  EXPECT_NE(version.error().message.find("/no/such/file"), std::string::npos)
      << version.error().message;
}

TEST(RegisterModel, SaysWhatIsMissing) {
  const auto version = RegisterModelVersion(base::Environment(), {"m", "s", "d"});
  ASSERT_FALSE(version);
  EXPECT_NE(version.error().message.find("MLFLOW_TRACKING_URI is not set"), std::string::npos);
}

}  // namespace
}  // namespace arena
