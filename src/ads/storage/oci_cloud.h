// OciCloud: the services of Oracle's cloud for one login of the command line.
#pragma once

#include <memory>
#include <string>

#include "ads/app.h"
#include "ads/config/opctl_config.h"
#include "ads/oci/data_science.h"
#include "ads/oci/session.h"
#include "ads/storage/oci_services.h"
#include "base/result.h"

namespace ads {

// Opens the session at the first call of a method. One thread; borrows the context.
class OciCloud final : public OciServices {
 public:
  OciCloud(const Context& context, LoginFlags login)
      : context_(context), login_(std::move(login)) {}

  base::Result<std::unique_ptr<ObjectStorage>> OpenStorage(const std::string& uri) override;
  base::Result<std::string> SubnetCidr(const std::string& job_ocid) override;
  base::Result<std::string> Secret(const std::string& secret_ocid) override;

  // Reads the credentials, which the first request otherwise does.
  base::Status SignIn();
  // Valid while this lives.
  base::Result<oci::DataScience> Jobs();
  base::Result<oci::Api*> At(oci::Service service);

 private:
  base::Result<std::shared_ptr<oci::Session>> OpenSession();

  const Context& context_;
  const LoginFlags login_;
  std::shared_ptr<oci::Session> session_;
};

}  // namespace ads
