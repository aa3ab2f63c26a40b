#include "arena/testing/verb_test_base.h"
#include "base/file.h"

namespace arena {
namespace {

class CompareTest : public VerbTest {
 protected:
  CompareTest() {
    is_this_machine_ = false;
    std::string made = testing::TempDir() + "compared.XXXXXX";
    state_ = ::mkdtemp(made.data());
    environment_["XDG_STATE_HOME"] = state_;
  }
  ~CompareTest() override { EXPECT_TRUE(base::RemoveTree(state_)); }

  void Submit(const std::string& name, const std::string& token) {
    environment_["TOKEN"] = token;
    const Ended made =
        Run({"submit", "pytorch", "--name=" + name, "--image=i", "--env=TOKEN", "c"}, "muster");
    EXPECT_EQ(made.exit_code, 0) << made.log;
  }
  bool ShowsDifference(const std::string& a, const std::string& b) {
    const Ended compared = Run({"compare", a, b, "-o", "json"}, "muster");
    EXPECT_EQ(compared.exit_code, 0) << compared.log;
    EXPECT_EQ(compared.out.find("secret-"), std::string::npos) << compared.out;
    return text::Find(Json(compared.out), {"differences", "variable TOKEN"}) != nullptr;
  }

  std::string state_;
};

TEST_F(CompareTest, DistinguishesValuesThatWereNotTyped) {
  Submit("a", "secret-one");
  Submit("b", "secret-two");
  Submit("c", "secret-one");
  EXPECT_TRUE(ShowsDifference("a", "b"));
  EXPECT_FALSE(ShowsDifference("a", "c"));
}

}  // namespace
}  // namespace arena
