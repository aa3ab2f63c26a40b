#include "ads/oci/instance_identity.h"

#include <fmt/format.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include "ads/oci/signature.h"
#include "base/strings.h"
#include "text/json.h"

namespace ads::oci {
namespace {

using base::Code;
using base::Fail;

struct FreeCertificate {
  void operator()(X509* certificate) const { ::X509_free(certificate); }
};
using Certificate = std::unique_ptr<X509, FreeCertificate>;

std::vector<Certificate> ReadCertificates(std::string_view pem) {
  const std::unique_ptr<BIO, int (*)(BIO*)> memory(
      ::BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())), ::BIO_free);
  std::vector<Certificate> found;
  while (X509* const one = ::PEM_read_bio_X509(memory.get(), nullptr, nullptr, nullptr)) {
    found.emplace_back(one);
  }
  ::ERR_clear_error();
  return found;
}

std::string DerBase64(X509* certificate) {
  unsigned char* der = nullptr;
  const int size = ::i2d_X509(certificate, &der);
  if (size <= 0) return "";
  const std::string text =
      base::Base64Encode({reinterpret_cast<const char*>(der), static_cast<size_t>(size)});
  ::OPENSSL_free(der);
  return text;
}

std::string Sha1Fingerprint(X509* certificate) {
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned size = 0;
  std::string pairs;
  if (::X509_digest(certificate, ::EVP_sha1(), digest, &size) != 1) return pairs;
  for (unsigned i = 0; i < size; ++i) pairs += fmt::format("{}{:02X}", i > 0 ? ":" : "", digest[i]);
  return pairs;
}

// From the subject's "OU=opc-tenant:<ocid>" (an instance) or "O=opc-identity:<ocid>" (a service).
std::string TenancyOf(X509* certificate) {
  const X509_NAME* const subject = ::X509_get_subject_name(certificate);
  for (int i = 0; i < ::X509_NAME_entry_count(subject); ++i) {
    const ASN1_STRING* const value = ::X509_NAME_ENTRY_get_data(::X509_NAME_get_entry(subject, i));
    const std::string_view text(reinterpret_cast<const char*>(::ASN1_STRING_get0_data(value)),
                                static_cast<size_t>(::ASN1_STRING_length(value)));
    for (const std::string_view prefix : {"opc-tenant:", "opc-identity:"}) {
      if (text.starts_with(prefix)) return std::string(text.substr(prefix.size()));
    }
  }
  return "";
}

}  // namespace

base::Result<InstanceIdentity> InstanceIdentity::Read(std::string_view certificate_pem,
                                                      const Secret& key_pem,
                                                      std::string_view intermediate_pem) {
  const std::vector<Certificate> certificates = ReadCertificates(certificate_pem);
  if (certificates.empty()) {
    return Fail(Code::kInvalidArgument, "the instance's certificate (cert.pem) is none");
  }
  InstanceIdentity identity;
  X509* const own = certificates.front().get();
  identity.tenancy = TenancyOf(own);
  if (identity.tenancy.empty()) {
    return Fail(Code::kInvalidArgument,
                "the instance's certificate (cert.pem) names no tenancy (opc-tenant:)");
  }
  identity.fingerprint = Sha1Fingerprint(own);
  identity.certificate = DerBase64(own);
  for (const Certificate& one : ReadCertificates(intermediate_pem)) {
    identity.intermediates.push_back(DerBase64(one.get()));
  }
  TRY_ASSIGN(identity.key,
             PrivateKey::Read(key_pem, Secret(), "the instance's private key (key.pem)"));
  return identity;
}

base::Result<net::HttpRequest> TokenRequest(const InstanceIdentity& identity,
                                            const PrivateKey& session_key, const std::string& path,
                                            const std::string& host, base::Time now) {
  text::Object body{{"certificate", identity.certificate},
                    {"publicKey", session_key.PublicKeyBase64()}};
  if (!identity.intermediates.empty()) {
    body["intermediateCertificates"] =
        text::Array(identity.intermediates.begin(), identity.intermediates.end());
  }
  net::HttpRequest request;
  request.method = "POST";
  request.target = path;
  request.body = text::ToJson(body);
  request.headers = {{"accept", "application/json"},
                     {"content-type", "application/json"},
                     {"host", host},
                     {"user-agent", "muster/" MUSTER_VERSION},
                     {"date", FormatHttpDate(now)},
                     {"x-content-sha256", Sha256Base64(request.body)}};
  constexpr const char* kNames =
      "date (request-target) content-length content-type x-content-sha256";
  TRY_ASSIGN(const std::string signature, identity.key->Sign(SigningString(request, kNames)));
  request.headers.emplace_back(
      "authorization",
      AuthorizationHeader(kNames,
                          fmt::format("{}/fed-x509/{}", identity.tenancy, identity.fingerprint),
                          signature));
  return request;
}

base::Result<std::string> TokenOf(std::string_view answer) {
  const auto parsed = text::ParseJson(answer);
  std::string token(parsed ? text::GetString(*parsed, {"token"}) : "");
  if (!token.empty()) return token;
  return Fail(Code::kUnavailable, "the answer has no token");
}

}  // namespace ads::oci
