#pragma once
#include <secp256k1.h>
#include <secp256k1_ecdh.h>
#include <secp256k1_recovery.h>

/* Hands out the x coordinate of the shared point as it is: Status hashes it no further. */
static inline int onionbell_secp256k1_x_only(
    unsigned char *output, const unsigned char *x, const unsigned char *y, void *data) {
    (void)y;
    (void)data;
    for (int index = 0; index < 32; index++) output[index] = x[index];
    return 1;
}
static inline int onionbell_secp256k1_ecdh_x(
    const secp256k1_context *context, unsigned char *output, const secp256k1_pubkey *key,
    const unsigned char *secret) {
    return secp256k1_ecdh(context, output, key, secret, onionbell_secp256k1_x_only, NULL);
}
