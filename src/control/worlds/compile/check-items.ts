/**
 * Checks items of a dataset against the dataset's schemas. Runs in a compile process, because schemas and values are
 * user input and the check may take long.
 */
import { LRUCache } from 'lru-cache';
import type { FieldProblem } from '#domain/error.ts';
import { parsePointer } from '#domain/json.ts';
import { readSchemaDocument, type SchemaDocument } from '#language/schema/document.ts';

/** Schemas and items as JSON texts; null for a schema or value that is absent. */
export type ItemsGiven = {
  inputSchema: string | null;
  expectedOutputSchema: string | null;
  items: readonly { input: string | null; output: string | null }[];
};

export type CheckedItems = {
  ok: true;
  /** Problems of the schemas themselves; if there are any, no item is checked. */
  ofSchemas: FieldProblem[];
  /** Items that do not fit the schemas, each with its position and its problems. */
  ofItems: { index: number; fields: FieldProblem[] }[];
};

/** Maximum numbers: of compiled schemas that a process caches, and of items and problems that it reports. */
const mostReady = 50;
const mostItems = 10;
const mostProblems = 20;

const problemsOf = (field: string, read: SchemaDocument | null): FieldProblem[] =>
  read === null || read.ok
    ? []
    : read.problems.slice(0, mostProblems).map(({ pointer, message, hint }) => ({
        path: [field, ...parsePointer(pointer)],
        message: hint === undefined ? message : `${message}; ${hint}`,
      }));

const holdTo = (
  read: SchemaDocument | null,
  field: string,
  json: string | null,
): FieldProblem[] => {
  if (read === null || !read.ok) return [];
  const problems = read.check(json === null ? null : JSON.parse(json));
  return problems.map(({ pointer, detail }) => ({
    path: [field, ...parsePointer(pointer)],
    message: detail,
  }));
};

/** Creates the check. It caches compiled schemas. */
export const createItemCheck = (): ((given: ItemsGiven) => CheckedItems) => {
  const ready = new LRUCache<string, SchemaDocument>({ max: mostReady });
  const readyFor = (json: string | null): SchemaDocument | null => {
    if (json === null) return null;
    const read = ready.get(json) ?? readSchemaDocument(JSON.parse(json));
    ready.set(json, read);
    return read;
  };
  return ({ inputSchema, expectedOutputSchema, items }) => {
    const input = readyFor(inputSchema);
    const expected = readyFor(expectedOutputSchema);
    const ofSchemas = [
      ...problemsOf('inputSchema', input),
      ...problemsOf('expectedOutputSchema', expected),
    ];
    const ofItems: CheckedItems['ofItems'] = [];
    for (const [index, item] of ofSchemas.length > 0 ? [] : items.entries()) {
      const fields = [
        ...holdTo(input, 'input', item.input),
        // The expected output of an item is optional.
        ...(item.output === null ? [] : holdTo(expected, 'expectedOutput', item.output)),
      ];
      if (fields.length > 0) ofItems.push({ index, fields: fields.slice(0, mostProblems) });
      if (ofItems.length === mostItems) break;
    }
    return { ok: true, ofSchemas, ofItems };
  };
};
