/** Where compiling writes, and which of a tree's own files it reads. */
import type { Contract } from '../contract.ts';

export const lockPath = 'schema/lock.json';
export const openApiPath = 'schema/openapi.json';

/**
 * Paths that a tree's author must leave to the compiler: what stands there is replaced. A generated UI
 * page has no fixed path.
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

/** Hand-written files, apart from the handlers module, that compiling reads. */
const inputPatterns = [
  /^(svc-env|connector)\.toml$/,
  /^schema\/[^/]+\.json$/,
  /^tools\.(py|ts)$/,
  /^tasks\.json$/,
  /^data\/[^/]+\.json$/,
  /^verifiers\/[^/]+\.sql$/,
  /^scenarios\/[^/]+\/(scenario\.toml|instruction\.md|seed\/[^/]+\.json|checks\/verify\.py)$/,
];

/** Whether compiling reads a hand-written file, so that another content may compile to another world. */
export const isInput = (path: string, { api }: Pick<Contract, 'api'>): boolean =>
  !isGenerated(path) &&
  (path === api?.handlers || inputPatterns.some((pattern) => pattern.test(path)));
