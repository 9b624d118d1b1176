/**
 * Reads and writes the code of a dashboard as a folder: its files, its transform, and a note with the dashboard's id.
 */
import { join } from 'node:path';
import { AppError } from '#domain/error.ts';
import { isObject, own } from '#domain/json.ts';
import type { DashboardDetail } from '#wire/public-api/observability/dashboard.ts';
import type { Context } from '../terminal/context.ts';
import { parseJson, readTree } from './input.ts';
import { changeTree } from './write-tree.ts';

const noteName = 'dashboard.json';
const transformNames = ['transform.js', 'transform.ts'] as const;

export type DashboardFolder = {
  /**
   * Dashboard that the folder was pulled from, and the stamp of its code at that time; null if the folder has no note.
   */
  id: string | null;
  stamp: string | null;
  files: { path: string; content: string }[];
  entrypoint: string | null;
  transform: string | null;
};

const bytesOf = (text: string): Buffer => Buffer.from(text, 'utf8');

type Note = { id: string; stamp: string; entrypoint: string | null };

const noteOf = ({ id, stamp, entrypoint }: Note): string =>
  `${JSON.stringify({ id, stamp, entrypoint }, null, 2)}\n`;

/** Writes the note that says which dashboard and which code the folder contains. */
export const noteDashboard = (context: Context, folder: string, note: Note): void =>
  changeTree(context, folder, {
    write: [{ path: noteName, content: bytesOf(noteOf(note)) }],
    remove: [],
  });

/** Writes code into a folder, and leaves other files there alone. Returns the written paths. */
export const writeDashboard = (
  context: Context,
  folder: string,
  dashboard: DashboardDetail,
): string[] => {
  const { files, transform } = dashboard;
  const write = [
    ...files.map(({ path, content }) => ({ path, content: bytesOf(content) })),
    ...(transform === null ? [] : [{ path: transformNames[0], content: bytesOf(transform) }]),
    { path: noteName, content: bytesOf(noteOf(dashboard)) },
  ];
  changeTree(context, folder, { write, remove: [] });
  return write.map(({ path }) => path);
};

const textIn = (note: Record<string, unknown>, name: string): string | null => {
  const value = own(note, name);
  return typeof value === 'string' ? value : null;
};

/** Reads a folder without its hidden files and without files that `.svcignore` excludes. */
export const readDashboard = (context: Context, folder: string): DashboardFolder => {
  const tree = readTree(context, folder).map(({ path, content }) => ({
    path,
    content: Buffer.from(content).toString('utf8'),
  }));
  const noteText = tree.find(({ path }) => path === noteName)?.content ?? '{}';
  const note = parseJson(noteText, join(folder, noteName));
  if (!isObject(note)) throw new AppError('invalid', `${join(folder, noteName)} is not an object`);
  const known = note as Record<string, unknown>;
  const own: readonly string[] = [noteName, ...transformNames];
  return {
    ...{ id: textIn(known, 'id'), stamp: textIn(known, 'stamp') },
    files: tree.filter(({ path }) => !own.includes(path)),
    entrypoint: textIn(known, 'entrypoint'),
    transform:
      tree.find(({ path }) => (transformNames as readonly string[]).includes(path))?.content ??
      null,
  };
};
