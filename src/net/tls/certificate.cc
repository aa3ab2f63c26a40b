#include "net/tls/certificate.h"

#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <ctime>
#include <memory>

#include "base/strings.h"

namespace net {
namespace {

using Key = std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)>;
using Certificate = std::unique_ptr<X509, decltype(&X509_free)>;
using Bio = std::unique_ptr<BIO, decltype(&BIO_free)>;

constexpr std::chrono::hours kClockSkew{1};
constexpr size_t kSerialBytes = 16;

tl::unexpected<base::Error> Failed(std::string_view what) {
  char reason[256] = "unknown reason";
  if (const unsigned long code = ERR_get_error(); code != 0) {
    ERR_error_string_n(code, reason, sizeof reason);
  }
  ERR_clear_error();
  return base::Fail(base::Code::kInternal, std::string(what) + ": " + reason);
}

Bio Reader(std::string_view pem) {
  return {BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())), &BIO_free};
}

std::string Text(BIO* bio) {
  char* data = nullptr;
  const long size = BIO_get_mem_data(bio, &data);
  return {data, static_cast<size_t>(size)};
}

base::Result<KeyedCertificate> ToPem(X509* certificate, EVP_PKEY* key) {
  const Bio certificate_out(BIO_new(BIO_s_mem()), &BIO_free);
  const Bio key_out(BIO_new(BIO_s_mem()), &BIO_free);
  if (PEM_write_bio_X509(certificate_out.get(), certificate) != 1 ||
      PEM_write_bio_PrivateKey(key_out.get(), key, nullptr, nullptr, 0, nullptr, nullptr) != 1) {
    return Failed("write a certificate");
  }
  return KeyedCertificate{Text(certificate_out.get()), Text(key_out.get())};
}

bool SetTime(ASN1_TIME* field, base::Time time) {
  const auto seconds =
      std::chrono::duration_cast<std::chrono::seconds>(time.time_since_epoch()).count();
  return ASN1_TIME_set(field, static_cast<time_t>(seconds)) != nullptr;
}

bool AddExtension(X509* certificate, X509* issuer, int id, const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx_nodb(&context);
  X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
  X509_EXTENSION* extension = X509V3_EXT_conf_nid(nullptr, &context, id, value.c_str());
  if (extension == nullptr) return false;
  const bool is_added = X509_add_ext(certificate, extension, -1) == 1;
  X509_EXTENSION_free(extension);
  return is_added;
}

// With a new key and a random serial number, valid from a little before now; not signed yet.
bool Prepare(X509* certificate, EVP_PKEY* key, const std::string& common_name, base::Time now,
             std::chrono::hours validity) {
  unsigned char serial[kSerialBytes];
  if (RAND_bytes(serial, sizeof serial) != 1) return false;
  serial[0] &= 0x7fU;
  std::unique_ptr<BIGNUM, decltype(&BN_free)> number(BN_bin2bn(serial, sizeof serial, nullptr),
                                                     &BN_free);
  X509_NAME* name = X509_get_subject_name(certificate);
  return number && X509_set_version(certificate, 2) == 1 &&
         BN_to_ASN1_INTEGER(number.get(), X509_get_serialNumber(certificate)) != nullptr &&
         SetTime(X509_getm_notBefore(certificate), now - kClockSkew) &&
         SetTime(X509_getm_notAfter(certificate), now + validity) &&
         X509_set_pubkey(certificate, key) == 1 &&
         X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_UTF8,
                                    reinterpret_cast<const unsigned char*>(common_name.c_str()), -1,
                                    -1, 0) == 1;
}

Certificate ReadPem(std::string_view certificate) {
  return {PEM_read_bio_X509(Reader(certificate).get(), nullptr, nullptr, nullptr), &X509_free};
}

// An encrypted key is refused, because nobody can be asked for the password.
int NoPassword(char*, int, int, void*) { return 0; }

base::Result<base::Time> TimeOf(std::string_view certificate,
                                const ASN1_TIME* (*field)(const X509*)) {
  const Certificate read = ReadPem(certificate);
  std::tm time{};
  if (!read || ASN1_TIME_to_tm(field(read.get()), &time) != 1) {
    ERR_clear_error();
    return base::Fail(base::Code::kInvalidArgument, "this is not a certificate");
  }
  return base::Time(std::chrono::seconds(timegm(&time)));
}

}  // namespace

base::Result<KeyedCertificate> MakeAuthority(const std::string& common_name, base::Time now,
                                             std::chrono::hours validity) {
  const Key key(EVP_EC_gen("P-256"), &EVP_PKEY_free);
  const Certificate made(X509_new(), &X509_free);
  if (!key || !made || !Prepare(made.get(), key.get(), common_name, now, validity) ||
      X509_set_issuer_name(made.get(), X509_get_subject_name(made.get())) != 1 ||
      !AddExtension(made.get(), made.get(), NID_basic_constraints, "critical,CA:TRUE") ||
      !AddExtension(made.get(), made.get(), NID_key_usage, "critical,keyCertSign,cRLSign") ||
      !AddExtension(made.get(), made.get(), NID_subject_key_identifier, "hash") ||
      X509_sign(made.get(), key.get(), EVP_sha256()) == 0) {
    return Failed("make a certificate authority");
  }
  return ToPem(made.get(), key.get());
}

base::Result<KeyedCertificate> IssueServerCertificate(const KeyedCertificate& authority,
                                                      const std::vector<std::string>& names,
                                                      base::Time now, std::chrono::hours validity) {
  const Certificate issuer(
      PEM_read_bio_X509(Reader(authority.certificate).get(), nullptr, nullptr, nullptr),
      &X509_free);
  const Key issuer_key(
      PEM_read_bio_PrivateKey(Reader(authority.key).get(), nullptr, nullptr, nullptr),
      &EVP_PKEY_free);
  if (!issuer || !issuer_key) {
    ERR_clear_error();
    return base::Fail(base::Code::kInvalidArgument,
                      "the authority is not a certificate with its key");
  }
  const Key key(EVP_EC_gen("P-256"), &EVP_PKEY_free);
  const Certificate made(X509_new(), &X509_free);
  if (!key || !made || !Prepare(made.get(), key.get(), "muster", now, validity) ||
      X509_set_issuer_name(made.get(), X509_get_subject_name(issuer.get())) != 1 ||
      !AddExtension(made.get(), issuer.get(), NID_basic_constraints, "critical,CA:FALSE") ||
      !AddExtension(made.get(), issuer.get(), NID_key_usage, "critical,digitalSignature") ||
      !AddExtension(made.get(), issuer.get(), NID_ext_key_usage, "serverAuth") ||
      !AddExtension(made.get(), issuer.get(), NID_subject_key_identifier, "hash") ||
      !AddExtension(made.get(), issuer.get(), NID_authority_key_identifier, "keyid") ||
      !AddExtension(made.get(), issuer.get(), NID_subject_alt_name, base::Join(names, ",")) ||
      X509_sign(made.get(), issuer_key.get(), EVP_sha256()) == 0) {
    return Failed("issue a certificate");
  }
  return ToPem(made.get(), key.get());
}

base::Result<base::Time> CertificateEnd(std::string_view certificate) {
  return TimeOf(certificate, X509_get0_notAfter);
}

base::Result<base::Time> CertificateBegin(std::string_view certificate) {
  TRY_ASSIGN(const base::Time begin, TimeOf(certificate, X509_get0_notBefore));
  return begin + kClockSkew;
}

std::vector<std::string> SplitCertificates(std::string_view pem) {
  constexpr std::string_view kBegin = "-----BEGIN CERTIFICATE-----";
  constexpr std::string_view kEnd = "-----END CERTIFICATE-----";
  std::vector<std::string> certificates;
  size_t begin = pem.find(kBegin);
  while (begin != std::string_view::npos) {
    const size_t end = pem.find(kEnd, begin);
    if (end == std::string_view::npos) break;
    certificates.push_back(std::string(pem.substr(begin, end + kEnd.size() - begin)) + "\n");
    begin = pem.find(kBegin, end);
  }
  return certificates;
}

bool IsIssuedBy(std::string_view certificate, std::string_view authority) {
  const Certificate read = ReadPem(certificate);
  const Certificate issuer = ReadPem(authority);
  const bool is_issued = read && issuer &&
                         X509_check_issued(issuer.get(), read.get()) == X509_V_OK &&
                         X509_verify(read.get(), X509_get0_pubkey(issuer.get())) == 1;
  ERR_clear_error();
  return is_issued;
}

bool IsKeyOf(std::string_view key, std::string_view certificate) {
  const Certificate read = ReadPem(certificate);
  const Key own(PEM_read_bio_PrivateKey(Reader(key).get(), nullptr, NoPassword, nullptr),
                &EVP_PKEY_free);
  const bool is_its = read && own && X509_check_private_key(read.get(), own.get()) == 1;
  ERR_clear_error();
  return is_its;
}

bool IsForHost(std::string_view certificate, const std::string& host) {
  const Certificate read = ReadPem(certificate);
  const bool is_for =
      read && (X509_check_host(read.get(), host.data(), host.size(), 0, nullptr) == 1 ||
               X509_check_ip_asc(read.get(), host.c_str(), 0) == 1);
  ERR_clear_error();
  return is_for;
}

base::Result<std::string> RandomToken(size_t bytes) {
  std::string random(bytes, '\0');
  if (RAND_bytes(reinterpret_cast<unsigned char*>(random.data()), static_cast<int>(bytes)) != 1) {
    return Failed("draw a token");
  }
  std::string token = base::Base64Encode(random);
  std::replace(token.begin(), token.end(), '+', '-');
  std::replace(token.begin(), token.end(), '/', '_');
  token.erase(token.find_last_not_of('=') + 1);
  return token;
}

bool AreEqualSecrets(std::string_view a, std::string_view b) {
  return a.size() == b.size() && CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

}  // namespace net
