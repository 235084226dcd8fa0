// An in-memory file system whose operations hang or fail on demand, for tests of hung and full disks.
//
// usage: slowfs DIR CONTROL
//
// Mounts itself at DIR, prints "mounted", and serves until standard input closes or a signal arrives. Then it unmounts
// DIR lazily, which also ends every hung operation. Prints "held PID" once an operation of this process has no answer.
// CONTROL is read at each operation. Each of its lines is `OPERATION EFFECT [NAME]`, and the first one that fits
// counts:
//
//   OPERATION  lookup getattr setattr open read write create mkdir unlink rmdir rename opendir readdir flush release
//              fsync flock statfs access, or any
//   EFFECT     hang   no answer while the line is there; not even SIGKILL ends the caller
//              wait   no answer while the line is there; a signal to the caller interrupts it (EINTR)
//              ENOSPC, EIO, ... (or a number): fails
//   NAME       applies only to the file or directory of this name
//
// Speaks the kernel's protocol (linux/fuse.h) itself, so it needs root but no library. Files may be executed.
#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

enum { MOST_NODES = 4096, MOST_HELD = 1024, BUFFER = 1 << 18, MOST_WRITE = 1 << 17, MOST_LOCKS = 4096 };

// --- Files ---

struct node {
    int is_used;
    uint64_t parent;
    char name[256];
    uint32_t mode, uid, gid;
    struct timespec changed;
    char *bytes;
    uint64_t size;
    // References by the kernel. A removed file exists as long as it is open.
    uint64_t lookups;
    int is_removed;
};

static struct node nodes[MOST_NODES];

static struct node *node_of(uint64_t id) {
    return id < MOST_NODES && nodes[id].is_used ? &nodes[id] : NULL;
}

static uint64_t find(uint64_t parent, const char *name) {
    for (uint64_t id = FUSE_ROOT_ID + 1; id < MOST_NODES; id++) {
        struct node *node = &nodes[id];
        if (node->is_used && !node->is_removed && node->parent == parent && !strcmp(node->name, name)) return id;
    }
    return 0;
}

static void touch(struct node *node) {
    clock_gettime(CLOCK_REALTIME, &node->changed);
}

static uint64_t add(uint64_t parent, const char *name, uint32_t mode, uint32_t uid, uint32_t gid) {
    for (uint64_t id = FUSE_ROOT_ID + 1; id < MOST_NODES; id++) {
        if (nodes[id].is_used) continue;
        nodes[id] = (struct node){.is_used = 1, .parent = parent, .mode = mode, .uid = uid, .gid = gid};
        snprintf(nodes[id].name, sizeof nodes[id].name, "%s", name);
        touch(&nodes[id]);
        return id;
    }
    return 0;
}

static void free_if_unused(uint64_t id) {
    struct node *node = node_of(id);
    if (node && node->is_removed && node->lookups == 0) {
        free(node->bytes);
        *node = (struct node){0};
    }
}

static void forget(uint64_t id, uint64_t lookups) {
    struct node *node = node_of(id);
    if (!node || id == FUSE_ROOT_ID) return;
    node->lookups -= lookups < node->lookups ? lookups : node->lookups;
    free_if_unused(id);
}

static int resize(struct node *node, uint64_t size) {
    char *bytes = realloc(node->bytes, size ? size : 1);
    if (!bytes) return ENOSPC;
    if (size > node->size) memset(bytes + node->size, 0, size - node->size);
    node->bytes = bytes;
    node->size = size;
    touch(node);
    return 0;
}

static struct fuse_attr attributes(uint64_t id) {
    struct node *node = &nodes[id];
    return (struct fuse_attr){
        .ino = id, .size = node->size, .blocks = (node->size + 511) / 512, .blksize = 4096,
        .atime = node->changed.tv_sec, .mtime = node->changed.tv_sec, .ctime = node->changed.tv_sec,
        .atimensec = node->changed.tv_nsec, .mtimensec = node->changed.tv_nsec, .ctimensec = node->changed.tv_nsec,
        .mode = node->mode, .nlink = node->is_removed ? 0 : S_ISDIR(node->mode) ? 2 : 1, .uid = node->uid,
        .gid = node->gid,
    };
}

// --- Answers ---

static int device;

static void answer(uint64_t unique, int error, const void *data, size_t size) {
    static char buffer[BUFFER];
    struct fuse_out_header *header = (void *)buffer;
    *header = (struct fuse_out_header){.unique = unique, .error = -error};
    header->len = sizeof *header;
    if (!error && size) {
        memcpy(buffer + sizeof *header, data, size);
        header->len += size;
    }
    // ENOENT: the operation was interrupted and has ended.
    if (write(device, buffer, header->len) < 0 && errno != ENOENT) perror("slowfs: answer");
}

static void answer_entry(uint64_t unique, uint64_t id, const struct fuse_open_out *opened) {
    struct { struct fuse_entry_out entry; struct fuse_open_out opened; } out = {0};
    // Nothing is cached, so each operation arrives here.
    out.entry = (struct fuse_entry_out){.nodeid = id, .attr = attributes(id)};
    nodes[id].lookups++;
    if (opened) out.opened = *opened;
    answer(unique, 0, &out, opened ? sizeof out : sizeof out.entry);
}

static void answer_attributes(uint64_t unique, uint64_t id) {
    struct fuse_attr_out out = {.attr = attributes(id)};
    answer(unique, 0, &out, sizeof out);
}

// --- Locks (flock) ---

struct lock { uint64_t id, owner; uint32_t type; };
static struct lock locks[MOST_LOCKS];

static void unlock(uint64_t id, uint64_t owner) {
    for (int i = 0; i < MOST_LOCKS; i++)
        if (locks[i].id == id && locks[i].owner == owner) locks[i] = (struct lock){0};
}

static int conflicts(uint64_t id, uint64_t owner, uint32_t type) {
    for (int i = 0; i < MOST_LOCKS; i++) {
        struct lock *lock = &locks[i];
        if (lock->id == id && lock->owner != owner && (type == F_WRLCK || lock->type == F_WRLCK)) return 1;
    }
    return 0;
}

/// Returns 0, or EAGAIN if another owner holds the lock.
static int lock(uint64_t id, uint64_t owner, uint32_t type) {
    if (type == F_UNLCK) {
        unlock(id, owner);
        return 0;
    }
    if (conflicts(id, owner, type)) return EAGAIN;
    unlock(id, owner);
    for (int i = 0; i < MOST_LOCKS; i++) {
        if (locks[i].id) continue;
        locks[i] = (struct lock){.id = id, .owner = owner, .type = type};
        return 0;
    }
    return ENOLCK;
}

// --- Effects ---

static const char *control_path;

static const char *const NAMES[] = {
    [FUSE_LOOKUP] = "lookup", [FUSE_GETATTR] = "getattr", [FUSE_SETATTR] = "setattr", [FUSE_OPEN] = "open",
    [FUSE_READ] = "read", [FUSE_WRITE] = "write", [FUSE_CREATE] = "create", [FUSE_MKDIR] = "mkdir",
    [FUSE_UNLINK] = "unlink", [FUSE_RMDIR] = "rmdir", [FUSE_RENAME] = "rename", [FUSE_RENAME2] = "rename",
    [FUSE_OPENDIR] = "opendir", [FUSE_READDIR] = "readdir", [FUSE_FLUSH] = "flush", [FUSE_RELEASE] = "release",
    [FUSE_FSYNC] = "fsync", [FUSE_SETLK] = "flock", [FUSE_SETLKW] = "flock", [FUSE_STATFS] = "statfs",
    [FUSE_ACCESS] = "access",
};
enum { OPERATIONS = sizeof NAMES / sizeof *NAMES };

enum { HANG = -1, WAIT = -2 };

static int error_named(const char *name) {
    static const struct { const char *name; int number; } ERRORS[] = {
        {"EPERM", EPERM}, {"ENOENT", ENOENT}, {"EINTR", EINTR}, {"EIO", EIO}, {"EAGAIN", EAGAIN}, {"ENOMEM", ENOMEM},
        {"EACCES", EACCES}, {"EBUSY", EBUSY}, {"EEXIST", EEXIST}, {"EINVAL", EINVAL}, {"EMFILE", EMFILE},
        {"ETXTBSY", ETXTBSY}, {"EFBIG", EFBIG}, {"ENOSPC", ENOSPC}, {"EROFS", EROFS}, {"EDQUOT", EDQUOT},
        {"ENOLCK", ENOLCK}, {"ENOSYS", ENOSYS}, {"ESTALE", ESTALE}, {"ENOTCONN", ENOTCONN},
        {"ETIMEDOUT", ETIMEDOUT}, {"EOPNOTSUPP", EOPNOTSUPP}, {"ENODEV", ENODEV}, {"ENOEXEC", ENOEXEC},
    };
    for (size_t i = 0; i < sizeof ERRORS / sizeof *ERRORS; i++)
        if (!strcmp(ERRORS[i].name, name)) return ERRORS[i].number;
    int number = atoi(name);
    // The kernel accepts no other number.
    return number > 0 && number < 1000 ? number : EIO;
}

/// Returns the name of the file that an operation is about.
static const char *subject(const struct fuse_in_header *in) {
    const char *body = (const char *)(in + 1);
    switch (in->opcode) {
    case FUSE_LOOKUP: case FUSE_UNLINK: case FUSE_RMDIR: return body;
    case FUSE_MKDIR: return body + sizeof(struct fuse_mkdir_in);
    case FUSE_CREATE: return body + sizeof(struct fuse_create_in);
    case FUSE_RENAME: return body + sizeof(struct fuse_rename_in);
    case FUSE_RENAME2: return body + sizeof(struct fuse_rename2_in);
    default: {
        struct node *node = node_of(in->nodeid);
        return node ? node->name : "";
    }
    }
}

/// Returns an error number, HANG, WAIT, or 0 for an operation that works.
static int effect(const struct fuse_in_header *in) {
    const char *operation = in->opcode < OPERATIONS ? NAMES[in->opcode] : NULL;
    FILE *file = operation ? fopen(control_path, "re") : NULL;
    if (!file) return 0;
    int found = 0;
    char line[1024];
    while (!found && fgets(line, sizeof line, file)) {
        char of[32], what[32], name[256] = "";
        if (sscanf(line, "%31s %31s %255s", of, what, name) < 2) continue;
        if (strcmp(of, operation) && strcmp(of, "any")) continue;
        if (*name && strcmp(name, subject(in))) continue;
        found = !strcmp(what, "hang") ? HANG : !strcmp(what, "wait") ? WAIT : error_named(what);
    }
    fclose(file);
    return found;
}

// --- Operations ---

static void make(const struct fuse_in_header *in, const char *name, uint32_t mode, const struct fuse_open_out *opened) {
    uint64_t id = find(in->nodeid, name);
    if (id && !opened) return answer(in->unique, EEXIST, NULL, 0);
    if (!id) id = add(in->nodeid, name, mode, in->uid, in->gid);
    if (!id) return answer(in->unique, ENOSPC, NULL, 0);
    answer_entry(in->unique, id, opened);
}

static void remove_file(const struct fuse_in_header *in, const char *name, int is_directory) {
    uint64_t id = find(in->nodeid, name);
    if (!id) return answer(in->unique, ENOENT, NULL, 0);
    if (is_directory) {
        for (uint64_t other = FUSE_ROOT_ID + 1; other < MOST_NODES; other++) {
            if (nodes[other].is_used && !nodes[other].is_removed && nodes[other].parent == id)
                return answer(in->unique, ENOTEMPTY, NULL, 0);
        }
    }
    nodes[id].is_removed = 1;
    free_if_unused(id);
    answer(in->unique, 0, NULL, 0);
}

static void rename_file(const struct fuse_in_header *in, uint64_t to, uint32_t flags, const char *old) {
    const char *new = old + strlen(old) + 1;
    uint64_t id = find(in->nodeid, old), replaced = find(to, new);
    if (!id) return answer(in->unique, ENOENT, NULL, 0);
    // RENAME_NOREPLACE is 1.
    if (flags & ~1u) return answer(in->unique, EINVAL, NULL, 0);
    if (replaced && (flags & 1)) return answer(in->unique, EEXIST, NULL, 0);
    if (replaced && replaced != id) {
        nodes[replaced].is_removed = 1;
        free_if_unused(replaced);
    }
    nodes[id].parent = to;
    snprintf(nodes[id].name, sizeof nodes[id].name, "%s", new);
    answer(in->unique, 0, NULL, 0);
}

static void list(const struct fuse_in_header *in, const struct fuse_read_in *read) {
    static char buffer[MOST_WRITE];
    size_t used = 0;
    uint64_t index = 0;
    for (uint64_t id = FUSE_ROOT_ID + 1; id < MOST_NODES; id++) {
        struct node *node = &nodes[id];
        if (!node->is_used || node->is_removed || node->parent != in->nodeid) continue;
        if (index++ < read->offset) continue;
        size_t length = strlen(node->name), size = FUSE_DIRENT_ALIGN(FUSE_NAME_OFFSET + length);
        if (used + size > read->size || used + size > sizeof buffer) break;
        struct fuse_dirent *entry = (void *)(buffer + used);
        memset(entry, 0, size);
        *entry = (struct fuse_dirent){.ino = id, .off = index, .namelen = length, .type = node->mode >> 12};
        memcpy(entry->name, node->name, length);
        used += size;
    }
    answer(in->unique, 0, buffer, used);
}

static void set_attributes(const struct fuse_in_header *in, struct node *node, const struct fuse_setattr_in *set) {
    int error = 0;
    if (set->valid & FATTR_MODE) node->mode = (node->mode & S_IFMT) | (set->mode & 07777);
    if (set->valid & FATTR_UID) node->uid = set->uid;
    if (set->valid & FATTR_GID) node->gid = set->gid;
    if (set->valid & FATTR_SIZE) error = resize(node, set->size);
    touch(node);
    if (error) return answer(in->unique, error, NULL, 0);
    answer_attributes(in->unique, in->nodeid);
}

static void write_file(const struct fuse_in_header *in, struct node *node, const struct fuse_write_in *write) {
    // A file opened for appending is written at its end, wherever the kernel believes this to be.
    uint64_t at = write->flags & O_APPEND ? node->size : write->offset;
    int error = at + write->size > node->size ? resize(node, at + write->size) : 0;
    if (error) return answer(in->unique, error, NULL, 0);
    memcpy(node->bytes + at, write + 1, write->size);
    touch(node);
    struct fuse_write_out out = {.size = write->size};
    answer(in->unique, 0, &out, sizeof out);
}

static void read_file(const struct fuse_in_header *in, struct node *node, const struct fuse_read_in *read) {
    uint64_t at = read->offset < node->size ? read->offset : node->size;
    uint64_t left = node->size - at;
    answer(in->unique, 0, node->bytes + at, left < read->size ? left : read->size);
}

static void lock_file(const struct fuse_in_header *in, const struct fuse_lk_in *wanted, int held_error) {
    int error = lock(in->nodeid, wanted->owner, wanted->lk.type);
    // `work` holds a caller that waits for the lock.
    answer(in->unique, error == EAGAIN ? held_error : error, NULL, 0);
}

static void begin(const struct fuse_in_header *in, const struct fuse_init_in *init) {
    struct fuse_init_out out = {
        .major = FUSE_KERNEL_VERSION, .minor = init->minor < 31 ? init->minor : 31,
        .flags = init->flags & (FUSE_FLOCK_LOCKS | FUSE_BIG_WRITES | FUSE_ATOMIC_O_TRUNC),
        .max_readahead = init->max_readahead, .max_write = MOST_WRITE, .max_background = 64,
        .congestion_threshold = 64, .time_gran = 1,
    };
    answer(in->unique, 0, &out, sizeof out);
}

static void serve(const struct fuse_in_header *in) {
    const void *body = in + 1;
    struct node *node = node_of(in->nodeid);
    // Nothing is cached, so reads and writes arrive as they were made.
    const struct fuse_open_out opened = {.open_flags = 0};
    if (!node && in->opcode != FUSE_INIT) return answer(in->unique, ESTALE, NULL, 0);
    switch (in->opcode) {
    case FUSE_INIT: return begin(in, body);
    case FUSE_LOOKUP: {
        uint64_t id = find(in->nodeid, body);
        return id ? answer_entry(in->unique, id, NULL) : answer(in->unique, ENOENT, NULL, 0);
    }
    case FUSE_GETATTR: return answer_attributes(in->unique, in->nodeid);
    case FUSE_SETATTR: return set_attributes(in, node, body);
    case FUSE_OPEN:
        if (((const struct fuse_open_in *)body)->flags & O_TRUNC) resize(node, 0);
        return answer(in->unique, 0, &opened, sizeof opened);
    case FUSE_OPENDIR: return answer(in->unique, 0, &opened, sizeof opened);
    case FUSE_READ: return read_file(in, node, body);
    case FUSE_WRITE: return write_file(in, node, body);
    case FUSE_READDIR: return list(in, body);
    case FUSE_CREATE: {
        const struct fuse_create_in *create = body;
        return make(in, (const char *)(create + 1), create->mode & ~create->umask, &opened);
    }
    case FUSE_MKDIR: {
        const struct fuse_mkdir_in *mkdir = body;
        return make(in, (const char *)(mkdir + 1), S_IFDIR | (mkdir->mode & ~mkdir->umask), NULL);
    }
    case FUSE_UNLINK: return remove_file(in, body, 0);
    case FUSE_RMDIR: return remove_file(in, body, 1);
    case FUSE_RENAME: {
        const struct fuse_rename_in *rename = body;
        return rename_file(in, rename->newdir, 0, (const char *)(rename + 1));
    }
    case FUSE_RENAME2: {
        const struct fuse_rename2_in *rename = body;
        return rename_file(in, rename->newdir, rename->flags, (const char *)(rename + 1));
    }
    case FUSE_SETLK: return lock_file(in, body, EAGAIN);
    case FUSE_SETLKW: return lock_file(in, body, EDEADLK);
    case FUSE_RELEASE: {
        const struct fuse_release_in *release = body;
        if (release->release_flags & FUSE_RELEASE_FLOCK_UNLOCK) unlock(in->nodeid, release->lock_owner);
        return answer(in->unique, 0, NULL, 0);
    }
    case FUSE_FLUSH: case FUSE_FSYNC: case FUSE_FSYNCDIR: case FUSE_RELEASEDIR: case FUSE_ACCESS: case FUSE_DESTROY:
        return answer(in->unique, 0, NULL, 0);
    case FUSE_STATFS: {
        struct fuse_statfs_out out = {.st = {.blocks = 1 << 20, .bfree = 1 << 19, .bavail = 1 << 19, .files = MOST_NODES,
                                             .ffree = MOST_NODES / 2, .bsize = 4096, .frsize = 4096, .namelen = 255}};
        return answer(in->unique, 0, &out, sizeof out);
    }
    default: return answer(in->unique, ENOSYS, NULL, 0);
    }
}

// --- Held operations ---

static struct held { struct fuse_in_header *in; int was_interrupted; } held[MOST_HELD];

static int waits_for_lock(const struct fuse_in_header *in) {
    const struct fuse_lk_in *wanted = (const void *)(in + 1);
    return in->opcode == FUSE_SETLKW && wanted->lk.type != F_UNLCK && conflicts(in->nodeid, wanted->owner, wanted->lk.type);
}

/// Answers an operation. Returns 0 if it has to be held.
static int work(const struct fuse_in_header *in, int was_interrupted) {
    int what = effect(in);
    if (what == HANG) return 0;
    if (what == WAIT || (!what && waits_for_lock(in))) {
        if (was_interrupted) answer(in->unique, EINTR, NULL, 0);
        return was_interrupted;
    }
    if (what) answer(in->unique, what, NULL, 0);
    else serve(in);
    return 1;
}

static void hold(const struct fuse_in_header *in) {
    for (int i = 0; i < MOST_HELD; i++) {
        if (held[i].in) continue;
        held[i] = (struct held){.in = malloc(in->len)};
        memcpy(held[i].in, in, in->len);
        printf("held %u\n", in->pid);
        fflush(stdout);
        return;
    }
    answer(in->unique, EIO, NULL, 0);
}

/// Retries the held operations. Returns how many are still held.
static int look_again(void) {
    int left = 0;
    for (int i = 0; i < MOST_HELD; i++) {
        if (!held[i].in) continue;
        if (work(held[i].in, held[i].was_interrupted)) {
            free(held[i].in);
            held[i].in = NULL;
        } else {
            left++;
        }
    }
    return left;
}

static void receive(const struct fuse_in_header *in) {
    const void *body = in + 1;
    switch (in->opcode) {
    case FUSE_FORGET: return forget(in->nodeid, ((const struct fuse_forget_in *)body)->nlookup);
    case FUSE_BATCH_FORGET: {
        const struct fuse_batch_forget_in *batch = body;
        const struct fuse_forget_one *one = (const void *)(batch + 1);
        for (uint32_t i = 0; i < batch->count; i++) forget(one[i].nodeid, one[i].nlookup);
        return;
    }
    case FUSE_INTERRUPT: {
        uint64_t unique = ((const struct fuse_interrupt_in *)body)->unique;
        for (int i = 0; i < MOST_HELD; i++)
            if (held[i].in && held[i].in->unique == unique) held[i].was_interrupted = 1;
        return;
    }
    default:
        if (!work(in, 0)) hold(in);
    }
}

static const char *place;

static void leave(int signal) {
    umount2(place, MNT_DETACH);
    _exit(signal ? 128 + signal : 0);
}

int main(int argc, char **argv) {
    if (argc != 3) {
        fprintf(stderr, "usage: slowfs DIR CONTROL\n");
        return 2;
    }
    place = argv[1];
    control_path = argv[2];
    nodes[FUSE_ROOT_ID] = (struct node){.is_used = 1, .mode = S_IFDIR | 0755, .uid = getuid(), .gid = getgid()};
    touch(&nodes[FUSE_ROOT_ID]);
    device = open("/dev/fuse", O_RDWR | O_CLOEXEC);
    char options[128];
    snprintf(options, sizeof options, "fd=%d,rootmode=40755,user_id=%d,group_id=%d,allow_other,default_permissions",
             device, getuid(), getgid());
    if (device < 0 || mount("slowfs", place, "fuse.slowfs", MS_NODEV, options)) {
        perror("slowfs: mount");
        return 1;
    }
    int signals[] = {SIGTERM, SIGINT, SIGHUP};
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) signal(signals[i], leave);
    printf("mounted\n");
    fflush(stdout);

    static char buffer[BUFFER] __attribute__((aligned(8)));
    int left = 0;
    for (;;) {
        struct pollfd fds[] = {{.fd = device, .events = POLLIN}, {.fd = 0, .events = POLLIN}};
        poll(fds, 2, left ? 5 : -1);
        char byte;
        if (fds[1].revents && read(0, &byte, 1) <= 0) leave(0);
        if (fds[0].revents) {
            ssize_t size = read(device, buffer, sizeof buffer);
            // ENODEV: it was unmounted.
            if (size < 0 && errno == ENODEV) leave(0);
            if (size > 0) receive((void *)buffer);
        }
        left = look_again();
    }
}
