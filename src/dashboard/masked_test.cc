#include "dashboard/masked.h"

#include <gtest/gtest.h>

namespace dashboard {
namespace {

std::string Masked(std::string_view job, std::string_view document) {
  text::Json json = *text::ParseJson(document);
  MaskSecrets(*text::ParseJson(job), json);
  return text::ToJson(json);
}

TEST(MaskedTest, ASecretOfTheJobIsInNoTextOfTheDocument) {
  const char* job = R"({"env":[{"name":"HF_TOKEN","value":"abcd1234"}]})";
  EXPECT_EQ(Masked(job, R"({"command":"train --key abcd1234","deep":[{"x":"abcd1234"}]})"),
            R"({"command":"train --key ***","deep":[{"x":"***"}]})");
}

TEST(MaskedTest, AVariableWithASecretsNameIsMaskedWhateverItHolds) {
  EXPECT_EQ(Masked("{}", R"({"spec":{"env API_TOKEN":"x","env LR":"0.1"}})"),
            R"({"spec":{"env API_TOKEN":"***","env LR":"0.1"}})");
  EXPECT_EQ(Masked("{}", R"({"differences":{"env DB_PASSWORD":["a",null],"env LR":["1","2"]}})"),
            R"({"differences":{"env DB_PASSWORD":["***",null],"env LR":["1","2"]}})");
}

TEST(MaskedTest, QuotesStayWhereTheyAre) {
  EXPECT_EQ(Masked("{}", R"({"command":"x --token=\"a\\b\" y"})"),
            R"({"command":"x --token=\"***\" y"})")
      << "or anything else that is valid JSON";
}

}  // namespace
}  // namespace dashboard
