#include "cluster/retry_policy.h"

#include <gtest/gtest.h>

namespace cluster {
namespace {

struct Case {
  const char* method;
  int status;
  const char* retry_after;  // "" is no such header
  int attempt;
  int seconds;  // -1: the answer stands
};

TEST(RetryPolicy, AsksAgainOnlyWhatMayBeAskedTwiceAndWhenTheServerSaysWhen) {
  const Case cases[] = {
      {"GET", 429, "1", 1, 1},         {"GET", 503, "2", 1, 2},   {"PUT", 429, "0", 1, 0},
      {"DELETE", 503, "30", 4, 30},    {"POST", 429, "1", 1, 1},  {"PATCH", 503, "1", 1, -1},
      {"GET", 429, "", 1, -1},         {"GET", 500, "1", 1, -1},  {"GET", 200, "1", 1, -1},
      {"GET", 429, "31", 1, -1},       {"GET", 429, "-1", 1, -1}, {"GET", 429, "1", 5, -1},
      {"GET", 429, "in a bit", 1, -1}, {"POST", 503, "1", 1, -1}, {"PATCH", 429, "1", 1, 1},
  };
  for (const Case& c : cases) {
    net::HttpRequest request;
    request.method = c.method;
    net::Headers headers;
    if (*c.retry_after != '\0') headers.emplace_back("retry-after", c.retry_after);
    const auto wait = RetryAfter(request, c.status, headers, c.attempt);
    EXPECT_EQ(wait ? wait->count() : -1, c.seconds) << c.method << " " << c.status;
  }
}

}  // namespace
}  // namespace cluster
