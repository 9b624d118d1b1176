/** Tests whole command lines: help, usage errors, and the behaviour that all commands share. */
import { describe, expect, it } from 'vitest';
import { testContext } from '#test/support/cli/context.ts';
import { runAnswered, session } from '#test/support/cli/service.ts';
import { type Node, readTree } from './completion/tree.ts';
import { createProgram, runCommandLine } from './program.ts';

describe('svc', () => {
  const offline = async (words: string) => {
    const context = testContext();
    const status = await runCommandLine(words === '' ? [] : words.split(' '), context);
    return { status, ...context.written() };
  };

  it('has help with an example for every command', async () => {
    const nodes = readTree(await createProgram(testContext(), []));
    const paths = nodes
      .filter(({ path, commands }) => commands.length === 0 && !/\bhelp$/.test(path))
      .map(({ path }) => path);
    expect(paths.length).toBeGreaterThan(100);
    for (const path of paths) {
      const { status, out } = await offline(`${path} --help`);
      expect(status, path).toBe(0);
      expect(out, path).toMatch(
        new RegExp(`Usage: svc ${path}[^]*Examples?:\\n  \\$ .*svc ${path}`),
      );
    }
    expect((await offline('--help')).status).toBe(0);
    expect(await offline('help worlds session open')).toEqual(
      await offline('worlds session open --help'),
    );
  });

  it('loads only the commands that a command line names, each equal to the same command of the whole program', async () => {
    const loadedBy = async (path: string): Promise<Node[]> =>
      readTree(await createProgram(testContext(), path.split(' ').filter(Boolean)));
    const whole = await loadedBy('');
    for (const node of whole) {
      expect(await loadedBy(node.path), node.path).toContainEqual(node);
    }
    const serving = await loadedBy('worlds connector serve');
    expect(serving.map(({ path }) => path).filter((path) => !path.endsWith('help'))).toEqual([
      '',
      'worlds',
      'worlds connector',
      'worlds connector serve',
    ]);
  });

  it.each([
    ['', 'Usage: svc'],
    ['worlds', 'Usage: svc worlds'],
    ['wrlds', "unknown command 'wrlds'"],
    ['worlds list --wide', "unknown option '--wide'"],
    ['worlds create x', 'required option --from <source> not specified'],
    ['worlds session open', 'name a world, or a version with --version-id, or a stored task'],
    ['worlds session open x --tier gold', 'Allowed choices are standard, premium'],
    ['worlds session open x --clock-mode still', 'Allowed choices are real, frozen, stepped'],
    ['worlds session open x --seed 1.5', 'The value is not a whole number from 0'],
    ['worlds session open x --wait soon', 'The value is not a number from 0 to 3600'],
    [
      'worlds session open x -t a --task-file b',
      'give only one of --task, --task-file and --task-id',
    ],
    ['worlds session open x --run r', '--run and --build-hash go together'],
    ['worlds session open x --planned 3', '--model and --planned are of a run'],
    ['release gate', 'name the build in exactly one way'],
    ['release gate x --commit 1234567', 'name the build in exactly one way'],
    ['release gate --agent x', 'name the build in exactly one way'],
    ['worlds session state x --limit 3', '--where, --limit and --offset need --entity'],
  ])('exits with status 1 for "svc %s" and prints its usage', async (words, text) => {
    const { status, err } = await offline(words);
    expect(status).toBe(1);
    expect(err).toContain(text);
  });

  it('prints its release with --version', async () => {
    expect(await offline('--version')).toMatchObject({
      status: 0,
      out: expect.stringMatching(/^\d+\.\d+\.\d+\n$/),
    });
  });

  it('reports on one line that no service is known, and what to do', async () => {
    const { status, err } = await offline('worlds list');
    expect(status).toBe(1);
    expect(err).toMatch(/^error: no credentials: .*\nhint: start a service with "svc up"/);
  });

  it('reports on one line that the service does not answer, and where its address was read', async () => {
    const env = { SVC_URL: 'http://127.0.0.1:1', SVC_PUBLIC_KEY: 'pk' };
    const context = testContext({ env });
    expect(await runCommandLine(['worlds', 'list'], context)).toBe(1);
    expect(context.written().err).toMatch(
      /^error: no answer from .*\nhint: is the service running .* the address was read from SVC_URL\n/,
    );
  });

  it('refuses SVC_METRICS_LISTEN, which is the address of a single program, for "svc up"', async () => {
    const context = testContext({ env: { SVC_METRICS_LISTEN: '127.0.0.1:0' } });
    expect(await runCommandLine(['up', '--data', '/nonexistent/data'], context)).toBe(1);
    expect(context.written().err).toContain('use --metrics [port]');
  });

  it('names the secret key as missing if only the public key is given', async () => {
    const { err } = await runAnswered('worlds session close ses-1', {
      status: 403,
      body: { message: 'the public key may only read', error: 'forbidden' },
    });
    expect(err).toContain('hint: this command needs the secret key');
  });

  it('shows invalid fields, and the problems of files', async () => {
    const fields = await runAnswered('worlds session show ses-1', {
      status: 400,
      body: {
        message: 'the request is not valid',
        error: [{ path: ['a', 'b'], message: 'is odd' }],
      },
    });
    expect(fields.err).toBe('error: the request is not valid\n  a.b: is odd\n');
    const problem = {
      file: 'connector.toml',
      pointer: '/operations/0',
      code: 'unknown_key',
      message: 'unknown key "pth"',
      hint: 'did you mean "path"?',
      line: 12,
      column: 1,
    };
    const problems = await runAnswered('worlds create notes --from template', {
      status: 400,
      body: { message: 'the world does not compile', error: 'invalid', problems: [problem] },
    });
    expect(problems.err).toBe(
      [
        'error: the world does not compile',
        '',
        'connector.toml:12:1 unknown_key: unknown key "pth"',
        '      = did you mean "path"?',
        '',
      ].join('\n'),
    );
  });

  it('shows the pools to an operator who has only the pool token', async () => {
    const pool = {
      installation: 'one',
      name: 'spot',
      tier: 'standard',
      isolation: 'container',
      size: 'standard',
      minimum: 1,
      maximum: 9,
      target: 4,
      held: 'no node has room',
      worlds: [
        { world: 'acme/support/mail', hosts: 2 },
        { world: 'acme/support/mial', hosts: 1 },
      ],
      isLed: true,
      unknownWorlds: ['acme/support/mial'],
      hosts: { starting: 1, warm: 3, assigned: 5, recycling: 1, draining: 0 },
      fresh: 1,
    };
    const { status, out, asked } = await runAnswered('admin pools', {
      body: { pools: [pool], waitingSessions: 0, longestWaitMs: 0 },
    });
    expect(status).toBe(0);
    expect(asked).toMatchObject([{ url: '/api/admin/pools', authorization: 'Bearer pt' }]);
    expect(out).toBe(
      `POOL  TIER      ISOLATION  SIZE      TARGET  FRESH  LOADED  BUSY  COMING  GOING  MAX
spot  standard  container  standard  4       1      2       5     2       0      9

spot: launches no hosts: no node has room
spot: preloads acme/support/mail on 2
spot: has to preload acme/support/mial, but there is no such world
`,
    );
  });

  it('prints lists in aligned columns, and says if there is another page', async () => {
    const meta = { page: 1, limit: 1, totalItems: 2, totalPages: 2 };
    const { out } = await runAnswered('worlds session list --limit 1', {
      body: { data: [session], meta },
    });
    const [head, line, more] = out.split('\n');
    expect(head).toMatch(/^SESSION {2}WORLD {2}STATE {2}TASK {4}CREATED$/);
    expect(line).toMatch(/^ses-1 {4}notes {2}READY {2}finish {2}\d+ d ago$/);
    expect(more).toBe('page 1 of 2, 2 in all; --page 2 shows the next page');
  });
});
