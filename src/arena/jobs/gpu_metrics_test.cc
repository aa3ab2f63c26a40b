#include "arena/jobs/gpu_metrics.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <thread>

#include "arena/testing/verb_test_base.h"
#include "base/fd.h"

namespace arena {
namespace {

TEST(GpuMetricsText, ReadsWhatExportersWrite) {
  const auto samples = ParseExposition(
      "# HELP a b\n"
      "up 1\n"
      "a{x=\"1\",y=\"q\\\"\\\\\\n\"} 2.5 1700000000\n"
      "a{x=\"unclosed} 3\n"
      "a{x=\"1\"} NaN\n"
      "nonsense\n");
  ASSERT_EQ(samples.size(), 2u);
  EXPECT_EQ(samples[0].labels.at("__name__"), "up");
  EXPECT_EQ(samples[0].value, 1);
  EXPECT_EQ(samples[1].labels.at("y"), "q\"\\\n");
  EXPECT_EQ(samples[1].value, 2.5);
}

TEST(GpuMetricsText, ReadsWhatPrometheusAnswers) {
  const auto samples = ParseQueryAnswer(R"({"status": "success", "data": {"resultType": "vector",
      "result": [{"metric": {"__name__": "nvidia_gpu_duty_cycle", "minor_number": "1"},
                  "value": [1700000000.1, "42.5"]}]}})");
  ASSERT_TRUE(samples);
  EXPECT_EQ((*samples)[0].value, 42.5);
  EXPECT_FALSE(ParseQueryAnswer(R"({"status": "error", "error": "parse error"})"));
  EXPECT_FALSE(ParseQueryAnswer("<html>"));
}

MetricSample Sample(std::string name, std::string gpu, std::string pod, double value,
                    bool is_dcgm) {
  MetricSample sample;
  sample.value = value;
  sample.labels = {{"__name__", std::move(name)},
                   {is_dcgm ? "Hostname" : "node_name", "n"},
                   {is_dcgm ? "gpu" : "minor_number", std::move(gpu)},
                   {is_dcgm ? "namespace" : "namespace_name", "default"},
                   {is_dcgm ? "pod" : "pod_name", std::move(pod)}};
  return sample;
}

TEST(GpuMetricsText, NvidiasExporterCountsInMebibytes) {
  const auto metrics = ToGpuMetrics({Sample("DCGM_FI_DEV_GPU_UTIL", "10", "p", 7, true),
                                     Sample("DCGM_FI_DEV_FB_USED", "10", "p", 1024, true),
                                     Sample("DCGM_FI_DEV_FB_FREE", "10", "p", 3072, true),
                                     Sample("nvidia_gpu_duty_cycle", "2", "q", 9, false)});
  ASSERT_EQ(metrics.size(), 2u);
  EXPECT_EQ(metrics[0].id, "2");  // as numbers
  EXPECT_EQ(MemoryText(metrics[0]), "N/A");
  EXPECT_EQ(metrics[1].pod, "p");
  EXPECT_EQ(DutyCycleText(metrics[1]), "7.0%");
  EXPECT_EQ(MemoryText(metrics[1]), "1024.0/4096.0(MiB)");
}

// One answer to one request, on a port of its own.
class Prometheus {
 public:
  explicit Prometheus(std::string answer)
      : listener_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(::bind(listener_.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    EXPECT_EQ(::listen(listener_.get(), 8), 0);
    socklen_t size = sizeof address;
    ::getsockname(listener_.get(), reinterpret_cast<sockaddr*>(&address), &size);
    port_ = ntohs(address.sin_port);
    thread_ = std::jthread([this, answer = std::move(answer)] { Serve(answer); });
  }
  ~Prometheus() { ::shutdown(listener_.get(), SHUT_RDWR); }
  std::string address() const { return "http://127.0.0.1:" + std::to_string(port_) + "/prom/"; }
  std::string request() {
    thread_.join();
    return request_;
  }

 private:
  void Serve(const std::string& answer) {
    const base::Fd peer(::accept(listener_.get(), nullptr, nullptr));
    if (!peer) return;
    char buffer[4096];
    while (request_.find("\r\n\r\n") == std::string::npos) {
      const ssize_t count = ::recv(peer.get(), buffer, sizeof buffer, 0);
      if (count <= 0) return;
      request_.append(buffer, static_cast<size_t>(count));
    }
    const std::string head =
        "HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(answer.size()) + "\r\n\r\n";
    EXPECT_GT(::send(peer.get(), (head + answer).data(), head.size() + answer.size(), 0), 0);
  }

  base::Fd listener_;
  uint16_t port_ = 0;
  std::string request_;
  std::jthread thread_;
};

class PrometheusTest : public VerbTest {
 protected:
  PrometheusTest() {
    is_this_machine_ = false;
    cluster_->Put(kJobs, MakeJob("pt", "Running", std::chrono::seconds(60), 1));
    cluster_->Put(kPods, MakePod("pt", "master", 0, "Running", 1));
  }
};

TEST_F(PrometheusTest, IsAskedOnceForAllAtItsAddress) {
  Prometheus prometheus(R"({"status": "success", "data": {"resultType": "vector", "result": [
    {"metric": {"__name__": "nvidia_gpu_duty_cycle", "minor_number": "0",
                "namespace_name": "default", "pod_name": "pt-master-0", "node_name": "node-1"},
     "value": [1700000000, "35"]}]}})");
  environment_["PROMETHEUS_ADDRESS"] = prometheus.address();
  environment_["PROMETHEUS_TOKEN"] = "secret";
  const std::string out = Run({"top", "job", "pt"}).out;
  EXPECT_NE(out.find("  0                 35.0%           N/A\n"), std::string::npos) << out;
  const std::string request = prometheus.request();
  EXPECT_TRUE(request.starts_with("GET /prom/api/v1/query?query=%7B__name__%3D~%22nvidia_gpu"))
      << request;
  EXPECT_NE(request.find("\r\nAuthorization: Bearer secret\r\n"), std::string::npos);
}

TEST_F(PrometheusTest, IsFoundByItsServiceUnderArenasName) {
  const auto put = [this](const char* name, const char* label, const char* value) {
    cluster_->Put(
        "/api/v1/namespaces/monitoring/services",
        text::Object{{"metadata", text::Object{{"name", name},
                                               {"namespace", "monitoring"},
                                               {"labels", text::Object{{label, value}}}}}});
  };
  std::vector<std::string> asked;
  cluster_->on_service = [&](const net::HttpRequest& request) {
    asked.push_back(request.target.substr(0, request.target.find('?')));
    return net::HttpResponse{200, {}, R"({"status": "success", "data": {"result": [
      {"metric": {"__name__": "nvidia_gpu_duty_cycle", "minor_number": "0",
                  "namespace_name": "default", "pod_name": "pt-master-0", "node_name": "node-1"},
       "value": [1700000000, "35"]}]}})"};
  };
  EXPECT_NE(Run({"top", "job", "pt"}).out.find("N/A               N/A             N/A\n"),
            std::string::npos);
  put("c", "kubernetes.io/name", "Prometheus");
  const std::string out = Run({"top", "job", "pt"}).out;
  EXPECT_NE(out.find("  0                 35.0%           N/A\n"), std::string::npos) << out;
  put("b", "kubernetes.io/service-name", "prometheus-server");
  Run({"top", "job", "pt"});
  put("a", "kubernetes.io/service-name", "prometheus-admin");
  Run({"get", "pt", "-g"});
  EXPECT_EQ(asked, (std::vector<std::string>{
                       "/api/v1/namespaces/monitoring/services/http:c:9090/proxy/api/v1/query",
                       "/api/v1/namespaces/monitoring/services/http:b:9090/proxy/api/v1/query",
                       "/api/v1/namespaces/monitoring/services/http:a:9335/proxy/api/v1/query"}));
  // Nor are there warnings of one that has no pod, or that others may ask.
  for (const int status : {403, 503}) {
    cluster_->on_service = [&](const net::HttpRequest&) {
      return net::HttpResponse{status, {}, "no"};
    };
    EXPECT_EQ(Run({"top", "job", "pt"}).log, "");
  }
  // Who may not list services sees no metrics, and no warning.
  cluster_->refuse = [](const net::HttpRequest& request) -> std::optional<FakeCluster::Refusal> {
    if (!request.target.starts_with("/api/v1/services")) return std::nullopt;
    return FakeCluster::Refusal{403, "Forbidden", "not you"};
  };
  EXPECT_EQ(Run({"top", "job", "pt"}).log, "");
  EXPECT_EQ(asked.size(), 3u);
}

TEST_F(PrometheusTest, OneThatIsNotThereLeavesNothingKnown) {
  environment_["PROMETHEUS_ADDRESS"] = "http://127.0.0.1:1";
  const Ended ended = Run({"top", "job", "pt"});
  EXPECT_EQ(ended.exit_code, 0);
  EXPECT_NE(ended.out.find("N/A               N/A             N/A\n"), std::string::npos);
  EXPECT_NE(ended.log.find("the GPUs' use is not known: connect to 127.0.0.1:1"), std::string::npos)
      << ended.log;
  environment_.erase("PROMETHEUS_ADDRESS");
  EXPECT_EQ(Run({"top", "job", "pt"}).log, "");
}

TEST_F(PrometheusTest, AnAddressThatIsNoneIsSaid) {
  const std::pair<const char*, const char*> cases[] = {
      {"https://127.0.0.1:1", "nothing listens at 127.0.0.1:1: is it up"},
      {"ftp://prometheus", R"(PROMETHEUS_ADDRESS: \"ftp://prometheus\" is not a URL)"},
      {"prometheus:port", R"(PROMETHEUS_ADDRESS: \"http://prometheus:port\" is not a URL)"},
      {"http://:9090", R"(PROMETHEUS_ADDRESS: \"http://:9090\" is not a URL)"},
  };
  for (const auto& [address, message] : cases) {
    environment_["PROMETHEUS_ADDRESS"] = address;
    const std::string log = Run({"top", "job", "pt"}).log;
    EXPECT_NE(log.find(message), std::string::npos) << log;
  }
}

}  // namespace
}  // namespace arena
