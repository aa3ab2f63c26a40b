#include "arena/jobs/gpu_metrics.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <tuple>

#include "api/gpus.h"
#include "arena/app/services.h"
#include "arena/app/web_service.h"
#include "base/log.h"
#include "base/strings.h"
#include "net/client/client.h"

namespace arena {
namespace {

using base::Code;
using base::Fail;

constexpr std::chrono::seconds kMetricsPatience{10};
constexpr double kMebibyte = 1024.0 * 1024.0;
// Where the embedded cluster's daemon answers (local/daemon/gpu_metrics.h).
constexpr std::string_view kEmbeddedPath = "/metrics/gpus";
constexpr std::string_view kQuery =
    "{__name__=~\"nvidia_gpu_duty_cycle|nvidia_gpu_memory_used_bytes|"
    "nvidia_gpu_memory_total_bytes|DCGM_FI_DEV_GPU_UTIL|DCGM_FI_DEV_FB_USED|DCGM_FI_DEV_FB_FREE\"}";

std::string LabelOf(const MetricSample& sample, std::initializer_list<std::string_view> names) {
  for (const std::string_view name : names) {
    const auto label = sample.labels.find(name);
    if (label != sample.labels.end() && !label->second.empty()) return label->second;
  }
  return "";
}

std::optional<double> ParseValue(std::string_view text) {
  const std::string copy(text);
  char* end = nullptr;
  const double value = std::strtod(copy.c_str(), &end);
  if (copy.empty() || *end != '\0' || !std::isfinite(value)) return std::nullopt;
  return value;
}

// name="value", with \\, \" and \n; `rest` begins after the opening brace and ends after the
// closing one. False when it is malformed.
bool ParseSampleLabels(std::string_view& rest, MetricSample& sample) {
  for (;;) {
    rest.remove_prefix(std::min(rest.find_first_not_of(" ,"), rest.size()));
    if (rest.starts_with('}')) {
      rest.remove_prefix(1);
      return true;
    }
    const size_t equals = rest.find("=\"");
    if (equals == std::string_view::npos) return false;
    std::string& value = sample.labels[std::string(base::Trim(rest.substr(0, equals)))];
    rest.remove_prefix(equals + 2);
    for (; !rest.empty() && rest.front() != '"'; rest.remove_prefix(1)) {
      if (rest.front() == '\\' && rest.size() > 1) {
        rest.remove_prefix(1);
        value += rest.front() == 'n' ? '\n' : rest.front();
      } else {
        value += rest.front();
      }
    }
    if (rest.empty()) return false;
    rest.remove_prefix(1);
  }
}

// "0" < "2" < "10", and words after numbers.
bool IsLowerId(const std::string& a, const std::string& b) {
  const auto number_a = base::ParseInt(a);
  const auto number_b = base::ParseInt(b);
  return std::tuple(number_a.value_or(INT64_MAX), a) < std::tuple(number_b.value_or(INT64_MAX), b);
}

void Apply(const MetricSample& sample, std::string_view name, GpuMetric& metric,
           std::map<const GpuMetric*, double>& free_memory) {
  if (name == "nvidia_gpu_duty_cycle" || name == "DCGM_FI_DEV_GPU_UTIL") {
    metric.duty_cycle = sample.value;
  } else if (name == "nvidia_gpu_memory_used_bytes") {
    metric.memory_used = sample.value;
  } else if (name == "nvidia_gpu_memory_total_bytes") {
    metric.memory_total = sample.value;
  } else if (name == "DCGM_FI_DEV_FB_USED") {  // NVIDIA's exporter counts MiB
    metric.memory_used = sample.value * kMebibyte;
  } else if (name == "DCGM_FI_DEV_FB_FREE") {
    free_memory[&metric] = sample.value * kMebibyte;
  }
}

std::string QueryTarget() { return "/api/v1/query?query=" + net::PercentEncode(kQuery); }

base::Result<std::vector<MetricSample>> Query(const std::string& server, const std::string& token,
                                              const base::Environment& environment) {
  const bool has_scheme = server.find("://") != std::string::npos;
  auto service = WebService::At(has_scheme ? server : "http://" + server, environment,
                                {.timeout = kMetricsPatience, .ca_pem = {}, .is_insecure = false});
  if (!service) return Fail(service.error().Wrap("PROMETHEUS_ADDRESS"));
  net::HttpRequest request;
  request.method = "GET";
  request.target = QueryTarget();
  if (!token.empty()) request.headers.emplace_back("Authorization", "Bearer " + token);
  TRY_ASSIGN(const net::HttpResponse response, service->Send(std::move(request)));
  if (response.status != 200) {
    return Fail(Code::kUnavailable,
                fmt::format("Prometheus at {} answers {}", server, response.status));
  }
  return ParseQueryAnswer(response.body);
}

// The Prometheus that Arena finds by its service; none if there is no such service.
base::Result<std::vector<MetricSample>> QueryService(cluster::Client& client) {
  TRY_ASSIGN(const std::string proxy,
             FindServiceProxy(client, {{"kubernetes.io/service-name=prometheus-admin", "9335"},
                                       {"kubernetes.io/service-name=prometheus-server", "9090"},
                                       {"kubernetes.io/name=Prometheus", "9090"}}));
  if (proxy.empty()) return std::vector<MetricSample>();
  auto answer = client.Raw("GET", proxy + QueryTarget());
  if (answer) return ParseQueryAnswer(*answer);
  const base::Error error = answer.error().Wrap("Prometheus at " + proxy);
  // Nobody has named it: it may be another's, or have no pod.
  if (error.code != Code::kPermissionDenied && error.code != Code::kUnavailable) return Fail(error);
  base::LogDebug("{}", error.message);
  return std::vector<MetricSample>();
}

}  // namespace

base::Result<std::vector<MetricSample>> ParseQueryAnswer(std::string_view json) {
  TRY_ASSIGN(const text::Json answer, text::ParseJson(json));
  const text::Array* const results = text::FindArray(answer, {"data", "result"});
  if (text::GetString(answer, {"status"}) != "success" || results == nullptr) {
    return Fail(Code::kInvalidArgument,
                fmt::format("Prometheus answers: {}", text::GetString(answer, {"error"})));
  }
  std::vector<MetricSample> samples;
  for (const text::Json& result : *results) {
    const text::Object* const labels = text::FindObject(result, {"metric"});
    const text::Array* const value = text::FindArray(result, {"value"});  // [time, "value"]
    if (labels == nullptr || value == nullptr || value->size() != 2) continue;
    const auto number = ParseValue(text::GetString((*value)[1], {}));
    if (!number) continue;
    MetricSample& sample = samples.emplace_back();
    sample.value = *number;
    for (const auto& [name, text] : *labels) {
      if (text.is_string()) sample.labels[std::string(name)] = std::string(text.get_string());
    }
  }
  return samples;
}

std::vector<MetricSample> ParseExposition(std::string_view text) {
  std::vector<MetricSample> samples;
  for (const std::string& raw : base::Split(text, '\n')) {
    std::string_view line = base::Trim(raw);
    if (line.empty() || line[0] == '#') continue;
    const size_t end = line.find_first_of("{ ");
    if (end == std::string_view::npos) continue;
    MetricSample sample;
    sample.labels["__name__"] = line.substr(0, end);
    const bool has_labels = line[end] == '{';
    line.remove_prefix(end + 1);
    if (has_labels && !ParseSampleLabels(line, sample)) continue;
    line = base::Trim(line);
    const auto value = ParseValue(line.substr(0, line.find(' ')));  // a timestamp may follow
    if (!value) continue;
    sample.value = *value;
    samples.push_back(std::move(sample));
  }
  return samples;
}

std::vector<GpuMetric> ToGpuMetrics(const std::vector<MetricSample>& samples) {
  std::map<std::tuple<std::string, std::string, std::string, std::string>, GpuMetric> found;
  std::map<const GpuMetric*, double> free_memory;
  for (const MetricSample& sample : samples) {
    const std::string node = LabelOf(sample, {"node_name", "Hostname"});
    const std::string id = LabelOf(sample, {"minor_number", "gpu"});
    const std::string space =
        LabelOf(sample, {"namespace_name", "exported_namespace", "namespace"});
    const std::string pod = LabelOf(sample, {"pod_name", "exported_pod", "pod"});
    GpuMetric& metric = found[{node, id, space, pod}];
    metric.id = id;
    metric.node = node;
    metric.pod_namespace = space;
    metric.pod = pod;
    if (metric.uuid.empty()) metric.uuid = LabelOf(sample, {"uuid", "UUID"});
    Apply(sample, LabelOf(sample, {"__name__"}), metric, free_memory);
  }
  std::vector<GpuMetric> metrics;
  for (auto& [key, metric] : found) {
    const auto free = free_memory.find(&metric);
    if (free != free_memory.end() && metric.memory_used && !metric.memory_total) {
      metric.memory_total = *metric.memory_used + free->second;
    }
    metrics.push_back(std::move(metric));
  }
  std::stable_sort(metrics.begin(), metrics.end(), [](const GpuMetric& a, const GpuMetric& b) {
    return a.node != b.node ? a.node < b.node : IsLowerId(a.id, b.id);
  });
  return metrics;
}

base::Result<std::vector<GpuMetric>> FetchGpuMetrics(cluster::Client& client,
                                                     const Context& context) {
  const auto config = ReadArenaConfig(context.environment);
  const auto setting = [&](std::string_view variable, const std::string& key) {
    if (auto value = context.environment.Get(variable)) return *value;
    const auto entry = config.find(key);
    return entry == config.end() ? std::string() : entry->second;
  };
  if (context.cluster_is_this_machine) {
    TRY_ASSIGN(const std::string text, client.Raw("GET", kEmbeddedPath));
    return ToGpuMetrics(ParseExposition(text));
  }
  const std::string server = setting("PROMETHEUS_ADDRESS", "prometheus_address");
  if (server.empty()) {
    // watch and dash ask again and again, for which the search costs too much.
    if (context.program != "arena") return std::vector<GpuMetric>();
    TRY_ASSIGN(const auto samples, QueryService(client));
    return ToGpuMetrics(samples);
  }
  TRY_ASSIGN(const auto samples,
             Query(server, setting("PROMETHEUS_TOKEN", "prometheus_token"), context.environment));
  return ToGpuMetrics(samples);
}

std::vector<GpuMetric> GpuMetricsOrNone(cluster::Client& client, const Context& context) {
  auto metrics = FetchGpuMetrics(client, context);
  if (metrics) return std::move(*metrics);
  base::LogWarn("the GPUs' use is not known: {}", metrics.error().message);
  return {};
}

std::vector<GpuMetric> MetricsOfPod(const std::vector<GpuMetric>& metrics,
                                    std::string_view pod_namespace, std::string_view pod) {
  std::vector<GpuMetric> found;
  for (const GpuMetric& metric : metrics) {
    if (metric.pod == pod && metric.pod_namespace == pod_namespace) found.push_back(metric);
  }
  return found;
}

std::optional<GpuUse> UseOfRank(const std::vector<GpuMetric>& of_pod, size_t local_rank,
                                size_t ranks) {
  const api::GpuRange range = api::GpusOfRank(of_pod.size(), local_rank, ranks);
  GpuUse use;
  double count = 0;
  for (size_t i = range.first; i < range.first + range.count; ++i) {
    if (!of_pod[i].duty_cycle) continue;
    use.duty_cycle += *of_pod[i].duty_cycle;
    use.memory_used += of_pod[i].memory_used.value_or(0);
    ++count;
  }
  if (count == 0) return std::nullopt;
  use.duty_cycle /= count;
  return use;
}

std::string DutyCycleText(const GpuMetric& metric) {
  return metric.duty_cycle ? fmt::format("{:.1f}%", *metric.duty_cycle) : "N/A";
}

std::string MemoryText(const GpuMetric& metric) {
  if (!metric.memory_used || !metric.memory_total) return "N/A";
  return fmt::format("{:.1f}/{:.1f}(MiB)", *metric.memory_used / kMebibyte,
                     *metric.memory_total / kMebibyte);
}

}  // namespace arena
