#ifndef WALLETORDERS_CLIBPQ_H
#define WALLETORDERS_CLIBPQ_H
#include <libpq-fe.h>
#endif
