// Checks the rules that hold for a job's decisions, whatever happens to its nodes.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <set>
#include <string>

#include "rendezvous/nodes/membership.h"

namespace rendezvous {

class MembershipInvariants {
 public:
  // `job` is borrowed.
  explicit MembershipInvariants(const NodeRequest& job) : job_(job) {}

  // What has happened, in the order in which the authority hears of it.
  void Named(NodeId node, const std::string& host) { hosts_[node] = host; }
  void HasFailed(uint64_t generation, const Failure& failure) {
    first_failures_.try_emplace(generation, failure);
  }
  void IsLost(const std::string& host) { lost_.insert(host); }
  // It counts from what it learns of the one before, which may be nothing.
  void AnotherAuthority() {
    generation_ = 0;
    first_failures_.clear();
  }

  // Ranks are unique and dense, and generations count up. Returns the generation that starts, if
  // one does.
  std::optional<uint64_t> CheckStarts(const Decisions& decisions) {
    std::set<int> selves;
    const Assignment* first = nullptr;
    for (const Decision& decision : decisions) {
      if (decision.kind != Decision::Kind::kStart) continue;
      const Assignment& assignment = decision.assignment;
      if (first == nullptr) first = &assignment;
      EXPECT_EQ(assignment.generation, first->generation);
      EXPECT_EQ(assignment.nodes.size(), first->nodes.size());
      EXPECT_EQ(assignment.nodes[static_cast<size_t>(assignment.self)].host, hosts_[decision.node]);
      EXPECT_TRUE(selves.insert(assignment.self).second) << "a rank given twice";
    }
    if (first == nullptr) return std::nullopt;
    const int count = static_cast<int>(first->nodes.size());
    EXPECT_EQ(static_cast<int>(selves.size()), count) << "a rank that nobody has";
    EXPECT_GE(count, job_.min_nodes);
    EXPECT_LE(count, job_.max_nodes);
    EXPECT_EQ(first->world_size, count * job_.nproc);
    int next = 0;
    for (const Node& node : first->nodes) {
      EXPECT_EQ(node.first_rank, next);
      next += node.nproc;
    }
    EXPECT_GT(first->generation, generation_);
    generation_ = first->generation;
    return generation_;
  }

  // A failure that is reported is the first that the authority heard of in this generation, or
  // names a node that was lost.
  void CheckVerdict(const Decision& decision) const {
    const bool is_end = decision.kind == Decision::Kind::kEnd;
    const std::optional<Failure>& failure = is_end ? decision.end.failure : decision.failure;
    if (!failure) return;
    if (failure->rank < 0) {
      EXPECT_TRUE(lost_.contains(failure->host)) << failure->host << " was never lost";
      return;
    }
    const auto first = first_failures_.find(generation_);
    ASSERT_NE(first, first_failures_.end()) << "a failure of another generation";
    EXPECT_EQ(failure->host, first->second.host);
    EXPECT_EQ(failure->rank, first->second.rank);
    EXPECT_EQ(failure->text, first->second.text);
  }

 private:
  const NodeRequest& job_;
  std::map<NodeId, std::string> hosts_;
  std::map<uint64_t, Failure> first_failures_;  // by generation
  std::set<std::string> lost_;                  // hosts
  uint64_t generation_ = 0;
};

}  // namespace rendezvous
