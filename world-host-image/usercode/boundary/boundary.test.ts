/**
 * Tests the sandbox's filter of system calls for both supported processors; the tests interpret the filter as the
 * kernel does. Also tests how a worker behaves on a system that lacks the sandbox.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createLog } from '#runtime/log.ts';
import { findPython } from '../python/python.ts';
import { boundedNode, createOpenNotice, isolated, packageRoot } from './boundary.ts';

const python = await findPython('python3');

type Call = { arch: number; number: number; arguments?: (number | bigint)[] };

const [allow, eperm, erofs, enosys] = [0x7fff0000, 0x00050001, 0x0005001e, 0x00050026];
const pid = 4242;

/**
 * Assembles the filter for a processor. `launch` has the memory addresses of the arguments of the one `execve` that is
 * allowed.
 */
const assemble = (machine: string, launch: string, mayWrite: boolean): Buffer => {
  const script = `
import sys
sys.path.insert(0, sys.argv[1])
from svc_boundary.seccomp import assemble
print(assemble("${machine}", ${pid}, ${launch}, ${mayWrite ? 'True' : 'False'}).hex())`;
  const printed = execFileSync(python, [...isolated, '-c', script, packageRoot]);
  return Buffer.from(printed.toString().trim(), 'hex');
};

/** Interprets the filter (classic BPF) on a system call, laid out in memory as by the kernel; returns the verdict. */
const judge = (filter: Buffer, { arch, number, arguments: given = [] }: Call): number => {
  const data = Buffer.alloc(64);
  data.writeUInt32LE(number, 0);
  data.writeUInt32LE(arch, 4);
  for (const [index, value] of given.entries()) {
    data.writeBigUInt64LE(BigInt.asUintN(64, BigInt(value)), 16 + 8 * index);
  }
  let value = 0;
  for (let at = 0; ; at += 8) {
    const [code, k] = [filter.readUInt16LE(at), filter.readUInt32LE(at + 4)];
    const jump = (holds: boolean): void => {
      at += 8 * (filter[at + (holds ? 2 : 3)] ?? 0);
    };
    if (code === 0x20) value = data.readUInt32LE(k);
    else if (code === 0x54) value = (value & k) >>> 0;
    else if (code === 0x15) jump(value === k);
    else if (code === 0x25) jump(value > k);
    else if (code === 0x35) jump(value >= k);
    else if (code === 0x06) return k;
    else throw new Error(`no instruction ${code} at ${at / 8}`);
  }
};

/** Numbers of some system calls, as in the headers of Linux. */
const processors = [
  {
    machine: 'x86_64',
    arch: 0xc000003e,
    read: 0,
    openat: 257,
    clone: 56,
    clone3: 435,
    execve: 59,
    kill: 62,
    tgkill: 234,
    socket: 41,
    sendto: 44,
    getsockopt: 55,
    fcntl: 72,
    prctl: 157,
    prlimit: 302,
    ptrace: 101,
    readv: 310,
    mount: 165,
    uring: 425,
    mkdirat: 258,
  },
  {
    machine: 'aarch64',
    arch: 0xc00000b7,
    read: 63,
    openat: 56,
    clone: 220,
    clone3: 435,
    execve: 221,
    kill: 129,
    tgkill: 131,
    socket: 198,
    sendto: 206,
    getsockopt: 209,
    fcntl: 25,
    prctl: 167,
    prlimit: 261,
    ptrace: 117,
    readv: 270,
    mount: 40,
    uring: 425,
    mkdirat: 34,
  },
];

describe.each(processors)('the system call filter for $machine', (calls) => {
  const { arch } = calls;
  const filter = assemble(calls.machine, 'None', true);
  const says = (number: number, ...given: (number | bigint)[]): number =>
    judge(filter, { arch, number, arguments: given });
  const huge = 1n << 40n;

  it('allows to create threads and send signals only within the process itself', () => {
    expect(says(calls.read)).toBe(allow);
    const thread = 0x3d0f00;
    expect(says(calls.clone, thread)).toBe(allow);
    expect(says(calls.clone, 17)).toBe(eperm);
    expect(says(calls.clone, thread | 0x10000000)).toBe(eperm);
    expect(says(calls.clone3)).toBe(enosys);
    expect(says(calls.tgkill, pid, pid, 6)).toBe(allow);
    expect(says(calls.tgkill, pid, pid, 9)).toBe(eperm);
    expect(says(calls.tgkill, pid + 1, pid, 6)).toBe(eperm);
    expect(says(calls.kill, pid, 10)).toBe(eperm);
  });

  it('checks all 64 bits of an argument that must be 0', () => {
    expect(says(calls.sendto, 3, 0, 0, 0, 0)).toBe(allow);
    expect(says(calls.sendto, 3, 0, 0, 0, huge)).toBe(eperm);
    expect(says(calls.prlimit, 0, 7, 0)).toBe(allow);
    expect(says(calls.prlimit, 0, 7, huge)).toBe(eperm);
    expect(says(calls.prlimit, pid + 1, 7, 0)).toBe(eperm);
  });

  it('refuses calls that affect other processes, and every call that is not listed', () => {
    const refused = ['socket', 'ptrace', 'readv', 'mount', 'execve'] as const;
    for (const name of refused) expect([name, says(calls[name], 0)]).toEqual([name, eperm]);
    expect(says(calls.fcntl, 1, 8, 1)).toBe(eperm);
    expect(says(calls.fcntl, 1, 3)).toBe(allow);
    expect(says(calls.prctl, 1, 0)).toBe(eperm);
    expect(says(calls.getsockopt, 1, 1, 77)).toBe(eperm);
    expect(says(calls.getsockopt, 1, 1, 3)).toBe(allow);
    expect(says(calls.uring)).toBe(enosys);
    expect(says(calls.mkdirat)).toBe(erofs);
    for (const number of [468, 1_000, 0x3fffffff]) expect(says(number)).toBe(enosys);
    expect(says(0x40000000 | calls.read)).toBe(enosys);
  });

  it('refuses calls of another processor, and 32-bit calls', () => {
    for (const other of [0x40000003, 0x40000028, 0xc000003e, 0xc00000b7]) {
      const answer = judge(filter, { arch: other, number: calls.read });
      expect(answer).toBe(other === arch ? allow : eperm);
    }
  });

  it('allows to start only one program, whose arguments lie at the given address', () => {
    const launching = assemble(calls.machine, '(0x7f0012345678, 0x7f0012340000, 0x10)', true);
    const starts = (...given: (number | bigint)[]): number =>
      judge(launching, { arch, number: calls.execve, arguments: given });
    expect(starts(0x7f0012345678n, 0x7f0012340000n, 0x10)).toBe(allow);
    expect(starts(0x7f0112345678n, 0x7f0012340000n, 0x10)).toBe(eperm);
    expect(starts(0x7f0012345678n, 0x7f0012340008n, 0x10)).toBe(eperm);
    expect(starts(0x7f0012345678n, 0x7f0012340000n, 0)).toBe(eperm);
  });

  it('allows to open files only for reading if Landlock is missing', () => {
    const strict = assemble(calls.machine, 'None', false);
    const opens = (flags: number): number =>
      judge(strict, { arch, number: calls.openat, arguments: [-100, 0, flags] });
    expect(opens(0o2000000)).toBe(allow);
    for (const flags of [1, 2, 0o100, 0o1000, 0o20000000]) expect(opens(flags)).toBe(eperm);
    expect(says(calls.openat, -100, 0, 1)).toBe(allow);
  });
});

const start =
  'import sys; sys.path.insert(0, sys.argv[1]); from svc_boundary.launch import main; main()';

const isLinux = process.platform === 'linux';
if (!isLinux) console.info('what lacks the boundary is not tested: this is no Linux');

describe.skipIf(!isLinux)('Node in the sandbox', () => {
  it('uses a folder of precompiled code that it cannot write to', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'svc-compiled-'));
    const script = "console.log(require('node:module').getCompileCacheDir())";
    const run = (command: string, words: string[]): string =>
      execFileSync(command, words, { env: { NODE_COMPILE_CACHE: folder } })
        .toString()
        .trim();
    const within = boundedNode({
      ...{ python, mode: 'require', keep: 3, memoryMb: 64 },
      readable: [folder],
      node: ['--eval', script],
    });
    try {
      const used = run(process.execPath, ['--eval', script]);
      expect(dirname(used)).toBe(folder);
      expect(run(within.command, within.arguments)).toBe(used);
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});

describe.skipIf(!isLinux)('a system without the sandbox', () => {
  /**
   * Starts the sandbox inside another sandbox. No second sandbox can be set up in there, so the system behaves like a
   * system that lacks the sandbox.
   */
  const startWithin = (mode: string) => {
    const launcher = [...isolated, '-c', start, packageRoot];
    const places = execFileSync(python, ['-c', 'import sys; print(sys.base_prefix + "/lib")']);
    const within = (parent: string, then: string, ...words: string[]): string[] => [
      ...launcher,
      ...[parent, then, '5', '0', `${places.toString().trim()}\n${packageRoot}`, ...words],
    ];
    const inner = [python, ...within(String(process.pid), mode, python, '-c', '0')];
    return spawnSync(python, within(String(process.pid), 'require', ...inner), {
      stdio: ['ignore', 'pipe', 'pipe', 'pipe', 'pipe'],
      encoding: 'utf8',
    });
  };

  it('starts no program in the mode that requires the sandbox', () => {
    const { status, stderr } = startWithin('require');
    expect([status, stderr.trim()]).toEqual([
      78,
      'this system lacks landlock and seccomp, which the sandbox of user code requires',
    ]);
  });

  it('starts the program and reports the missing parts in the other mode', () => {
    const { output } = startWithin('auto');
    expect(JSON.parse(String(output[4]))).toEqual({
      type: 'open',
      nonce: '',
      missing: ['landlock', 'seccomp'],
    });
  });

  it('is logged once, in plain words', () => {
    const warnings: string[] = [];
    const log = createLog('test', 'silent');
    log.warn = ((_: unknown, text: string) => void warnings.push(text)) as typeof log.warn;
    const onOpen = createOpenNotice(log);
    onOpen([]);
    onOpen(['landlock']);
    onOpen(['landlock']);
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toMatch(/no landlock, so code can read .*SVC_USER_CODE_BOUNDARY=require/);
  });
});
