/**
 * Attempts of a Python with `ctypes` that has left its sandbox, by theme. Each theme is a part of one program and uses
 * the names that earlier parts define.
 */

/** Connects to the system, and defines `attempt`. `targets` is a Python literal with their JSON. */
const prelude = (targets: string): string => `
import ctypes, errno, json, mmap, os, resource, signal, socket, struct, sys, threading
at = json.loads(${targets})
libc = ctypes.CDLL(None, use_errno=True)
said = {}
x86 = os.uname().machine == 'x86_64'
me = os.getpid()
inherited = [number for number in range(3, 256) if libc.fcntl(number, 1) != -1]

def attempt(name, act):
    try:
        act()
        said[name] = 'done'
    except OSError as error:
        said[name] = errno.errorcode.get(error.errno, str(error.errno))
    except BaseException as error:
        said[name] = type(error).__name__

def check(value):
    if value == -1:
        raise OSError(ctypes.get_errno(), 'refused')
    return value

def call(x86_number, arm_number, *arguments):
    number = x86_number if x86 else arm_number
    return check(libc.syscall(ctypes.c_long(number), *[ctypes.c_long(a) if isinstance(a, int) else a for a in arguments]))

def proc(name, mode='rb'):
    return lambda: open(f"/proc/{at['host']}/{name}", mode).read(1)
`;

/** Reads what other processes and the process itself show under `/proc`. */
const processes = `
H = at['host']
for name in ('environ', 'mem', 'maps', 'cmdline', 'status', 'stat', 'root/etc/passwd', 'cwd/.', 'auxv', 'stack', 'syscall'):
    attempt('read ' + name, proc(name))
attempt('list descriptors', lambda: os.listdir(f'/proc/{H}/fd'))
attempt('list threads', lambda: os.listdir(f'/proc/{H}/task'))
attempt('list processes', lambda: os.listdir('/proc'))
attempt('follow program', lambda: os.readlink(f'/proc/{H}/exe'))
attempt('enter folder of process', lambda: os.chdir(f'/proc/{H}/cwd'))
attempt('own environ', lambda: open('/proc/self/environ').read())
attempt('own memory', lambda: open('/proc/self/mem', 'r+b'))
attempt('oom score of host', lambda: open(f'/proc/{H}/oom_score_adj', 'w').write('1000'))
attempt('own oom score', lambda: open('/proc/self/oom_score_adj', 'w').write('0'))
`;

/** Reads and writes the memory of the host, also as its debugger. */
const memory = `
buffer = ctypes.create_string_buffer(64)
class Span(ctypes.Structure):
    _fields_ = [('at', ctypes.c_void_p), ('size', ctypes.c_size_t)]
span = Span(ctypes.addressof(buffer), 8)
attempt('process_vm_readv', lambda: call(310, 270, H, ctypes.byref(span), 1, ctypes.byref(span), 1, 0))
attempt('process_vm_writev', lambda: call(311, 271, H, ctypes.byref(span), 1, ctypes.byref(span), 1, 0))
attempt('ptrace attach', lambda: call(101, 117, 16, H, 0, 0))
attempt('ptrace seize', lambda: call(101, 117, 0x4206, H, 0, 0))
`;

/** Signals other processes: directly, by descriptors, terminals and leases. */
const signals = `
attempt('kill host', lambda: os.kill(H, signal.SIGUSR1))
attempt('probe host', lambda: os.kill(H, 0))
attempt('kill all', lambda: os.kill(-1, 0))
attempt('kill group', lambda: os.killpg(0, 0))
attempt('kill itself', lambda: os.kill(me, signal.SIGKILL))
attempt('tkill', lambda: call(200, 130, H, 10))
attempt('tgkill', lambda: call(234, 131, H, H, 10))
attempt('tgkill itself by SIGKILL', lambda: call(234, 131, me, me, 9))
attempt('tgkill itself by SIGSTOP', lambda: call(234, 131, me, me, 19))
information = ctypes.create_string_buffer(struct.pack('iii', 10, 0, -1).ljust(128, b'\\0'), 128)
attempt('sigqueue', lambda: call(129, 138, H, 10, information))
attempt('tgsigqueue', lambda: call(297, 240, H, H, 10, information))
attempt('pidfd_open', lambda: call(434, 434, H, 0))
attempt('pidfd_send_signal', lambda: call(424, 424, 1, 10, 0, 0))
attempt('pidfd_getfd', lambda: call(438, 438, 1, 0, 0))
attempt('signal by a descriptor', lambda: call(72, 25, 1, 8, H))
attempt('signal by a descriptor, extended', lambda: call(72, 25, 1, 15, ctypes.byref(span)))
attempt('choose that signal', lambda: call(72, 25, 1, 10, 10))
attempt('signal by ioctl', lambda: call(16, 29, 1, 0x8901, ctypes.byref(ctypes.c_int(H))))
attempt('type into a terminal', lambda: call(16, 29, 0, 0x5412, buffer))
attempt('lease', lambda: call(72, 25, 0, 1024, 0))
attempt('larger pipe', lambda: call(72, 25, os.pipe()[1], 1031, 1 << 20))
attempt('lock a file', lambda: call(73, 32, 0, 2))
`;

/** Starts processes and other programs. */
const programs = `
attempt('fork', lambda: os._exit(0) if os.fork() == 0 else None)
if x86: attempt('vfork', lambda: call(58, 0))
attempt('clone', lambda: os._exit(0) if call(56, 220, 17, 0, 0, 0, 0) == 0 else None)
attempt('clone beside its parent', lambda: os._exit(0) if call(56, 220, 0x8000 | 17, 0, 0, 0, 0) == 0 else None)
attempt('clone3', lambda: call(435, 435, buffer, 88))
attempt('execve', lambda: os.execv('/bin/true', ['true']))
attempt('execve itself', lambda: os.execv(sys.executable, ['python', '-c', '']))
attempt('execveat', lambda: call(322, 281, -100, ctypes.c_char_p(b'/bin/true'), 0, 0, 0))
def spawn():
    import subprocess
    subprocess.run(['/bin/true'])
attempt('subprocess', spawn)
attempt('posix_spawn', lambda: os.posix_spawn('/bin/true', ['true'], {}))
`;

/** Creates and uses sockets of every family. */
const sockets = `
for name, family in (('inet', 2), ('inet6', 10), ('unix', 1), ('netlink', 16), ('packet', 17), ('vsock', 40), ('alg', 38)):
    attempt('socket ' + name, lambda family=family: call(41, 198, family, 1, 0))
attempt('pair of inet sockets', lambda: call(53, 199, 2, 1, 0, buffer))
pair = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
attempt('send to an abstract socket', lambda: pair[0].sendto(b'x', b'\\0' + at['abstract'].encode()))
attempt('send to a socket by path', lambda: pair[0].sendto(b'x', at['socket']))
attempt('send a message', lambda: pair[0].sendmsg([b'x'], [], 0, at['socket']))
attempt('bind', lambda: pair[0].bind(b'\\0svc-attack'))
attempt('connect', lambda: pair[0].connect(b'\\0' + at['abstract'].encode()))
attempt('listen', lambda: pair[0].listen())
attempt('accept', lambda: call(43, 202, pair[0].fileno(), 0, 0))
length = ctypes.c_int(4)
attempt('pidfd of the peer', lambda: call(55, 209, pair[0].fileno(), 1, 77, buffer, ctypes.byref(length)))
attempt('options of a socket', lambda: pair[0].setsockopt(1, 7, 1 << 20))
`;

/** Reads, writes, renames and removes files, and changes their attributes. */
const files = `
own = at['folder'] + '/own'
attempt('read secret', lambda: open(at['secret']).read())
attempt('list folder', lambda: os.listdir(at['folder']))
attempt('create', lambda: open(own, 'w'))
attempt('overwrite', lambda: os.open(at['secret'], os.O_WRONLY))
attempt('cut short by opening', lambda: os.open(at['secret'], os.O_RDONLY | os.O_TRUNC))
attempt('truncate', lambda: os.truncate(at['secret'], 0))
attempt('unnamed file', lambda: os.open(at['folder'], os.O_TMPFILE | os.O_RDWR))
attempt('rename', lambda: os.rename(at['secret'], own))
attempt('unlink', lambda: os.unlink(at['secret']))
attempt('mkdir', lambda: os.mkdir(own))
attempt('rmdir', lambda: os.rmdir(at['folder']))
attempt('link', lambda: os.link(at['secret'], own))
attempt('symlink', lambda: os.symlink(at['secret'], own))
attempt('mkfifo', lambda: os.mkfifo(own))
attempt('chmod', lambda: os.chmod(at['secret'], 0))
attempt('fchmodat2', lambda: call(452, 452, -100, ctypes.c_char_p(at['secret'].encode()), 0, 0))
attempt('chown', lambda: os.chown(at['secret'], os.getuid(), -1))
attempt('times', lambda: os.utime(at['secret'], (0, 0)))
attempt('attributes', lambda: os.setxattr(at['secret'], 'user.x', b'x'))
attempt('openat2', lambda: call(437, 437, -100, ctypes.c_char_p(at['secret'].encode()), buffer, 24))
attempt('shared memory in /dev/shm', lambda: open('/dev/shm/svc-attack', 'w'))
attempt('write to a device', lambda: open('/dev/zero', 'w'))
attempt('settings of the system', lambda: open('/etc/hosts').read())
`;

/** Creates memory and queues that other processes can share, and watches files. */
const sharedMemory = `
attempt('memfd', lambda: os.memfd_create('x'))
attempt('memfd_secret', lambda: call(447, 447, 0))
attempt('shmget', lambda: call(29, 194, 1234, 4096, 0o1600))
attempt('semget', lambda: call(64, 190, 1234, 1, 0o1600))
attempt('msgget', lambda: call(68, 186, 1234, 0o1600))
attempt('mq_open', lambda: call(240, 180, ctypes.c_char_p(b'svc'), 0o102, 0o600, 0))
attempt('inotify', lambda: call(294, 26, 0))
attempt('fanotify', lambda: call(300, 262, 0, 0))
attempt('mlockall', lambda: call(151, 230, 3))
attempt('sync', lambda: call(162, 81))
`;

/** Changes limits, priorities and schedulers, and the process's own group. */
const limits = `
attempt('limits of the host', lambda: resource.prlimit(H, resource.RLIMIT_NOFILE, (1, 1)))
attempt('read limits of the host', lambda: resource.prlimit(H, resource.RLIMIT_NOFILE))
attempt('own limits', lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (16, 16)))
attempt('priority', lambda: os.setpriority(os.PRIO_PROCESS, H, 19))
attempt('affinity', lambda: os.sched_setaffinity(H, {0}))
attempt('scheduler', lambda: os.sched_setscheduler(H, os.SCHED_IDLE, os.sched_param(0)))
attempt('ioprio', lambda: call(251, 30, 1, H, 3 << 13))
attempt('migrate_pages', lambda: call(256, 238, H, 8, buffer, buffer))
attempt('move_pages', lambda: call(279, 239, H, 0, 0, 0, 0, 0))
attempt('process_madvise', lambda: call(440, 440, 1, ctypes.byref(span), 1, 21, 0))
attempt('kcmp', lambda: call(312, 272, me, H, 0, 0, 0))
attempt('setsid', lambda: os.setsid())
attempt('setpgid', lambda: os.setpgid(0, 0))
`;

/** Enters namespaces, mounts, and calls the kernel's interfaces for administrators. */
const kernelInterfaces = `
attempt('unshare', lambda: call(272, 97, 0x10000000))
attempt('setns', lambda: call(308, 268, 0, 0))
attempt('mount', lambda: call(165, 40, ctypes.c_char_p(b'none'), ctypes.c_char_p(b'/tmp'), ctypes.c_char_p(b'tmpfs'), 0, 0))
attempt('umount', lambda: call(166, 39, ctypes.c_char_p(b'/proc'), 2))
attempt('fsopen', lambda: call(430, 430, ctypes.c_char_p(b'tmpfs'), 0))
attempt('open_tree', lambda: call(428, 428, -100, ctypes.c_char_p(b'/'), 1))
attempt('chroot', lambda: os.chroot('/'))
attempt('pivot_root', lambda: call(155, 41, ctypes.c_char_p(b'/'), ctypes.c_char_p(b'/')))
attempt('bpf', lambda: call(321, 280, 0, buffer, 64))
attempt('perf', lambda: call(298, 241, buffer, 0, -1, -1, 0))
attempt('io_uring', lambda: call(425, 425, 1, buffer))
attempt('userfaultfd', lambda: call(323, 282, 0))
attempt('keyring', lambda: call(250, 219, 0, -3, 1))
attempt('add_key', lambda: call(248, 217, ctypes.c_char_p(b'user'), ctypes.c_char_p(b'x'), buffer, 1, -3))
attempt('name_to_handle_at', lambda: call(303, 264, -100, ctypes.c_char_p(b'/'), buffer, buffer, 0))
attempt('open_by_handle_at', lambda: call(304, 265, 0, buffer, 0))
attempt('seccomp', lambda: call(317, 277, 0, 0, 0))
attempt('landlock', lambda: call(444, 444, 0, 0, 1))
attempt('personality', lambda: call(135, 92, 0x0040000))
attempt('syslog', lambda: call(103, 116, 10, 0, 0))
attempt('capset', lambda: call(126, 91, buffer, buffer))
attempt('setuid', lambda: os.setuid(os.getuid()))
attempt('acct', lambda: call(163, 89, 0))
attempt('reboot', lambda: call(169, 142, 0, 0, 0, 0))
attempt('set clock', lambda: call(227, 112, 0, buffer))`;

/** Changes how the kernel treats the process, and makes system calls of other kinds. */
const systemCalls = `
for name, option in (('outlive the host', 1), ('be dumpable', 4), ('tracer', 0x59616D61), ('keep capabilities', 8), ('reap children', 36)):
    attempt(name, lambda option=option: call(157, 167, option, 0, 0, 0, 0))
attempt('a call of the future', lambda: call(600, 600))
if x86:
    attempt('x32', lambda: call(0x40000000 | 39, 0))
    def old():
        code = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
        code.write(bytes.fromhex('b814000000cd80c3'))  # mov eax, 20 (getpid); int 0x80; ret
        address = ctypes.addressof(ctypes.c_char.from_buffer(code))
        value = ctypes.CFUNCTYPE(ctypes.c_int)(address)()
        if value < 0: raise OSError(-value, 'refused')
    attempt('32-bit call', old)
`;

/** Uses what a program needs, which must all work, and reports every result. */
const working = `
works = {}
def worked(name, act):
    try:
        works[name] = act()
    except BaseException as error:
        works[name] = repr(error)
heard = []
thread = threading.Thread(target=lambda: heard.append(1))
worked('thread', lambda: (thread.start(), thread.join(), heard)[-1] == [1])
def by_signal():
    signal.signal(signal.SIGUSR1, lambda *_: heard.append(2))
    signal.raise_signal(signal.SIGUSR1)
    return heard[-1] == 2
worked('own signal', by_signal)
def through():
    a, b = socket.socketpair()
    a.send(b'x')
    return b.recv(1) == b'x'
worked('pair of sockets', through)
def event_loop():
    import asyncio
    async def two(): return await asyncio.to_thread(lambda: 2)
    return asyncio.run(two()) == 2
worked('event loop', event_loop)
worked('nothing', lambda: open('/dev/null', 'w').write('x') == 1)
worked('library', lambda: __import__('decimal').Decimal('1.5') * 2 == 3)
worked('zone', lambda: str(__import__('zoneinfo').ZoneInfo('Europe/Berlin')) == 'Europe/Berlin')
worked('random', lambda: len(os.urandom(8)) == 8)
os.write(1, json.dumps({'said': said, 'works': works, 'descriptors': inherited}).encode())
`;

/** Returns the code of all attempts; `targets` is a Python literal with their JSON. */
export const pythonAttempts = (targets: string): string =>
  [
    prelude(targets),
    processes,
    memory,
    signals,
    programs,
    sockets,
    files,
    sharedMemory,
    limits,
    kernelInterfaces,
    systemCalls,
    working,
  ].join('');
