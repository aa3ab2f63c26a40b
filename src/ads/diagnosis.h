// Checks what a distributed job needs in its tenancy (compat/opctl.md 1.4).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "ads/storage/oci_cloud.h"
#include "base/environment.h"
#include "base/result.h"
#include "text/json.h"

namespace ads {

struct Finding {
  std::string description;
  bool is_met = false;
  std::string resolution;  // what to do if it is missing
};

// `<description>: ✅` or `<description>: ❎ . Resolution: <text>` for each, and a final line if all
// are met. Pure.
std::string RenderFindings(const std::vector<Finding>& findings, const std::string& cluster_type);
// The same as an HTML page: a table of requirements, and one of resolutions. Pure.
std::string RenderReport(const std::vector<Finding>& findings, const std::string& cluster_type);

// Whether a rule of the lists (answers of get_security_list) permits TCP from `address` to all
// ports from `first` to `last`. Pure.
bool AllowsIngress(const std::vector<text::Json>& lists, const std::string& address, int first,
                   int last);

// The port ranges, first and last, on which a cluster of that type communicates. Pure.
std::vector<std::pair<int, int>> IngressPorts(std::string_view cluster_type);

// Runs in the container of a job run: checks the job, its subnet and security lists, the work dir
// and outgoing connections. Writes `diagnostic_report.html` to the work dir.
base::Result<std::vector<Finding>> Diagnose(OciCloud& cloud, const base::Environment& environment);

}  // namespace ads
