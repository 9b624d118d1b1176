/**
 * `svc worlds diff`: shows the differences between two versions of a world, or between a version and a folder. It shows
 * changed lines only of small hand-written text files.
 */
import type { Command } from 'commander';
import type { TreeFile } from '#domain/world.ts';
import { describeContract } from '#language/artifacts/describe.ts';
import { compileTree } from '#language/compile/compile.ts';
import { diffText } from '#language/edit/diff-text.ts';
import { generatedPaths } from '#language/read/paths.ts';
import type { Client } from '#wire/client.ts';
import { listWorldEntities } from '#wire/public-api/operations.ts';
import type { EntityView } from '#wire/public-api/worlds/runtime.ts';
import { compareTrees, type TreeSide } from '../files/compare-trees.ts';
import { sha256Of } from '../files/digest.ts';
import { namesFolder, overlayTree, readTree, withFolderHint } from '../files/input.ts';
import { findVersion, parseAddress, readFile } from '../service/versions.ts';
import type { Context } from '../terminal/context.ts';
import { describeDiff } from '../views/diff.ts';
import { ProblemsError, usageError } from '../views/report.ts';
import {
  addCommand,
  addressWith,
  addWorldVersion,
  clientFor,
  printAnswer,
  type ServiceOptions,
  withService,
} from './command.ts';

/** Maximum size in bytes of a file whose lines are compared, and maximum number of files whose lines are compared. */
const mostBytes = 64 * 1024;
const mostFiles = 50;

/**
 * A version or folder to compare, whose files can be read. `read` resolves with undefined for a file that is too large
 * to show.
 */
type Side = TreeSide & { read(path: string): Promise<Uint8Array | undefined> };

const ofVersion = async (client: Client, address: string, treeRows: boolean): Promise<Side> => {
  const version = await findVersion(client, address);
  const name = `${version.slug}@${version.number}`;
  const params = { slug: `${version.slug}@${version.id}` };
  const { body } = await client.send(listWorldEntities, { params });
  const files = new Map(version.files.map((file) => [file.path, file]));
  return {
    name,
    files: version.files.map(({ path, sha256 }) => ({ path, sha256 })),
    entities: body.data,
    rows: (treeRows ? version.treeRows : null) ?? version.entityCounts,
    async read(path) {
      const file = files.get(path);
      if (file === undefined) return new Uint8Array();
      return file.sizeBytes > mostBytes ? undefined : readFile(client, version, file);
    },
  };
};

const ofFolder = (context: Context, folder: string): Side => {
  const given = readTree(context, folder);
  const compiled = compileTree(given);
  if (!compiled.ok) throw new ProblemsError(folder, compiled.problems, given);
  const { contract, generated, baseRows, rewritten } = compiled;
  const files = new Map<string, TreeFile>(
    overlayTree(given, [...rewritten, ...generated]).map((file) => [file.path, file]),
  );
  return {
    name: folder,
    files: [...files.values()]
      .map(({ path, content }) => ({ path, sha256: sha256Of(content) }))
      .toSorted((a, b) => (a.path < b.path ? -1 : 1)),
    entities: describeContract(contract).entities as EntityView[],
    rows: Object.fromEntries(
      contract.entities.map(({ name }) => [name, baseRows[name]?.length ?? 0]),
    ),
    async read(path) {
      const content = files.get(path)?.content ?? new Uint8Array();
      return content.byteLength > mostBytes ? undefined : content;
    },
  };
};

const strict = new TextDecoder('utf-8', { fatal: true });

/** Decodes bytes as text; undefined if they are not text. */
const textOf = (content: Uint8Array | undefined): string | undefined => {
  if (content === undefined || content.includes(0)) return undefined;
  try {
    return strict.decode(content);
  } catch {
    return undefined; // the bytes are not UTF-8 text
  }
};

/** Returns the diff of a file; null if the file is not text, or too large. */
const diffOf = async (before: Side, after: Side, path: string): Promise<string | null> => {
  const [was, is] = [textOf(await before.read(path)), textOf(await after.read(path))];
  return was === undefined || is === undefined ? null : diffText(was, is, path);
};

const isGenerated = (path: string): boolean => (generatedPaths as readonly string[]).includes(path);

const diffFiles = async (
  before: Side,
  after: Side,
  paths: readonly string[],
): Promise<Record<string, string | null>> => {
  const diffs: Record<string, string | null> = {};
  for (const path of paths.filter((each) => !isGenerated(each)).slice(0, mostFiles)) {
    diffs[path] = await diffOf(before, after, path);
  }
  return diffs;
};

/**
 * Opens both sides of the comparison. If only one version is named, it is compared with the version that it was made
 * from.
 */
const openSides = async (
  context: Context,
  client: Client,
  first: string,
  second: string | undefined,
): Promise<[Side, Side]> => {
  const { slug } = parseAddress(first);
  if (second === undefined) {
    const { number, changes } = await findVersion(client, first);
    const base = changes?.base ?? number - 1;
    if (base < 1)
      throw usageError(
        `${slug}@${number} was not made from another version: name a version to compare with`,
      );
    return Promise.all([
      ofVersion(client, `${slug}@${base}`, false),
      ofVersion(client, `${slug}@${number}`, false),
    ]);
  }
  if (namesFolder(second)) return [await ofVersion(client, first, true), ofFolder(context, second)];
  const other = second.startsWith('@') ? `${slug}${second}` : second;
  return Promise.all([
    ofVersion(client, first, false),
    withFolderHint(context, other, () => ofVersion(client, other, false)),
  ]);
};

export const addWorldsDiff = (worlds: Command, context: Context): void => {
  const command = addCommand(worlds, {
    usage: 'diff <world> [other]',
    summary:
      'compare a version with @<version> or with a folder (default: with the version before it)',
    example: 'svc worlds diff crm@3\nsvc worlds diff crm@2 crm@4\nsvc worlds diff crm ./crm',
  });
  type Options = ServiceOptions & { version?: string };
  withService(addWorldVersion(command)).action(
    async (world: string, second: string | undefined, options: Options) => {
      const first = addressWith(world, options.version);
      const client = clientFor(context, options);
      const [before, after] = await openSides(context, client, first, second);
      const compared = compareTrees(before, after);
      const { added, changed, removed } = compared.files;
      const diffs = await diffFiles(before, after, [...changed, ...added, ...removed]);
      printAnswer(context, options, { ...compared, diffs }, () =>
        describeDiff(compared, diffs, context.colors),
      );
    },
  );
};
