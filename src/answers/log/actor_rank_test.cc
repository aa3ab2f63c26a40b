#include "answers/log/actor_rank.h"

#include <gtest/gtest.h>

#include "answers/files/read_log.h"
#include "answers/verdict.h"

namespace answers {
namespace {

std::optional<int> RankOfLog(const std::string& log) {
  const Evidence evidence = ReadLogs({{"job.log", log}});
  const Verdict verdict = Explain(evidence);
  return verdict.rank ? evidence.ranks[*verdict.rank].rank : std::nullopt;
}

std::string RaisedBehind(const std::string& before) {
  return before + "Traceback (most recent call last):\n" + before +
         "  File \"/w/a.py\", line 3, in f\n" + before + "KeyError: 'k'\n";
}

TEST(ActorRank, RayTrainsTableNamesTheRanksOfProcesses) {
  ActorRanks ranks;
  ranks.ReadRow("- (node_id=a1, ip=10.0.0.2, pid=429) world_rank=2, local_rank=0, node_rank=1");
  ranks.ReadRow("- (ip=10.0.0.3, pid=429) world_rank=3, local_rank=0, node_rank=2");
  ranks.ReadRow("- (ip=10.0.0.3, pid=430) world_rank=4, local_rank=1, node_rank=2");
  ranks.ReadRow("- (ip=10.0.0.3) world_rank=5");
  EXPECT_EQ(ranks.RankOf("RayTrainWorker pid=429, ip=10.0.0.2"), 2);
  EXPECT_EQ(ranks.RankOf("RayTrainWorker pid=429, ip=10.0.0.3"), 3);
  EXPECT_EQ(ranks.RankOf("RayTrainWorker pid=430"), 4);
  EXPECT_FALSE(ranks.RankOf("RayTrainWorker pid=429")) << "one of two";
  EXPECT_FALSE(ranks.RankOf("RayTrainWorker pid=430, ip=10.0.0.2"));
  EXPECT_FALSE(ranks.RankOf("TorchTrainer pid=430"));
  EXPECT_EQ(ranks.RankOfTaskError("ray.exceptions.RayTaskError(KeyError): "
                                  "ray::_RayTrainWorker__execute.get_next() (pid=430, "
                                  "ip=10.0.0.3, actor_id=8f, repr=<ray.train.X object>)"),
            4);
  EXPECT_FALSE(ranks.RankOfTaskError(
      "ray.exceptions.RayTaskError(KeyError): ray::_Inner.train() (pid=430, ip=10.0.0.3)"));
  const auto rank_of_dead = [&ranks](std::string_view line) { return ranks.RankOfDead({line}, 0); };
  const std::string died =
      "(raylet, ip=10.0.0.3) A worker died or was killed while executing a task by an unexpected "
      "system error. Worker IP address: 10.0.0.3 Worker port: 10185 Worker PID: 430 Worker exit "
      "type: ";
  EXPECT_EQ(rank_of_dead(died + "SYSTEM_ERROR Worker exit detail: x"), 4);
  EXPECT_FALSE(rank_of_dead(died + "INTENDED_SYSTEM_EXIT Worker exit detail: x"));
  EXPECT_FALSE(rank_of_dead("Worker IP address: 10.0.0.3 Worker PID: 430 Worker exit type: X"));
  const auto rank_of_block = [&ranks](std::string_view type, std::string_view address,
                                      std::string_view pid, std::string_view why) {
    return ranks.RankOfDead({"ray.exceptions.ActorDiedError: The actor died unexpectedly before "
                             "finishing this task.",
                             type, pid, address, why, "\tpid: 7"},
                            0);
  };
  const std::string_view worker = "\tclass_name: RayTrainWorker", pid = "\tpid: 430",
                         address = "\tip: 10.0.0.3",
                         why = "The actor is dead because its worker process has died.";
  EXPECT_EQ(rank_of_block(worker, address, pid, why), 4);
  EXPECT_FALSE(rank_of_block("\tclass_name: TrainTrainable", address, pid, why));
  EXPECT_FALSE(rank_of_block(worker, "\tip: 10.0.0.2", pid, why));
  EXPECT_FALSE(rank_of_block(worker, address, pid, "The actor is dead because its node has died."))
      << "so has another worker's";
  EXPECT_EQ(rank_of_block(worker, "\tip: 10.0.0.2", "\tpid: 429",
                          "The actor is dead because its node has died."),
            2);
  const auto rank_of_killed = [&ranks](const std::string& node, const std::string& fields) {
    const std::string line = "Memory on the node (IP: " + node + ", ID: 4f) where the task (" +
                             fields + "memory used=181.22GB) was running was 471.31GB";
    return ranks.RankOfDead({line}, 0);
  };
  EXPECT_EQ(rank_of_killed("10.0.0.3", "actor ID: 77, name=X.__init__, pid=430, "), 4);
  EXPECT_EQ(rank_of_killed("10.0.0.3", "task ID: 77, name=map, pid=555, "), std::nullopt);
  EXPECT_EQ(rank_of_killed("10.0.0.9", "actor ID: 77, name=X.__init__, pid=430, "), std::nullopt);
  ranks.ReadRow("- (ip=10.0.0.3, pid=430) world_rank=0, local_rank=1, node_rank=2");
  EXPECT_FALSE(ranks.RankOf("RayTrainWorker pid=430, ip=10.0.0.3")) << "started twice";
}

TEST(ActorRank, RaysMemoryMonitorNamesWhomItKilled) {
  const std::string log =
      "(TorchTrainer pid=7) - (node_id=a1, ip=10.0.0.1, pid=20) world_rank=0, local_rank=0, "
      "node_rank=0\n"
      "(TorchTrainer pid=7) - (node_id=a1, ip=10.0.0.1, pid=21) world_rank=1, local_rank=1, "
      "node_rank=0\n"
      "(TorchTrainer pid=7) - (node_id=b2, ip=10.0.0.2, pid=21) world_rank=2, local_rank=0, "
      "node_rank=1\n"
      "ray.exceptions.OutOfMemoryError: Task was killed due to the node running low on memory.\n";
  const auto killed = [](const std::string& address, const std::string& pid) {
    return "Memory on the node (IP: " + address +
           ", ID: af) where the task (actor ID: 8, name=RayTrainWorker.__init__, pid=" + pid +
           ", memory used=101.2GB) was running was 242.1GB / 251.5GB (0.962), which exceeds the "
           "memory usage threshold of 0.95. Ray killed this worker (ID: 3f).\n";
  };
  EXPECT_EQ(RankOfLog(log + killed("10.0.0.1", "21")), 1);
  EXPECT_EQ(RankOfLog(log + killed("10.0.0.2", "21")), 2);
  EXPECT_EQ(RankOfLog(log + killed("10.0.0.2", "20")), std::nullopt);
  EXPECT_EQ(RankOfLog(log + killed("10.0.0.1", "21") + killed("10.0.0.2", "21")), std::nullopt);
}

TEST(ActorRank, VllmsWorkersNameTheirs) {
  const auto rank_of = [](std::string_view name) {
    ActorRanks ranks;
    ranks.ReadName(name);
    return ranks.RankOf(name);
  };
  EXPECT_EQ(rank_of("VllmWorker rank=2 pid=7"), 2);
  EXPECT_EQ(rank_of("Worker_TP3 pid=7"), 3);
  EXPECT_EQ(rank_of("Worker_TP3_DCP1_EP3 pid=7"), 3);
  EXPECT_EQ(rank_of("Worker_PP1 pid=7"), 1);
  for (const char* const name :
       {"Worker_PP1_TP3 pid=7", "Worker_DP1_TP0_EP2 pid=7", "Worker pid=7", "Worker_EP2 pid=7",
        "EngineCore_DP0 pid=7", "VllmWorkerProcess pid=7", "Worker_TPx pid=7"}) {
    EXPECT_FALSE(rank_of(name)) << name;
  }
  EXPECT_EQ(RankOfLog(RaisedBehind("(Worker_TP1 pid=8) ")), 1);
  EXPECT_EQ(RankOfLog("(Worker_TP1 pid=9) ready\n" + RaisedBehind("(Worker_TP1 pid=8) ")),
            std::nullopt)
      << "of two engines";
}

TEST(ActorRank, OfRaysWorkersAndItsDriver) {
  const std::string table =
      "(TorchTrainer pid=7) Started distributed worker processes: \n"
      "(TorchTrainer pid=7) - (node_id=a1, ip=10.0.0.1, pid=20) world_rank=0, local_rank=0, "
      "node_rank=0\n"
      "(TorchTrainer pid=7) - (node_id=b2, ip=10.0.0.2, pid=21) world_rank=1, local_rank=0, "
      "node_rank=1\n";
  EXPECT_EQ(RankOfLog(table + RaisedBehind("(RayTrainWorker pid=21, ip=10.0.0.2) ")), 1);
  const std::string driver =
      "Traceback (most recent call last):\n  File \"/r/event_manager.py\", line 110, in f\n"
      "    result = ray.get(future)\n"
      "ray.exceptions.RayTaskError(KeyError): ray::_RayTrainWorker__execute.get_next() (pid=21, "
      "ip=10.0.0.2, actor_id=d0, repr=<X>)\n  File \"/w/a.py\", line 3, in f\nKeyError: 'k'\n";
  EXPECT_EQ(RankOfLog(table + driver), 1);
  EXPECT_EQ(RankOfLog(driver), std::nullopt);
  EXPECT_EQ(RankOfLog(table + "(RayTrainWorker pid=21, ip=10.0.0.2) caching\n" + driver), 1);
  const auto snippet = [](const std::string& ranks) {
    return "ray.train.WorkerGroupError: Training failed due to worker errors:\n[Rank " + ranks +
           " Error Snippet]:\n  File \"/w/a.py\", line 3, in f\nKeyError: 'k'\n";
  };
  EXPECT_EQ(RankOfLog(snippet("3")), 3);
  EXPECT_EQ(RankOfLog(snippet("2,3")), std::nullopt);
  EXPECT_EQ(RankOfLog(snippet("3") + "\n[Rank 1 Error Snippet]:\nKeyError: 'l'\n"), std::nullopt);
  const std::string coloured =
      "Traceback (most recent call last):\nray.exceptions.RayTaskError(KeyError): "
      "[36mray::_RayTrainWorker__execute.get_next()[39m (pid=21, ip=10.0.0.2, repr=<X>)\n"
      "  File \"/w/a.py\", line 3, in f\nKeyError: 'k'\n";
  EXPECT_EQ(RankOfLog(table + coloured), 1) << "a copy that lost the escapes";
}

}  // namespace
}  // namespace answers
