#include "ads/run_starter.h"

#include <gtest/gtest.h>
#include <signal.h>

#include "ads/oci/fake_client.h"
#include "ads/run_ending.h"

namespace ads {
namespace {

using oci::Answer;

// The runs of one job, and what the service refuses.
class JobModel {
 public:
  net::HttpResponse Serve(const net::HttpRequest& request) {
    const std::string& target = request.target;
    if (request.method == "POST" && target.ends_with("/jobRuns")) return Create();
    if (request.method == "POST") return Cancel(target);
    if (target.find("jobId=") != std::string::npos) return Answer(200, text::ToJson(runs));
    for (const text::Json& run : runs) {
      if (target.ends_with(text::GetString(run, {"id"}))) return Answer(200, text::ToJson(run));
    }
    return Answer(404, R"({"code":"NotAuthorizedOrNotFound","message":"none"})");
  }

  text::Array runs;
  size_t refuses_from = 99;   // the run of this number and those after it are refused
  bool loses_answer = false;  // and yet they are made
  bool refuses_cancel = false;
  bool interrupts = false;

 private:
  net::HttpResponse Create() {
    const bool is_refused = runs.size() >= refuses_from;
    const text::Json made =
        text::Object{{"id", "run" + std::to_string(runs.size())}, {"lifecycleState", "ACCEPTED"}};
    if (!is_refused || loses_answer) runs.push_back(made);
    if (interrupts) ::raise(SIGINT);
    return is_refused ? Answer(400, R"({"code":"LimitExceeded","message":"no"})")
                      : Answer(200, text::ToJson(made));
  }
  net::HttpResponse Cancel(const std::string& target) {
    if (refuses_cancel) return Answer(404, R"({"code":"NotFound","message":"gone"})");
    for (text::Json& run : runs) {
      if (target.find("/" + std::string(text::GetString(run, {"id"})) + "/") != std::string::npos) {
        text::Set(run, {"lifecycleState"}, "CANCELED");
      }
    }
    return Answer(204);
  }
};

class RunStarterTest : public testing::Test {
 protected:
  std::string WhyNot(size_t count, std::vector<oci::JobRun> before = {}) {
    RunStarter starter(jobs_, "job", "c", std::move(before), err_);
    const auto runs = starter.Start(std::vector<text::Json>(count, text::Object()));
    return runs ? "" : runs.error().message;
  }
  std::string States() const {
    std::string states;
    for (const text::Json& run : model_.runs) {
      states += std::string(text::GetString(run, {"lifecycleState"})) + " ";
    }
    return states;
  }

  JobModel model_;
  oci::FakeService service_{
      [this](const net::HttpRequest& request) { return model_.Serve(request); }};
  oci::DataScience jobs_{service_.api};
  cli::StringOutput err_;
};

TEST_F(RunStarterTest, CancelsWhatWasCreatedWhenOneIsRefused) {
  model_.refuses_from = 2;
  EXPECT_EQ(WhyNot(4),
            "ServiceError: 400 LimitExceeded: no (create_job_run of data_science); 2 runs of job "
            "job were cancelled");
  EXPECT_EQ(States(), "CANCELED CANCELED ");
  EXPECT_EQ(err_.text(), "Cancelling Job Run: run0\nCancelling Job Run: run1\n");
}

TEST_F(RunStarterTest, CancelsARunWhoseAnswerWasLost) {
  model_.refuses_from = 1;
  model_.loses_answer = true;
  WhyNot(2);
  EXPECT_EQ(States(), "CANCELED CANCELED ");
}

TEST_F(RunStarterTest, LeavesTheJobsEarlierRunsAlone) {
  model_.runs.push_back(text::Object{{"id", "old"}, {"lifecycleState", "IN_PROGRESS"}});
  model_.refuses_from = 2;
  oci::JobRun old;
  old.id = "old";
  WhyNot(2, {old});
  EXPECT_EQ(States(), "IN_PROGRESS CANCELED ");
}

TEST_F(RunStarterTest, NamesWhatItCouldNotCancel) {
  model_.refuses_from = 1;
  model_.refuses_cancel = true;
  EXPECT_NE(WhyNot(2).find("STILL RUNNING, and to be cancelled by you: run0 (ServiceError: 404"),
            std::string::npos);
}

TEST_F(RunStarterTest, CancelsAllOnCtrlC) {
  model_.interrupts = true;
  EXPECT_EQ(WhyNot(3), "interrupted; 1 run of job job was cancelled");
  EXPECT_EQ(States(), "CANCELED ");
}

TEST_F(RunStarterTest, AWaitForAnEndHasALimit) {
  model_.runs.push_back(text::Object{{"id", "r"}, {"lifecycleState", "CANCELING"}});
  RunEnding ending(jobs_, service_.clock,
                   [this](base::Duration pause) { service_.clock.Advance(pause); });
  const EndWait wait{std::chrono::seconds(10), std::chrono::seconds(35)};
  EXPECT_EQ(ending.AwaitEnd("r", wait).error().message,
            "the job run r is still CANCELING after 35 s");
  EXPECT_EQ(service_.requests.size(), 5U);
  text::Set(model_.runs[0], {"lifecycleState"}, "SUCCEEDED");
  EXPECT_EQ(ending.AwaitEnd("r", wait)->state, "SUCCEEDED");
}

}  // namespace
}  // namespace ads
