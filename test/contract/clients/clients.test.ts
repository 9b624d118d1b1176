/**
 * The vendor's clients in Python and in Go, unmodified from their registries, doing everyday work on a session of
 * `code-hosting`. The clients get only the address and token of the session. Each client is one program in `python/` or
 * `go/`, which reports all its calls. A call passes if the client accepted the answer and its result is right. The
 * template's README states the numbers, and they are checked here.
 */
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { serveWorld } from '../../support/host/serve-world.ts';
import { templateTree } from '../../support/worlds/worlds.ts';
import { findGo, findPython, type Missing, type Program } from './packages.ts';

const run = promisify(execFile);
const root = join(import.meta.dirname, '../../..');

/** Report of a program by flow: its calls in order, each with its fault if it has one. */
type CallsByFlow = Record<string, { call: string; fault: string | null }[]>;

const flows = [
  'users',
  'repositories',
  'issues',
  'labels',
  'milestones',
  'pulls',
  'branches with slashes',
  'search',
  'webhooks',
  'paging',
  'conditional requests',
  'files and releases',
  'error classes',
];

const python = (file: string) => findPython(join(import.meta.dirname, 'python', file));
// The Go client is built while Python's packages are installed.
const [go, ...pythons] = await Promise.all([
  findGo(),
  python('with_pygithub.py'),
  python('with_github3.py'),
  python('with_gidgethub.py'),
  python('with_ghapi.py'),
]);
const [pygithub, github3, gidgethub, ghapi] = pythons as (Program | Missing)[];
const clients = { PyGithub: pygithub, 'github3.py': github3, gidgethub, ghapi, 'go-github': go };

const world = await serveWorld(templateTree('code-hosting'));
afterAll(async () => {
  await world.stop();
  if (!('missing' in go)) await rm(go.folder, { recursive: true, force: true });
});

/** Runs a client on freshly reset rows. */
const work = async ({ command, args, env }: Program): Promise<CallsByFlow> => {
  await world.reset();
  const client = { ...env, SVC_CLIENT_URL: world.url, SVC_CLIENT_TOKEN: world.token };
  const { stdout } = await run(command, args, { env: client, maxBuffer: 8 * 1024 * 1024 });
  return JSON.parse(stdout) as CallsByFlow;
};

const readme = readFileSync(join(root, 'src/templates/code-hosting/README.md'), 'utf8');

describe.each(Object.entries(clients))('%s', (name, program) => {
  describe.skipIf(program === undefined || 'missing' in program)('does its everyday work', () => {
    let callsByFlow: CallsByFlow = {};
    beforeAll(async () => {
      callsByFlow = await work(program as Program);
    }, 240_000);

    it.each(flows)('on %s', (flow) => {
      const calls = callsByFlow[flow] ?? [];
      expect(calls.length).toBeGreaterThan(0);
      expect(calls.filter(({ fault }) => fault !== null)).toEqual([]);
    });

    it('with as many passed calls as the README of the template says', () => {
      expect(Object.keys(callsByFlow).sort()).toEqual([...flows].sort());
      const calls = Object.values(callsByFlow).flat();
      const passed = calls.filter(({ fault }) => fault === null);
      const [, said] = new RegExp(`\\| ${name} [\\d.]+ \\| (.+?) \\|`).exec(readme) ?? [];
      expect(said).toBe(`${passed.length} of ${calls.length}`);
    });
  });
});
