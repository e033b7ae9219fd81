/*
 * Logs what a process does to the files below one directory, in order.
 *
 * Preloaded into the server (LD_PRELOAD). A seccomp filter makes the kernel hand each system call
 * that could change a file to this library, whether the C library makes it or code that makes system
 * calls itself. The library makes the call, writes a record of it and returns its result.
 *
 * POWER_DIRECTORY names the directory, absolute and without symbolic links; POWER_LOG the log, which
 * is outside of it and is only appended to. A record is a header (see `struct header`) and its
 * bytes, written in one call. An operation on a file is recorded after it took effect, under one
 * lock: the order of the log is the order of the effects. A sync has two records, before it starts
 * and after it has ended. Data for a socket is recorded before it is sent.
 *
 * The lock is also a flock of the log. Who kills the process must hold it: a kill between an effect
 * and its record would leave the next process with something that the log does not tell.
 *
 * POWER_FAULT can name a file: while it exists and contains a kind and an error number, such as
 * `sync 5` or `write 28`, calls of that kind on the files are not made and fail with that error.
 *
 * What cannot be followed (a shared writable mapping, io_uring, holes punched, and so on) is
 * recorded as such; readers of the log must refuse it.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/audit.h>
#include <linux/falloc.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <ucontext.h>
#include <unistd.h>

/* The only system call instruction that the filter allows. */
long power_call(long number, long a, long b, long c, long d, long e, long f);
extern char power_return[];

#if defined(__x86_64__)
#define ARCHITECTURE AUDIT_ARCH_X86_64
__asm__(".text\n.globl power_call\n.hidden power_call\npower_call:\n"
        "mov %rdi,%rax\nmov %rsi,%rdi\nmov %rdx,%rsi\nmov %rcx,%rdx\nmov %r8,%r10\nmov %r9,%r8\n"
        "mov 8(%rsp),%r9\nsyscall\n.globl power_return\n.hidden power_return\npower_return:\nret\n");
#define ARGUMENT(context, n)                                                                       \
    ((context)->uc_mcontext.gregs[(int[]){REG_RDI, REG_RSI, REG_RDX, REG_R10, REG_R8, REG_R9}[n]])
#define RESULT(context) ((context)->uc_mcontext.gregs[REG_RAX])
#elif defined(__aarch64__)
#define ARCHITECTURE AUDIT_ARCH_AARCH64
__asm__(".text\n.globl power_call\n.hidden power_call\npower_call:\n"
        "mov x8,x0\nmov x0,x1\nmov x1,x2\nmov x2,x3\nmov x3,x4\nmov x4,x5\nmov x5,x6\n"
        "svc #0\n.globl power_return\n.hidden power_return\npower_return:\nret\n");
#define ARGUMENT(context, n) ((long)(context)->uc_mcontext.regs[n])
#define RESULT(context) ((context)->uc_mcontext.regs[0])
#else
#error "only x86_64 and aarch64 are known"
#endif

#define CALL(number, ...) CALL_(number, __VA_ARGS__, 0, 0, 0, 0, 0, 0)
#define CALL_(number, a, b, c, d, e, f, ...)                                                       \
    power_call((number), (long)(a), (long)(b), (long)(c), (long)(d), (long)(e), (long)(f))

enum kind {
    STARTED = 1, /* the process; nothing else */
    OPENED,      /* file, path; argument: see `enum opening` */
    WRITTEN,     /* file, bytes; argument: the offset */
    SIZED,       /* file; argument: the new size */
    SYNC_BEGAN,  /* file; argument: names the sync */
    SYNC_ENDED,  /* file; argument: names the sync */
    RENAMED,     /* path, second path */
    UNLINKED,    /* path */
    DIRECTORY,   /* file, path: made */
    REMOVED,     /* path of a directory */
    LINKED,      /* path, second path */
    SENT,        /* bytes to a socket; file: its descriptor */
    RANGE,       /* file: written out by sync_file_range, which is no sync */
    UNFOLLOWED,  /* path: the name of a call that was made and is not followed */
};

enum opening { FOUND = 0, CREATED = 1, TRUNCATED = 2, OF_DIRECTORY = 4 };

#define MAGIC 0x9d3c51e7a60b42f8u

struct header {
    uint64_t magic;
    uint32_t kind;
    uint32_t first;  /* bytes behind the header: the path, or the bytes written */
    uint32_t second; /* bytes behind those: the second path */
    uint32_t reserved;
    uint64_t file; /* the inode */
    uint64_t argument;
};

static char directory[PATH_MAX];
static size_t directory_length;
static dev_t device;
static long log_descriptor = -1;
static atomic_flag lock = ATOMIC_FLAG_INIT;
static atomic_ulong syncs;

/* Inodes below the directory, an open-addressed set. */
#define INODES 65536
static uint64_t inodes[INODES];

static void acquire(void) {
    while (atomic_flag_test_and_set_explicit(&lock, memory_order_acquire))
        CALL(SYS_sched_yield, 0);
    while (CALL(SYS_flock, log_descriptor, LOCK_EX) == -EINTR)
        ;
}

static void release(void) {
    CALL(SYS_flock, log_descriptor, LOCK_UN);
    atomic_flag_clear_explicit(&lock, memory_order_release);
}

/* ---- records ---- */

static void record(enum kind kind, uint64_t file, uint64_t argument, const struct iovec *parts, int count,
                   const char *second) {
    struct iovec all[IOV_MAX];
    struct header header = {.magic = MAGIC, .kind = kind, .file = file, .argument = argument};
    int last = 1;
    for (int i = 0; i < count && last < IOV_MAX - 1; i++) {
        all[last++] = parts[i];
        header.first += (uint32_t)parts[i].iov_len;
    }
    if (second) {
        header.second = (uint32_t)strlen(second);
        all[last++] = (struct iovec){(void *)second, header.second};
    }
    all[0] = (struct iovec){&header, sizeof header};
    CALL(SYS_writev, log_descriptor, all, last);
}

static void record_path(enum kind kind, uint64_t file, uint64_t argument, const char *path,
                        const char *second) {
    struct iovec part = {(void *)path, strlen(path)};
    record(kind, file, argument, &part, 1, second);
}

static void record_plain(enum kind kind, uint64_t file, uint64_t argument) {
    record(kind, file, argument, NULL, 0, NULL);
}

/* ---- what is followed ---- */

static size_t slot(uint64_t inode) {
    size_t at = (size_t)(inode * 0x9e3779b97f4a7c15u >> 48) % INODES;
    while (inodes[at] && inodes[at] != inode)
        at = (at + 1) % INODES;
    return at;
}

/* The inode of a descriptor of a file or directory below the directory, or 0. */
static uint64_t followed(long descriptor, struct stat *status) {
    if (CALL(SYS_fstat, descriptor, status) != 0 || status->st_dev != device)
        return 0;
    return inodes[slot(status->st_ino)];
}

/* Writes the absolute path to `into`; returns whether it is below the directory. */
static int below(long at, const char *path, char *into) {
    size_t length = 0;
    if (path[0] != '/') {
        char link[40] = "/proc/self/cwd";
        if ((int)at != AT_FDCWD) {
            char digits[12];
            int count = 0;
            strcpy(link, "/proc/self/fd/");
            for (int rest = (int)at; rest > 0 || count == 0; rest /= 10)
                digits[count++] = (char)('0' + rest % 10);
            for (size_t end = strlen(link); count > 0; link[end] = 0)
                link[end++] = digits[--count];
        }
        long got = CALL(SYS_readlinkat, AT_FDCWD, link, into, PATH_MAX - 2);
        if (got < 0)
            return 0;
        length = (size_t)got;
        into[length++] = '/';
    }
    if (length + strlen(path) >= PATH_MAX)
        return 0;
    strcpy(into + length, path);
    return strncmp(into, directory, directory_length) == 0 && into[directory_length] == '/';
}

/* ---- faults ---- */

static char fault_path[PATH_MAX];

/* The error for a call of this kind, a negative number; 0 if the call should be made. */
static long fault(const char *kind) {
    char text[32] = {0};
    size_t length = strlen(kind);
    if (!fault_path[0])
        return 0;
    long file = CALL(SYS_openat, AT_FDCWD, fault_path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return 0;
    CALL(SYS_read, file, text, sizeof text - 1);
    CALL(SYS_close, file);
    if (strncmp(text, kind, length) != 0 || text[length] != ' ')
        return 0;
    return -atol(text + length + 1);
}

/* ---- the calls ---- */

struct call {
    long number;
    long a[6];
};

static long pass(const struct call *call) {
    const long *a = call->a;
    return power_call(call->number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

static long unfollowed(const struct call *call, const char *name) {
    record_path(UNFOLLOWED, 0, 0, name, NULL);
    return pass(call);
}

static long open_at(const struct call *call, long at, const char *path, long flags) {
    char full[PATH_MAX];
    struct stat before, after;
    if (!below(at, path, full))
        return pass(call);
    acquire();
    long existed = CALL(SYS_newfstatat, AT_FDCWD, full, &before, 0) == 0;
    long descriptor = pass(call);
    if (descriptor >= 0 && CALL(SYS_fstat, descriptor, &after) == 0) {
        uint64_t how = existed ? FOUND : CREATED;
        if (S_ISDIR(after.st_mode))
            how |= OF_DIRECTORY;
        else if (existed && (flags & O_TRUNC))
            how |= TRUNCATED;
        if ((flags & O_TMPFILE) == O_TMPFILE || (flags & (O_DSYNC | O_DIRECT)))
            record_path(UNFOLLOWED, 0, 0, "O_TMPFILE, O_DSYNC or O_DIRECT", NULL);
        inodes[slot(after.st_ino)] = after.st_ino;
        record_path(OPENED, after.st_ino, how, full, NULL);
    }
    release();
    return descriptor;
}

static long offset_of(long descriptor, const struct stat *status) {
    if (CALL(SYS_fcntl, descriptor, F_GETFL) & O_APPEND)
        return status->st_size;
    return CALL(SYS_lseek, descriptor, 0, SEEK_CUR);
}

/* The first `length` bytes of `parts`. */
static int cut(struct iovec *parts, const struct iovec *all, int count, size_t length) {
    int used = 0;
    for (; used < count && used < IOV_MAX && length > 0; used++) {
        parts[used] = all[used];
        if (parts[used].iov_len > length)
            parts[used].iov_len = length;
        length -= parts[used].iov_len;
    }
    return used;
}

/* A write of `parts`, at `offset` or, if that is negative, at the descriptor's position. */
static long write_parts(const struct call *call, const struct iovec *parts, int count, long offset) {
    struct stat status = {0};
    struct iovec written[IOV_MAX];
    long descriptor = call->a[0];
    uint64_t file = followed(descriptor, &status);
    if (S_ISSOCK(status.st_mode)) {
        int used = cut(written, parts, count, SIZE_MAX);
        acquire();
        record(SENT, (uint64_t)descriptor, 0, written, used, NULL);
        release();
        return pass(call);
    }
    if (!file)
        return pass(call);
    long failure = fault("write");
    if (failure)
        return failure;
    acquire();
    CALL(SYS_fstat, descriptor, &status);
    long start = offset < 0 ? offset_of(descriptor, &status) : offset;
    long result = pass(call);
    if (result > 0) {
        int used = cut(written, parts, count, (size_t)result);
        record(WRITTEN, file, (uint64_t)start, written, used, NULL);
    }
    release();
    return result;
}

static long write_bytes(const struct call *call, long offset) {
    struct iovec part = {(void *)call->a[1], (size_t)call->a[2]};
    return write_parts(call, &part, 1, offset);
}

static long send_message(const struct call *call) {
    const struct msghdr *message = (const struct msghdr *)call->a[1];
    return write_parts(call, message->msg_iov, (int)message->msg_iovlen, -1);
}

static long sync_file(const struct call *call) {
    struct stat status;
    uint64_t file = followed(call->a[0], &status);
    if (!file)
        return pass(call);
    long failure = fault("sync");
    if (failure)
        return failure;
    uint64_t name = atomic_fetch_add(&syncs, 1) + 1;
    acquire();
    record_plain(SYNC_BEGAN, file, name);
    release();
    long result = pass(call);
    if (result == 0) {
        acquire();
        record_plain(SYNC_ENDED, file, name);
        release();
    }
    return result;
}

static long write_out_range(const struct call *call) {
    struct stat status;
    uint64_t file = followed(call->a[0], &status);
    long result = pass(call);
    if (file) {
        acquire();
        record_plain(RANGE, file, 0);
        release();
    }
    return result;
}

/* ftruncate, and fallocate with mode 0. */
static long set_size(const struct call *call, long size, int only_grows) {
    struct stat status;
    uint64_t file = followed(call->a[0], &status);
    if (!file)
        return pass(call);
    acquire();
    CALL(SYS_fstat, call->a[0], &status);
    long result = pass(call);
    if (result == 0 && !(only_grows && status.st_size >= size))
        record_plain(SIZED, file, (uint64_t)size);
    release();
    return result;
}

static long allocate(const struct call *call) {
    struct stat status;
    const long *a = call->a;
    if (a[1] == FALLOC_FL_KEEP_SIZE)
        return pass(call);
    if (a[1] != 0 && followed(a[0], &status))
        return unfollowed(call, "fallocate");
    return set_size(call, a[2] + a[3], 1);
}

/* A call on one path, recorded if it succeeded. */
static long on_path(const struct call *call, enum kind kind, long at, const char *path) {
    char full[PATH_MAX];
    struct stat status = {0};
    if (!below(at, path, full))
        return pass(call);
    acquire();
    long result = pass(call);
    if (result == 0) {
        if (kind == DIRECTORY && CALL(SYS_newfstatat, AT_FDCWD, full, &status, 0) == 0)
            inodes[slot(status.st_ino)] = status.st_ino;
        record_path(kind, status.st_ino, 0, full, NULL);
    }
    release();
    return result;
}

static long on_paths(const struct call *call, enum kind kind, long at, const char *path, long to,
                     const char *second) {
    char full[PATH_MAX], other[PATH_MAX];
    int from_below = below(at, path, full), to_below = below(to, second, other);
    if (!from_below && !to_below)
        return pass(call);
    if (!from_below || !to_below)
        return unfollowed(call, "a rename or link across the directory's border");
    acquire();
    long result = pass(call);
    if (result == 0)
        record_path(kind, 0, 0, full, other);
    release();
    return result;
}

static long map(const struct call *call) {
    struct stat status;
    const long *a = call->a;
    int shared = (a[3] & MAP_TYPE) == MAP_SHARED || (a[3] & MAP_TYPE) == MAP_SHARED_VALIDATE;
    if (shared && (a[2] & PROT_WRITE) && !(a[3] & MAP_ANONYMOUS) && followed(a[4], &status))
        return unfollowed(call, "a shared writable mapping");
    return pass(call);
}

/* Calls that can write to the descriptor `to` in ways that are not followed. */
static long copy(const struct call *call, long to, const char *name) {
    struct stat status;
    return followed(to, &status) ? unfollowed(call, name) : pass(call);
}

static long handle(const struct call *call) {
    const long *a = call->a;
#define TEXT(n) ((const char *)a[n])
    switch (call->number) {
#ifdef SYS_open
    case SYS_open: return open_at(call, AT_FDCWD, TEXT(0), a[1]);
    case SYS_creat: return open_at(call, AT_FDCWD, TEXT(0), O_CREAT | O_TRUNC | O_WRONLY);
    case SYS_rename: return on_paths(call, RENAMED, AT_FDCWD, TEXT(0), AT_FDCWD, TEXT(1));
    case SYS_link: return on_paths(call, LINKED, AT_FDCWD, TEXT(0), AT_FDCWD, TEXT(1));
    case SYS_unlink: return on_path(call, UNLINKED, AT_FDCWD, TEXT(0));
    case SYS_mkdir: return on_path(call, DIRECTORY, AT_FDCWD, TEXT(0));
    case SYS_rmdir: return on_path(call, REMOVED, AT_FDCWD, TEXT(0));
    case SYS_symlink: return unfollowed(call, "symlink");
#endif
#ifdef SYS_renameat
    case SYS_renameat: return on_paths(call, RENAMED, a[0], TEXT(1), a[2], TEXT(3));
#endif
    case SYS_openat: return open_at(call, a[0], TEXT(1), a[2]);
    case SYS_renameat2:
        if (a[4] & ~1L) /* all but RENAME_NOREPLACE */
            return unfollowed(call, "renameat2");
        return on_paths(call, RENAMED, a[0], TEXT(1), a[2], TEXT(3));
    case SYS_linkat: return on_paths(call, LINKED, a[0], TEXT(1), a[2], TEXT(3));
    case SYS_unlinkat: return on_path(call, a[2] & AT_REMOVEDIR ? REMOVED : UNLINKED, a[0], TEXT(1));
    case SYS_mkdirat: return on_path(call, DIRECTORY, a[0], TEXT(1));
    case SYS_write: return write_bytes(call, -1);
    case SYS_sendto: return write_bytes(call, -1);
    case SYS_pwrite64: return write_bytes(call, a[3]);
    case SYS_writev: return write_parts(call, (const struct iovec *)a[1], (int)a[2], -1);
    case SYS_pwritev: return write_parts(call, (const struct iovec *)a[1], (int)a[2], a[3]);
    case SYS_sendmsg: return send_message(call);
    case SYS_fsync:
    case SYS_fdatasync: return sync_file(call);
    case SYS_sync_file_range: return write_out_range(call);
    case SYS_ftruncate: return set_size(call, a[1], 0);
    case SYS_fallocate: return allocate(call);
    case SYS_mmap: return map(call);
    case SYS_copy_file_range: return copy(call, a[2], "copy_file_range");
    case SYS_sendfile: return copy(call, a[0], "sendfile");
    case SYS_splice: return copy(call, a[2], "splice");
    case SYS_pwritev2: return copy(call, a[0], "pwritev2");
    case SYS_openat2: return unfollowed(call, "openat2");
    case SYS_truncate: return unfollowed(call, "truncate");
    case SYS_symlinkat: return unfollowed(call, "symlink");
    case SYS_io_uring_setup: return unfollowed(call, "io_uring");
    default: return -ENOSYS;
    }
}

static const int TRAPPED[] = {
#ifdef SYS_open
    SYS_open, SYS_creat, SYS_rename, SYS_link, SYS_unlink, SYS_mkdir, SYS_rmdir, SYS_symlink,
#endif
#ifdef SYS_renameat
    SYS_renameat,
#endif
    SYS_openat, SYS_renameat2, SYS_linkat, SYS_unlinkat, SYS_mkdirat, SYS_write, SYS_sendto, SYS_pwrite64,
    SYS_writev, SYS_pwritev, SYS_sendmsg, SYS_fsync, SYS_fdatasync, SYS_sync_file_range, SYS_ftruncate,
    SYS_fallocate, SYS_mmap, SYS_copy_file_range, SYS_sendfile, SYS_splice, SYS_pwritev2, SYS_openat2,
    SYS_truncate, SYS_symlinkat, SYS_io_uring_setup,
};
#define TRAPS (sizeof TRAPPED / sizeof *TRAPPED)

static void trapped(int signal, siginfo_t *info, void *argument) {
    (void)signal;
    ucontext_t *context = argument;
    struct call call = {.number = info->si_syscall};
    for (int i = 0; i < 6; i++)
        call.a[i] = ARGUMENT(context, i);
    RESULT(context) = handle(&call);
}

/* ---- the start ---- */

_Noreturn static void fail(const char *what) {
    CALL(SYS_write, 2, what, strlen(what));
    CALL(SYS_exit_group, 101);
    __builtin_unreachable();
}

static int install(void) {
    uint64_t passes = (uint64_t)(uintptr_t)power_return;
    struct sock_filter filter[TRAPS + 16];
    unsigned n = 0;
#define LOAD(field) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define UNLESS(value, skip) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)(value), 0, skip)
    filter[n++] = (struct sock_filter)LOAD(arch);
    filter[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ARCHITECTURE, 1, 0);
    filter[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
    filter[n++] = (struct sock_filter)LOAD(instruction_pointer);
    filter[n++] = (struct sock_filter)UNLESS(passes, 3);
    filter[n++] = (struct sock_filter)BPF_STMT(
        BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, instruction_pointer) + 4);
    filter[n++] = (struct sock_filter)UNLESS(passes >> 32, 1);
    filter[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    filter[n++] = (struct sock_filter)LOAD(nr);
    for (size_t i = 0; i < TRAPS; i++)
        filter[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)TRAPPED[i],
                                                   (uint8_t)(TRAPS - i), 0);
    filter[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    filter[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP);
    struct sock_fprog program = {.len = (unsigned short)n, .filter = filter};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
        return -1;
    return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

__attribute__((constructor)) static void start(void) {
    const char *where = getenv("POWER_DIRECTORY"), *log = getenv("POWER_LOG");
    struct stat status;
    if (!where || !log)
        return;
    strncpy(directory, where, sizeof directory - 1);
    directory_length = strlen(directory);
    if (stat(where, &status) != 0)
        fail("power: POWER_DIRECTORY is not there\n");
    const char *faults = getenv("POWER_FAULT");
    if (faults)
        strncpy(fault_path, faults, sizeof fault_path - 1);
    device = status.st_dev;
    inodes[slot(status.st_ino)] = status.st_ino;
    log_descriptor = open(log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (log_descriptor < 0)
        fail("power: POWER_LOG cannot be opened\n");
    record_path(STARTED, status.st_ino, 0, directory, NULL);
    struct sigaction action = {.sa_flags = SA_SIGINFO | SA_NODEFER | SA_RESTART};
    action.sa_sigaction = trapped;
    if (sigaction(SIGSYS, &action, NULL) != 0 || install() != 0)
        fail("power: this kernel has no seccomp filters\n");
}
