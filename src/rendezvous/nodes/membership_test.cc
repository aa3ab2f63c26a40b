#include "rendezvous/nodes/membership.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace rendezvous {
namespace {

using std::chrono::seconds;

// A job's authority and its decisions as text: "start 1:0/2" is generation 1, node rank 0 of 2.
class Job {
 public:
  Job(int min_nodes, int max_nodes, int max_restarts = 0, bool is_static = false) {
    request_.min_nodes = min_nodes;
    request_.max_nodes = max_nodes;
    request_.max_restarts = max_restarts;
    request_.is_static = is_static;
    request_.nproc = 2;
    membership_.emplace(request_, MembershipTimes{}, now_);
  }
  NodeRequest RequestOf(const std::string& host, int node_rank = -1) const {
    NodeRequest request = request_;
    request.host = host;
    if (node_rank >= 0) request.node_rank = node_rank;
    return request;
  }
  // Node a has id 1 and is the host, b has 2, ...
  std::string Join(const std::string& host, int node_rank = -1) {
    return Join(host, RequestOf(host, node_rank));
  }
  std::string Join(const std::string& host, const NodeRequest& request) {
    return Text(membership_->Join(IdOf(host), request, host == "a", now_));
  }
  std::string Failed(const std::string& host, const std::string& text = "boom",
                     bool is_final = false) {
    Failure failure{host, 1, 0, 3, text};
    failure.is_final = is_final;
    return Text(membership_->Failed(IdOf(host), membership_->generation(), failure, now_));
  }
  std::string Succeeded(const std::string& host) {
    return Text(membership_->Succeeded(IdOf(host), membership_->generation(), now_));
  }
  std::string Stopped(const std::string& host) {
    return Text(membership_->Stopped(IdOf(host), membership_->generation(), now_));
  }
  std::string Leave(const std::string& host) {
    return Text(membership_->Leave(IdOf(host), "SIGTERM", now_));
  }
  std::string Dies(const std::string& host) {
    return Text(membership_->Disconnected(IdOf(host), true, now_));
  }
  std::string Breaks(const std::string& host) {
    return Text(membership_->Disconnected(IdOf(host), false, now_));
  }
  // All nodes except `silent` send heartbeats meanwhile.
  std::string Pass(int count, const std::string& silent = "") {
    std::string text;
    for (int i = 0; i < count; ++i) {
      now_ += seconds(1);
      for (char host = 'a'; host <= 'f'; ++host) {
        if (silent.find(host) == std::string::npos) {
          membership_->Heard(IdOf(std::string(1, host)), now_);
        }
      }
      text += Text(membership_->Tick(now_));
    }
    return text;
  }
  Membership& membership() { return *membership_; }

 private:
  static NodeId IdOf(const std::string& host) { return static_cast<NodeId>(host[0] - 'a' + 1); }
  static std::string Text(const Decisions& decisions) {
    std::string text;
    for (const Decision& decision : decisions) {
      const auto host = static_cast<char>('a' + decision.node - 1);
      switch (decision.kind) {
        case Decision::Kind::kStart:
          text += fmt::format(
              "{} starts {}:{}/{} ranks {}..{} restarts {}\n", host, decision.assignment.generation,
              decision.assignment.self, decision.assignment.nodes.size(),
              decision.assignment.nodes[static_cast<size_t>(decision.assignment.self)].first_rank,
              decision.assignment.world_size, decision.assignment.restart_count);
          break;
        case Decision::Kind::kStop:
          text += fmt::format("{} stops {}\n", host, decision.generation);
          break;
        case Decision::Kind::kDrop:
          text += fmt::format("{} dropped\n", host);
          break;
        case Decision::Kind::kEnd:
          text += fmt::format("{} ends{}\n", host,
                              decision.end.kind == EndKind::kSucceeded ? ""
                              : decision.end.kind == EndKind::kFailed
                                  ? ": " + decision.end.failure->text
                                  : " with error: " + decision.end.error.message);
          break;
        case Decision::Kind::kNewStore:
        case Decision::Kind::kProgress:
          break;
      }
    }
    return text;
  }

  NodeRequest request_;
  Moment now_ = Moment(seconds(100));
  std::optional<Membership> membership_;
};

// Evaluates its arguments in order, which the operands of + are not.
std::string InOrder(std::initializer_list<std::string> texts) {
  std::string all;
  for (const std::string& text : texts) all += text;
  return all;
}

TEST(Membership, StartsWhenAllHaveJoinedAndEndsWhenAllHaveSucceeded) {
  Job job(2, 2);
  EXPECT_EQ(job.Join("b"), "");
  EXPECT_EQ(job.Join("a"),
            "a starts 1:0/2 ranks 0..4 restarts 0\nb starts 1:1/2 ranks 2..4 restarts 0\n");
  EXPECT_EQ(job.Succeeded("a"), "");
  EXPECT_EQ(job.Succeeded("b"), "a ends\nb ends\n");
}

// Below the host before a, which has died: the others come with what they remember.
NodeRequest Formerly(const Job& job, const std::string& host, int node_rank, bool is_last = true) {
  NodeRequest request = job.RequestOf(host);
  request.former = {.generation = 4,
                    .authority = 77,
                    .restart_count = 2,
                    .guests = 3,
                    .node_rank = node_rank,
                    .is_last = is_last};
  return request;
}

TEST(Membership, AHostThatTakesAnothersPlaceGoesOnWhereItEndedOnceAllOfItsNodesAreThere) {
  Job job(1, 5, 3);
  EXPECT_EQ(job.Join("a", Formerly(job, "a", 1)), "");
  EXPECT_EQ(job.Join("c", Formerly(job, "c", 3)), "");
  EXPECT_EQ(job.Pass(5), "");
  EXPECT_EQ(job.Join("b", Formerly(job, "b", 2)),
            "a starts 5:0/3 ranks 0..6 restarts 2\nb starts 5:1/3 ranks 2..6 restarts 2\n"
            "c starts 5:2/3 ranks 4..6 restarts 2\n");
}

TEST(Membership, TheGuardianOfTheHostBeforeHasItsSecond) {
  Job job(1, 5);
  job.Join("a", Formerly(job, "a", 1));
  job.Join("b", Formerly(job, "b", 2));
  EXPECT_EQ(job.Join("c", Formerly(job, "c", 3)), "");
  EXPECT_NE(job.Pass(1), "");
}

TEST(Membership, ANodeOfTheHostBeforeThatDoesNotComeIsWaitedForUntilItsWorkersAreGone) {
  Job job(1, 2);
  EXPECT_EQ(job.Join("a", Formerly(job, "a", 1)), "");
  EXPECT_EQ(job.Join("d"), "");  // as many as there may be
  EXPECT_EQ(job.Pass(14), "");
  EXPECT_EQ(job.Pass(1),
            "a starts 5:0/2 ranks 0..4 restarts 2\n"
            "d starts 5:1/2 ranks 2..4 restarts 2\n");
}

TEST(Membership, NodesThatMayHaveMissedAGenerationOfTheHostBeforeDoNotVouchForTheOthers) {
  Job job(1, 5);
  job.Join("a", Formerly(job, "a", 1, false));
  job.Join("b", Formerly(job, "b", 2, false));
  job.Join("c", Formerly(job, "c", 3, false));
  EXPECT_EQ(job.Pass(14), "");
  EXPECT_NE(job.Pass(1), "");
}

TEST(Membership, NodesOfTwoHostsBeforeDoNotVouchForTheOthersEither) {
  Job job(1, 5);
  job.Join("a", Formerly(job, "a", 1));
  job.Join("b", Formerly(job, "b", 2));
  NodeRequest request = Formerly(job, "d", 1);
  request.former->authority = 78;
  request.former->generation = 1;
  job.Join("d", request);
  job.Join("c", Formerly(job, "c", 3));
  EXPECT_EQ(job.Pass(14), "");
  EXPECT_NE(job.Pass(1), "");
}

TEST(Membership, TheLossOfTheHostOfAFixedJobIsAFailure) {
  Job job(2, 2, 3);
  job.Join("a", Formerly(job, "a", 1));
  job.Join("b", Formerly(job, "b", 2));
  EXPECT_EQ(job.Pass(15),
            "a starts 5:0/2 ranks 0..4 restarts 3\n"
            "b starts 5:1/2 ranks 2..4 restarts 3\n");
}

TEST(Membership, ANodeThatComesBackToTheSameHostBringsNothingNew) {
  Job job(1, 3);
  job.Join("a");
  job.Join("b");
  EXPECT_NE(job.Pass(30), "");
  EXPECT_EQ(job.Dies("b"), "a stops 1\n");
  EXPECT_EQ(job.Join("b", Formerly(job, "b", 1)), "");
  EXPECT_EQ(job.Stopped("a"),
            "a starts 2:0/2 ranks 0..4 restarts 0\nb starts 2:1/2 ranks 2..4 restarts 0\n");
}

TEST(Membership, StaticRanksAreTheNodesOwn) {
  Job job(3, 3, 0, true);
  job.Join("a", 0);
  job.Join("b", 2);
  EXPECT_EQ(job.Join("c", 1),
            "a starts 1:0/3 ranks 0..6 restarts 0\nc starts 1:1/3 ranks 2..6 restarts 0\n"
            "b starts 1:2/3 ranks 4..6 restarts 0\n");
}

TEST(Membership, AWishedNodeRankIsHonouredElsewhereToo) {
  Job job(2, 2);
  job.Join("a", 1);
  EXPECT_EQ(job.Join("b", 0),
            "b starts 1:0/2 ranks 0..4 restarts 0\na starts 1:1/2 ranks 2..4 restarts 0\n");
}

TEST(Membership, StartsWithFewerAfterTheLastCall) {
  Job job(1, 3);
  EXPECT_EQ(job.Join("a"), "");
  EXPECT_EQ(job.Pass(29), "");
  EXPECT_EQ(job.Join("b"), "");
  EXPECT_EQ(job.Pass(1),
            "a starts 1:0/2 ranks 0..4 restarts 0\nb starts 1:1/2 ranks 2..4 restarts 0\n");
}

TEST(Membership, SaysWhoIsThereWhenTooFewHaveJoined) {
  Job job(2, 2);
  job.Join("a");
  EXPECT_EQ(
      job.Pass(600),
      "a ends with error: 1 of 2 nodes have joined within 600 s (a): start the others with the "
      "same --rdzv-endpoint and --rdzv-id, or raise join_timeout in --rdzv-conf\n");
}

TEST(Membership, SaysInTheFlagsOfStaticNodesWhatToDo) {
  Job job(2, 2, 0, true);
  job.Join("a", 0);
  const std::string said = job.Pass(600);
  EXPECT_NE(said.find("start the others with the same address and port of node 0"),
            std::string::npos)
      << said;
}

TEST(Membership, AFailureWithoutRestartsEndsEveryNode) {
  Job job(2, 2);
  job.Join("a");
  job.Join("b");
  EXPECT_EQ(job.Failed("b"), "a ends: boom\nb ends: boom\n");
}

TEST(Membership, AFailureRestartsAllOnceAllHaveStopped) {
  Job job(2, 2, 1);
  job.Join("a");
  job.Join("b");
  EXPECT_EQ(job.Failed("b"), "a stops 1\nb stops 1\n");
  EXPECT_EQ(job.Failed("a"), "");  // a consequence of the first
  EXPECT_EQ(job.Stopped("b"), "");
  EXPECT_EQ(job.Stopped("a"),
            "a starts 2:0/2 ranks 0..4 restarts 1\nb starts 2:1/2 ranks 2..4 restarts 1\n");
  EXPECT_EQ(job.Failed("a"), "a ends: boom\nb ends: boom\n");
}

TEST(Membership, AFinalFailureEndsEveryNodeWhateverRestartsAreLeft) {
  Job job(2, 2, 3);
  job.Join("a");
  job.Join("b");
  EXPECT_EQ(job.Failed("b", "boom", true), "a ends: boom\nb ends: boom\n");
}

TEST(Membership, ANodeThatHasSucceededRestartsWithTheOthers) {
  Job job(2, 2, 1);
  job.Join("a");
  job.Join("b");
  EXPECT_EQ(job.Succeeded("a"), "");
  EXPECT_EQ(job.Failed("b"), "a stops 1\nb stops 1\n");
}

TEST(Membership, GoesOnWithoutANodeWhoseAgentDied) {
  Job job(1, 3);
  for (const char* host : {"a", "b", "c"}) job.Join(host);
  EXPECT_EQ(job.Dies("b"), "a stops 1\nc stops 1\n");
  EXPECT_EQ(InOrder({job.Stopped("a"), job.Stopped("c")}), "");  // b's workers may still be alive
  EXPECT_EQ(job.Pass(1),
            "a starts 2:0/2 ranks 0..4 restarts 0\nc starts 2:1/2 ranks 2..4 restarts 0\n");
}

TEST(Membership, ANodeThatFallsSilentIsMissedAndFencedFirst) {
  Job job(1, 2);
  job.Join("a");
  job.Join("b");
  EXPECT_EQ(job.Pass(14, "b"), "");
  EXPECT_EQ(job.Pass(1, "b"), "b dropped\na stops 1\n");
  EXPECT_EQ(job.Stopped("a"), "a starts 2:0/1 ranks 0..2 restarts 0\n");
}

TEST(Membership, NoGenerationStartsWithANodeThatIsSilentToo) {
  Job job(1, 4, 5);
  for (const char* host : {"a", "b", "c", "d"}) job.Join(host);
  job.Failed("a");
  for (const char* host : {"a", "c", "d"}) job.Stopped(host);
  // b, which still stops, and d are lost in the same moment.
  EXPECT_EQ(job.Pass(15, "bd"),
            "b dropped\nd dropped\n"
            "a starts 2:0/2 ranks 0..4 restarts 1\nc starts 2:1/2 ranks 2..4 restarts 1\n");
}

TEST(Membership, ABrokenConnectionIsFencedByTheHeartbeat) {
  Job job(1, 2);
  job.Join("a");
  job.Join("b");
  EXPECT_EQ(InOrder({job.Breaks("b"), job.Stopped("a")}), "a stops 1\n");
  EXPECT_EQ(job.Pass(14, "b"), "");
  EXPECT_EQ(job.Pass(1, "b"), "a starts 2:0/1 ranks 0..2 restarts 0\n");
}

TEST(Membership, ANodeThatIsBackAfterItsConnectionBrokeTakesItsRankAgain) {
  Job job(1, 3);
  for (const char* host : {"a", "b", "c"}) job.Join(host);
  job.Breaks("b");
  job.Stopped("a");
  job.Stopped("c");
  EXPECT_EQ(job.Join("b"),
            "a starts 2:0/3 ranks 0..6 restarts 0\nb starts 2:1/3 ranks 2..6 restarts 0\n"
            "c starts 2:2/3 ranks 4..6 restarts 0\n");
}

TEST(Membership, ALateNodeIsLetInByARestartThatCountsNotAsOne) {
  Job job(1, 2);
  job.Join("a");
  job.Pass(30);
  EXPECT_EQ(job.Join("b"), "a stops 1\n");
  EXPECT_EQ(job.Stopped("a"),
            "a starts 2:0/2 ranks 0..4 restarts 0\nb starts 2:1/2 ranks 2..4 restarts 0\n");
  EXPECT_EQ(job.Join("c"), "");  // is on standby
  EXPECT_EQ(InOrder({job.Dies("b"), job.Stopped("a")}), "a stops 2\n");
  EXPECT_EQ(job.Pass(1),
            "a starts 3:0/2 ranks 0..4 restarts 0\nc starts 3:1/2 ranks 2..4 restarts 0\n");
}

TEST(Membership, AFixedJobThatLosesANodeFailsAtOnceOrWaitsForItWhileRestartsAreLeft) {
  Job none(2, 2);
  none.Join("a");
  none.Join("b");
  EXPECT_EQ(none.Dies("b"), "a ends: b was lost: its agent has died\n");

  Job one(2, 2, 1, true);
  one.Join("a", 0);
  one.Join("b", 1);
  EXPECT_EQ(InOrder({one.Dies("b"), one.Stopped("a"), one.Pass(100)}), "a stops 1\n");
  EXPECT_EQ(one.Join("c", 1),
            "a starts 2:0/2 ranks 0..4 restarts 1\nc starts 2:1/2 ranks 2..4 restarts 1\n");
}

TEST(Membership, TooFewAfterALossWaitForAnotherAndThenFail) {
  Job job(2, 3);
  job.Join("a");
  job.Join("b");
  job.Pass(30);
  EXPECT_EQ(InOrder({job.Dies("b"), job.Stopped("a"), job.Pass(600)}), "a stops 1\n");
  EXPECT_EQ(job.Pass(2),
            "a ends: b was lost: its agent has died; no node replaced it within 600 s\n");
}

TEST(Membership, ANodeThatLeavesShrinksAnElasticJobAndEndsAFixedOne) {
  Job elastic(1, 2);
  elastic.Join("a");
  elastic.Join("b");
  EXPECT_EQ(elastic.Leave("b"), "a stops 1\n");
  EXPECT_EQ(elastic.Stopped("a"), "a starts 2:0/1 ranks 0..2 restarts 0\n");
  Job fixed(2, 2, 5);
  fixed.Join("a");
  fixed.Join("b");
  EXPECT_EQ(fixed.Leave("b"), "a ends: b has left: SIGTERM\n");
  Job host(1, 2);
  host.Join("a");
  host.Join("b");
  EXPECT_EQ(host.Leave("a"), "b ends: a has left: SIGTERM\n");
}

// Told apart, some would end and the others wait for them.
TEST(Membership, AHostThatLeavesIsReplacedForAllNodesOrForNone) {
  const auto leave = [](int min_nodes, const std::string& others, bool can_host) {
    Job job(min_nodes, 3);
    job.Join("a");
    for (const char host : others) {
      NodeRequest request = job.RequestOf(std::string(1, host));
      request.can_host = can_host && host == 'b';
      job.Join(request.host, request);
    }
    job.Pass(30);
    const std::string said = job.Leave("a");
    return said + job.Join("d");
  };
  EXPECT_EQ(leave(2, "bc", true), "b dropped\nc dropped\nd dropped\n");
  const std::string late = "d ends with error: the job has ended already\n";
  EXPECT_EQ(leave(2, "bc", false),
            "b ends: a has left: SIGTERM\nc ends: a has left: SIGTERM\n" + late);
  EXPECT_EQ(leave(2, "b", true), "b ends: a has left: SIGTERM\n" + late) << "too few remain";
  EXPECT_EQ(leave(3, "bc", true),
            "b ends: a has left: SIGTERM\nc ends: a has left: SIGTERM\n" + late);
}

TEST(Membership, NodesThatDisagreeAreReportedEverywhereBeforeTheFirstStart) {
  Job job(2, 2);
  job.Join("a");
  NodeRequest other = job.RequestOf("b");
  other.max_nodes = 3;
  EXPECT_EQ(
      job.Join("b", other),
      "b ends with error: the nodes disagree: b has --nnodes 2:3, the others --nnodes 2: give "
      "every node the same\n"
      "a ends with error: the nodes disagree: b has --nnodes 2:3, the others --nnodes 2: give "
      "every node the same\n");
  // The host's own agent may come after the others.
  EXPECT_EQ(
      job.Join("c"),
      "c ends with error: the nodes disagree: b has --nnodes 2:3, the others --nnodes 2: give "
      "every node the same\n");
}

TEST(Membership, ANodeOfAnotherJobIsRefusedAndTheOthersWaitOn) {
  Job job(2, 2);
  job.Join("a");
  NodeRequest stranger = job.RequestOf("b");
  stranger.run_id = "other";
  stranger.max_nodes = 3;
  const std::string said = job.Join("b", stranger);
  EXPECT_NE(said.find("b ends with error: the nodes disagree: b has --rdzv-id other"),
            std::string::npos)
      << said;
  EXPECT_EQ(said.find("a ends"), std::string::npos) << said;
  EXPECT_FALSE(job.membership().has_ended());
  EXPECT_NE(job.Join("c").find("a starts 1:0/2"), std::string::npos);
}

TEST(Membership, ANodeThatDisagreesLaterEndsAlone) {
  Job job(1, 3);
  job.Join("a");
  job.Pass(30);
  NodeRequest id = job.RequestOf("b");
  id.run_id = "other";
  EXPECT_EQ(
      job.Join("b", id),
      "b ends with error: the nodes disagree: b has --rdzv-id other, the others --rdzv-id none: "
      "give every node the same, and each job a port of its own\n");
  EXPECT_FALSE(job.membership().has_ended());
}

TEST(Membership, NodesMayHaveDifferentNumbersOfWorkers) {
  Job job(3, 3);
  job.Join("a");
  NodeRequest b = job.RequestOf("b");
  b.nproc = 1;
  job.Join("b", b);
  NodeRequest c = job.RequestOf("c");
  c.nproc = 3;
  EXPECT_EQ(job.Join("c", c),
            "a starts 1:0/3 ranks 0..6 restarts 0\n"
            "b starts 1:1/3 ranks 2..6 restarts 0\n"
            "c starts 1:2/3 ranks 3..6 restarts 0\n");
}

TEST(Membership, ANodeRankIsGivenOnce) {
  Job job(2, 2, 0, true);
  job.Join("a", 0);
  EXPECT_NE(job.Join("b", 0).find("b has --node-rank 0, which a has already"), std::string::npos);
}

// It may come before the loss of the one before it is noticed.
TEST(Membership, AStaticNodeThatIsStartedAgainWaitsForItsRank) {
  Job job(2, 2, 1, true);
  job.Join("a", 0);
  job.Join("b", 1);
  EXPECT_EQ(job.Join("c", 1), "");
  EXPECT_EQ(InOrder({job.Dies("b"), job.Stopped("a")}), "a stops 1\n");
  EXPECT_EQ(job.Pass(1),
            "a starts 2:0/2 ranks 0..4 restarts 1\nc starts 2:1/2 ranks 2..4 restarts 1\n");

  Job both(2, 2, 1, true);
  both.Join("a", 0);
  both.Join("b", 1);
  both.Join("c", 1);
  EXPECT_EQ(InOrder({both.Failed("b"), both.Stopped("a"), both.Stopped("b")}),
            "a stops 1\nb stops 1\n"
            "a starts 2:0/2 ranks 0..4 restarts 1\nb starts 2:1/2 ranks 2..4 restarts 1\n");
  EXPECT_EQ(InOrder({both.Succeeded("b"), both.Succeeded("a")}), "a ends\nb ends\nc ends\n");

  Job lost(2, 2, 1, true);
  lost.Join("a", 0);
  lost.Join("b", 1);
  lost.Join("c", 0);
  EXPECT_EQ(InOrder({lost.Dies("b"), lost.Stopped("a"), lost.Pass(5)}), "a stops 1\n");
}

TEST(Membership, ANodeThatCannotStopIsLeftBehind) {
  Job job(1, 2, 1);
  job.Join("a");
  job.Join("b");
  EXPECT_EQ(InOrder({job.Failed("a"), job.Stopped("a")}), "a stops 1\nb stops 1\n");
  EXPECT_EQ(job.Pass(91),
            "b ends with error: b did not stop its workers within 90 s\n"
            "a starts 2:0/1 ranks 0..2 restarts 1\n");
}

TEST(Membership, WhoComesAfterTheEndIsToldSo) {
  Job job(1, 1);
  job.Join("a");
  job.Succeeded("a");
  EXPECT_EQ(job.Join("b"), "b ends with error: the job has ended already\n");
}

TEST(Membership, RolesAreCountedForThemselves) {
  NodeRequest a;
  a.nproc = 2;
  NodeRequest b = a;
  b.role = "reader";
  b.nproc = 3;
  const Assignment assignment = MakeAssignment(1, 0, {&a, &b, &a});
  EXPECT_EQ(assignment.world_size, 7);
  EXPECT_EQ(assignment.nodes[2].first_rank, 5);
  EXPECT_EQ(assignment.nodes[2].first_role_rank, 2);
  EXPECT_EQ(assignment.nodes[2].role_world_size, 4);
  EXPECT_EQ(assignment.nodes[1].role_world_size, 3);
}

}  // namespace
}  // namespace rendezvous
