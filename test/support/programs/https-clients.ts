/** Runs client programs that use a service over https, in processes of their own. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';

export type Said = { status: number | null; out: string; err: string };

/** Runs a program to its end. */
export const runClient = async (
  command: string,
  words: readonly string[],
  options: { cwd?: string; env?: NodeJS.ProcessEnv; input?: string } = {},
): Promise<Said> => {
  const { input = '', ...where } = options;
  const child = spawn(command, words, { ...where, stdio: 'pipe' });
  child.stdin.on('error', () => undefined); // the client may end without reading its input
  child.stdin.end(input);
  const [out, err] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close'),
  ]);
  return { status: child.exitCode, out, err };
};

/**
 * Module that Node loads before a program: names below `localhost` resolve to this machine, as systemd resolves them.
 * The program and its client are unchanged.
 */
export const localNames = `data:text/javascript,${encodeURIComponent(`
import dns from 'node:dns';
const { lookup } = dns;
const { lookup: later } = dns.promises;
const local = (name) => (name.endsWith('.localhost') ? 'localhost' : name);
dns.lookup = (name, options, done) => lookup(local(name), options, done);
dns.promises.lookup = (name, options) => later(local(name), options);
`)}`;
