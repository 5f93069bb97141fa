// Linux calls that Swift's Glibc module leaves out: epoll, eventfd, signalfd, accept4, prctl.
#ifndef WALLETORDERS_CLINUX_H
#define WALLETORDERS_CLINUX_H
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <pwd.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static inline int clinux_accept4(int descriptor, struct sockaddr *address, socklen_t *length, int flags) {
    return accept4(descriptor, address, length, flags);
}
static inline int clinux_pthread_setname(const char *name) { return pthread_setname_np(pthread_self(), name); }
static inline int clinux_set_dumpable(int on) { return prctl(PR_SET_DUMPABLE, on, 0, 0, 0); }
#endif
