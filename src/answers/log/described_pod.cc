#include "answers/log/described_pod.h"

#include <algorithm>
#include <utility>

#include "answers/rank_number.h"
#include "base/strings.h"

namespace answers {
namespace {

using KubectlText = std::vector<std::string_view>;

std::string_view WithoutMarks(std::string_view text) {
  text = base::Trim(text);
  if (text.ends_with(',')) text.remove_suffix(1);
  if (text.size() > 1 && (text[0] == '"' || text[0] == '\'') && text.back() == text[0]) {
    text = text.substr(1, text.size() - 2);
  }
  return text;
}

// "key: value" of YAML, also as the first one of an item, and of JSON.
struct YamlField {
  size_t indent = 0;
  std::string_view key, value;
};

std::optional<YamlField> ReadYamlField(std::string_view line) {
  const size_t indent = std::min(line.find_first_not_of(" \t-"), line.size());
  const size_t colon = line.find(':', indent);
  if (colon == std::string_view::npos) return std::nullopt;
  return YamlField{indent, WithoutMarks(line.substr(indent, colon - indent)),
                   WithoutMarks(line.substr(colon + 1))};
}

// The value of a label: "training.kubeflow.org/replica-index=2", in YAML and JSON with ":".
std::optional<std::string_view> LabelValue(std::string_view line, std::string_view key) {
  const size_t at = line.find(key);
  if (at == std::string_view::npos) return std::nullopt;
  std::string_view rest = line.substr(at + key.size());
  if (rest.starts_with('"')) rest.remove_prefix(1);
  if (!rest.starts_with('=') && !rest.starts_with(": ")) return std::nullopt;
  rest = base::Trim(rest.substr(rest.starts_with('=') ? 1 : 2));
  return WithoutMarks(rest.substr(0, rest.find_first_of(" ,\t")));
}

// The value of a variable: "RANK:  2" or, in YAML and JSON, "name: RANK" with "value: 2" below it.
std::optional<std::string_view> VariableAt(const KubectlText& lines, size_t at,
                                           std::string_view name) {
  if (FieldValue(lines[at], "name") == name) {
    return at + 1 < lines.size() ? FieldValue(lines[at + 1], "value") : std::nullopt;
  }
  const auto field = ReadYamlField(lines[at]);
  return field && field->key == name ? std::optional(field->value) : std::nullopt;
}

// Whether the line has torchrun's option for several processes: "--nproc_per_node=8", or with the
// number in the line below.
bool HasOptionForSeveral(const KubectlText& lines, size_t at) {
  for (const std::string_view option : {"--nproc_per_node", "--nproc-per-node"}) {
    const size_t begin = lines[at].find(option);
    if (begin == std::string_view::npos) continue;
    std::string_view value = lines[at].substr(begin + option.size());
    value = value.substr(std::min(value.find_first_not_of("= \",'"), value.size()));
    if (value.empty() && at + 1 < lines.size()) {
      value = lines[at + 1];
      value = value.substr(std::min(value.find_first_not_of("- \"'"), value.size()));
    }
    return value.substr(0, value.find_first_of(" \",'")) != "1";
  }
  return false;
}

// Whether the line gives a pod several GPUs, or says that it starts several processes.
bool HasSeveralProcesses(const KubectlText& lines, size_t at) {
  for (const std::string_view variable : {"PET_NPROC_PER_NODE", "NPROC_PER_NODE"}) {
    const auto count = VariableAt(lines, at, variable);
    if (count && !count->empty() && *count != "1") return true;  // or "auto"
  }
  if (HasOptionForSeveral(lines, at)) return true;
  const auto field = ReadYamlField(lines[at]);
  if (!field) return false;
  for (const std::string_view begin : {"nvidia.com/", "amd.com/gpu", "gpu.intel.com/", "habana.ai/",
                                       "aws.amazon.com/neuron", "huawei.com/Ascend"}) {
    if (field->key.starts_with(begin) && base::ParseInt(field->value).value_or(0) > 1) return true;
  }
  return false;
}

// Sets the pod's rank by what its lines say.
void FindRank(const KubectlText& lines, const KubeflowPods& of_job, bool is_pod,
              DescribedPod& pod) {
  std::optional<int> index, variable;
  bool is_worker = false, is_unknown = false;
  for (size_t i = pod.begin; i < pod.end; ++i) {
    const std::string_view line = lines[i];
    for (const std::string_view key :
         {"batch.kubernetes.io/job-completion-index", "training.kubeflow.org/replica-index"}) {
      if (const auto value = LabelValue(line, key)) index = RankNumber(*value);
    }
    // Kubeflow's PyTorchJob sets it (pkg/controller.v1/pytorch/envvar.go).
    if (const auto rank = VariableAt(lines, i, "RANK"); rank && !rank->empty()) {
      variable = RankNumber(*rank);
    }
    for (const std::string_view key :
         {"jobset.sigs.k8s.io/job-index", "jobset.sigs.k8s.io/job-global-index"}) {
      const auto value = LabelValue(line, key);
      if (value && *value != "0") is_unknown = true;  // the jobs before it have pods, too
    }
    if (const auto type = LabelValue(line, "training.kubeflow.org/replica-type")) {
      is_worker = base::EqualsIgnoreCase(*type, "worker");
      if (!is_worker && !base::EqualsIgnoreCase(*type, "master")) is_unknown = true;
    }
    if (HasSeveralProcesses(lines, i)) pod.may_have_several = true;
  }
  if (!is_pod && !index) pod.may_have_several = false;  // a program has printed "Name:"
  if (is_unknown || pod.may_have_several || (!is_pod && !index)) return;
  pod.rank = variable ? variable : index;
  // Without a master worker 0 is rank 0; whether there is one, other pods say.
  if (!variable && index && is_worker) {
    pod.rank = of_job.has_master ? std::optional(*index + 1) : std::nullopt;
  }
  if (pod.rank || index || !is_pod) return;
  if (of_job.has_master) pod.rank = RankOfPod(pod.name, true);
  if (!pod.rank && !of_job.has_launcher) pod.rank = RankOfNode(pod.name);
}

// Reads what `kubectl describe` prints: the names of objects begin lines.
void ReadDescriptions(const KubectlText& lines, const KubeflowPods& of_job,
                      std::vector<DescribedPod>& pods) {
  constexpr std::string_view kName = "Name:";
  for (size_t i = 0; i < lines.size(); ++i) {
    if (!lines[i].starts_with(kName)) continue;
    DescribedPod pod;
    pod.name = base::Trim(lines[i].substr(kName.size()));
    pod.begin = i;
    pod.end = i + 1;
    bool is_pod = false;  // and not a Service or a Job of this name
    for (; pod.end < lines.size() && !lines[pod.end].starts_with(kName); ++pod.end) {
      const std::string_view line = lines[pod.end];
      if (line.starts_with("Containers:")) is_pod = true;
      if (line.starts_with("Node:")) {
        const std::string_view node = base::Trim(line.substr(5));
        if (node != "<none>") pod.node = node.substr(0, node.find('/'));
      }
    }
    FindRank(lines, of_job, is_pod, pod);
    pods.push_back(std::move(pod));
  }
}

// The line after the last one of the object whose kind is in this line.
size_t EndOfObject(const KubectlText& lines, size_t kind, size_t indent) {
  size_t end = kind + 1;
  for (; end < lines.size() && !lines[end].starts_with("---"); ++end) {
    const auto field = ReadYamlField(lines[end]);
    if (field && field->indent <= indent && (field->key == "apiVersion" || field->key == "kind")) {
      break;
    }
  }
  return end;
}

// Reads the objects of YAML and JSON, whose keys kubectl sorts: apiVersion, kind, metadata.
void ReadObjects(const KubectlText& lines, const KubeflowPods& of_job,
                 std::vector<DescribedPod>& pods) {
  for (size_t i = 0; i < lines.size(); ++i) {
    const auto kind = ReadYamlField(lines[i]);
    if (!kind || kind->key != "kind" || kind->value != "Pod") continue;
    // A reference to a pod, as in an event, has no metadata beside its kind.
    const auto next = i + 1 < lines.size() ? ReadYamlField(lines[i + 1]) : std::nullopt;
    if (!next || next->key != "metadata" || next->indent != kind->indent) continue;
    DescribedPod pod;
    pod.begin = i;
    pod.end = EndOfObject(lines, i, kind->indent);
    std::optional<size_t> of_metadata;
    for (size_t at = i + 2; at < pod.end; ++at) {
      const auto field = ReadYamlField(lines[at]);
      if (!field) continue;
      if (!of_metadata) of_metadata = field->indent;
      const bool is_own = field->indent == *of_metadata;
      if (is_own && field->key == "name" && pod.name.empty()) pod.name = field->value;
      if (is_own && field->key == "nodeName") pod.node = field->value;
    }
    FindRank(lines, of_job, true, pod);
    i = pod.end - 1;
    pods.push_back(std::move(pod));
  }
}

}  // namespace

std::optional<std::string_view> FieldValue(std::string_view line, std::string_view key) {
  const auto field = ReadYamlField(line);
  return field && base::EqualsIgnoreCase(field->key, key) ? std::optional(field->value)
                                                          : std::nullopt;
}

std::vector<DescribedPod> ReadDescribedPods(const KubectlText& lines, const KubeflowPods& of_job) {
  KubeflowPods known = of_job;
  known.has_master =
      known.has_master || std::any_of(lines.begin(), lines.end(), [](std::string_view line) {
        const auto type = LabelValue(line, "training.kubeflow.org/replica-type");
        return type && base::EqualsIgnoreCase(*type, "master");
      });
  std::vector<DescribedPod> pods;
  ReadDescriptions(lines, known, pods);
  ReadObjects(lines, known, pods);
  return pods;
}

const DescribedPod* DescribedAt(const std::vector<DescribedPod>& pods, size_t line) {
  const auto of = std::find_if(pods.begin(), pods.end(), [line](const DescribedPod& pod) {
    return pod.begin <= line && line < pod.end;
  });
  return of == pods.end() ? nullptr : &*of;
}

bool IsPodsJson(std::string_view text) {
  return base::Trim(text).starts_with('{') && text.find("\"kind\": \"Pod\"") != text.npos;
}

}  // namespace answers
