// Linux calls that Swift's Glibc module leaves out: epoll, eventfd, signalfd, accept4, prctl.
// _GNU_SOURCE stays undefined: with it, structures that Glibc's module has already defined come out different.
#ifndef WALLETORDERS_CLINUX_H
#define WALLETORDERS_CLINUX_H
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <pwd.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern int accept4(int descriptor, struct sockaddr *address, socklen_t *length, int flags);
extern int pipe2(int ends[2], int flags);

enum { CLINUX_SOCK_NONBLOCK = 00004000, CLINUX_SOCK_CLOEXEC = 02000000 };
enum { CLINUX_EPOLL_CLOEXEC = 02000000, CLINUX_EFD_CLOEXEC = 02000000, CLINUX_EFD_NONBLOCK = 00004000 };
enum { CLINUX_SFD_CLOEXEC = 02000000, CLINUX_SFD_NONBLOCK = 00004000 };

/// Names the calling thread; at most 15 bytes are kept.
static inline int clinux_set_thread_name(const char *name) { return prctl(PR_SET_NAME, (unsigned long)name, 0, 0, 0); }
/// Whether a crash may write a core file, and another process of the same user may look inside.
static inline int clinux_set_dumpable(int on) { return prctl(PR_SET_DUMPABLE, on, 0, 0, 0); }
/// The event bits and the 64 bits of data that come back with them; epoll_event is packed on some machines.
static inline struct epoll_event clinux_epoll_event(uint32_t events, uint64_t data) {
    struct epoll_event event = {0};
    event.events = events;
    event.data.u64 = data;
    return event;
}
static inline uint64_t clinux_epoll_data(const struct epoll_event *event) { return event->data.u64; }
#endif
