#include "ads/storage/oci_cloud.h"

#include <fmt/format.h>

#include "ads/oci/bucket.h"
#include "base/file.h"
#include "base/strings.h"

namespace ads {
namespace {

using base::Code;
using base::Fail;

// A bucket as the nodes' meeting place. It cannot report changes.
class BucketStorage final : public ObjectStorage {
 public:
  BucketStorage(std::shared_ptr<oci::Session> session, oci::Bucket bucket)
      : session_(std::move(session)), bucket_(std::move(bucket)) {}

  base::Status Put(const std::string& name, std::string_view content) override {
    return bucket_.Put(name, std::string(content));
  }
  base::Result<std::string> Get(const std::string& name) override { return bucket_.Get(name); }
  base::Result<base::Time> ModifiedAt(const std::string& name) override {
    TRY_ASSIGN(const oci::Bucket::Head head, bucket_.Look(name));
    return head.modified;
  }
  base::Status Remove(const std::string& name) override { return bucket_.Remove(name); }
  base::Result<std::vector<std::string>> List(const std::string& prefix) override {
    TRY_ASSIGN(const auto objects, bucket_.List(prefix));
    std::vector<std::string> names;
    for (const oci::Bucket::Object& object : objects) names.push_back(object.name);
    return names;
  }
  base::Status PutFile(const std::string& name, const std::string& path) override {
    return bucket_.PutFile(name, path);
  }
  std::vector<base::Status> PutFiles(std::span<const FileToPut> files) override {
    std::vector<oci::Bucket::FileToPut> ours;
    for (const FileToPut& file : files) ours.push_back({file.name, file.path});
    return bucket_.PutFiles(ours);
  }
  base::Status GetFile(const std::string& name, const std::string& path) override {
    TRY(base::MakeDirs(base::DirectoryOf(path), 0755));
    return bucket_.GetFile(name, path);
  }
  std::string UriOf(const std::string& name) const override { return bucket_.UriOf(name); }

 private:
  const std::shared_ptr<oci::Session> session_;  // owns the bucket's Api
  oci::Bucket bucket_;
};

oci::ApiRequest GetOf(const char* operation, std::string target) {
  return {.operation = operation, .method = "GET", .target = std::move(target)};
}

}  // namespace

base::Result<std::shared_ptr<oci::Session>> OciCloud::OpenSession() {
  if (session_) return session_;
  TRY_ASSIGN(const Login login, ChooseLogin(login_, context_.environment));
  TRY_ASSIGN(auto session, oci::Session::Open({{login.auth, login.config_path, login.profile},
                                               context_.pause,
                                               context_.breaker.get()},
                                              context_.environment, context_.clock));
  session_ = std::move(session);
  return session_;
}

base::Status OciCloud::SignIn() {
  TRY_ASSIGN(const auto session, OpenSession());
  TRY(session->principal().Show());
  return {};
}

base::Result<oci::Api*> OciCloud::At(oci::Service service) {
  TRY_ASSIGN(const auto session, OpenSession());
  return session->At(service);
}

base::Result<oci::DataScience> OciCloud::Jobs() {
  TRY_ASSIGN(oci::Api* const api, At(oci::Service::kDataScience));
  return oci::DataScience(*api);
}

base::Result<std::unique_ptr<ObjectStorage>> OciCloud::OpenStorage(const std::string& uri) {
  TRY_ASSIGN(oci::BucketUri place, oci::ParseBucketUri(uri));
  TRY_ASSIGN(oci::Api* const api, At(oci::Service::kObjectStorage));
  if (place.name_space.empty()) {
    TRY_ASSIGN(place.name_space, oci::OwnNamespace(*api));
  }
  return std::unique_ptr<ObjectStorage>(
      std::make_unique<BucketStorage>(session_, oci::Bucket(*api, std::move(place))));
}

base::Result<std::string> OciCloud::SubnetCidr(const std::string& job_ocid) {
  TRY_ASSIGN(oci::DataScience jobs, Jobs());
  TRY_ASSIGN(const text::Json job, jobs.GetJob(job_ocid));
  const std::string subnet(
      text::GetString(job, {"jobInfrastructureConfigurationDetails", "subnetId"}));
  if (subnet.empty()) return subnet;
  TRY_ASSIGN(oci::Api* const network, At(oci::Service::kNetwork));
  TRY_ASSIGN(const text::Json answer,
             network->Ask(GetOf("get_subnet", "/20160918/subnets/" + net::PercentEncode(subnet))));
  return std::string(text::GetString(answer, {"cidrBlock"}));
}

base::Result<std::string> OciCloud::Secret(const std::string& secret_ocid) {
  TRY_ASSIGN(oci::Api* const secrets, At(oci::Service::kSecrets));
  TRY_ASSIGN(const text::Json answer,
             secrets->Ask(GetOf("get_secret_bundle",
                                "/20190301/secretbundles/" + net::PercentEncode(secret_ocid))));
  const auto content =
      base::Base64Decode(text::GetString(answer, {"secretBundleContent", "content"}));
  if (!content) {
    return Fail(Code::kUnavailable,
                fmt::format("the secret {} has no content in base64", secret_ocid));
  }
  return *content;
}

}  // namespace ads
