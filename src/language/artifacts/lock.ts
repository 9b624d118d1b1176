/**
 * Reads and writes `schema/lock.json`: digests of the inputs and outputs of compiling. With the lock, a reader
 * distinguishes a generated file that was edited from one that is merely out of date. The lock includes a digest of
 * itself, so that an edit of the lock file is detected, too.
 */
import { compareTexts } from '#domain/tree-path.ts';
import type { Digest, TreeFile } from '#domain/world.ts';
import type { Contract } from '../contract.ts';
import { isInput } from '../read/paths.ts';
import { isDeeperThan, isTable } from '../read/values.ts';
import { digestOf, digestOfValue } from './digest.ts';

type Lock = {
  language: 'svc-world/1';
  /** Data model: its version, and the digest of the entities and of the definitions to which they refer. */
  domain: { version: string; digest: Digest };
  package: { id: string; version: string; digest: Digest };
  tools: { digest: Digest };
  /** Digests by path, of each hand-written file that compiling reads, and of each file that compiling writes. */
  inputs: Record<string, Digest>;
  artifacts: Record<string, Digest>;
};

const toText = (lock: object, seal: string): string =>
  `${JSON.stringify({ ...lock, seal }, null, 2)}\n`;

/** Returns the text of the lock file. Its seal is the digest of the text with an empty seal. */
export const writeLock = (lock: Lock): string => toText(lock, digestOf(toText(lock, '')));

const digestsByPath = (files: readonly TreeFile[]): Record<string, Digest> =>
  Object.fromEntries(
    files
      .map(({ path, content }) => [path, digestOf(content)] as const)
      .sort(([a], [b]) => compareTexts(a, b)),
  );

export const createLock = (
  contract: Contract,
  files: readonly TreeFile[],
  artifacts: readonly TreeFile[],
): Lock => {
  const { definitions, domainVersion, entities, tools } = contract;
  return {
    language: 'svc-world/1',
    domain: {
      version: domainVersion,
      digest: digestOfValue({ entities, definitions, domainVersion }),
    },
    package: { ...contract.package, digest: digestOfValue(contract.package) },
    tools: { digest: digestOfValue(tools) },
    inputs: digestsByPath(files.filter(({ path }) => isInput(path, contract))),
    artifacts: digestsByPath(artifacts),
  };
};

/** Nesting depth of a lock. */
const lockDepth = 2;

const decode = (content: Uint8Array): string =>
  new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(content);

const parseJson = (content: Uint8Array): unknown => {
  try {
    return JSON.parse(decode(content));
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof TypeError) return undefined;
    throw error;
  }
};

/**
 * Returns the digests of generated files that a lock recorded, by path. Returns undefined if the bytes are not an
 * unchanged lock; they may be anything.
 */
export const readLock = (content: Uint8Array): ReadonlyMap<string, unknown> | undefined => {
  const value = parseJson(content);
  if (!isTable(value) || isDeeperThan(value, lockDepth) || !isTable(value.artifacts)) {
    return undefined;
  }
  const { seal, ...lock } = value;
  if (seal !== digestOf(toText(lock, ''))) return undefined;
  const isAsWritten = toText(lock, seal) === decode(content);
  return isAsWritten ? new Map(Object.entries(value.artifacts)) : undefined;
};
