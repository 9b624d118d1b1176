/** Paths that compiling writes, and the tree's own files that it reads. */
import type { Contract } from '../contract.ts';

export const lockPath = 'schema/lock.json';
export const openApiPath = 'schema/openapi.json';

/**
 * Paths that only the compiler may write; it replaces files there. A generated UI page has no fixed path and is not
 * among them.
 */
export const generatedPaths = [
  'db/schema.sql',
  'schema/README.md',
  lockPath,
  openApiPath,
  'schema/runtime.json',
  'tool-schemas.json',
] as const;

const isGenerated = (path: string): boolean => (generatedPaths as readonly string[]).includes(path);

/** Patterns of hand-written files that compiling reads, apart from the handlers module. */
const inputPatterns = [
  /^(svc-env|connector)\.toml$/,
  /^schema\/[^/]+\.json$/,
  /^tools\.(py|ts)$/,
  /^tasks\.json$/,
  /^data\/[^/]+\.json$/,
  /^verifiers\/[^/]+\.sql$/,
  /^scenarios\/[^/]+\/(scenario\.toml|instruction\.md|seed\/[^/]+\.json|checks\/verify\.py)$/,
];

/**
 * Returns true if compiling reads the hand-written file, so that a change of the file may change the compiled world.
 */
export const isInput = (path: string, { api }: Pick<Contract, 'api'>): boolean =>
  !isGenerated(path) &&
  (path === api?.handlers || inputPatterns.some((pattern) => pattern.test(path)));
