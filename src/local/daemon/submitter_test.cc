#include "local/daemon/submitter.h"

#include <gtest/gtest.h>

namespace local::daemon {
namespace {

TEST(PodEnvironmentJson, PassesOnWhatProgramsNeedAndNothingElse) {
  const base::Environment environment({{"PATH", "/bin"},
                                       {"VIRTUAL_ENV", "/venv"},
                                       {"AWS_SECRET_ACCESS_KEY", "secret"},
                                       {"http_proxy", "http://proxy:3128"},
                                       {"https_proxy", "http://me:password@proxy:3128"}});
  EXPECT_EQ(PodEnvironmentJson(environment),
            R"({"PATH":"/bin","VIRTUAL_ENV":"/venv","http_proxy":"http://proxy:3128"})");
}

}  // namespace
}  // namespace local::daemon
