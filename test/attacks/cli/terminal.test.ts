/**
 * Texts from clients (rows, names, errors) with control characters for the terminal of the person
 * who reads them. Every command runs against a service that returns such a text in every field that
 * its contract has. New commands are included automatically.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Command } from 'commander';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeLinesVisible } from '#domain/visible-text.ts';
import { createProgram, runCommandLine } from '../../../src/cli/program.ts';
import { testContext } from '../../support/cli/context.ts';
import { startHostileService } from '../../support/random/hostile-answers.ts';

/**
 * Text that copies to the clipboard, sets the title, clears the screen (C0, C1), forges a line, and reverses and hides
 * characters.
 */
const hostile =
  '\u001b]52;c;ZXZpbA==\u0007\u001b]0;title\u001b\\\u001b[2J\u009b2J\r\nFORGED\t\b\u007f\u202eevil\u202c\u200b\u2066\ufeff\u00ad\u{e0041}\u001b[45mend';

/**
 * Commands that the test does not run, since they start programs or servers, or end with a signal. Their output goes
 * through the same printer as that of all other commands.
 */
const notRun = [
  ...['up', 'demo', 'worlds connector serve', 'worlds connector record', 'worlds session mcp'],
  ...['worlds session listen', 'worlds session regrade', 'datasets run'],
];

type Leaf = { path: string; command: Command };

const leavesBelow = (command: Command, above: readonly string[]): Leaf[] =>
  command.commands.length === 0
    ? [{ path: above.join(' '), command }]
    : command.commands.flatMap((each) => leavesBelow(each, [...above, each.name()]));

const leaves = leavesBelow(await createProgram(testContext(), []), []);
const run = leaves.filter(({ path }) => !notRun.includes(path));

const optionValues: Record<string, string> = { '--role': 'viewer', '--rows': './rows.jsonl' };

/** Returns arguments with which a command calls the service; texts of the user are hostile, too. */
const wordsOf = ({ path, command }: Leaf): string[] => [
  ...path.split(' '),
  ...command.registeredArguments.map(({ argChoices }) => argChoices?.[0] ?? 'x'),
  ...command.options
    .filter(({ mandatory }) => mandatory)
    .flatMap(({ long, argChoices }) => [
      String(long),
      argChoices?.[0] ?? optionValues[String(long)] ?? 'x',
    ]),
  ...(command.options.some(({ long }) => long === '--yes') ? ['--yes'] : []),
];

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'svc-terminal-'));
  writeFileSync(join(folder, 'rows.jsonl'), '{"id":1}\n');
});
afterAll(() => rmSync(folder, { recursive: true }));

/** Escape sequences of the program itself: colours and the progress line. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const own = /\u001b\[(?:1|2|22|31|32|33|36|39)m|\r\u001b\[2K/g;

const printed = async (
  leaf: Leaf,
  how: { failing: boolean; json: boolean; isTerminal: boolean },
) => {
  const service = await startHostileService(hostile, how);
  const context = testContext({
    env: {
      ...{ SVC_URL: service.url, SVC_ADMIN_URL: service.url, SVC_PUBLIC_KEY: 'pk' },
      ...{ SVC_SECRET_KEY: 'sk', SVC_ADMIN_TOKEN: 'at', SVC_API_TOKEN: 'pat', FORCE_COLOR: '1' },
    },
    cwd: folder,
    isTerminal: how.isTerminal,
    stdin: '{}',
  });
  try {
    const takesJson = leaf.command.options.some(({ long }) => long === '--json');
    const words = [...wordsOf(leaf), ...(how.json && takesJson ? ['--json'] : [])];
    const status = await runCommandLine(words, context);
    return { status, takesJson, ...context.written() };
  } finally {
    service.stop();
  }
};

/** True if each line of the command's output is a separate entry. */
const isTable = ({ path }: Leaf): boolean =>
  /(?:^| )(?:list|ls|hosts|pools|imports|audit|versions|requests|history|templates|items|batches|webhooks|state|query)$/.test(
    path,
  );

const steers = (text: string): boolean => {
  const others = text.replace(own, '');
  return makeLinesVisible(others) !== others;
};

describe('a hostile text', () => {
  let shown = 0;

  it.each(run)('cannot control the terminal from svc $path', { timeout: 60_000 }, async (leaf) => {
    for (const failing of [false, true]) {
      const { out, err } = await printed(leaf, { failing, json: false, isTerminal: true });
      expect(steers(out + err), out + err).toBe(false);
      if (!failing && out.includes('\\u001b')) shown += 1;
      if (isTable(leaf)) expect(out.replace(own, ''), 'forges no line').not.toMatch(/^FORGED/m);
    }
  });

  it.each(run)(
    'is printed by svc $path as JSON of the same value, on a terminal and in a pipe',
    async (leaf) => {
      const onTerminal = await printed(leaf, { failing: false, json: true, isTerminal: true });
      expect(steers(onTerminal.out + onTerminal.err)).toBe(false);
      if (!onTerminal.takesJson || onTerminal.status !== 0) return;
      const inPipe = await printed(leaf, { failing: false, json: true, isTerminal: false });
      const [seen, piped] = [onTerminal.out, inPipe.out].map((text) => JSON.parse(text));
      expect(seen).toEqual(piped);
      expect(inPipe.out).toBe(`${JSON.stringify(piped, null, 2)}\n`);
    },
  );

  it('appears in the output of most commands', () => {
    expect(shown).toBeGreaterThan(100);
  });

  it('is tried on every command except those in a list, which names only existing commands', () => {
    const paths = leaves.map(({ path }) => path);
    expect(notRun.filter((path) => !paths.includes(path))).toEqual([]);
  });
});
