#include "text/same.h"

#include <gtest/gtest.h>

namespace text {
namespace {

TEST(IsSame, WhateverTheOrderOfTheKeys) {
  const char* const values[] = {R"({"a":1,"b":{"c":[{"d":"x"},2,null]}})",
                                R"({"a":1,"b":{"c":[{"d":"x"},2,true]}})",
                                R"({"a":1,"b":{"c":[{"d":"x"},2]}})",
                                R"({"a":1,"b":{"c":{}}})",
                                R"({"a":1})",
                                R"({"b":1})",
                                R"([1,2])",
                                R"([2,1])",
                                "1",
                                "\"1\"",
                                "null"};
  for (const char* const a : values) {
    for (const char* const b : values)
      EXPECT_EQ(IsSame(*ParseJson(a), *ParseJson(b)), a == b) << a << b;
  }
  EXPECT_TRUE(IsSame(*ParseJson(R"({"a":1,"b":2,"c":{"x":[],"y":{}}})"),
                     *ParseJson(R"({"c":{"y":{},"x":[]},"b":2,"a":1})")));
  EXPECT_TRUE(IsSame(Json(int64_t{1}), Json(uint64_t{1})));
}

}  // namespace
}  // namespace text
