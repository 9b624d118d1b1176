"""System calls that user code may make, with their numbers on x86_64 and aarch64.

The list names allowed calls, because the kernel gains calls with each release, and a new call must be refused
until it is reviewed. Calls that are listed in `CHECKED` (seccomp.py) are allowed only with certain arguments.
If a processor does not have a call, its number is `-`.
"""

_TABLE = """
# files and directories, to read
read=0/63 pread64=17/67 preadv=295/69 preadv2=327/286 readv=19/65 open=2/- openat=257/56
close=3/57 close_range=436/436 stat=4/- fstat=5/80 lstat=6/- newfstatat=262/79 statx=332/291
statfs=137/43 fstatfs=138/44 access=21/- faccessat=269/48 faccessat2=439/439 readlink=89/-
readlinkat=267/78 getdents=78/- getdents64=217/61 getcwd=79/17 chdir=80/49 fchdir=81/50
lseek=8/62 umask=95/166

# descriptors that the process already has, including pipes
write=1/64 pwrite64=18/68 pwritev=296/70 pwritev2=328/287 writev=20/66 dup=32/23 dup2=33/-
dup3=292/24 pipe=22/- pipe2=293/59 fcntl=72/25 ioctl=16/29 fsync=74/82 fdatasync=75/83
ftruncate=77/46 sendfile=40/71

# pairs of sockets, which are connected only to each other
socketpair=53/199 sendto=44/206 recvfrom=45/207 shutdown=48/210 getsockname=51/204
getpeername=52/205 getsockopt=55/209

# waiting
poll=7/- ppoll=271/73 select=23/- pselect6=270/72 epoll_create=213/- epoll_create1=291/20
epoll_ctl=233/21 epoll_wait=232/- epoll_pwait=281/22 epoll_pwait2=441/441 eventfd=284/-
eventfd2=290/19 timerfd_create=283/85 timerfd_settime=286/86 timerfd_gettime=287/87
signalfd=282/- signalfd4=289/74 pause=34/- nanosleep=35/101 clock_nanosleep=230/115 wait4=61/260
waitid=247/95 sched_yield=24/124

# memory
mmap=9/222 munmap=11/215 mprotect=10/226 mremap=25/216 brk=12/214 madvise=28/233 msync=26/227
mincore=27/232 munlock=150/229 munlockall=152/231 membarrier=324/283 pkey_alloc=330/289
pkey_free=331/290 pkey_mprotect=329/288 map_shadow_stack=453/453 mseal=462/462

# threads, and what ends them
clone=56/220 futex=202/98 futex_waitv=449/449 futex_wake=454/454 futex_wait=455/455
futex_requeue=456/456 set_robust_list=273/99 rseq=334/293 set_tid_address=218/96
arch_prctl=158/- prctl=157/167 exit=60/93 exit_group=231/94 restart_syscall=219/128
execve=59/221

# signals of its own
rt_sigaction=13/134 rt_sigprocmask=14/135 rt_sigreturn=15/139 rt_sigpending=127/136
rt_sigtimedwait=128/137 rt_sigsuspend=130/133 sigaltstack=131/132 tgkill=234/131 alarm=37/-
getitimer=36/102 setitimer=38/103

# information about the process and the machine
getpid=39/172 gettid=186/178 getppid=110/173 getpgrp=111/- getpgid=121/155 getsid=124/156
getuid=102/174 geteuid=107/175 getresuid=118/148 getgid=104/176 getegid=108/177
getresgid=120/150 getgroups=115/158 capget=125/90 getpriority=140/141 getrlimit=97/163
prlimit64=302/261 getrusage=98/165 times=100/153 uname=63/160 sysinfo=99/179 getcpu=309/168
getrandom=318/278 time=201/- gettimeofday=96/169 clock_gettime=228/113 clock_getres=229/114
sched_getaffinity=204/123 sched_getparam=143/121 sched_getscheduler=145/120
sched_getattr=315/275 sched_get_priority_max=146/125 sched_get_priority_min=147/126
sched_rr_get_interval=148/127
"""

#: Calls that create a folder. They fail as on a read-only file system, because Node creates its folder of
#: compiled code before it checks for it, and does not use the folder on EPERM.
_NEW_FOLDER = "mkdir=83/- mkdirat=258/34"

#: Mark of the kernel for calls of each processor (`AUDIT_ARCH_*`), by its name in `platform.machine`.
MARKS = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}

#: Calls that fail as if the kernel lacked them, because libraries have a fallback: they start threads by
#: `clone`, whose flags a filter can read, and do input and output without io_uring.
ABSENT = {"clone3": 435, "io_uring_setup": 425}

#: Last number that was reviewed. Later calls fail as on an older kernel.
LAST_JUDGED = 467


def numbers(machine: str) -> dict[str, int]:
    """Returns the numbers of a processor's allowed calls by name."""
    lines = [line for line in _TABLE.splitlines() if not line.startswith("#")]
    return _column(machine, " ".join(lines))


def new_folder_numbers(machine: str) -> list[int]:
    """Returns the numbers of a processor's calls that create a folder."""
    return list(_column(machine, _NEW_FOLDER).values())


def _column(machine: str, entries: str) -> dict[str, int]:
    column = list(MARKS).index(machine)
    pairs = [entry.split("=") for entry in entries.split()]
    return {
        name: int(number)
        for name, both in pairs
        if (number := both.split("/")[column]) != "-"
    }
