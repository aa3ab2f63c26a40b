#include "ads/run/starter.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <utility>

#include "ads/oci/testing/fake_client.h"
#include "ads/run/ending.h"

namespace ads {
namespace {

using oci::Answer;

// The runs of one job, and what the service refuses.
class JobModel {
 public:
  base::Result<net::HttpResponse> Serve(const net::HttpRequest& request) {
    const std::string& target = request.target;
    if (request.method == "DELETE") {
      is_deleted = true;
      return Answer(204);
    }
    if (request.method == "POST" && target.ends_with("/jobRuns")) return Create(request.body);
    if (request.method == "POST") return Cancel(target);
    if (target.find("jobId=") != std::string::npos) return List();
    for (const text::Json& run : runs) {
      if (target.ends_with(text::GetString(run, {"id"}))) return Answer(200, text::ToJson(run));
    }
    return Answer(404, R"({"code":"NotAuthorizedOrNotFound","message":"none"})");
  }

  text::Array runs;
  size_t refuses_from = 99;    // the runs from this number on are refused
  bool loses_answers = false;  // they are created, but the answers are lost
  int lists_without_runs = 0;  // how many lists come before a lost run appears
  int failing_lists = 0;
  int refuses_cancel = 0;  // how many cancellations are answered with this
  int refusal = 409;
  std::string after_cancel = "CANCELED";
  int signal = 0;            // sent while a run is created
  int signal_at_cancel = 0;  // sent while a run is cancelled
  bool is_deleted = false;

 private:
  base::Result<net::HttpResponse> Create(const std::string& body) {
    const bool is_refused = runs.size() >= refuses_from;
    const text::Json made =
        text::Object{{"id", "run" + std::to_string(runs.size())},
                     {"displayName", text::GetString(*text::ParseJson(body), {"displayName"})},
                     {"lifecycleState", "ACCEPTED"}};
    if (!is_refused || loses_answers) runs.push_back(made);
    // As a terminal sends it: to the whole process.
    if (signal != 0) ::kill(::getpid(), signal);
    if (!is_refused) return Answer(200, text::ToJson(made));
    if (loses_answers) return base::Fail(base::Code::kCancelled, "broken off");
    return Answer(400, R"({"code":"LimitExceeded","message":"no"})");
  }
  net::HttpResponse Cancel(const std::string& target) {
    if (signal_at_cancel != 0) ::kill(::getpid(), std::exchange(signal_at_cancel, 0));
    if (refuses_cancel > 0) {
      --refuses_cancel;
      return Answer(refusal, R"({"code":"IncorrectState","message":"not now"})");
    }
    for (text::Json& run : runs) {
      if (target.find("/" + std::string(text::GetString(run, {"id"})) + "/") != std::string::npos) {
        text::Set(run, {"lifecycleState"}, text::Json(after_cancel));
      }
    }
    return Answer(204);
  }
  net::HttpResponse List() {
    if (failing_lists > 0) {
      --failing_lists;
      return Answer(503, R"({"code":"Unavailable","message":"no list"})");
    }
    if (lists_without_runs > 0) {
      --lists_without_runs;
      return Answer(200, "[]");
    }
    return Answer(200, text::ToJson(runs));
  }
};

class RunStarterTest : public testing::Test {
 protected:
  std::string WhyNot(size_t count, StartedJob job = {"job", "c"}) {
    const auto interrupts = Interrupts::Catch(service_.breaker);
    EXPECT_TRUE(interrupts) << interrupts.error().message;
    const StartSurroundings around{service_.clock,
                                   [this](base::Duration pause) { service_.clock.Advance(pause); },
                                   **interrupts, "ads", err_};
    RunStarter starter(jobs_, std::move(job), around);
    std::vector<text::Json> bodies;
    for (size_t i = 0; i < count; ++i) {
      bodies.push_back(text::Object{{"displayName", "n" + std::to_string(i)}});
    }
    const auto runs = starter.Start(bodies);
    if (runs) return "";
    is_interrupted_ = runs.error().code == base::Code::kCancelled;
    return runs.error().message;
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
  bool is_interrupted_ = false;
};

const std::string kRefused = "ServiceError: 400 LimitExceeded: no (create_job_run of data_science)";

TEST_F(RunStarterTest, CancelsWhatWasCreatedWhenOneIsRefused) {
  model_.refuses_from = 2;
  EXPECT_EQ(WhyNot(4), kRefused + "; 2 runs of job job were cancelled");
  EXPECT_EQ(States(), "CANCELED CANCELED ");
  EXPECT_EQ(err_.text(), kRefused +
                             ": the start of job job is undone (Ctrl-C: at once, and what is left "
                             "is told)\nCancelling Job Run: run0\nCancelling Job Run: run1\n");
  EXPECT_FALSE(model_.is_deleted);
}

TEST_F(RunStarterTest, DeletesAJobThatGotNoRun) {
  model_.refuses_from = 0;
  EXPECT_EQ(WhyNot(1), kRefused + "; the job job was deleted");
  EXPECT_TRUE(std::exchange(model_.is_deleted, false));
  EXPECT_EQ(WhyNot(1, {"job", "c", false}), kRefused);
  EXPECT_FALSE(model_.is_deleted);
}

TEST_F(RunStarterTest, LooksForARunWhoseAnswerWasLostUntilItIsListed) {
  model_.refuses_from = 1;
  model_.loses_answers = true;
  model_.lists_without_runs = 3;
  EXPECT_EQ(WhyNot(2), "interrupted; 2 runs of job job were cancelled");
  EXPECT_EQ(States(), "CANCELED CANCELED ");
}

TEST_F(RunStarterTest, SaysThatALostRunIsNowhere) {
  model_.refuses_from = 1;
  model_.loses_answers = true;
  model_.lists_without_runs = 99;
  EXPECT_EQ(WhyNot(2),
            "interrupted; 1 run of job job was cancelled; the answer about run n1 was lost, and it "
            "MAY STILL BE RUNNING: `ads opctl watch job` shows the runs of the job");
}

TEST_F(RunStarterTest, NamesTheJobWhenItsRunsCannotBeListed) {
  model_.refuses_from = 1;
  model_.loses_answers = true;
  model_.failing_lists = 2;
  EXPECT_EQ(WhyNot(2), "interrupted; 2 runs of job job were cancelled");
  model_ = {};
  model_.refuses_from = 0;
  model_.failing_lists = 99;
  EXPECT_EQ(WhyNot(2),
            kRefused +
                "; the runs of job job could not be listed (ServiceError: 503 Unavailable: "
                "no list (list_job_runs of data_science))");
  EXPECT_FALSE(model_.is_deleted);
}

TEST_F(RunStarterTest, LeavesTheJobsOtherRunsAlone) {
  model_.runs.push_back(
      text::Object{{"id", "old"}, {"displayName", "n1"}, {"lifecycleState", "IN_PROGRESS"}});
  model_.runs.push_back(
      text::Object{{"id", "theirs"}, {"displayName", "x"}, {"lifecycleState", "IN_PROGRESS"}});
  model_.refuses_from = 3;
  oci::JobRun old;
  old.id = "old";
  WhyNot(2, {"job", "c", false, {old}});
  EXPECT_EQ(States(), "IN_PROGRESS IN_PROGRESS CANCELED ");
}

TEST_F(RunStarterTest, AsksAgainWhereARunCannotBeCancelledYet) {
  model_.refuses_from = 2;
  model_.refuses_cancel = 5;
  EXPECT_EQ(WhyNot(3), kRefused + "; 2 runs of job job were cancelled");
  EXPECT_EQ(States(), "CANCELED CANCELED ");
}

TEST_F(RunStarterTest, NamesWhatStillRunsAfterTheLimit) {
  model_.refuses_from = 1;
  model_.refuses_cancel = 9999;
  EXPECT_EQ(WhyNot(2), kRefused +
                           "; STILL RUNNING, and to be cancelled by you: run0 (ACCEPTED: "
                           "ServiceError: 409 IncorrectState: not now (cancel_job_run of "
                           "data_science)): `ads opctl cancel job`");
  EXPECT_GE(service_.clock.Steady().time_since_epoch(), RunStarter::kRollBackLimit);
  model_.runs.clear();
  model_.refuses_cancel = 0;
  model_.after_cancel = "CANCELING";
  EXPECT_EQ(WhyNot(2, {"job", "c", false}),
            kRefused +
                "; STILL RUNNING, and to be cancelled by you: run0 (CANCELING): `ads opctl "
                "cancel run0`");
}

TEST_F(RunStarterTest, DoesNotWaitForWhatIsRefusedForGood) {
  model_.refuses_from = 1;
  model_.refuses_cancel = 9999;
  model_.refusal = 404;
  EXPECT_NE(WhyNot(2).find("STILL RUNNING, and to be cancelled by you: run0 (ACCEPTED: "
                           "ServiceError: 404 "),
            std::string::npos);
  EXPECT_EQ(service_.clock.Steady().time_since_epoch().count(), 0);
}

TEST_F(RunStarterTest, ARunThatEndedByItselfIsNamed) {
  model_.refuses_from = 1;
  model_.after_cancel = "FAILED";
  EXPECT_EQ(WhyNot(2), kRefused + "; run run0 had ended: FAILED");
}

TEST_F(RunStarterTest, CancelsAllOnEachSignal) {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    model_ = {};
    model_.signal = signal;
    EXPECT_EQ(WhyNot(3), "interrupted; 1 run of job job was cancelled") << signal;
    EXPECT_TRUE(is_interrupted_);
    EXPECT_EQ(States(), "CANCELED ");
  }
}

TEST_F(RunStarterTest, ASecondSignalLeavesTheRestToTheUser) {
  model_.signal = SIGINT;
  model_.signal_at_cancel = SIGINT;
  model_.after_cancel = "CANCELING";
  const std::string why = WhyNot(2);
  EXPECT_TRUE(why.starts_with("interrupted; STILL RUNNING, and to be cancelled by you: run0 ("));
  EXPECT_TRUE(why.ends_with("): `ads opctl cancel job`")) << why;
  EXPECT_LT(service_.clock.Steady().time_since_epoch(), RunStarter::kRollBackLimit);
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
