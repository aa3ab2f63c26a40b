#include "net/socket/system_authorities.h"

#include <openssl/x509.h>
#include <sys/stat.h>
#include <unistd.h>

namespace net {
namespace {

bool IsFile(const std::string& path) {
  struct stat info{};
  return ::stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode) && info.st_size > 0 &&
         ::access(path.c_str(), R_OK) == 0;
}

bool IsFolder(const std::string& path) {
  struct stat info{};
  return ::stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode);
}

}  // namespace

AuthorityPlaces AuthorityPlaces::OfSystem() {
  return {::X509_get_default_cert_file(),
          ::X509_get_default_cert_dir(),
          {"/etc/ssl/certs/ca-certificates.crt",                 // Debian, Arch, Gentoo
           "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",  // Fedora, RHEL
           "/etc/pki/tls/certs/ca-bundle.crt",                   // older ones
           "/etc/ssl/ca-bundle.pem",                             // openSUSE
           "/etc/ssl/cert.pem"},                                 // Alpine
          {"/etc/ssl/certs", "/etc/pki/tls/certs"}};
}

Authorities FindAuthorities(const AuthorityPlaces& places, bool is_named) {
  if (is_named || IsFile(places.own_file) || IsFolder(places.own_folder)) return {};
  for (const std::string& file : places.files) {
    if (IsFile(file)) return {file, ""};
  }
  for (const std::string& folder : places.folders) {
    if (IsFolder(folder)) return {"", folder};
  }
  return {};
}

}  // namespace net
