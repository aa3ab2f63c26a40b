#include "rendezvous/nodes/agent_message.h"

#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <vector>

namespace rendezvous {
namespace {

AgentMessage StartMessage() {
  AgentMessage message;
  message.type = AgentMessage::Type::kStart;
  message.assignment.generation = 3;
  message.assignment.nodes = {{"a", 0, 2, 0, "default", 0, 4}, {"b", 1, 2, 2, "default", 2, 4}};
  message.assignment.self = 1;
  message.assignment.world_size = 4;
  message.assignment.master_addr = "a";
  message.assignment.master_port = 29400;
  return message;
}

AgentMessage JoinMessage() {
  AgentMessage message;
  message.type = AgentMessage::Type::kJoin;
  message.node = 42;
  message.request.run_id = "job";
  message.request.host = "a";
  message.request.node_rank = 1;
  message.request.min_nodes = 2;
  message.request.max_nodes = 4;
  message.request.can_host = true;
  message.request.former = {4, 77, 2, 3, 1, true};
  return message;
}

AgentMessage EndMessage() {
  AgentMessage message;
  message.type = AgentMessage::Type::kEnd;
  message.end.kind = EndKind::kFailed;
  message.end.failure = Failure{"b", 3, 1, -11, "Traceback\n", 4711, "last\n", true, true};
  return message;
}

AgentMessage TellMessage() {
  AgentMessage message;
  message.type = AgentMessage::Type::kTell;
  message.generation = 3;
  message.node_rank = 2;
  message.text = "news";
  return message;
}

TEST(AgentMessage, SurvivesTheWay) {
  for (const AgentMessage& message : {StartMessage(), JoinMessage(), EndMessage(), TellMessage()}) {
    const std::string bytes = EncodeMessage(message);
    const auto read = DecodeMessage(bytes);
    ASSERT_TRUE(read);
    EXPECT_EQ(EncodeMessage(*read), bytes);
  }
  const auto start = DecodeMessage(EncodeMessage(StartMessage()));
  EXPECT_EQ(start->assignment.nodes[1].first_role_rank, 2);
  EXPECT_EQ(start->assignment.master_port, 29400);
  const auto failure = DecodeMessage(EncodeMessage(EndMessage()))->end.failure;
  EXPECT_EQ(failure->exit_code, -11);
  EXPECT_EQ(failure->pid, 4711);
  EXPECT_EQ(failure->last_lines, "last\n");
  EXPECT_TRUE(failure->is_final);
  EXPECT_TRUE(failure->has_stalled);
  EXPECT_FALSE(failure->was_out_of_memory);
  const auto tell = DecodeMessage(EncodeMessage(TellMessage()));
  EXPECT_EQ(tell->text, "news");
  EXPECT_EQ(tell->node_rank, 2);
  const auto join = DecodeMessage(EncodeMessage(JoinMessage()));
  EXPECT_EQ(join->request.node_rank, 1);
  EXPECT_TRUE(join->request.can_host);
  ASSERT_TRUE(join->request.former);
  EXPECT_EQ(join->request.former->generation, 4u);
  EXPECT_EQ(join->request.former->authority, 77u);
  EXPECT_EQ(join->request.former->guests, 3);
  EXPECT_TRUE(join->request.former->is_last);
}

TEST(AgentMessage, CutOrAlteredIsAnError) {
  for (const AgentMessage& message : {StartMessage(), JoinMessage(), EndMessage()}) {
    const std::string bytes = EncodeMessage(message);
    for (size_t size = 0; size < bytes.size(); ++size) {
      EXPECT_FALSE(DecodeMessage(bytes.substr(0, size))) << size;
    }
    EXPECT_FALSE(DecodeMessage(bytes + "x"));
  }
  for (const auto& spoil : std::vector<std::function<void(Former&)>>{
           [](Former& former) { former.guests = -1; },
           [](Former& former) { former.node_rank = -1; },
           [](Former& former) { former.restart_count = std::numeric_limits<int>::max(); },
           [](Former& former) { former.generation = std::numeric_limits<uint64_t>::max(); }}) {
    AgentMessage join = JoinMessage();
    spoil(*join.request.former);
    EXPECT_FALSE(DecodeMessage(EncodeMessage(join)));
  }
  AgentMessage start = StartMessage();
  start.assignment.self = 2;
  EXPECT_FALSE(DecodeMessage(EncodeMessage(start)));
  AgentMessage tell = TellMessage();
  tell.node_rank = -1;
  EXPECT_FALSE(DecodeMessage(EncodeMessage(tell)));
  EXPECT_FALSE(DecodeMessage(std::string("\x63", 1)));
}

}  // namespace
}  // namespace rendezvous
