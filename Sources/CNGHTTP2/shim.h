#ifndef WALLETORDERS_CNGHTTP2_H
#define WALLETORDERS_CNGHTTP2_H
#include <nghttp2/nghttp2.h>
#endif
