/**
 * Checks values against the schemas of a compiled contract: rows of its entities, what goes into tools
 * and comes out of them, and what requests bring to handlers. Keys and references between rows are left
 * to the store, and to `check/integrity.ts` for rows that are part of a tree.
 */
import { parsePointer } from '#domain/json.ts';
import type { ApiContract, Contract, JsonSchema } from '../contract.ts';
import { suggestName } from '../read/suggest.ts';
import { andKept, andTextsKept } from './kept-values.ts';
import { type CheckValue, createShapes } from './shapes.ts';
import type { ValueProblem } from './value-problem.ts';

/**
 * What is wrong with a value of a row. `field` is the top-level field at fault, '' for the row as a
 * whole; `pointer` leads to the value, or to where a missing one belongs; `detail` follows both in a
 * sentence, for example `must be string, is number 5`.
 */
export type RowProblem = { field: string; pointer: string; detail: string };

export type RowChecker = {
  /** Everything wrong with a row of an entity, at most 20 problems; empty when it fits. */
  check(entity: string, row: unknown): RowProblem[];
};

/** Adds the top-level field to problems found by a schema. */
export const toRowProblems = (problems: readonly ValueProblem[]): RowProblem[] =>
  problems.map(({ pointer, detail }) => ({
    field: parsePointer(pointer)[0] ?? '',
    pointer,
    detail,
  }));

const createChecker = (
  { definitions, entities }: Pick<Contract, 'definitions' | 'entities'>,
  asks: (check: CheckValue) => CheckValue,
): RowChecker => {
  const schemas = new Map(entities.map(({ name, schema }) => [name, schema]));
  const shapes = createShapes(definitions, schemas);
  const checks = new Map([...shapes].map(([name, check]) => [name, asks(check)]));
  return {
    check(entity, row) {
      const check = checks.get(entity);
      if (check !== undefined) return toRowProblems(check(row));
      const hint = suggestName(entity, schemas.keys());
      const detail = `the world has no entity "${entity}"${hint === undefined ? '' : `; ${hint}`}`;
      return [{ field: '', pointer: '', detail }];
    },
  };
};

/**
 * A checker for all entities of a contract; each schema is compiled when it is first needed. Numbers
 * and texts that are not kept as they came are refused, too.
 */
export const createRowChecker = (
  contract: Pick<Contract, 'definitions' | 'entities'>,
): RowChecker => createChecker(contract, andKept);

/** The same by the shapes alone. */
export const createShapeChecker = (
  contract: Pick<Contract, 'definitions' | 'entities'>,
): RowChecker => createChecker(contract, (check) => check);

/** A checker for rows of files, whose numbers are looked at while they are read. */
export type FileRowChecker = {
  /** As that of a `RowChecker`; `hasEscapes` is whether the file's text `escapesSurrogates`. */
  check(entity: string, row: unknown, hasEscapes: boolean): RowProblem[];
};

/** Makes it. Texts are looked through only where the file could hold one that is not kept: hardly any does. */
export const createFileRowChecker = (
  contract: Pick<Contract, 'definitions' | 'entities'>,
): FileRowChecker => {
  const plain = createShapeChecker(contract);
  let careful: RowChecker | undefined;
  return {
    check(entity, row, hasEscapes) {
      if (!hasEscapes) return plain.check(entity, row);
      careful ??= createChecker(contract, andTextsKept);
      return careful.check(entity, row);
    },
  };
};

export type ToolChecker = {
  /** Everything wrong with a tool's input, at most 20 problems; empty when it fits. */
  input(tool: string, value: unknown): RowProblem[];
  /** The same for what the tool returned. */
  output(tool: string, value: unknown): RowProblem[];
};

/** A checker for all tools of a contract; each schema is compiled when it is first needed. */
export const createToolChecker = (
  contract: Pick<Contract, 'definitions' | 'tools'>,
): ToolChecker => {
  const createSide = (side: 'input' | 'output'): ToolChecker['input'] => {
    const schemas = new Map<string, JsonSchema>(
      contract.tools.map((tool) => [tool.name, tool[side]]),
    );
    const shapes = createShapes(contract.definitions, schemas);
    return (tool, value) => {
      const checkShape = shapes.get(tool);
      if (checkShape !== undefined) return toRowProblems(andKept(checkShape)(value));
      const hint = suggestName(tool, schemas.keys());
      const detail = `the world has no tool "${tool}"${hint === undefined ? '' : `; ${hint}`}`;
      return [{ field: '', pointer: '', detail }];
    };
  };
  return { input: createSide('input'), output: createSide('output') };
};

export type RouteChecker = {
  /** Everything wrong with a body, at most 20 problems; empty when it fits, or nothing is declared. */
  request(operation: string, body: unknown): RowProblem[];
};

/** A checker for all routes of a contract; each schema is compiled when it is first needed. */
export const createRouteChecker = ({
  api,
  definitions,
}: Pick<Contract, 'definitions'> & { api: ApiContract }): RouteChecker => {
  const schemas = new Map(
    api.routes.flatMap(({ operation, request }): [string, JsonSchema][] =>
      request === undefined ? [] : [[operation, request]],
    ),
  );
  const shapes = createShapes(definitions, schemas);
  return {
    request(operation, body) {
      const check = shapes.get(operation);
      return check === undefined ? [] : toRowProblems(andKept(check)(body));
    },
  };
};
