/**
 * Where the values of a JSON text stand: the line of each by its pointer, and keys written twice in
 * one object, of which a JSON parser silently keeps the last. The text must be valid JSON.
 */
import { escapeSegment } from './pointer.ts';

export type JsonLines = {
  lines: ReadonlyMap<string, number>;
  /** Pointers of the keys that repeat an earlier one. */
  duplicates: string[];
};

type Container = { pointer: string; keys: Set<string> | undefined; next: number };

/** Lines kept of one text; what stands further back is found at the line of what it lies in. */
const maxLines = 100_000;

const token = /"[^"\\]*(?:\\.[^"\\]*)*"|[{}[\]:,]|[^\s{}[\]:,"]+|\n/g;

/** Reads the text once from front to back. */
export const scanJson = (text: string): JsonLines => {
  const lines = new Map<string, number>([['', 1]]);
  const duplicates: string[] = [];
  const stack: Container[] = [];
  let line = 1;
  /** Pointer of the value that comes next. */
  let pointer = '';
  let isKey = false;

  const note = (): void => {
    if (lines.size < maxLines && !lines.has(pointer)) lines.set(pointer, line);
  };
  const enter = (keys: Set<string> | undefined): void => {
    stack.push({ pointer, keys, next: 0 });
    isKey = keys !== undefined;
    if (keys === undefined) pointer = `${pointer}/0`;
  };
  const readKey = (written: string): void => {
    const container = stack.at(-1);
    const key = JSON.parse(written) as string;
    pointer = `${container?.pointer}/${escapeSegment(key)}`;
    if (container?.keys?.has(key)) duplicates.push(pointer);
    container?.keys?.add(key);
    note();
    isKey = false;
  };
  const nextItem = (): void => {
    const container = stack.at(-1);
    if (container === undefined) return;
    container.next += 1;
    isKey = container.keys !== undefined;
    if (!isKey) pointer = `${container.pointer}/${container.next}`;
  };

  for (const [part] of text.matchAll(token)) {
    if (part === '\n') line += 1;
    else if (part === ',') nextItem();
    else if (part === '}' || part === ']') stack.pop();
    else if (part !== ':') {
      if (isKey) readKey(part);
      else {
        note();
        if (part === '{') enter(new Set());
        if (part === '[') enter(undefined);
      }
    }
  }
  return { lines, duplicates };
};
