/**
 * Attacks of a world's code on its host and on other sessions from within its language, and by
 * exhausting memory, threads, files and output. Only the call itself fails, the next call works at
 * once, and the worker of the other language is not affected.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { url as inspectorUrl } from 'node:inspector';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Bench, startBench } from '../../support/host/user-code.ts';

const hidden = 'svc-attack-secret-3141';

/** Refusals of a language or of the operating system. */
const refusal =
  /PermissionError|ImportError: user code|ValueError: not allowed|EPERM|restricted|process\.binding|may not import|hidden|reading 'require'|addons is disabled|requires full/;

/** Function bodies that must all fail; `host` is the process that they attack. */
const python: Record<string, string> = {
  'start a process by _posixsubprocess': `
import _posixsubprocess
read, write = os.pipe()
return _posixsubprocess.fork_exec([b'/bin/true'], (b'/bin/true',), True, (write,), None, None, -1, -1, -1, -1, -1, -1, read, write, False, False, -1, None, None, None, -1, None, False)`,
  'fork by the system module':
    "import posix\nreturn posix.fork() if hasattr(posix, 'fork') else None",
  'read the environment of the host': "return open(f'/proc/{host}/environ').read()",
  'read it through a descriptor of a folder': `
import posix
return posix.open(f'{host}/environ', os.O_RDONLY, dir_fd=posix.open('/proc', os.O_PATH))`,
  'read the memory of the host': "return os.open(f'/proc/{host}/mem', os.O_RDWR)",
  'read its own environment of old': "import _io\nreturn _io.FileIO('/proc/self/environ').read()",
  'signal the host': 'import posix\nposix.kill(host, 10)',
  'signal it by a descriptor of a process': `
import signal
return signal.pidfd_send_signal(os.pidfd_open(host), 10)`,
  'have a pipe signal it':
    'import fcntl\nread, write = os.pipe()\nreturn fcntl.fcntl(read, fcntl.F_SETOWN, host)',
  'have the channel signal it': 'import fcntl\nreturn fcntl.fcntl(3, 10, 10)',
  'lower its limits':
    'import resource\nreturn resource.prlimit(host, resource.RLIMIT_NOFILE, (8, 8))',
  'raise its own limits':
    'import resource\nreturn resource.setrlimit(resource.RLIMIT_FSIZE, (-1, -1))',
  'take its processors': 'return os.sched_setaffinity(host, {0})',
  'take its priority': 'return os.setpriority(os.PRIO_PROCESS, host, 19)',
  'open a socket': 'import _socket\nreturn _socket.socket(2, 1).fileno()',
  'reach an abstract socket': `
import _socket
pair = _socket.socketpair(1, 2)
return pair[0].sendto(b'x', b'\\0svc')`,
  'learn its peer as a process': `
import _socket
return _socket.socket(1, 1, 0, fileno=os.dup(3)).getsockopt(1, 77)`,
  'write a file': "import posix\nreturn posix.open(folder + '/new', os.O_WRONLY | os.O_CREAT)",
  'write where its own code lies': "return open(__file__, 'a')",
  'read the session of another': 'import _io\nreturn _io.FileIO(secret).read()',
  'close it to its owner': 'import posix\nreturn posix.chmod(secret, 0)',
  'change its times': 'import posix\nreturn posix.utime(secret, (0, 0))',
  'remove it': 'import posix\nreturn posix.unlink(secret)',
  'make a file in memory': "import posix\nreturn posix.memfd_create('x')",
  'share memory':
    "import _posixshmem\nreturn _posixshmem.shm_open('/svc-attack', os.O_RDWR | os.O_CREAT, 0o600)",
  'share memory with a process': `
from multiprocessing import shared_memory
return shared_memory.SharedMemory(create=True, size=4096).name`,
  'leave its group': 'return os.setsid() or os.setpgid(0, 0)',
  'enter another root': "import posix\nreturn posix.chroot('/')",
  'load foreign code by its usual name': 'import ctypes\nreturn ctypes.CDLL(None).getpid()',
  'load it by another name, and act by it': `
import importlib.machinery, importlib.util, sysconfig, _struct
place = os.path.join(os.path.dirname(_struct.__file__), '') if hasattr(_struct, '__file__') else ''
from glob import glob
[path] = [p for p in os.listdir(place) if p.startswith('_ctypes.')]
loader = importlib.machinery.ExtensionFileLoader('x._ctypes', place + path)
native = importlib.util.module_from_spec(importlib.util.spec_from_loader('x._ctypes', loader))
return native.dlopen(None, 2)`,
};

const typescript: Record<string, string> = {
  'open the inspector of the host': "process.kill(host, 'SIGUSR1')",
  'open its own inspector': "process.kill(process.pid, 'SIGUSR1')",
  'start a process by a binding': `(() => {
    const { error, pid } = process.binding('spawn_sync').spawn({ file: '/bin/true', args: ['true'], stdio: [{ type: 'ignore' }] });
    if (error) throw new Error(String(error));
    return pid;
  })()`,
  'start a process by another binding': `(() => {
    const { Process } = process.binding('process_wrap');
    const child = new Process();
    const status = child.spawn({ file: '/bin/true', args: ['true'], stdio: [{ type: 'ignore' }] });
    if (status < 0) throw new Error(String(status));
    return child.pid;
  })()`,
  'find what is hidden':
    "(process.getBuiltinModule('child_process') ?? (() => { throw new Error('hidden'); })()).execSync('id').toString()",
  'find it by importing': "(await import('node:' + 'child_process')).execSync('id').toString()",
  'find it by require': "process.mainModule.require('child_process').execSync('id').toString()",
  'find it by a require of its own':
    "(await import('node:module')).createRequire('/tmp/')('child_process').execSync('id').toString()",
  'become another program': "process.execve('/bin/true', ['true'], {})",
  'load foreign code': "process.dlopen({ exports: {} }, '/lib/x86_64-linux-gnu/libm.so.6')",
  'start a thread by a binding':
    "new (process.binding('worker').Worker)(null, {}, [], null, undefined).startThread()",
  'connect by a binding': `(() => {
    const { TCP, TCPConnectWrap, constants } = process.binding('tcp_wrap');
    const status = new TCP(constants.SOCKET).connect(new TCPConnectWrap(), '127.0.0.1', 80);
    if (status !== 0) throw new Error(String(status));
    return 'sent';
  })()`,
  'listen by a binding': `(() => {
    const { Pipe, constants } = process.binding('pipe_wrap');
    const pipe = new Pipe(constants.SERVER);
    const status = pipe.bind('\\0svc-attack') || pipe.listen(1);
    if (status !== 0) throw new Error(String(status));
    return 'listens';
  })()`,
  'read the environment of the host': "readFileSync('/proc/' + host + '/environ', 'utf8')",
  'read the memory of the host': "openSync('/proc/' + host + '/mem', 'r')",
  'list its descriptors': "readdirSync('/proc/' + host + '/fd')",
  'read its own environment of old': "readFileSync('/proc/self/environ', 'utf8')",
  'read the session of another': "readFileSync(secret, 'utf8')",
  'read it by a binding':
    "(() => { const fs = process.binding('fs'); return fs.readFileUtf8(secret, 0); })()",
  'open it by a binding':
    "(() => { const fd = process.binding('fs').open(secret, 0, 0o666); if (fd === undefined) throw new Error('none'); return fd; })()",
  'write a file': "writeFileSync(folder + '/new', 'x')",
  'write where its own code lies': "writeFileSync(new URL(import.meta.url).pathname, 'x')",
  'close it to its owner': 'chmodSync(secret, 0)',
  'remove it': 'rmSync(secret)',
  'link to it': "symlinkSync(secret, folder + '/link')",
  'write a report': "process.report.writeReport(folder + '/report.json')",
  'write a heap snapshot': "(await import('node:v8')).writeHeapSnapshot(folder + '/heap')",
  'take its priority': "(await import('node:os')).setPriority(host, 19)",
  'set its own user': 'process.setuid(0), process.setgroups([0])',
  'change where it works': "process.chdir('/proc/' + host + '/cwd')",
};

const bodyOf = (text: string): string =>
  text
    .trim()
    .split('\n')
    .map((line) => `    ${line}`)
    .join('\n');

const pythonFile = `
import os, mmap, threading, time, _thread
${Object.values(python)
  .map((text, i) => `def attempt_${i}(host, secret, folder):\n${bodyOf(text)}\n`)
  .join('\n')}
kept = []
def pid(): return os.getpid()
def fork_bomb():
    while True: os.fork()
def heap():
    while True: kept.append([0] * 100_000)
def bytes_(): kept.append(b'x' * 4 * 1024 ** 3)
def mapping():
    while True:
        kept.append(mmap.mmap(-1, 16 * 1024 ** 2))
        kept[-1].write(b'x' * 16 * 1024 ** 2)
def threads():
    threading.stack_size(65536)
    while True: _thread.start_new_thread(time.sleep, (60,))
def files():
    while True: kept.append(open('/dev/null'))
def pipes():
    while True: kept.append(os.pipe())
def leaves():
    _thread.start_new_thread(time.sleep, (60,))
    return 'left'
def waits():
    time.sleep(0.5)
    return 'waited'
`;

const typescriptFile = `
import { chmodSync, openSync, readFileSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
${Object.values(typescript)
  .map((text, i) => `export const attempt_${i} = async ({ host, secret, folder }) => (${text});`)
  .join('\n')}
const kept = [];
export const pid = () => process.pid;
export const fork_bomb = async () => { for (;;) (await import('node:child_process')).fork('x'); };
export const heap = () => { for (;;) kept.push(new Array(10_000).fill(kept.length)); };
export const bytes_ = () => { for (;;) kept.push(Buffer.alloc(16 * 1024 ** 2, 1)); };
export const mapping = () => { for (;;) kept.push(new WebAssembly.Memory({ initial: 512 })) && new Uint8Array(kept.at(-1).buffer).fill(1); };
export const files = () => { for (;;) kept.push(openSync(new URL(import.meta.url))); };
export const waits = () => new Promise((resolve) => setTimeout(() => resolve('waited'), 500));
`;

describe.each(['python', 'typescript'] as const)('code of a world in %s', (language) => {
  const attempts = language === 'python' ? python : typescript;
  const other = language === 'python' ? 'typescript' : 'python';
  const folder = mkdtempSync(join(tmpdir(), 'svc-attack-'));
  const secret = join(folder, 'session-of-another.json');
  let bench: Bench;
  let host: ChildProcess;

  beforeAll(async () => {
    writeFileSync(secret, hidden);
    // A process that a signal would kill and whose environment must stay private, like a host.
    host = spawn('sleep', ['1000'], { env: { ...process.env, SVC_HOST_TOKEN: hidden } });
    bench = await startBench({ memoryMb: 96 });
    await bench.load({ 'tools.py': pythonFile, 'tools.ts': typescriptFile });
  });

  afterAll(async () => {
    host.kill('SIGKILL');
    await bench.close();
    rmSync(folder, { recursive: true, force: true });
  });

  /** Runs a function that must fail while the other language works; returns its error code. */
  const codeOf = async (name: string): Promise<string> => {
    const before = await bench.value(other, 'pid');
    const [result, meanwhile] = await Promise.all([
      bench.run(language, name, { timeoutMs: 20_000 }),
      bench.value(other, 'waits'),
    ]);
    expect(meanwhile).toBe('waited');
    expect(await bench.value(language, 'pid')).toEqual(expect.any(Number));
    expect(await bench.value(other, 'pid')).toBe(before);
    return result.ok ? `done: ${JSON.stringify(result.value)}` : result.error.code;
  };

  it.each(Object.keys(attempts).map((name, i) => [name, i] as const))('cannot %s', async (_, i) => {
    const input = { host: host.pid, secret, folder };
    const result = await bench.run(language, `attempt_${i}`, { input });
    expect(result).toMatchObject({ ok: false, error: { message: expect.stringMatching(refusal) } });
    expect(JSON.stringify(result)).not.toContain(hidden);
    expect(readFileSync(secret, 'utf8')).toBe(hidden);
    expect([host.exitCode, host.signalCode, inspectorUrl()]).toEqual([null, null, undefined]);
  });

  it.each(['heap', 'bytes_', 'mapping'])(
    'fails only its own call when it takes all memory: %s',
    async (name) => {
      const first = await bench.value(language, 'pid');
      expect(await codeOf(name)).toBe('out_of_memory');
      // A fresh worker follows: memory still held in variables would disturb the next call.
      expect(await bench.value(language, 'pid')).not.toBe(first);
    },
  );

  it('starts no process, however often it tries', async () => {
    expect(await codeOf('fork_bomb')).toBe('raised');
  });

  it('fails only its own call when it opens all files', async () => {
    const first = await bench.value(language, 'pid');
    expect(await codeOf('files')).toBe('raised');
    // A fresh worker follows: files left open would disturb the next call.
    expect(await bench.value(language, 'pid')).not.toBe(first);
  });

  if (language === 'typescript') return;

  it('fails only its own call when it starts threads without end', async () => {
    expect(await codeOf('threads')).toBe('too_many_threads');
  });

  it('fails its call when a thread keeps running, and the worker is restarted', async () => {
    const first = await bench.value(language, 'pid');
    expect(await codeOf('leaves')).toBe('left_running');
    expect(await bench.value(language, 'pid')).not.toBe(first);
  });
});
