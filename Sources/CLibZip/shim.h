#ifndef WALLETORDERS_CLIBZIP_H
#define WALLETORDERS_CLIBZIP_H
#include <zip.h>
#endif
