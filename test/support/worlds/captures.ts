/** Reads the captures in a folder for tests. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Row } from '#language/contract.ts';

export const filesOf = (folder: string): string[] =>
  readdirSync(join(folder, 'captures'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));

export const allText = (folder: string): string =>
  filesOf(folder)
    .map((file) => `${file}\n${readFileSync(file, 'utf8')}`)
    .join('\n');

type Kept = {
  operation: string;
  arguments: Row;
  status: number;
  page: number;
  last: boolean;
  body: Row;
};
export const capturesOf = (folder: string, operation: string): Kept[] =>
  filesOf(folder)
    .filter((file) => file.includes(`/captures/${operation}/`))
    .map((file) => JSON.parse(readFileSync(file, 'utf8')) as Kept);
