/** Tests wrong calls of every command: each fails, and sends no request to a service. */
import type { Argument, Command } from 'commander';
import { describe, expect, it } from 'vitest';
import { testContext } from '#test/support/cli/context.ts';
import { runAnswered } from '#test/support/cli/service.ts';
import { decides } from './commands/command.ts';
import { createProgram, runCommandLine } from './program.ts';

type Leaf = { path: string; command: Command };

const leavesBelow = (command: Command, above: readonly string[]): Leaf[] =>
  command.commands.length === 0
    ? [{ path: above.join(' '), command }]
    : command.commands.flatMap((each) => leavesBelow(each, [...above, each.name()]));

const leaves = leavesBelow(await createProgram(testContext(), []), []);

const valueFor = ({ argChoices }: Argument): string => argChoices?.[0] ?? 'x';

/** Returns the required options of a command, with values. */
const demandedBy = ({ options }: Command): string[] =>
  options
    .filter(({ mandatory }) => mandatory)
    .flatMap(({ long, argChoices }) => [
      String(long),
      argChoices?.[0] ?? (long === '--role' ? 'viewer' : 'http://127.0.0.1:1'),
    ]);

/** Returns command lines with valid arguments, each of which is then made wrong in one way. */
const wrongCallsOf = ({ command }: Leaf): string[][] => {
  const { registeredArguments: all } = command;
  const right = [...all.map(valueFor), ...demandedBy(command)];
  const required = all.filter(({ required }) => required);
  const takesMore = all.at(-1)?.variadic === true;
  return [
    ...[['--version'], ['-V'], ['--nonsense'], ['--json=x']].map((words) => [...right, ...words]),
    ...(takesMore ? [] : [[...all.map(valueFor), 'x', ...demandedBy(command)]]),
    ...(required.length === 0 ? [] : [all.map(valueFor).slice(0, required.length - 1)]),
  ];
};

describe('a wrong call', () => {
  it.each(leaves)(
    'of svc $path exits with status 1 and prints nothing on standard output',
    async (leaf) => {
      for (const words of wrongCallsOf(leaf)) {
        const context = testContext({
          env: { SVC_URL: 'http://127.0.0.1:1', SVC_PUBLIC_KEY: 'pk' },
        });
        const status = await runCommandLine([...leaf.path.split(' '), ...words], context);
        const { out, err } = context.written();
        expect({ words, status, out }).toEqual({ words, status: 1, out: '' });
        expect(err, words.join(' ')).toMatch(/^error: (?!no answer|no credentials)/);
        expect(err, words.join(' ')).toMatch(/\nfor example: .+\n/);
      }
    },
  );

  it('with an empty argument is refused by every command that takes a name', async () => {
    const empties = leaves.flatMap(({ path, command }) =>
      command.registeredArguments
        .map((argument, index) => ({ path, command, argument, index }))
        .filter(({ argument: { argChoices } }) => argChoices === undefined)
        .filter(
          ({ argument }) =>
            !['answer', 'content', 'prompt', 'text', 'value'].includes(argument.name()),
        ),
    );
    expect(empties.length).toBeGreaterThan(100);
    for (const { path, command, argument, index } of empties) {
      const given = command.registeredArguments.slice(0, index).map(valueFor);
      const after = command.registeredArguments
        .slice(index + 1)
        .filter(({ required }) => required)
        .map(valueFor);
      const context = testContext();
      const words = [...path.split(' '), ...given, '', ...after, ...demandedBy(command)];
      expect(await runCommandLine(words, context), path).toBe(1);
      expect(context.written().err).toBe(
        `error: <${argument.name()}> is empty: is a shell variable not set?\n`,
      );
    }
  });

  it("with the program's own --version before the command prints no version", async () => {
    for (const words of ['--version release gate x', '-V worlds test x', '--version --json']) {
      const context = testContext();
      expect(await runCommandLine(words.split(' '), context), words).toBe(1);
      expect(context.written()).toMatchObject({ out: '', err: expect.stringMatching(/^error: /) });
    }
  });
});

describe('a command whose exit status is its result', () => {
  it('sets the exit status to its result, and no other command does', () => {
    expect(leaves.filter(({ command }) => decides(command)).map(({ path }) => path)).toEqual([
      'worlds data check',
      'worlds task validate',
      'worlds task prove',
      'worlds test',
      'worlds connector conform',
      'worlds schema check',
      'worlds session regrade',
      'context exists',
      'dashboards test-transform',
      'release gate',
      'pools check',
      'admin doctor',
    ]);
  });

  it('exits with the status of a failure until it has a result', async () => {
    const { status, resultStatus } = await runAnswered('release gate bld-1', {
      status: 500,
      body: { message: 'no', error: 'internal' },
    });
    expect([status, resultStatus]).toEqual([1, 1]);
  });
});

describe('--version', () => {
  const taking = [
    ...['data show', 'data query', 'data extract', 'pull', 'describe', 'diff', 'pin', 'branch'].map(
      (name) => `worlds ${name}`,
    ),
    ...['test', 'connector conform', 'session open', 'task create', 'task show'].map(
      (name) => `worlds ${name}`,
    ),
    ...['worlds task validate', 'worlds task prove', 'release gate', 'release builds register'],
    ...['context show', 'context pull', 'context exists', 'prompts show', 'prompts delete'],
    ...['datasets items list', 'datasets run', 'traces list', 'observations list'],
  ];

  it('is an option of every command whose operation takes a version', () => {
    const having = leaves
      .filter(({ command }) => command.options.some(({ long }) => long === '--version'))
      .map(({ path }) => path);
    expect(having.toSorted()).toEqual(taking.toSorted());
  });

  it('names the version of a world as the address of the world does', async () => {
    const page = { data: { rows: [], total: 0, limit: 100, offset: 0 } };
    for (const words of [
      'worlds data show crm@3 deals',
      'worlds data show crm deals --version 3',
    ]) {
      const { asked } = await runAnswered(words, { body: page });
      expect(asked.map(({ url }) => url)).toEqual(['/api/public/worlds/crm%403/data?entity=deals']);
    }
    const twice = await runAnswered('worlds data show crm@3 --version 4', { body: {} });
    expect(twice).toMatchObject({ status: 1, asked: [] });
  });

  it('is also accepted under its former name', async () => {
    const gate = '/api/public/agent-builds/gate?agentId=a&version=1.4.0';
    for (const name of ['version', 'semver']) {
      const { asked } = await runAnswered(`release gate --agent a --${name} 1.4.0`, {
        status: 404,
        body: {},
      });
      expect(asked.map(({ url }) => url)).toEqual([gate]);
    }
  });
});
