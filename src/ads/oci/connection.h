// A connection to a service.
#pragma once

#include <functional>
#include <memory>

#include "ads/oci/region.h"
#include "base/result.h"
#include "net/client/client.h"
#include "net/http/file_uploader.h"
#include "net/socket/url.h"

namespace ads::oci {

struct Connection {
  std::unique_ptr<net::HttpClient> client;
  net::FileUploader* files = nullptr;  // owned by the client, never null
};
using ConnectFunction = std::function<base::Result<Connection>(Service, const net::Url&)>;

}  // namespace ads::oci
