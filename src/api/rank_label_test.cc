#include "api/rank_label.h"

#include <gtest/gtest.h>

#include <tuple>

namespace api {
namespace {

TEST(ReadRankLabel, ReadsWhatLaunchersAndPyTorchPutBeforeALine) {
  for (const auto& [line, name, number, is_local, is_bar, text] :
       {std::tuple<const char*, const char*, int, bool, bool, const char*>{
            "[rank3]:step 1", "rank3", 3, false, false, "step 1"},
        {"[rank3]: step 1", "rank3", 3, false, false, "step 1"},
        {"[rank3] step 1", "rank3", 3, false, false, "step 1"},
        {"[rank3]: ", "rank3", 3, false, false, ""},
        {"[local-rank1]:a", "local-rank1", 1, true, false, "a"},
        {"[default1]:a", "default1", 1, true, false, "a"},
        {"[rank0]> 40%|####", "rank0", 0, false, true, "40%|####"},
        {"[rank1] > 40%", "rank1", 1, false, false, "> 40%"}}) {
    const auto label = ReadRankLabel(line);
    ASSERT_TRUE(label) << line;
    EXPECT_EQ(label->name, name);
    EXPECT_EQ(label->number, number);
    EXPECT_EQ(label->is_local, is_local);
    EXPECT_EQ(label->is_bar, is_bar);
    EXPECT_EQ(label->text, text);
  }
}

TEST(ReadRankLabel, LeavesTheTextIndentedAsItWas) {
  for (const auto& [line, text] :
       {std::pair<std::string_view, std::string_view>{"[rank3]:  File", "  File"},
        {"[rank3]:   File", "  File"},
        {"[rank3]:    import torch", "    import torch"},
        {"[rank3]:Traceback", "Traceback"}}) {
    EXPECT_EQ(ReadRankLabel(line)->text, text) << line;
  }
}

TEST(ReadRankLabel, OtherLinesHaveNone) {
  for (const char* line :
       {"", "step 1", "[rank]: x", "[rank3]", "[rank3", "[rank3]x", "[ranks3]: x", "[rankle] a",
        "[rank-3]: x", "[rank 3]: x", "[defaults1]: x", "[default]: x", "[default0] x",
        "[rank1000000]: x", "[INFO]: x", "[rank00000000000000000000000000]: x"}) {
    EXPECT_FALSE(ReadRankLabel(line)) << line;
  }
}

}  // namespace
}  // namespace api
