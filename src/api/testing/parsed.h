// For tests: a literal as a value.
#pragma once

#include <gtest/gtest.h>

#include <string_view>
#include <utility>

#include "text/json.h"

namespace api {

inline text::Json Parsed(std::string_view json) {
  auto value = text::ParseJson(json);
  EXPECT_TRUE(value) << json;
  return value ? std::move(*value) : text::Json();
}

}  // namespace api
