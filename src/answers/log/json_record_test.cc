#include "answers/log/json_record.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "answers/files/read_log.h"
#include "answers/verdict.h"
#include "base/strings.h"

namespace answers {
namespace {

const std::string kFrames =
    R"(Traceback (most recent call last):\n  File \"/w/a.py\", line 3, in f\n    step()\nKeyError: 'lr')";

std::string Unfolded(const std::string& record) { return WithoutJsonRecords({record}); }

struct Told {
  std::optional<int> rank;
  std::string kind, line, where, name;
};

Told TellOf(const std::string& log) {
  const Evidence evidence = ReadLogs({{"job.log", log}});
  const Verdict verdict = Explain(evidence);
  Told told{std::nullopt, verdict.kind, verdict.line,
            verdict.file + ":" + std::to_string(verdict.file_line), ""};
  if (!verdict.rank) return told;
  told.rank = evidence.ranks[*verdict.rank].rank;
  told.name = evidence.ranks[*verdict.rank].name;
  return told;
}

TEST(JsonRecord, ATracebackInAFieldIsReadLineByLine) {
  for (
      const char* const record :
      {R"({"levelname": "ERROR", "message": "failed", "exc_info": "$"})",
       R"({"message": "failed", "exc_info": "$"})",
       R"({"level":"error","msg":"failed","error":{"type":"KeyError","stack_trace":"$"}})",
       R"({"event": "failed", "level": "error", "exception": "$"})",
       R"({"severity": "ERROR", "message": "failed\n$"})",
       R"({"severity": "ERROR", "message": "$"})",
       R"({"text": "2026-03-02 10:11:04 | ERROR | a:f:3 - failed\n$\n", "record": {"exception": {"type": "KeyError"}}})",
       R"({"log":"{\"level\":\"error\",\"message\":\"failed\",\"exc_info\":\"#\"}\n","stream":"stderr"})",
       R"({"timestamp": 1772446264000, "ingestionTime": 1772446299000, "message": "{\"level\":\"error\",\"message\":\"failed\",\"exc_info\":\"#\"}"})",
       R"({"host": "n1", "date": "2026-03-02T10:11:04Z", "message": "{\"level\":\"error\",\"message\":\"failed\",\"exc_info\":\"#\"}"})",
       R"({"insertId": "x", "severity": "ERROR", "jsonPayload": {"message": "failed", "exc_info": "$"}})",
       R"(4: {"level": "error", "message": "failed", "exc_info": "$"})"}) {
    std::string log = record;
    if (const size_t at = log.find('$'); at != log.npos) log.replace(at, 1, kFrames);
    if (const size_t at = log.find('#'); at != log.npos) {
      std::string again;
      for (const char c : kFrames)
        again += c == '\\' || c == '"' ? std::string("\\") + c : std::string(1, c);
      log.replace(at, 1, again);
    }
    const Told told = TellOf("{\"level\": \"info\", \"message\": \"step 1\"}\n" + log + "\n");
    EXPECT_EQ(told.kind, "exception") << log;
    EXPECT_EQ(told.line, "KeyError: 'lr'") << log;
    EXPECT_EQ(told.where, "/w/a.py:3") << log;
  }
}

TEST(JsonRecord, TheRankOfARecordIsThatOfItsTraceback) {
  std::string log;
  for (int rank = 0; rank < 4; ++rank) {
    log +=
        "{\"rank\": " + std::to_string(rank) + ", \"level\": \"info\", \"message\": \"ready\"}\n";
  }
  log += R"({"rank": 2, "level": "error", "message": "failed", "exc_info": ")" + kFrames + "\"}\n";
  log += R"({"rank": 0, "level": "error", "message": "Connection closed by peer"})";
  EXPECT_EQ(TellOf(log).rank, 2);
}

TEST(JsonRecord, CollectorsWrapLinesThatHavePrefixesAndPods) {
  const std::string form = R"({"log":"$\n","stream":"stderr","time":"2026-03-02T10:11:04.5Z"})";
  const auto wrap = [&](std::string text) { return std::string(form).replace(8, 1, text) + "\n"; };
  const Told docker = TellOf(wrap("[rank3]: Traceback (most recent call last):") +
                             wrap("[rank3]:   File \\\"/w/a.py\\\", line 3, in f") +
                             wrap("[rank3]: KeyError: 'lr'") +
                             wrap("[rank0]: RuntimeError: Connection closed by peer"));
  EXPECT_EQ(docker.rank, 3);
  EXPECT_EQ(docker.line, "KeyError: 'lr'");

  const auto pod = [](const std::string& name, const std::string& text) {
    return R"({"textPayload":")" + text +
           R"(","severity":"ERROR","resource":{"labels":{"pod_name":")" + name +
           R"(","container_name":"pytorch"}},"timestamp":"2026-03-02T10:11:04.5Z"})" + "\n";
  };
  const Told cloud = TellOf(pod("pt-master-0", "RuntimeError: Connection closed by peer") +
                            pod("pt-worker-1", kFrames));
  EXPECT_EQ(cloud.name, "pt-worker-1");
  EXPECT_EQ(cloud.rank, 2);

  const auto loki = [](const std::string& name, const std::string& text) {
    return R"({"labels": {"container": "pytorch", "pod": ")" + name + R"("}, "line": ")" + text +
           R"(", "timestamp": "2026-03-02T10:11:04.5Z"})" + "\n";
  };
  const Told of_loki = TellOf(loki("pt-master-0", "RuntimeError: Connection closed by peer") +
                              loki("pt-worker-1", "Traceback (most recent call last):") +
                              loki("pt-worker-1", "  File \\\"/w/a.py\\\", line 3, in f") +
                              loki("pt-worker-1", "KeyError: 'lr'"));
  EXPECT_EQ(of_loki.name, "pt-worker-1");
  EXPECT_EQ(of_loki.rank, 2);
}

TEST(JsonRecord, ExportsOfSearches) {
  const std::string record =
      R"({"timestamp": 1741687000000, "message": "[rank2]: KeyError: 'lr'"})";
  const std::string pods =
      R"({"@timestamp": "2026-03-02T10:11:04.5Z", "message": "KeyError: 'lr'", "kubernetes": {"pod": {"name": "pt-worker-1"}}})";
  EXPECT_NE(LinesOfJsonDocument(R"({"events": [)" + record + "]}"), "");
  EXPECT_NE(LinesOfJsonDocument(R"({"hits": {"hits": [{"_source": )" + pods + "}]}}"), "");
  EXPECT_EQ(LinesOfJsonDocument(R"({"events": 3, "hits": [1]})"), "");
  EXPECT_EQ(TellOf(R"({"_index": "k", "_source": )" + pods + "}").name, "pt-worker-1");
}

TEST(JsonRecord, AFileMayHaveLinesOfRecords) {
  const std::string record = R"({"timestamp": 1741687000000, "message": "step 1"})";
  EXPECT_TRUE(AreJsonRecords(record + "\n\n" + record + "\n"));
  EXPECT_FALSE(AreJsonRecords(record + "\nstep 2\n"));
  EXPECT_FALSE(AreJsonRecords(R"({"train_loss": 2.5, "epoch": 3})"));
  EXPECT_FALSE(AreJsonRecords("{\n  \"best_metric\": 1\n}\n"));
  EXPECT_FALSE(AreJsonRecords(""));
}

TEST(JsonRecord, StructlogsFramesBecomeATraceback) {
  const Told told = TellOf(
      R"({"event": "failed", "level": "error", "exception": [{"exc_type": "KeyError", "exc_value": "'lr'", "frames": [{"filename": "/w/a.py", "lineno": 3, "name": "f"}]}]})");
  EXPECT_EQ(told.line, "KeyError: 'lr'");
  EXPECT_EQ(told.where, "/w/a.py:3");
}

TEST(JsonRecord, ACauseIsReadBehindTheMessage) {
  EXPECT_EQ(Unfolded(R"({"level": "error", "msg": "failed", "error": "MemoryError: x"})"),
            "ERROR failed\nMemoryError: x\n");
}

TEST(JsonRecord, KeepsItsTimeInWhicheverForm) {
  const std::string text = "2026-03-02T10:11:04.500000Z ready\n";
  for (const char* const time : {"\"time\": 1772446264.5", "\"ts\": 1772446264500",
                                 "\"__REALTIME_TIMESTAMP\": \"1772446264500000\"",
                                 "\"timestamp\": \"2026-03-02T10:11:04.500000Z\""}) {
    EXPECT_EQ(Unfolded(std::string("{") + time + ", \"message\": \"ready\"}"), text) << time;
  }
  EXPECT_EQ(Unfolded(R"({"asctime": "2026-03-02 10:11:04,500", "message": "ready"})"),
            "2026-03-02 10:11:04,500 ready\n");
}

TEST(JsonRecord, ARecordIsOneAmongOtherLines) {
  const auto record = [](int rank, const std::string& more) {
    return R"({"asctime": "2026-03-02T10:11:04Z", "levelname": "CRITICAL", "message": "failed", "dist": {"rank": )" +
           std::to_string(rank) + "}" + more + "}\n";
  };
  EXPECT_EQ(TellOf("a warning of a library\n" + record(0, "") + record(1, "") +
                   record(1, R"(, "exc_info": ")" + kFrames + "\"") +
                   record(0, R"(, "exc_info": ")" + kFrames + "\""))
                .rank,
            1);
}

TEST(JsonRecord, ElasticsErrorsLogfmtAndArraysAreRecords) {
  const std::string frames = R"(  File \"/w/a.py\", line 3, in f\n    step()\n)";
  const std::string ecs =
      R"({"@timestamp": "2026-03-02T10:11:04Z", "log.level": "error", "message": "failed", "labels": {"rank": 1}, "error": {"type": "KeyError", "message": "'lr'", "stack_trace": ")" +
      frames + "\"}}";
  const std::string logfmt =
      "time=2026-03-02T10:11:04Z level=error rank=1 msg=\"failed\" exc=\"" + kFrames + "\"";
  const std::string array =
      R"([{"textPayload": "KeyError: 'lr'", "timestamp": "2026-03-02T10:11:07Z"},
 {"textPayload": "  File \"/w/a.py\", line 3, in f", "timestamp": "2026-03-02T10:11:06Z"},
 {"textPayload": "Traceback (most recent call last):", "timestamp": "2026-03-02T10:11:05Z"}
])";
  for (const std::string& log : {ecs, logfmt, array}) {
    const Told told = TellOf(log);
    EXPECT_EQ(told.line, "KeyError: 'lr'") << log;
    EXPECT_EQ(told.where, "/w/a.py:3") << log;
  }
}

TEST(JsonRecord, WhatIsLoggedAsAWarningWithATracebackIsNoFailure) {
  const std::string log = R"({"level": "warning", "message": "bad sample", "exc_info": ")" +
                          kFrames + "\"}\n" +
                          R"({"level": "info", "message": "training complete"})";
  EXPECT_NE(TellOf(log).kind, "exception");
  const std::string loguru =
      R"({"text": "skipping a sample\n)" + kFrames +
      R"(\n", "record": {"level": {"name": "WARNING"}}})" + "\n" +
      R"({"text": "training complete", "record": {"level": {"name": "INFO"}}})";
  EXPECT_NE(TellOf(loguru).kind, "exception");
}

TEST(JsonRecord, IsNoOtherObject) {
  for (const char* const line :
       {R"({"loss": 0.3, "step": 4})",
        R"({"text": "Traceback (most recent call last):", "label": 1})",
        R"({"level": "info", "message": {"a": 1}})", R"({"level": "info", "message": "cut)",
        R"(config: {"level": "info", "message": "x"} and more)", R"(["level", "message"])",
        "level=3 of the tree", "time=4", "level=\"info msg=x", ""}) {
    EXPECT_EQ(Unfolded(line), "") << line;
  }
}

TEST(JsonRecord, CannotMakeTheTextManyTimesLonger) {
  std::string lines;
  for (int i = 0; i < 80'000; ++i) lines += "a\\n";
  const std::string record = "{\"log\": \"" + lines + "\", \"stream\": \"stderr\"";
  const std::string pod = ", \"kubernetes\": {\"pod_name\": \"" + std::string(300, 'p') + "\"}}";
  EXPECT_EQ(Unfolded(record + pod), Unfolded(record + "}"));
  const std::string time =
      ", \"asctime\": \"2026-03-02 10:11:04,500 " + std::string(99, '-') + "\"}";
  EXPECT_EQ(Unfolded(record + time), Unfolded(record + "}"));
  const std::string prefixed = std::string(150, '-') + record + "}";
  constexpr size_t kRecords = 10;
  const size_t size = Unfolded(prefixed).size();
  const std::string last = "{\"log\": \"last\", \"stream\": \"stderr\"}";
  std::vector<std::string_view> records(kRecords, prefixed);
  records.emplace_back(last);
  const std::string text = WithoutJsonRecords(records);
  EXPECT_LT(text.size(), size * (kRecords - 2));
  EXPECT_TRUE(text.ends_with("a\nlast\n"));
}

TEST(JsonRecord, APidIsOfTheRankInTheLaunchersTable) {
  const std::string table =
      "Root Cause (first observed failure):\n[0]:\n  rank      : 5 (local_rank: 5)\n"
      "  exitcode  : 1 (pid: 5315)\n";
  const auto record = [](const std::string& pid, const std::string& text) {
    return R"({"text": "crashed\n)" + text +
           R"(", "record": {"level": {"name": "ERROR"}, "process": {"id": )" + pid + "}}}\n";
  };
  const std::string log =
      record("5315", kFrames) +
      record("5310",
             R"(torch.distributed.DistBackendError: NCCL communicator was aborted on rank 0.)");
  EXPECT_EQ(TellOf(log + table).rank, 5);
  EXPECT_NE(TellOf(log).rank, 5);
}

TEST(JsonRecord, APidInACollectorsRecordIsThatOfItsPodOnly) {
  const std::string table =
      "Root Cause (first observed failure):\n[0]:\n  rank      : 5 (local_rank: 5)\n"
      "  exitcode  : 1 (pid: 37)\n";
  const auto text_of = [&table](const std::string& record) {
    const std::vector<std::string> lines = base::Split(table + record, '\n');
    const std::string text = WithoutJsonRecords({lines.begin(), lines.end()});
    return text.substr(text.find("(pid: 37)\n") + 10);
  };
  const std::string inner = R"({"level": "error", "message": "failed", "pid": 37})";
  std::string quoted;
  for (const char c : inner) quoted += c == '"' ? "\\\"" : std::string(1, c);
  EXPECT_EQ(text_of(inner), "[rank5]: ERROR failed\n");
  EXPECT_EQ(text_of(R"({"stream": "stderr", "log": ")" + quoted + "\"}"),
            "[rank5]: ERROR failed\n");
  EXPECT_EQ(text_of(R"({"kubernetes": {"pod_name": "a-1"}, "log": ")" + quoted + "\"}"),
            "[pod/a-1/pytorch] ERROR failed\n");
}

TEST(JsonRecord, TheTimesOfADocumentAreComparedAsTimes) {
  const auto record = [](const char* time, const char* text) {
    return R"({"timestamp": ")" + std::string(time) + R"(", "message": ")" + text + R"("})";
  };
  const std::string lines = LinesOfJsonDocument(
      "[" + record("2026-03-02T10:11:04.123456Z", "second") + "," +
      record("2026-03-02T10:11:04.123Z", "first") + "," + record("2026-03-02T10:11:05Z", "fourth") +
      "," + record("2026-03-02T11:11:04.5+01:00", "third") + "]");
  size_t at = 0;
  for (const char* const text : {"first", "second", "third", "fourth"}) {
    const size_t found = lines.find(text);
    EXPECT_NE(found, lines.npos);
    EXPECT_GE(found, at) << lines;
    at = found;
  }
}

TEST(JsonRecord, ANumberThatIsNoTimeLeavesTheTimeToTheNextKey) {
  EXPECT_TRUE(Unfolded(R"({"time": 12.5, "timestamp": "2026-03-02T10:11:04Z", "message": "a"})")
                  .starts_with("2026-03-02T10:11:04Z"));
}

TEST(JsonRecord, ThePodsNumberInItsJobIsItsRank) {
  const auto record = [](const std::string& labels, const std::string& pod,
                         const std::string& text) {
    return R"({"severity": "ERROR", "labels": {)" + labels +
           R"(}, "resource": {"labels": {"container_name": "node", "pod_name": ")" + pod +
           R"("}}, "jsonPayload": {"message": ")" + text + "\"}}\n";
  };
  const std::string of_first = R"("k8s-pod/batch_kubernetes_io/job-completion-index": "0")";
  const std::string of_third = R"("k8s-pod/batch_kubernetes_io/job-completion-index": "2")";
  const std::string lost = record(
      of_first, "t5-0-aa", "RuntimeError: [pair.cc:534] Connection closed by peer [10.8.0.9]:4100");
  EXPECT_EQ(TellOf(record(of_third, "t5-2-cc", kFrames) + lost).rank, 2);
  EXPECT_EQ(TellOf(record(of_third + R"(, "k8s-pod/jobset_sigs_k8s_io/job-index": "1")", "t5-2-cc",
                          kFrames) +
                   lost)
                .rank,
            std::nullopt)
      << "pods of other Jobs of the set come before it";
  EXPECT_EQ(TellOf(record(of_third, "t5-2-cc", "n1:311:402 [3] NCCL INFO Bootstrap") +
                   record(of_third, "t5-2-cc", kFrames) + lost)
                .rank,
            std::nullopt)
      << "a pod of several processes";
}

TEST(JsonRecord, AWarningsTracebackIsOfItsRankWhichWentOn) {
  const auto record = [](const std::string& level, const std::string& text) {
    return R"({"rank": 1, "levelname": ")" + level + R"(", "message": ")" + text + "\"}\n";
  };
  const std::string log =
      record("INFO", "step 100") + record("WARNING", "skipping a sample\\n" + kFrames) +
      record("INFO", "epoch 9 done") + record("INFO", "all 10 epochs done; exiting with code 0");
  EXPECT_EQ(TellOf(log).kind, "unknown");
  EXPECT_EQ(TellOf(record("INFO", "step 100") + record("INFO", "step 200") +
                   record("WARNING", "failed\\n" + kFrames))
                .rank,
            1);
}

TEST(JsonRecord, EachLineOfATracebackMayBeARecordOfItsRank) {
  const auto judge = [](const std::string& of_raised, const std::string& of_lost,
                        const std::string& before = "") {
    std::string log;
    for (const char* const text : {"Traceback (most recent call last):",
                                   R"(  File \"/w/a.py\", line 3, in f)", "KeyError: 'lr'"}) {
      log += before + R"({"ts": "2026-03-02T10:11:04Z", "level": "ERROR", )" + of_raised +
             R"(, "message": ")" + text + "\"}\n";
    }
    return TellOf(log + before + R"({"level": "ERROR", )" + of_lost +
                  R"(, "message": "RuntimeError: [pair.cc:534] Connection closed by peer"})" +
                  "\n");
  };
  EXPECT_EQ(judge(R"("rank": 4)", R"("rank": 0)").rank, 4);
  EXPECT_EQ(judge(R"("rank": 4)", R"("rank": 0)").line, "KeyError: 'lr'");
  EXPECT_EQ(judge(R"("rank": 4)", R"("rank": 0)", "Mar 02 10:11:04 n1 pt[4]: ").rank, 4);
  EXPECT_EQ(
      judge(R"("local_rank": 1, "global_rank": 5)", R"("local_rank": 0, "global_rank": 0)").rank,
      5);
  EXPECT_EQ(judge(R"("rank": 1, "host": "n1")", R"("rank": 1, "host": "n2")").rank, std::nullopt)
      << "a local rank";
  const auto of_pod = [](const std::string& pod, const std::string& rank) {
    return R"("kubernetes": {"pod_name": "j-)" + pod + R"("}, "rank": )" + rank;
  };
  const std::string of_first = "{\"level\": \"INFO\", \"message\": \"ready\", ";
  const auto judge_beside = [&](const std::string& first, const std::string& lost) {
    return judge(of_pod("a", "3"), lost, of_first + first + "}\n").rank;
  };
  EXPECT_EQ(judge_beside(of_pod("a", "0"), of_pod("b", "4")), 3);
  EXPECT_EQ(judge_beside(of_pod("b", "0"), of_pod("b", "3")), std::nullopt)
      << "a local rank of two pods";
}

}  // namespace
}  // namespace answers
