#include "answers/log/exports/export_document.h"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <string_view>

#include "answers/files/read_log.h"
#include "answers/log/json_record.h"
#include "answers/verdict.h"

namespace answers {
namespace {

struct ToldBy {
  std::optional<int> rank;
  std::string kind, line;
};

ToldBy TellBy(const std::string& log) {
  const Evidence evidence = ReadLogs({{"export", log}});
  const Verdict verdict = Explain(evidence);
  ToldBy told{std::nullopt, verdict.kind, verdict.line};
  if (verdict.rank) told.rank = evidence.ranks[*verdict.rank].rank;
  return told;
}

constexpr const char* kTexts[] = {
    "Traceback (most recent call last):", "  File \\\"/w/a.py\\\", line 3, in f", "KeyError: 'lr'"};
constexpr const char* kLost =
    "RuntimeError: [pair.cc:534] Connection closed by peer [10.8.0.9]:4100";

// Each line of a worker's traceback and one of the master, in a collector's form: $ is the text, @
// the pod, # the second.
std::vector<std::string> Records(std::string_view form) {
  const auto record = [form](std::string_view text, std::string_view pod, int second) {
    std::string made;
    for (const char sign : form) {
      if (sign == '$') {
        made += text;
      } else if (sign == '@') {
        made += pod;
      } else if (sign == '#') {
        made += std::to_string(second);
      } else {
        made += sign;
      }
    }
    return made;
  };
  std::vector<std::string> records;
  for (const char* const text : kTexts) records.push_back(record(text, "pt-worker-1", 11));
  records.push_back(record(kLost, "pt-master-0", 12));
  return records;
}

std::string Joined(const std::vector<std::string>& records, std::string_view sign) {
  std::string joined;
  for (const std::string& record : records) {
    joined += (joined.empty() ? "" : std::string(sign)) + record;
  }
  return joined;
}

TEST(ExportDocument, CollectorsRecordsNameTheirPod) {
  for (
      const char* const form :
      {R"({"labels": {"pod": "@", "container": "pytorch"}, "line": "$", "timestamp": "2026-03-02T10:11:#Z"})",
       R"({"labels": {"filename": "/var/log/pods/ml_@_ab/pytorch/0.log"}, "line": "$", "timestamp": "17724462640000000#"})",
       R"({"timestamp": 17724462#000, "message": "$", "ingestionTime": 1772446299000, "logStreamName": "fluent-bit-kube.var.log.containers.@_ml_pytorch-0a.log"})",
       R"({"date": 17724462#.5, "log": "$", "tag": "kube.var.log.containers.@_ml_pytorch-0a.log"})",
       R"({"date": "2026-03-02T10:11:#Z", "message": "$", "status": "error", "tags": ["env:x", "pod_name:@"]})",
       R"({"id": "A", "attributes": {"timestamp": "2026-03-02T10:11:#Z", "message": "$", "tags": ["pod_name:@"]}})",
       R"({"_index": "logs", "_source": {"@timestamp": "2026-03-02T10:11:#Z", "message": "$", "kubernetes": {"pod": {"name": "@"}}}})",
       R"({"preview": false, "result": {"_raw": "$", "_time": "2026-03-02T10:11:#Z", "pod_name": "@"}})",
       R"({"log": "$", "stream": "stderr", "tag": "@", "time": "2026-03-02T10:11:#Z", "kubernetes": {"pod_name": "@"}})",
       R"({"TimeGenerated": "2026-03-02T10:11:#Z", "PodName": "@", "LogMessage": "$"})"}) {
    const std::vector<std::string> records = Records(form);
    std::vector<std::string> newest_first(records.rbegin(), records.rend());
    for (const std::string& log :
         {Joined(records, "\n"), "[" + Joined(records, ",\n ") + "]\n",
          R"({"events": [)" + Joined(records, ", ") + R"(], "nextToken": "f/1"})",
          "{\"data\":\n[" + Joined(records, ",\n") + "]}"}) {
      const ToldBy told = TellBy(log);
      EXPECT_EQ(told.line, "KeyError: 'lr'") << log;
      EXPECT_EQ(told.rank, 2) << log;
      EXPECT_TRUE(AreJsonRecords(log)) << log;
    }
  }
}

TEST(ExportDocument, FluentdsTagBeforeARecordNamesItsPod) {
  const std::string log =
      Joined(Records("2026-03-02T10:11:#+00:00\tkube.var.log.containers.@_ml_pytorch-0a.log\t"
                     R"({"log": "$", "stream": "stderr"})"),
             "\n");
  EXPECT_EQ(TellBy(log).line, "KeyError: 'lr'");
  EXPECT_EQ(TellBy(log).rank, 2);
}

TEST(ExportDocument, NewestFirstIsTurnedAround) {
  std::vector<std::string> records;
  for (int i = 2; i >= 0; --i) {
    records.push_back(R"({"labels": {"pod": "pt-worker-1"}, "line": ")" + std::string(kTexts[i]) +
                      R"(", "timestamp": "2026-03-02T10:11:0)" + std::to_string(i) + "Z\"}");
  }
  for (const std::string& log : {Joined(records, "\n"), "[" + Joined(records, ",") + "]"}) {
    EXPECT_EQ(TellBy(log).line, "KeyError: 'lr'") << log;
  }
}

TEST(ExportDocument, OfDocumentsOfYamlEachIsARecord) {
  const std::string log =
      "---\ninsertId: a\nseverity: ERROR\ntextPayload: x\n---\nhello\n---\ninsertId: b\n";
  EXPECT_TRUE(RecordsOfDocument(log).empty());
  EXPECT_EQ(TellBy(log).kind, kUnknown);
}

TEST(ExportDocument, TheErrorBesideALongerTextStays) {
  const ToldBy told = TellBy(
      R"({"status": "failed", "error": "torch.OutOfMemoryError: CUDA out of memory. Tried to )"
      R"(allocate 2 GiB.", "script": "#!/bin/bash\nsrun a\npython t.py\n"})");
  EXPECT_EQ(told.kind, "cuda-out-of-memory");
}

TEST(ExportDocument, LokisStreamsAreOneLog) {
  const std::string log =
      R"({"status": "success", "data": {"resultType": "streams", "result": [
{"stream": {"pod": "pt-master-0"}, "values": [["1772446265000000000", ")" +
      std::string(kLost) + R"("]]},
{"stream": {"pod": "pt-worker-1"}, "values": [["1772446264000000003", "KeyError: 'lr'"],
["1772446264000000002", "  File \"/w/a.py\", line 3, in f"],
["1772446264000000001", "Traceback (most recent call last):"]]}]}})";
  const auto records = RecordsOfDocument(log);
  ASSERT_EQ(records.size(), 4U);
  const ToldBy told = TellBy(log);
  EXPECT_EQ(told.line, "KeyError: 'lr'");
  EXPECT_EQ(told.rank, 2);
}

TEST(ExportDocument, TablesAreRecords) {
  const auto row = [](const std::string& text) {
    return R"([{"field": "@timestamp", "value": "2026-03-02 10:11:04.000"}, {"field": "@message", "value": ")" +
           text + R"("}, {"field": "@ptr", "value": "x"}])";
  };
  const std::string insights = R"({"results": [)" + row("[rank1]: " + std::string(kTexts[0])) +
                               "," + row("[rank1]: " + std::string(kTexts[1])) + "," +
                               row("[rank1]: " + std::string(kTexts[2])) +
                               R"(], "status": "Complete"})";
  std::string rows;
  for (const char* const text : kTexts) {
    rows += (rows.empty() ? "" : ", ") +
            ("[\"2026-03-02T10:11:04Z\", \"[rank1]: " + std::string(text) + "\"]");
  }
  const std::string analytics =
      R"({"tables": [{"name": "t", "columns": [{"name": "TimeGenerated"}, {"name": "LogEntry"}], "rows": [)" +
      rows + "]}]}";
  for (const std::string& log : {insights, analytics}) {
    const ToldBy told = TellBy(log);
    EXPECT_EQ(told.line, "KeyError: 'lr'") << log;
    EXPECT_EQ(told.rank, 1) << log;
  }
}

TEST(ExportDocument, IndentedObjectsOneAfterAnotherAreRecords) {
  std::string log;
  for (const char* const text : kTexts) {
    log += "{\n\t\"__REALTIME_TIMESTAMP\" : \"1772446264000000\",\n\t\"MESSAGE\" : \"[rank1]: " +
           std::string(text) + "\"\n}\n";
  }
  EXPECT_EQ(TellBy(log).rank, 1);
  EXPECT_EQ(TellBy(log).line, "KeyError: 'lr'");
  EXPECT_TRUE(RecordsOfDocument(log + "and more").empty());
}

TEST(ExportDocument, TablesWithCommasAreRecords) {
  const std::string quoted = "\"Traceback (most recent call last):\",pt-worker-1\r\n";
  const std::string frame = "\"  File \"\"/w/a.py\"\", line 3, in f\n\",pt-worker-1\n";
  const ToldBy told = TellBy("\"Date\",\"Message\",pod_name\r\n2026-03-02T10:11:04.1Z," + quoted +
                             "2026-03-02T10:11:04.2Z," + frame +
                             "2026-03-02T10:11:04.3Z,KeyError: 'lr',pt-worker-1\n" +
                             "2026-03-02T10:11:05Z," + kLost + ",pt-master-0\n");
  EXPECT_EQ(told.line, "KeyError: 'lr'");
  EXPECT_EQ(told.rank, 2);
  EXPECT_EQ(RecordsOfDocument("timestamp,message\n1772446264000,a\n").size(), 1U);
  for (const char* const text :
       {"timestamp,message", "step,loss\n1,2\n", "time,date,message\n1,2,a\n",
        "timestamp,message\n1,a,b\n", "timestamp,message\n1,\"a\n", "timestamp,message\n1,\"a\"b\n",
        "time,loss\n1,2\n", "message,line,time\na,b,1\n"}) {
    EXPECT_TRUE(RecordsOfDocument(text).empty()) << text;
  }
}

TEST(ExportDocument, JournaldsBytesAreAText) {
  std::string log;
  for (const std::string text :
       {"Traceback (most recent call last):", "  File \"/w/a.py\", line 3", "KeyError: 'lr'"}) {
    std::string bytes;
    for (const char byte : "\x1b[0m" + text) {
      bytes += (bytes.empty() ? "" : ",") + std::to_string(static_cast<int>(byte));
    }
    log += R"({"__REALTIME_TIMESTAMP": "1772446264000000", "MESSAGE": [)" + bytes + "]}\n";
  }
  EXPECT_EQ(TellBy(log).line, "KeyError: 'lr'");
}

TEST(ExportDocument, WhatItsRecordsHaveInCommonIsBounded) {
  const std::string name(1 << 20, 'x');
  std::string pairs, rows, lines;
  for (int i = 0; i < 300; ++i) {
    pairs += std::string(i > 0 ? "," : "") + R"(["1772446264000000000", "a"])";
    rows += std::string(i > 0 ? "," : "") + R"(["a"])";
    lines += "1772446264,a,b\n";
  }
  EXPECT_TRUE(RecordsOfDocument(R"({"data": {"result": [{"stream": {"pod": ")" + name +
                                R"("}, "values": [)" + pairs + "]}]}}")
                  .empty());
  EXPECT_TRUE(RecordsOfDocument(R"({"tables": [{"columns": [{"name": ")" + name +
                                R"("}], "rows": [)" + rows + "]}]}")
                  .empty());
  EXPECT_TRUE(RecordsOfDocument("time,message," + name + "\n" + lines).empty());
  EXPECT_EQ(RecordsOfDocument("time,message,x\n" + lines).size(), 300U);
}

TEST(ExportDocument, ALogOfRecordsIsNone) {
  EXPECT_TRUE(RecordsOfDocument("{\"msg\": \"a\"}\r\n{\"msg\": \"b\"}\n").empty());
  EXPECT_EQ(RecordsOfDocument("{\"events\": [{\"message\": \"a\"}\n]}").size(), 1U);
}

TEST(ExportDocument, OtherDocumentsHaveNone) {
  for (const char* const text :
       {"", "{", "{}", "[]", "[1, 2]", R"([["a", "b"]])", R"({"events": [1]})",
        R"({"data": {"result": [{"stream": {}}]}})", R"({"events": {"a": 1}})",
        R"({"results": [[{"field": "@message"}]]})",
        R"({"tables": [{"columns": [{"name": "a"}], "rows": [["b", "c"]]}]})",
        "{\n\"a\": 1\n}\n{\n\"b\":\n"}) {
    EXPECT_TRUE(RecordsOfDocument(text).empty()) << text;
  }
  for (const char* const text :
       {R"({"events": [{"loss": 1}]})", R"({"loss": 0.3, "step": 4})", "{\"time\": 3}\n",
        R"({"events": [{"time": 1772446264}], "failures": []})", "", "\n \n"}) {
    EXPECT_FALSE(AreJsonRecords(text)) << text;
  }
}

TEST(ExportDocument, FluentBitsOutputOnATerminal) {
  for (
      const char* const form :
      {R"([7] kube.var.log.containers.@_ml_pytorch-0a.log: [[17724462#.000000000, {}], {"stream"=>"stderr", "log"=>"$"}])",
       R"([7] kube: [17724462#.000000000, {"log"=>"$", "kubernetes"=>{"pod_name"=>"@", "labels"=>{}}}])"}) {
    std::string log;
    for (std::string record : Records(form)) {
      for (size_t at; (at = record.find("\\\"")) != std::string::npos;) record.erase(at, 1);
      log += record + "\n";
    }
    EXPECT_EQ(TellBy(log).line, "KeyError: 'lr'") << log;
    EXPECT_EQ(TellBy(log).rank, 2) << log;
  }
}

TEST(ExportDocument, CloudLoggingsYaml) {
  const std::vector<std::string> records = Records(
      "---\ninsertId: a#\nresource:\n  labels:\n    pod_name: @\nseverity: ERROR\n"
      "textPayload: \"$\"\ntimestamp: '2026-03-02T10:11:#Z'");
  const std::string log = Joined({records.rbegin(), records.rend()}, "\n");
  EXPECT_EQ(TellBy(log).line, "KeyError: 'lr'") << log;
  EXPECT_EQ(TellBy(log).rank, 2) << log;
}

}  // namespace
}  // namespace answers
