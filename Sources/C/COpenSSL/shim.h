#pragma once
#include <openssl/bio.h>
#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/ec.h>
#include <openssl/ecdsa.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/kdf.h>
#include <openssl/param_build.h>
#include <openssl/params.h>
#include <openssl/pem.h>
#include <openssl/pkcs12.h>
#include <openssl/provider.h>
#include <openssl/rand.h>
#include <openssl/ssl.h>
#include <openssl/sslerr.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>
#include <time.h>

/* Macros and variadic functions that Swift can't import. */
static inline int onionbell_SSL_CTX_set_min_proto_version(SSL_CTX *ctx, int version) {
    return (int)SSL_CTX_set_min_proto_version(ctx, version);
}
static inline long onionbell_SSL_CTX_set_mode(SSL_CTX *ctx, long mode) { return SSL_CTX_set_mode(ctx, mode); }
static inline long onionbell_SSL_CTX_session_cache_off(SSL_CTX *ctx) {
    return SSL_CTX_set_session_cache_mode(ctx, SSL_SESS_CACHE_OFF);
}
static inline uint64_t onionbell_SSL_server_options(void) {
    return SSL_OP_CIPHER_SERVER_PREFERENCE | SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION | SSL_OP_NO_TICKET;
}
static inline uint64_t onionbell_SSL_client_options(void) { return SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION; }
static inline int onionbell_SSL_set_tlsext_host_name(SSL *ssl, const char *name) {
    return (int)SSL_set_tlsext_host_name(ssl, name);
}
/* Counts a reference of its own. */
static inline int onionbell_SSL_CTX_add1_chain_cert(SSL_CTX *ctx, X509 *certificate) {
    return (int)SSL_CTX_add1_chain_cert(ctx, certificate);
}
/* Tells SSL that there is nothing to read yet, and to call again. */
static inline void onionbell_BIO_set_retry_read(BIO *bio) { BIO_set_retry_read(bio); }
static inline void onionbell_BIO_clear_retry(BIO *bio) { BIO_clear_retry_flags(bio); }
/* The bytes a memory BIO holds: valid until it is next written, read or freed. */
static inline long onionbell_BIO_get_mem_data(BIO *bio, const unsigned char **bytes) {
    return BIO_get_mem_data(bio, (char **)bytes);
}
/* A parameter keeps a pointer to its name, which from Swift would be a string that is gone by the time it is read. */
static inline int onionbell_EVP_MAC_init_sha256(EVP_MAC_CTX *ctx, const unsigned char *key, size_t length) {
    OSSL_PARAM parameters[] = {
        OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, (char *)"SHA2-256", 0),
        OSSL_PARAM_construct_end(),
    };
    return EVP_MAC_init(ctx, key, length, parameters);
}
static inline EVP_PKEY *onionbell_EVP_EC_gen(const char *curve) { return EVP_EC_gen(curve); }
static inline EVP_PKEY *onionbell_EVP_RSA_gen(unsigned int bits) { return EVP_RSA_gen(bits); }
static inline int onionbell_sk_X509_num(const STACK_OF(X509) *stack) { return sk_X509_num(stack); }
static inline X509 *onionbell_sk_X509_value(const STACK_OF(X509) *stack, int index) {
    return sk_X509_value(stack, index);
}
static inline STACK_OF(X509) *onionbell_sk_X509_new(void) { return sk_X509_new_null(); }
static inline int onionbell_sk_X509_push(STACK_OF(X509) *stack, X509 *certificate) {
    return sk_X509_push(stack, certificate);
}
/* Frees the stack, not its certificates. */
static inline void onionbell_sk_X509_free(STACK_OF(X509) *stack) { sk_X509_free(stack); }
/* Frees the stack and its certificates. */
static inline void onionbell_sk_X509_pop_free(STACK_OF(X509) *stack) { sk_X509_pop_free(stack, X509_free); }
/* Adds the names that a certificate is asked for, written as in an openssl configuration file, "DNS:localhost". */
static inline int onionbell_X509_REQ_add_names(X509_REQ *request, const char *names) {
    STACK_OF(X509_EXTENSION) *all = sk_X509_EXTENSION_new_null();
    X509_EXTENSION *extension = X509V3_EXT_nconf_nid(NULL, NULL, NID_subject_alt_name, names);
    int added = 0;
    if (all && extension && sk_X509_EXTENSION_push(all, extension) > 0) {
        extension = NULL; /* The stack's by now. */
        added = X509_REQ_add_extensions(request, all);
    }
    X509_EXTENSION_free(extension);
    sk_X509_EXTENSION_pop_free(all, X509_EXTENSION_free);
    return added;
}
/* Adds an extension written as in an openssl configuration file, for example "DNS:localhost". */
static inline int onionbell_X509_add_extension(X509 *certificate, X509 *issuer, int nid, const char *value) {
    X509V3_CTX context;
    X509V3_set_ctx_nodb(&context);
    X509V3_set_ctx(&context, issuer, certificate, NULL, NULL, 0);
    X509_EXTENSION *extension = X509V3_EXT_nconf_nid(NULL, &context, nid, value);
    if (!extension) return 0;
    int added = X509_add_ext(certificate, extension, -1);
    X509_EXTENSION_free(extension);
    return added;
}
/* Seconds since 1970, or -1 if the time can't be read. */
static inline int64_t onionbell_ASN1_TIME_seconds(const ASN1_TIME *time) {
    struct tm parts;
    return ASN1_TIME_to_tm(time, &parts) == 1 ? (int64_t)timegm(&parts) : -1;
}
