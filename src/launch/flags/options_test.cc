#include "launch/flags/options.h"

#include <gtest/gtest.h>
#include <signal.h>

#include <map>
#include <string>
#include <vector>

#include "launch/flags/rendezvous_settings.h"
#include "launch/machine/machine.h"

namespace launch {
namespace {

base::Result<Options> OptionsOf(std::vector<std::string> args,
                                std::map<std::string, std::string> variables = {}) {
  args.emplace_back("x.py");
  const base::Environment environment(std::move(variables));
  const auto line = ParseCommandLine(args, environment);
  EXPECT_TRUE(line) << line.error().message;
  return MakeOptions(*line, environment);
}

std::string OptionsRefusal(std::vector<std::string> args) {
  const auto options = OptionsOf(std::move(args));
  return options ? "" : options.error().message;
}

TEST(MakeOptions, NodesAreANumberOrARange) {
  EXPECT_EQ(OptionsOf({})->max_nodes, 1);
  const auto range = OptionsOf({"--nnodes", "2:20", "--rdzv-backend", "c10d"});
  EXPECT_EQ(range->min_nodes, 2);
  EXPECT_EQ(range->max_nodes, 20);
  for (const char* bad : {"0", "2:20:30", "3:2", "a", "", "-1", "1:"}) {
    EXPECT_NE(OptionsRefusal({"--nnodes", bad}), "") << bad;
  }
}

TEST(MakeOptions, OneNodeThatAsksForNothingCannotCollide) {
  const auto options = OptionsOf({});
  EXPECT_FALSE(options->is_static);
  EXPECT_TRUE(options->is_single_node);
  EXPECT_EQ(options->endpoint_port, 0);
  EXPECT_EQ(options->run_id.size(), 36U);
  EXPECT_NE(options->run_id, OptionsOf({})->run_id);
}

TEST(MakeOptions, TheTokenIsTheFlagsElseTheEnvironments) {
  const std::map<std::string, std::string> variables = {{"MUSTER_RDZV_TOKEN", "uid"}};
  EXPECT_EQ(OptionsOf({})->conf.token, "");
  EXPECT_EQ(OptionsOf({}, variables)->conf.token, "uid");
  EXPECT_EQ(OptionsOf({"--rdzv-conf=token=mine"}, variables)->conf.token, "mine");
}

TEST(MakeOptions, AMasterPortKeepsStatic) {
  const auto options = OptionsOf({"--master-port", "29511"});
  EXPECT_TRUE(options->is_static);
  EXPECT_EQ(options->endpoint_port, 29511);
  EXPECT_EQ(options->endpoint_host, "127.0.0.1");
  EXPECT_EQ(options->run_id, "none");
  EXPECT_TRUE(OptionsOf({}, {{"PET_MASTER_PORT", "29511"}})->is_static);
}

TEST(MakeOptions, TheMasterAddressLosesItsBrackets) {
  const auto host = [](const char* address) {
    const auto options = OptionsOf({"--master-port=0", "--master-addr", address});
    return options ? options->endpoint_host : options.error().message;
  };
  EXPECT_EQ(host("[0:0:0:0:0:0:0:1]"), "0:0:0:0:0:0:0:1");
  EXPECT_EQ(host("::1"), "::1");
  EXPECT_EQ(host("a.b-c_1"), "a.b-c_1");
  for (const char* bad : {"", " ", "a b", "~", "[", "[]", " 127.0.0.1"}) {
    EXPECT_NE(host(bad).find("--master-addr '" + std::string(bad) + "'"), std::string::npos) << bad;
  }
}

TEST(MakeOptions, StandaloneOverridesTheMeeting) {
  const auto options = OptionsOf({"--standalone", "--rdzv-backend", "static", "--rdzv-endpoint",
                                  "elsewhere:1", "--rdzv-id", "mine"});
  EXPECT_FALSE(options->is_static);
  EXPECT_EQ(options->endpoint_host, "localhost");
  EXPECT_EQ(options->endpoint_port, 0);
  EXPECT_NE(options->run_id, "mine");
  EXPECT_NE(OptionsRefusal({"--standalone", "--nnodes", "2"}), "");
  const auto one_of_many = OptionsOf({"--standalone", "--nnodes", "1:4"});
  EXPECT_TRUE(one_of_many->is_single_node);
}

TEST(MakeOptions, NodesThatAgreeNeedANameForTheirJob) {
  const std::vector<std::string> one = {"--rdzv-backend=c10d", "--rdzv-id="};
  EXPECT_NE(OptionsOf(one)->run_id, "");
  EXPECT_NE(OptionsRefusal({"--nnodes=1:2", one[0], one[1]}).find("--rdzv-id ''"),
            std::string::npos);
  EXPECT_EQ(OptionsOf({"--nnodes=2", one[1]})->run_id, "");  // static, which has no use for it
}

TEST(MakeOptions, TheStoreIsATcpStore) {
  EXPECT_TRUE(OptionsOf({"--rdzv-conf", "store_type=tcp,close_timeout=3"}));
  EXPECT_NE(OptionsRefusal({"--rdzv-conf", "store_type=file"}).find("store_type=file"),
            std::string::npos);
}

TEST(MakeOptions, TorchrunsHeartbeatsAreUnderstood) {
  const auto silence = [](const char* conf) {
    const auto options = OptionsOf({"--rdzv-conf", conf});
    EXPECT_TRUE(options) << options.error().message;
    return options->conf.heartbeat_timeout;
  };
  EXPECT_EQ(silence("join_timeout=5"), std::nullopt);
  EXPECT_EQ(silence("keep_alive_interval=1"), std::nullopt);
  EXPECT_EQ(silence("keep_alive_interval=10"), std::chrono::seconds(30));
  EXPECT_EQ(silence("keep_alive_max_attempt=4"), std::chrono::seconds(20));
  EXPECT_EQ(silence("keep_alive_interval=2,keep_alive_max_attempt=4"), std::chrono::seconds(8));
  EXPECT_EQ(silence("keep_alive_interval=2,keep_alive_max_attempt=1"), std::chrono::seconds(4));
  // torchrun's defaults, written explicitly.
  EXPECT_EQ(silence("heartbeat_timeout=5,keep_alive_interval=5,keep_alive_max_attempt=3"),
            std::chrono::seconds(15));
  EXPECT_EQ(silence("heartbeat_timeout=3,keep_alive_interval=1"), std::chrono::seconds(3));
  EXPECT_EQ(silence("keep_alive_interval=1e9,keep_alive_max_attempt=1000000"),
            std::chrono::seconds(1'000'000'000));
  for (const char* bad : {"keep_alive_max_attempt=0", "keep_alive_max_attempt=a"}) {
    EXPECT_NE(OptionsRefusal({"--rdzv-conf", bad}).find("keep_alive_max_attempt"),
              std::string::npos);
  }
}

TEST(MakeOptions, RanksHaveThePodsGraceWithoutWhatTheReportTakes) {
  const auto grace = [](const char* pods) {
    return OptionsOf({}, {{"MUSTER_GRACE", pods}})->grace_after_signal;
  };
  EXPECT_EQ(OptionsOf({})->grace_after_signal, std::chrono::seconds(27));
  EXPECT_EQ(grace("soon"), std::chrono::seconds(27));
  EXPECT_EQ(grace("600"), std::chrono::seconds(595));
  EXPECT_EQ(grace("30"), std::chrono::seconds(27));
  EXPECT_EQ(grace("1"), std::chrono::milliseconds(900));
  EXPECT_EQ(grace("0"), std::chrono::seconds(0));
  EXPECT_EQ(grace("-1"), std::chrono::seconds(0));
}

TEST(MakeOptions, ValuesThatTorchrunTakes) {
  EXPECT_EQ(OptionsOf({"--max-restarts=99999999999999999999"})->max_restarts, INT32_MAX);
  EXPECT_EQ(OptionsOf({"--nproc-per-node=1_0"})->nproc_per_node, 10);
  EXPECT_EQ(OptionsOf({"--shutdown-timeout=99999999999"})->shutdown_timeout,
            std::chrono::seconds(INT32_MAX));
  EXPECT_TRUE(OptionsOf({"--monitor-interval=1e-320"}));
  EXPECT_TRUE(OptionsOf({"--rdzv-conf= "}));
  EXPECT_TRUE(OptionsOf({"--event-log-handler=dynamic_rendezvous"}));
  EXPECT_EQ(OptionsOf({"--local-ranks-filter=-1"})->shown_ranks, (std::set<int>{-1}));
  EXPECT_TRUE(OptionsOf({}, {{"PET_TEE", "3\n"}})->tee.Of(7).HasStderr());
  EXPECT_EQ(OptionsOf({"--signals-to-handle=SIGTERM, SIGUSR1"})->signals_to_handle,
            "SIGTERM, SIGUSR1");
}

TEST(MakeOptions, AnEmptyPrefixTemplateIsNone) {
  constexpr const char* kUsual = "[${role_name}${local_rank}]:";
  constexpr const char* kVariable = "TORCHELASTIC_LOG_LINE_PREFIX_TEMPLATE";
  EXPECT_EQ(OptionsOf({})->prefix_template, kUsual);
  EXPECT_EQ(OptionsOf({"--log-line-prefix-template="})->prefix_template, kUsual);
  EXPECT_EQ(OptionsOf({"--log-line-prefix-template="}, {{kVariable, "x"}})->prefix_template, "x");
  EXPECT_EQ(OptionsOf({}, {{kVariable, ""}})->prefix_template, kUsual);
  EXPECT_EQ(OptionsOf({"--log-line-prefix-template=y"}, {{kVariable, "x"}})->prefix_template, "y");
}

TEST(MakeOptions, AVirtualLocalRankNeedsADevice) {
  const std::vector<std::string> flags = {"--virtual-local-rank", "--nproc-per-node=2"};
  EXPECT_TRUE(OptionsOf(flags));
  EXPECT_TRUE(OptionsOf(flags, {{"CUDA_VISIBLE_DEVICES", "0,1"}}));
  EXPECT_TRUE(OptionsOf(flags, {{"CUDA_VISIBLE_DEVICES", "0"}, {"HIP_VISIBLE_DEVICES", "0,1"}}));
  for (const char* few : {"0", ""}) {
    const auto refused = OptionsOf(flags, {{"CUDA_VISIBLE_DEVICES", few}});
    ASSERT_FALSE(refused) << few;
    EXPECT_NE(refused.error().message.find("exceeds available GPUs in CUDA_VISIBLE_DEVICES="),
              std::string::npos);
  }
}

TEST(MakeOptions, StaticNodesHaveRanks) {
  const auto options = OptionsOf({"--nnodes", "2", "--node-rank", "1", "--master-addr", "a"});
  EXPECT_EQ(options->node_rank, 1);
  EXPECT_EQ(options->endpoint_host, "a");
  EXPECT_EQ(options->endpoint_flag, "--master-addr");
  EXPECT_EQ(OptionsOf({"--nnodes", "2", "--rdzv-endpoint", "a:1"})->endpoint_flag,
            "--rdzv-endpoint");
  EXPECT_EQ(options->endpoint_port, 29500);
  EXPECT_FALSE(options->is_single_node);
  EXPECT_NE(OptionsRefusal({"--nnodes", "2", "--node-rank", "2"}), "");
  EXPECT_NE(OptionsRefusal({"--nnodes", "2", "--node-rank", "-1"}), "");
}

TEST(MakeOptions, RefusesValuesThatCannotBeMeant) {
  const std::vector<std::vector<std::string>> cases = {
      {"--max-restarts", "-1"},
      {"--monitor-interval", "0"},
      {"--shutdown-timeout", "-1"},
      {"--rdzv-backend", "etcd"},
      {"--rdzv-backend", "smoke"},
      {"--redirects", "4"},
      {"--tee", "0:1,"},
      {"--tee", "11"},
      {"--tee", "1,0:1"},
      {"--nproc-per-node", "0"},
      {"--nproc-per-node", "-1"},
      {"--nproc-per-node", "many"},
      {"--local-ranks-filter", "a"},
      {"--no-python", "--module"},
      {"--logs-specs", "mine"},
      {"--event-log-handler", "mine"},
      {"--master-port", "70000"},
      {"--rdzv-conf", "a"},
      {"--nnodes=2", "--rdzv-endpoint", "node0"},
      {"--rdzv-backend=static", "--rdzv-endpoint", "[::1]"},
      {"--torch-distributed-launch", "--no-python"},
  };
  for (const auto& args : cases) {
    const std::string message = OptionsRefusal(args);
    EXPECT_NE(message, "") << args[0] << " " << args.back();
    EXPECT_EQ(message.find('\n'), std::string::npos);
  }
}

TEST(MakeOptions, UnknownSignalsAreAWarning) {
  const auto options = OptionsOf({"--signals-to-handle", "SIGUSR1,SIGNOTHING,term"});
  ASSERT_TRUE(options);
  EXPECT_EQ(options->handled_signals, (std::vector<int>{SIGUSR1, SIGTERM}));
  ASSERT_EQ(options->warnings.size(), 1U);
  EXPECT_NE(options->warnings[0].find("SIGNOTHING"), std::string::npos);
}

TEST(MakeOptions, NoLogFolderMeansNoRedirection) {
  const auto options = OptionsOf({"--log-dir", "/dev/null", "-t3", "-r3"});
  EXPECT_FALSE(options->has_logs);
  EXPECT_TRUE(options->tee.IsEmpty());
  EXPECT_TRUE(options->redirects.IsEmpty());
}

TEST(CountProcesses, KnowsTheWords) {
  const base::Environment none;
  EXPECT_EQ(CountProcesses("4", none).value(), 4);
  EXPECT_EQ(CountProcesses("cpu", none).value(), UsableCpus());
  EXPECT_FALSE(CountProcesses("", none));
  EXPECT_FALSE(CountProcesses("1.5", none));
}

TEST(CpuList, IsReadAsTheKernelWritesIt) {
  EXPECT_EQ(ParseCpuList("0-2,8"), (std::vector<int>{0, 1, 2, 8}));
  EXPECT_EQ(ParseCpuList("5"), (std::vector<int>{5}));
  EXPECT_TRUE(ParseCpuList("3-1").empty());
  EXPECT_TRUE(ParseCpuList("x").empty());
  EXPECT_TRUE(ParseCpuList("").empty());
}

TEST(StreamChoice, IsOneNumberOrAMap) {
  EXPECT_TRUE(StreamChoice::Parse("3")->Of(7).HasStderr());
  EXPECT_TRUE(StreamChoice::Parse("0")->IsEmpty());
  const auto map = StreamChoice::Parse("0:1,12:2");
  ASSERT_TRUE(map);
  EXPECT_EQ(map->Of(0), StreamSet(1));
  EXPECT_EQ(map->Of(1), StreamSet(0));
  EXPECT_EQ(map->Of(12), StreamSet(2));
  for (const char* bad : {"0:1,", "11", "0:1,1", "1,0:1", "", "4", "-1", "a:1", "0:", ":1"}) {
    EXPECT_FALSE(StreamChoice::Parse(bad)) << bad;
  }
}

TEST(RendezvousConf, IsReadAsTheOriginalReadsIt) {
  const auto conf = ParseRendezvousConf(" b= dummy2  ,c=dummy3=dummy4,  a =dummy1,d=dummy5/dummy6");
  ASSERT_TRUE(conf);
  EXPECT_EQ(*conf,
            (std::map<std::string, std::string>{
                {"a", "dummy1"}, {"b", "dummy2"}, {"c", "dummy3=dummy4"}, {"d", "dummy5/dummy6"}}));
  EXPECT_TRUE(ParseRendezvousConf("")->empty());
  for (const char* bad : {"a=dummy1,", "a=1,,c=2", " ,  "}) {
    const auto refused = ParseRendezvousConf(bad);
    ASSERT_FALSE(refused) << bad;
    EXPECT_NE(refused.error().message.find("must be in format"), std::string::npos);
  }
  for (const char* bad : {"b=1,a,c=2", "a="}) {
    const auto refused = ParseRendezvousConf(bad);
    ASSERT_FALSE(refused) << bad;
    EXPECT_NE(refused.error().message.find("option 'a' must have a value"), std::string::npos);
  }
}

TEST(HostPort, IsReadAsTheOriginalReadsIt) {
  const std::vector<std::tuple<std::string, std::string, int>> good = {
      {"dummy.com:0", "dummy.com", 0},
      {"dummy.com:65535", "dummy.com", 65535},
      {"10.0.0.1:123", "10.0.0.1", 123},
      {"[2001:db8::1]:123", "2001:db8::1", 123},
      {"dummy.com", "dummy.com", 29400},
      {"", "localhost", 29400},
      {"  ", "localhost", 29400},
      {"[::1]", "::1", 29400},
      {"2001:db8::1", "2001:db8::1", 29400},
  };
  for (const auto& [text, host, port] : good) {
    const auto place = ParseHostPort(text, 29400);
    ASSERT_TRUE(place) << text << ": " << place.error().message;
    EXPECT_EQ(place->host, host);
    EXPECT_EQ(place->port, port);
  }
  for (const char* bad : {"~", "dummy.com :123", ":123"}) {
    const auto refused = ParseHostPort(bad, 1);
    ASSERT_FALSE(refused) << bad;
    EXPECT_NE(refused.error().message.find("hostname"), std::string::npos) << bad;
  }
  for (const char* bad : {"dummy.com:", "dummy.com:abc", "dummy.com:-123", "dummy.com:65536",
                          ":abc", ":-123", ":65536"}) {
    const auto refused = ParseHostPort(bad, 1);
    ASSERT_FALSE(refused) << bad;
    EXPECT_NE(refused.error().message.find("between 0 and 65536"), std::string::npos) << bad;
  }
}

TEST(MakeOptions, WarmStartHasModulesAndATime) {
  EXPECT_FALSE(OptionsOf({})->is_warm);
  const auto options =
      OptionsOf({"--warm", "--preload", " numpy, a.b_2,", "--warm-idle=5", "--warm-kept", "2"});
  ASSERT_TRUE(options);
  EXPECT_TRUE(options->is_warm);
  EXPECT_EQ(options->preload, "numpy,a.b_2");
  EXPECT_EQ(options->warm_idle, std::chrono::seconds(5));
  EXPECT_EQ(options->warm_kept, 2);
  EXPECT_EQ(OptionsOf({})->warm_kept, 4);
  EXPECT_TRUE(OptionsOf({}, {{"PET_WARM", "1"}})->is_warm);
  for (const char* bad : {"a;b", "?torch", "a\nidle=1", "../x", "a b"}) {
    EXPECT_NE(OptionsRefusal({"--preload", bad}), "") << bad;
  }
  for (const char* bad : {"0", "-1", "99999999"}) {
    EXPECT_NE(OptionsRefusal({"--warm-idle", bad}), "") << bad;
    EXPECT_NE(OptionsRefusal({"--warm-kept", bad}), "") << bad;
  }
}

}  // namespace
}  // namespace launch
