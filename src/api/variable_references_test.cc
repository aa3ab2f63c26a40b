#include "api/variable_references.h"

#include <gtest/gtest.h>

namespace api {
namespace {

TEST(VariableReferences, AreEscapedWhereKubernetesWouldReadOne) {
  EXPECT_EQ(EscapeReferences("echo $HOME ${RANK} 5$"), "echo $HOME ${RANK} 5$");
  EXPECT_EQ(EscapeReferences("$(hostname)"), "$$(hostname)");
  EXPECT_EQ(EscapeReferences("a $$ b $$(c)"), "a $$$ b $$$$(c)");
}

TEST(VariableReferences, AreShownAsTheyWereWritten) {
  for (const char* text : {"echo $HOME 5$", "$(hostname)", "a $$ b $$(c) $$$", ""}) {
    EXPECT_EQ(UnescapeReferences(EscapeReferences(text)), text);
  }
}

}  // namespace
}  // namespace api
