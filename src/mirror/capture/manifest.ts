/**
 * Manifest of a capture: the requests and their outcomes, one line each. If a run was killed, some requests have no
 * outcome; only these are repeated. The manifest is redacted like captures.
 */
import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { isObject } from '#domain/json.ts';
import type { Row } from '#language/contract.ts';
import { makeFoldersSync } from '#runtime/folders.ts';

/** Line written before a request is sent. */
export type AskedLine = {
  asked: string;
  operation: string;
  arguments: Row;
  page: number;
  at: string;
};

/** Line written once the answer is in its file. `next` is the cursor of the next page, null on the last page. */
export type AnsweredLine = {
  answered: string;
  status: number;
  file: string;
  next: string | null;
  /** True if there is a next page, but its cursor contains a value that must not be written. */
  isCursorHidden?: true;
  attempts: number;
};

/** Line for a request without an answer that could be stored, with the reason. */
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
        return []; // the empty line at the end, or one that a kill cut off
      }
    });

/** Opens the manifest of a folder. The file is created when its first line is written. */
export const openManifest = (path: string): Manifest => {
  const answered = new Map<string, AnsweredLine>();
  const known = existsSync(path) ? readLines(path) : [];
  for (const line of known) {
    if (isObject(line) && typeof line.answered === 'string') {
      answered.set(line.answered, line as AnsweredLine);
    }
  }
  // A line cut off by a kill has no line end, so the next one starts with a line break.
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
