/**
 * The manifest: what was asked, and what came of it, one line after another. A run that was killed leaves requests
 * that were asked and have no outcome; these alone are asked again. Everything in it is redacted.
 */
import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { isObject } from '#domain/json.ts';
import type { Row } from '#language/contract.ts';
import { makeFoldersSync } from '#runtime/folders.ts';

/** Before a request leaves. */
export type AskedLine = {
  asked: string;
  operation: string;
  arguments: Row;
  page: number;
  at: string;
};

/** After its answer is written to a file. `next`: the cursor of the page after it, null on the last one. */
export type AnsweredLine = {
  answered: string;
  status: number;
  file: string;
  next: string | null;
  /** There is a next page, but its cursor holds what must not be written. */
  isCursorHidden?: true;
  attempts: number;
};

/** There is no answer that could be written, and why. */
export type FailedLine = {
  failed: string;
  reason: string;
  status: number | null;
  attempts: number;
};

export type ManifestLine = AskedLine | AnsweredLine | FailedLine;

export type Manifest = {
  answered(key: string): AnsweredLine | undefined;
  note(line: ManifestLine): void;
};

const readLines = (path: string): unknown[] =>
  readFileSync(path, 'utf8')
    .split('\n')
    .flatMap((line): unknown[] => {
      try {
        return [JSON.parse(line)];
      } catch {
        return []; // the empty one at the end, or one that a kill cut off
      }
    });

/** Opens the manifest of a folder; it is made with its first line. */
export const openManifest = (path: string): Manifest => {
  const answered = new Map<string, AnsweredLine>();
  const known = existsSync(path) ? readLines(path) : [];
  for (const line of known) {
    if (isObject(line) && typeof line.answered === 'string') {
      answered.set(line.answered, line as AnsweredLine);
    }
  }
  // What a kill cut off has no line end: what is noted next begins a line of its own.
  let start = existsSync(path) && !/(^|\n)$/.test(readFileSync(path, 'utf8')) ? '\n' : '';
  return {
    answered: (key) => answered.get(key),
    note(line) {
      makeFoldersSync(dirname(path));
      appendFileSync(path, `${start}${JSON.stringify(line)}\n`);
      start = '';
      if ('answered' in line) answered.set(line.answered, line);
    },
  };
};
