/**
 * Items of a dataset, held to the schemas that a stranger gave it. It runs in a compile process: both the schemas and
 * the values are strangers', and may take long.
 */
import { LRUCache } from 'lru-cache';
import type { FieldProblem } from '#domain/error.ts';
import { parsePointer } from '#domain/json.ts';
import { readSchemaDocument, type SchemaDocument } from '#language/schema/document.ts';

/** JSON texts; a schema or a value that there is not is null. */
export type ItemsGiven = {
  inputSchema: string | null;
  expectedOutputSchema: string | null;
  items: readonly { input: string | null; output: string | null }[];
};

export type CheckedItems = {
  ok: true;
  /** What is wrong with the schemas themselves; then no item was looked at. */
  ofSchemas: FieldProblem[];
  /** The items that do not fit, by their place, each with what is wrong in it. */
  ofItems: { index: number; fields: FieldProblem[] }[];
};

/** Schemas that a process keeps ready, and items and problems of them that are told. */
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

/** Makes what checks items; it keeps schemas ready that come again. */
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
        // An item may have no expected output.
        ...(item.output === null ? [] : holdTo(expected, 'expectedOutput', item.output)),
      ];
      if (fields.length > 0) ofItems.push({ index, fields: fields.slice(0, mostProblems) });
      if (ofItems.length === mostItems) break;
    }
    return { ok: true, ofSchemas, ofItems };
  };
};
