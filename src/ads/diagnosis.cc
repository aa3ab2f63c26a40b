#include "ads/diagnosis.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "ads/node/address.h"
#include "base/strings.h"
#include "base/uid.h"
#include "net/socket/tcp.h"

namespace ads {
namespace {

constexpr const char* kReportName = "diagnostic_report.html";
constexpr int kMaxPort = 65535;
constexpr std::string_view kTcp = "6";  // the protocol's number
constexpr std::chrono::seconds kWayOut{5};
constexpr const char* kOutside = "www.oracle.com";

std::string Escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '<') {
      out += "&lt;";
    } else if (c == '>') {
      out += "&gt;";
    } else if (c == '&') {
      out += "&amp;";
    } else {
      out += c;
    }
  }
  return out;
}

bool Lets(const text::Json& rule, const std::string& address, int first, int last) {
  const std::string_view protocol = text::GetString(rule, {"protocol"});
  if (protocol != "all" && protocol != kTcp) return false;
  const std::vector<InterfaceAddress> own = {{"", address}};
  if (!FindInCidr(own, text::GetString(rule, {"source"}))) return false;
  const text::Json* const ports = text::Find(rule, {"tcpOptions", "destinationPortRange"});
  if (protocol == "all" || ports == nullptr || !ports->is_object()) return true;
  return text::GetInt(*ports, {"min"}).value_or(0) <= first &&
         text::GetInt(*ports, {"max"}).value_or(0) >= last;
}

std::string PortText(const std::pair<int, int>& ports) {
  if (ports.first == ports.second) return std::to_string(ports.first);
  return fmt::format("{}-{}", ports.first, ports.second);
}

// Checks one job run. Later checks use the results of earlier ones.
class Diagnoser {
 public:
  Diagnoser(OciCloud& cloud, const base::Environment& environment)
      : cloud_(cloud), environment_(environment) {}

  base::Result<std::vector<Finding>> Run();

 private:
  void Note(std::string description, const base::Status& status, std::string resolution) {
    if (!status) resolution += fmt::format(" ({})", status.error().message);
    findings_.push_back({std::move(description), status.has_value(), std::move(resolution)});
  }
  base::Status ReadSubnet(const std::string& job_ocid);
  base::Status ReadSecurityLists();
  base::Status TryStorage(ObjectStorage& storage);
  void NotePorts(const std::string& cluster_type);

  OciCloud& cloud_;
  const base::Environment& environment_;
  std::vector<Finding> findings_;
  std::string address_;
  text::Json subnet_;
  std::vector<text::Json> lists_;
};

base::Status Diagnoser::ReadSubnet(const std::string& job_ocid) {
  TRY_ASSIGN(oci::DataScience jobs, cloud_.Jobs());
  TRY_ASSIGN(const text::Json job, jobs.GetJob(job_ocid));
  const std::string id(text::GetString(job, {"jobInfrastructureConfigurationDetails", "subnetId"}));
  if (id.empty()) return base::Fail(base::Code::kNotFound, "the job names no subnet");
  TRY_ASSIGN(oci::Api* const network, cloud_.At(oci::Service::kNetwork));
  TRY_ASSIGN(subnet_, network->Ask({.operation = "get_subnet",
                                    .method = "GET",
                                    .target = "/20160918/subnets/" + net::PercentEncode(id)}));
  TRY_ASSIGN(const auto addresses, ListAddresses());
  const auto own = FindInCidr(addresses, text::GetString(subnet_, {"cidrBlock"}));
  if (own) address_ = own->address;
  return {};
}

base::Status Diagnoser::ReadSecurityLists() {
  const text::Array* const ids = text::FindArray(subnet_, {"securityListIds"});
  if (ids == nullptr) return base::Fail(base::Code::kNotFound, "the subnet was not read");
  TRY_ASSIGN(oci::Api* const network, cloud_.At(oci::Service::kNetwork));
  for (const text::Json& id : *ids) {
    const auto* const name = id.if_string();
    if (name == nullptr) continue;
    TRY_ASSIGN(text::Json list,
               network->Ask({.operation = "get_security_list",
                             .method = "GET",
                             .target = "/20160918/securityLists/" +
                                       net::PercentEncode({name->data(), name->size()})}));
    lists_.push_back(std::move(list));
  }
  return {};
}

base::Status Diagnoser::TryStorage(ObjectStorage& storage) {
  const std::string name = "check-" + base::RandomName(10);
  TRY(storage.Put(name, "muster"));
  return storage.Remove(name);
}

void Diagnoser::NotePorts(const std::string& cluster_type) {
  const base::Status read = ReadSecurityLists();
  for (const auto& ports : IngressPorts(cluster_type)) {
    base::Status open = read;
    if (open && !AllowsIngress(lists_, address_, ports.first, ports.second)) {
      open = base::Fail(base::Code::kPermissionDenied,
                        fmt::format("no rule lets {} in", address_.empty() ? "nodes" : address_));
    }
    const bool is_all = ports.second == kMaxPort;
    const std::string which = is_all ? "all ports" : "port " + PortText(ports);
    Note(fmt::format("Ingress from the subnet to {}", which), open,
         fmt::format("add an ingress rule for TCP {} from the subnet's CIDR to a security list of "
                     "the subnet",
                     which));
  }
}

base::Result<std::vector<Finding>> Diagnoser::Run() {
  const std::string job = environment_.GetOr("JOB_OCID", "");
  const std::string type = base::ToUpper(environment_.GetOr("OCI__CLUSTER_TYPE", "PYTORCH"));
  const std::string work_dir = environment_.GetOr("OCI__WORK_DIR", "");
  if (job.empty() || !IsOciUri(work_dir)) {
    return base::Fail(base::Code::kInvalidArgument,
                      "KeyError: JOB_OCID and OCI__WORK_DIR (oci://bucket@namespace/prefix) have "
                      "to be set: this runs in the container of a job run");
  }
  TRY_ASSIGN(oci::DataScience jobs, cloud_.Jobs());
  const auto read_job = jobs.GetJob(job);
  Note("Read the job", read_job ? base::Status() : base::Status(base::Fail(read_job.error())),
       "allow the job run's dynamic group to read data-science-jobs in the compartment");
  Note("Read the subnet", ReadSubnet(job),
       "allow the dynamic group to use virtual-network-family, and name a subnet in the YAML");
  TRY_ASSIGN(const auto storage, cloud_.OpenStorage(work_dir));
  Note("Write to the work dir " + work_dir, TryStorage(*storage),
       "allow the dynamic group to manage objects in the bucket, and look whether it is there");
  NotePorts(type);
  const auto outside = net::ConnectToTcp(kOutside, 443, kWayOut);
  Note(fmt::format("Reach https://{}", kOutside),
       outside ? base::Status() : base::Status(base::Fail(outside.error())),
       "give the subnet a NAT or service gateway, and a route to it");
  TRY_ASSIGN(const auto of_job,
             cloud_.OpenStorage(work_dir + (work_dir.ends_with('/') ? "" : "/") + job));
  TRY(of_job->Put(kReportName, RenderReport(findings_, type)));
  return findings_;
}

}  // namespace

bool AllowsIngress(const std::vector<text::Json>& lists, const std::string& address, int first,
                   int last) {
  for (const text::Json& list : lists) {
    for (const text::Json& rule : text::Items(list, {"ingressSecurityRules"})) {
      if (Lets(rule, address, first, last)) return true;
    }
  }
  return false;
}

std::vector<std::pair<int, int>> IngressPorts(std::string_view cluster_type) {
  if (cluster_type == "PYTORCH") return {{29400, 29400}};
  if (cluster_type == "DASK") return {{8787, 8787}, {8786, 8786}, {3000, 3100}};
  return {{1, kMaxPort}};
}

std::string RenderFindings(const std::vector<Finding>& findings, const std::string& cluster_type) {
  std::string out;
  for (const Finding& one : findings) {
    out += one.is_met ? fmt::format("{}: ✅\n", one.description)
                      : fmt::format("{}: ❎ . Resolution: {}\n", one.description, one.resolution);
  }
  const bool are_met =
      std::all_of(findings.begin(), findings.end(), [](const Finding& one) { return one.is_met; });
  if (are_met) {
    out += fmt::format("✨ You have satisfied all the requirements for cluster: {} ✨\n",
                       cluster_type);
  }
  return out;
}

std::string RenderReport(const std::vector<Finding>& findings, const std::string& cluster_type) {
  std::string rows, resolutions;
  size_t number = 0;
  for (const Finding& one : findings) {
    ++number;
    rows += fmt::format("<tr><td>{}</td><td>{}</td><td>{}</td></tr>\n", number,
                        Escaped(one.description), one.is_met ? "✅" : "❎");
    if (one.is_met) continue;
    resolutions +=
        fmt::format("<tr><td>{}</td><td>{}</td></tr>\n", number, Escaped(one.resolution));
  }
  std::string page = fmt::format(
      "<!DOCTYPE html>\n<html><head><meta charset=\"utf-8\"><title>Requirements of a {0} cluster"
      "</title>\n<style>body{{font-family:sans-serif}}td,th{{border:1px solid #999;padding:.3em}}"
      "table{{border-collapse:collapse}}</style></head>\n<body><h1>Requirements of a {0} "
      "cluster</h1>\n<table><tr><th>#</th><th>Requirement</th><th>Status</th></tr>\n{1}</table>\n",
      Escaped(cluster_type), rows);
  if (!resolutions.empty()) {
    page += "<h2>What to do</h2>\n<table><tr><th>#</th><th>Resolution</th></tr>\n" + resolutions +
            "</table>\n";
  }
  return page + "</body></html>\n";
}

base::Result<std::vector<Finding>> Diagnose(OciCloud& cloud, const base::Environment& environment) {
  return Diagnoser(cloud, environment).Run();
}

}  // namespace ads
