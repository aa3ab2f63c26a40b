#include "ads/diagnosis.h"

#include <gtest/gtest.h>

namespace ads {
namespace {

std::vector<text::Json> ListWith(const std::string& rule) {
  return {*text::ParseJson("{\"ingressSecurityRules\": [" + rule + "]}")};
}

TEST(AllowsIngress, LooksAtProtocolSourceAndPorts) {
  const auto allows = [](const std::string& rule) {
    return AllowsIngress(ListWith(rule), "10.0.1.7", 29400, 29400);
  };
  EXPECT_TRUE(allows(R"({"protocol":"all","source":"10.0.0.0/16"})"));
  EXPECT_TRUE(allows(R"({"protocol":"6","source":"0.0.0.0/0","tcpOptions":null})"));
  EXPECT_TRUE(allows(R"({"protocol":"6","source":"10.0.1.0/24","tcpOptions":
      {"destinationPortRange":{"min":29000,"max":30000}}})"));
  EXPECT_FALSE(allows(R"({"protocol":"6","source":"10.0.1.0/24","tcpOptions":
      {"destinationPortRange":{"min":22,"max":22}}})"));
  EXPECT_FALSE(allows(R"({"protocol":"17","source":"10.0.0.0/16"})"));
  EXPECT_FALSE(allows(R"({"protocol":"all","source":"10.1.0.0/16"})"));
  EXPECT_FALSE(allows(R"({"protocol":"all","source":7})"));
  EXPECT_FALSE(allows(""));
}

TEST(IngressPorts, DependOnTheFramework) {
  EXPECT_EQ(IngressPorts("PYTORCH").size(), 1U);
  EXPECT_EQ(IngressPorts("DASK").size(), 3U);
  EXPECT_EQ(IngressPorts("HOROVOD").front().second, 65535);
}

TEST(RenderFindings, SaysWhatToDo) {
  EXPECT_EQ(RenderFindings({{"A", true, "x"}}, "PYTORCH"),
            "A: ✅\n✨ You have satisfied all the requirements for cluster: PYTORCH ✨\n");
  EXPECT_EQ(RenderFindings({{"A", true, ""}, {"B", false, "do b"}}, "PYTORCH"),
            "A: ✅\nB: ❎ . Resolution: do b\n");
  const std::string page = RenderReport({{"<A>", false, "do & be"}}, "PYTORCH");
  EXPECT_NE(page.find("<td>&lt;A&gt;</td><td>❎</td>"), std::string::npos);
  EXPECT_NE(page.find("<td>do &amp; be</td>"), std::string::npos);
}

}  // namespace
}  // namespace ads
