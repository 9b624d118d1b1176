/**
 * Attacks by code that has left its language's sandbox: a Python with `ctypes`, and a Node without its permission
 * model. Each runs behind the boundary of user code and reports, by name, the error with which the system answered
 * each attempt, or `done`. The languages' own guards are off.
 */

import { expect } from 'vitest';
import { isolated } from '../../../world-host-image/usercode/boundary/boundary.ts';
import { pythonAttempts } from './python-attempts.ts';

/** Targets of the attempts. */
export type Targets = {
  /** Id of a process of the same user, such as the host. */
  host: number;
  /** File that the user may read and write. */
  secret: string;
  /** Folder that the user may write to. */
  folder: string;
  /** Name of an abstract Unix socket on which a test listens, and the path of another such socket. */
  abstract: string;
  socket: string;
};

/** Returns the JSON of the targets as a literal, which is the same in both languages. */
const words = (targets: Targets): string => JSON.stringify(JSON.stringify(targets));

/** Returns code for a Node without guards that makes the attempts, all of which must fail. */
export const nodeAttempts = (targets: Targets): string => `
const at = JSON.parse(${words(targets)});
const fs = require('node:fs'), net = require('node:net'), child = require('node:child_process');
const dgram = require('node:dgram'), os = require('node:os'), inspector = require('node:inspector');
const { Worker } = require('node:worker_threads');
const said = {};
const attempt = (name, act) => {
  try { act(); said[name] = 'done'; } catch (error) { said[name] = error.info?.code ?? error.code ?? error.message; }
};
const later = [];
const tell = (name, emitter, good) => later.push(new Promise((resolve) => {
  const end = (what) => { said[name] = what; resolve(); };
  emitter.on(good, () => end('done')).on('error', (error) => end(error.code));
}));
attempt('kill host', () => process.kill(at.host, 'SIGUSR1'));
attempt('kill parent', () => process.kill(process.ppid, 'SIGUSR1'));
attempt('kill itself', () => process.kill(process.pid, 'SIGKILL'));
attempt('environ', () => fs.readFileSync('/proc/' + at.host + '/environ'));
attempt('memory', () => fs.openSync('/proc/' + at.host + '/mem', 'r+'));
attempt('descriptors', () => fs.readdirSync('/proc/' + at.host + '/fd'));
attempt('own environ', () => fs.readFileSync('/proc/self/environ'));
attempt('secret', () => fs.readFileSync(at.secret));
attempt('settings of the system', () => fs.readFileSync('/etc/hosts'));
attempt('create', () => fs.writeFileSync(at.folder + '/own', 'x'));
attempt('overwrite', () => fs.writeFileSync(at.secret, 'x'));
attempt('remove', () => fs.rmSync(at.secret));
attempt('chmod', () => fs.chmodSync(at.secret, 0));
attempt('times', () => fs.utimesSync(at.secret, 0, 0));
attempt('link', () => fs.linkSync(at.secret, at.folder + '/own'));
attempt('spawnSync', () => child.execFileSync('/bin/true'));
attempt('spawn_sync binding', () => {
  const { error } = process.binding('spawn_sync').spawn({ file: '/bin/true', args: ['true'], stdio: [{ type: 'ignore' }] });
  if (error) throw new Error(os.constants.errno.EPERM === -error ? 'EPERM' : String(error));
});
attempt('inspector', () => { inspector.open(0); if (inspector.url() === undefined) throw new Error('closed'); });
attempt('priority', () => os.setPriority(at.host, 19));
attempt('watch', () => fs.watch(at.folder));
attempt('spawn', () => child.spawn('/bin/true'));
attempt('fork', () => child.fork('/dev/null'));
tell('connect', net.connect(80, '127.0.0.1'), 'connect');
tell('connect by path', net.connect(at.socket), 'connect');
tell('connect to an abstract socket', net.connect('\\0' + at.abstract), 'connect');
tell('listen', net.createServer().listen(0, '127.0.0.1'), 'listening');
tell('listen by path', net.createServer().listen(at.folder + '/listening'), 'listening');
const worker = new Worker(\`
  const { parentPort } = require('node:worker_threads');
  try { process.kill(\${at.host}, 'SIGUSR1'); parentPort.postMessage('done'); }
  catch (error) { parentPort.postMessage(error.code); }
\`, { eval: true });
later.push(new Promise((resolve) => worker.on('message', (what) => { said['kill from a thread'] = what; resolve(); })));
try {
  tell('datagrams', dgram.createSocket('udp4').bind(0, '127.0.0.1'), 'listening');
} catch (error) { said.datagrams = error.code; }
const works = {};
later.push(fetch('data:,x').then((answer) => answer.text()).then((text) => { works.fetch = text === 'x'; }));
later.push(crypto.subtle.digest('SHA-256', new Uint8Array(3)).then((hash) => { works.digest = hash.byteLength === 32; }));
later.push(fs.promises.readFile('/dev/null').then((bytes) => { works.nothing = bytes.length === 0; }));
works.zone = new Date(0).toLocaleString('en', { timeZone: 'Asia/Tokyo' }).includes('9:00');
Promise.all(later).then(() => { fs.writeSync(1, JSON.stringify({ said, works, descriptors: [] })); process.exit(); });
setTimeout(() => { fs.writeSync(1, JSON.stringify({ said, works, descriptors: ['stuck'] })); process.exit(); }, 10_000);
`;

export type Report = {
  said: Record<string, string>;
  works: Record<string, unknown>;
  descriptors: unknown[];
};

/** Errors with which the system refuses, or an interpreter that the system refused. */
const refusals = new Set(['EPERM', 'EACCES', 'EROFS', 'ENOSYS', 'closed', 'ValueError']);

/** Expects that every attempt failed, and that everything a program needs works. */
export const expectHeld = ({ said, works, descriptors }: Report): void => {
  expect(Object.entries(said).filter(([, answer]) => !refusals.has(answer))).toEqual([]);
  expect(Object.keys(said).length).toBeGreaterThan(25);
  expect(Object.entries(works).filter(([, does]) => does !== true)).toEqual([]);
  expect(descriptors).toEqual([]);
};

const start =
  'import sys; sys.path.insert(0, sys.argv[1]); from svc_boundary.launch import main; main()';

export type Launch = {
  python: string;
  packages: string;
  parent: number | string;
  readable: string[];
  program: string[];
};

/** Builds the command that starts a program behind the whole boundary. */
export const behind = ({ python, packages, parent, readable, program }: Launch): string[] => [
  ...[python, ...isolated, '-c', start, packages],
  ...[String(parent), 'require', '3', '0', readable.join('\n'), ...program],
];

const quoted = (word: string): string => `'${word.replaceAll("'", "'\\''")}'`;

/**
 * Builds the command that starts a program in a container behind the whole boundary. It goes through a shell: a program
 * behind the boundary ends with its parent, and the parent of a container runtime's process soon ends.
 */
export const behindInContainer = (launch: Omit<Launch, 'parent'>): string[] => {
  const own = '$$';
  const words = behind({ ...launch, parent: own }).map((word) =>
    word === own ? own : quoted(word),
  );
  return ['sh', '-c', `${words.join(' ')}; exit $?`];
};

/** Programs that make the attempts, by language. */
export const programs = (
  python: string,
  node: string,
  targets: Targets,
): Record<string, string[]> => ({
  python: [python, '-P', '-s', '-S', '-B', '-c', pythonAttempts(words(targets))],
  node: [node, '-e', nodeAttempts(targets)],
});
export const languages = ['python', 'node'] as const;
