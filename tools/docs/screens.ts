/**
 * Builds the pictures in `docs/write-worlds/screens/`: the output of the real command on a colour terminal for worlds
 * with deliberate errors. Each world is the small world of the tests after a few changes.
 */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { runCommandLine } from '../../src/cli/program.ts';
import { createContext } from '../../src/cli/terminal/context.ts';
import { exitStatus } from '../../src/cli/views/report.ts';
import { toTree, unlinkedWorld } from '../../test/support/worlds/small-world.ts';
import {
  append,
  type Change,
  connector,
  environment,
  inCards,
  replace,
  worldFile,
} from '../../test/support/worlds/world-changes.ts';
import { drawScreen } from './screen-svg.ts';

/** A picture to draw: the folder of the world that it shows, and the changes that break the world. */
type Screen = { folder: string; changes: readonly Change[] };

const rowsOf = (count: number): object[] =>
  Array.from({ length: count }, (_, index) => ({ id: index + 1, name: 2000 + index }));

export const screens: Readonly<Record<string, Screen>> = {
  'refused-world': {
    folder: 'board',
    changes: [
      replace(environment, 'serve =', 'serv ='),
      replace(connector, '"/author/login"', '"/author/lgin"'),
      replace(connector, 'state = "open"', 'state = "opened"'),
      replace(connector, 'drop = ["author.email"]', 'drop = ["login"]'),
      inCards((cards) => {
        cards.unique = [['author.login']];
        cards.relationships[0].on_delete = 'cascade';
      }),
    ],
  },
  'wide-and-long-lines': {
    folder: 'クラウド',
    changes: [
      replace(connector, 'slug = "board"', '\tslug = "クラウド 😀" # 会社'),
      replace(connector, 'labels", title = "title"', 'labels", title = "titel"'),
      append(environment, '[dependencies.crm2]\npin = "crm"\n'),
    ],
  },
  'many-problems': {
    folder: 'board',
    changes: [
      (world) => {
        world.json['data/lists.json'] = rowsOf(11);
        world.json['data/cards.json'] = [];
        delete world.json['scenarios/finish/seed/cards.json'];
        world.json[worldFile].$id = 'board';
      },
    ],
  },
};

const writeWorld = async (root: string, { folder, changes }: Screen): Promise<void> => {
  const world = unlinkedWorld();
  for (const change of changes) change(world);
  for (const { path, content } of toTree(world)) {
    const file = join(root, folder, path);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, content);
  }
};

/** Runs a command in a folder on a colour terminal and returns its output; throws if the command succeeds. */
const runThere = async (words: readonly string[], cwd: string): Promise<string> => {
  let written = '';
  const terminal = {
    write: (text: string) => {
      written += text;
    },
    drained: async () => undefined,
    isTerminal: true,
    columns: 100,
  };
  const status = await runCommandLine(
    words,
    createContext({
      env: {},
      cwd,
      out: terminal,
      err: terminal,
      readStdin: async () => Buffer.alloc(0),
      stdin: async function* () {},
      setExitStatus: () => undefined,
    }),
  );
  if (status !== exitStatus.failed) throw new Error(`svc ${words.join(' ')} was to be refused`);
  return written;
};

/** Runs the command on a broken world and draws its output. */
export const takeScreen = async (screen: Screen): Promise<string> => {
  const root = await mkdtemp(join(tmpdir(), 'svc-screen-'));
  try {
    await writeWorld(root, screen);
    const words = ['worlds', 'schema', 'check', `./${screen.folder}`];
    return drawScreen(`svc ${words.join(' ')}`, await runThere(words, root));
  } finally {
    await rm(root, { recursive: true, force: true });
  }
};
