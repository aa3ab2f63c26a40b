#include "dashboard/shells.h"

#include <gtest/gtest.h>

#include "arena/testing/verb_test_base.h"
#include "base/guarded.h"
#include "base/strings.h"
#include "cluster/testing/fake_exec.h"
#include "dashboard/testing/fake_tab.h"

namespace dashboard {
namespace {

base::Result<ShellWish> WishOf(const std::string& query) {
  return ParseShellWish(*net::ParseTarget("/api/shell/ns/job" + query), "ns", "job");
}

TEST(ShellWish, NamesTheParameterThatIsWrong) {
  const auto wish = WishOf("?instance=job-worker-0&columns=120&rows=40");
  ASSERT_TRUE(wish);
  EXPECT_EQ(wish->instance, "job-worker-0");
  EXPECT_EQ(wish->size.columns, 120);
  EXPECT_EQ(wish->size.rows, 40);
  EXPECT_EQ(WishOf("")->size.columns, 80);
  EXPECT_EQ(WishOf("?columns=0").error().message,
            "columns \"0\" is invalid: a number from 1 to 1000");
  EXPECT_EQ(WishOf("?rows=many").error().message,
            "rows \"many\" is invalid: a number from 1 to 1000");
}

class ShellsTest : public arena::VerbTest {
 protected:
  ShellsTest() : context_(MakeContext()), shells_(*client_, context_) {
    cluster_->Put(arena::kJobs, MakeJob("first", "Running", std::chrono::seconds(60)));
    cluster_->Put(arena::kPods, MakePod("first", "master", 0, "Running"));
    cluster_->on_exec = [this](const net::HttpRequest& request) -> net::WebSocketAnswer {
      *asked_.Lock() = request.target;
      return {101, "", std::make_unique<cluster::ScriptedSocket>(script_)};
    };
  }
  std::shared_ptr<FakeTab> Open(const std::string& job = "first") {
    auto tab = std::make_shared<FakeTab>();
    EXPECT_TRUE(shells_.Open(tab, {"default", job}));
    return tab;
  }
  // The id that was sent to the tab.
  static std::string IdOf(FakeTab& tab) {
    EXPECT_TRUE(tab.Await(R"({"id":")"));
    const std::string text = tab.text();
    const size_t begin = text.find(R"({"id":")") + 7;
    return text.substr(begin, text.find('"', begin) - begin);
  }

  const arena::Context context_;
  std::shared_ptr<cluster::ExecScript> script_ = std::make_shared<cluster::ExecScript>();
  base::Guarded<std::string> asked_;
  Shells shells_;
};

TEST_F(ShellsTest, CarryWhatIsTypedAndWhatIsPrinted) {
  const auto tab = Open();
  const std::string id = IdOf(*tab);
  EXPECT_TRUE(tab->Await(R"("instance":"first-master-0","command":"muster attach first -i )"
                         R"(first-master-0 -- bash"})"));
  const std::string asked = *asked_.Lock();
  EXPECT_NE(asked.find("/first-master-0/exec?container=pytorch&command=sh&"), std::string::npos);
  EXPECT_NE(asked.find("tty=true"), std::string::npos) << asked;
  const std::string first = script_->Heard(1)[0];
  EXPECT_EQ(first, std::string(1, cluster::kExecResize) + R"({"Width":80,"Height":24})");
  ASSERT_TRUE(shells_.Take(R"({"id":")" + id + R"(","input":"ls\r"})"));
  EXPECT_EQ(script_->Heard(2)[1], std::string(1, cluster::kExecStdin) + "ls\r");
  ASSERT_TRUE(shells_.Take(R"({"id":")" + id + R"(","columns":100,"rows":30})"));
  EXPECT_EQ(script_->Heard(3)[2],
            std::string(1, cluster::kExecResize) + R"({"Width":100,"Height":30})");
  script_->Say(cluster::kExecStdout, "a\r\n");
  EXPECT_TRUE(tab->Await(R"({"bytes":")" + base::Base64Encode("a\r\n")));
  script_->SayStatus(3);
  EXPECT_TRUE(tab->Await("event: end\ndata: {\"error\":\"\",\"exitCode\":3}"));
}

TEST_F(ShellsTest, AnErrorIsTheEnd) {
  const auto tab = Open("none");
  EXPECT_TRUE(tab->Await("event: end\ndata: {\"error\":\""));
  EXPECT_TRUE(tab->Await(R"("exitCode":null)"));
}

TEST_F(ShellsTest, AClosedTabEndsItsShell) {
  const auto tab = Open();
  const std::string id = IdOf(*tab);
  tab->Close();
  const base::Status typed = shells_.Take(R"({"id":")" + id + R"(","input":"x"})");
  ASSERT_FALSE(typed);
  EXPECT_EQ(typed.error().code, base::Code::kNotFound);
  EXPECT_TRUE(script_->AwaitCancel());
}

TEST_F(ShellsTest, ThereAreNotTooMany) {
  std::vector<std::shared_ptr<FakeTab>> tabs;
  for (size_t i = 0; i < kMostShells; ++i) tabs.push_back(Open());
  const base::Status one_more = shells_.Open(std::make_shared<FakeTab>(), {"default", "first"});
  ASSERT_FALSE(one_more);
  EXPECT_EQ(one_more.error().message, "16 shells are open already: close one");
}

TEST_F(ShellsTest, WhatNobodyReadsIsRefused) {
  const auto tab = Open();
  const std::string id = IdOf(*tab);
  const std::string much = R"({"id":")" + id + R"(","input":")" + std::string(kMostTyped + 1, 'x');
  EXPECT_EQ(shells_.Take(much + R"("})").error().code, base::Code::kExhausted);
  EXPECT_EQ(shells_.Take("{").error().code, base::Code::kInvalidArgument);
}

}  // namespace
}  // namespace dashboard
