/**
 * Converts the code of a dashboard to and from its stored form: JSON text, with a stamp, which is a hash of the
 * content.
 */
import { createHash } from 'node:crypto';
import type { DashboardCode, DashboardKind } from '#domain/dashboard.ts';
import type { CodeRow, DashboardRow } from '../../db/observability/dashboards.ts';
import type { BuiltCode } from '../dashboard-code/build.ts';
import { usualEntrypoint } from '../dashboard-code/check.ts';

export const noCode: DashboardCode = { files: [], entrypoint: null, transform: null };

/** Returns code in its canonical form: files ordered by path, and an explicit entrypoint. */
export const settleCode = ({ files, entrypoint, transform }: DashboardCode): DashboardCode => ({
  files: files
    .map(({ path, content }) => ({ path, content }))
    .toSorted((one, other) => (one.path < other.path ? -1 : 1)),
  entrypoint: entrypoint ?? usualEntrypoint(files),
  transform,
});

/** Returns the stamp of code. Equal code has the same stamp. */
export const stampOf = ({ files, entrypoint, transform }: DashboardCode): string => {
  const hash = createHash('sha256').update(JSON.stringify([entrypoint, transform]));
  for (const { path, content } of files) hash.update(JSON.stringify([path, content]));
  return hash.digest('hex');
};

export const hasCode = ({ files }: DashboardCode): boolean => files.length > 0;

/** Returns the code in its stored form; its members are null if there are no files. */
export const rowOf = (code: DashboardCode, built: BuiltCode): CodeRow =>
  hasCode(code)
    ? { codeJson: JSON.stringify(code), builtJson: JSON.stringify(built) }
    : { codeJson: null, builtJson: null };

export const codeIn = ({ codeJson }: CodeRow): DashboardCode =>
  codeJson === null ? noCode : (JSON.parse(codeJson) as DashboardCode);

/** Returns the stored build of the code; undefined if no code is stored. */
export const builtIn = ({ builtJson }: CodeRow): BuiltCode | undefined =>
  builtJson === null ? undefined : (JSON.parse(builtJson) as BuiltCode);

/** Returns the kind of a dashboard: what kind of object it shows. */
export const kindOf = ({
  taskSetId,
  worldId,
}: Pick<DashboardRow, 'taskSetId' | 'worldId'>): DashboardKind => {
  if (taskSetId !== null) return 'task';
  return worldId === null ? 'session' : 'environment';
};
