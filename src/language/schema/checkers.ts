/**
 * Validates values against the schemas of a compiled contract: rows of its entities, inputs and outputs of tools, and
 * bodies of requests to handlers. Keys and references between rows are checked by the store, and by
 * `check/integrity.ts` for rows of a tree.
 */
import { parsePointer } from '#domain/json.ts';
import type { ApiContract, Contract, JsonSchema } from '../contract.ts';
import { suggestName } from '../read/suggest.ts';
import { andLossless, andTextsLossless } from './lossless-values.ts';
import { type CheckValue, createShapes } from './shapes.ts';
import type { ValueProblem } from './value-problem.ts';

/**
 * A problem of a value in a row. `field` is the top-level field at fault, '' for the row as a whole. `pointer` leads to
 * the value, or to the place where one is missing. `detail` continues a sentence that begins with either, for example
 * `must be string, is number 5`.
 */
export type RowProblem = { field: string; pointer: string; detail: string };

export type RowChecker = {
  /** Returns all problems of a row, at most 20; empty if the row is valid. */
  check(entity: string, row: unknown): RowProblem[];
};

/** Adds the top-level field at fault to problems of a schema. */
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
 * Creates a validator for all entities of a contract; each schema is compiled on first use. It also refuses numbers and
 * texts that the store would alter.
 */
export const createRowChecker = (
  contract: Pick<Contract, 'definitions' | 'entities'>,
): RowChecker => createChecker(contract, andLossless);

/**
 * Creates a validator for all entities of a contract that checks only their schemas. It accepts numbers and texts that
 * the store would alter.
 */
export const createShapeChecker = (
  contract: Pick<Contract, 'definitions' | 'entities'>,
): RowChecker => createChecker(contract, (check) => check);

/** Validator for rows of files, whose numbers were checked when the files were parsed. */
export type FileRowChecker = {
  /**
   * Returns the problems of a row, as a `RowChecker` does. `hasEscapes` is the result of `escapesSurrogates` for the
   * text of the file.
   */
  check(entity: string, row: unknown, hasEscapes: boolean): RowProblem[];
};

/**
 * Creates a validator for rows of files. Texts are searched for lone surrogates only if the file could contain one,
 * which is rare.
 */
export const createFileRowChecker = (
  contract: Pick<Contract, 'definitions' | 'entities'>,
): FileRowChecker => {
  const plain = createShapeChecker(contract);
  let careful: RowChecker | undefined;
  return {
    check(entity, row, hasEscapes) {
      if (!hasEscapes) return plain.check(entity, row);
      careful ??= createChecker(contract, andTextsLossless);
      return careful.check(entity, row);
    },
  };
};

export type ToolChecker = {
  /** Returns all problems of a tool's input, at most 20; empty if the input is valid. */
  input(tool: string, value: unknown): RowProblem[];
  /** Returns all problems of a tool's output, at most 20; empty if the output is valid. */
  output(tool: string, value: unknown): RowProblem[];
};

/** Creates a validator for all tools of a contract; each schema is compiled on first use. */
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
      if (checkShape !== undefined) return toRowProblems(andLossless(checkShape)(value));
      const hint = suggestName(tool, schemas.keys());
      const detail = `the world has no tool "${tool}"${hint === undefined ? '' : `; ${hint}`}`;
      return [{ field: '', pointer: '', detail }];
    };
  };
  return { input: createSide('input'), output: createSide('output') };
};

export type RouteChecker = {
  /** Returns all problems of a body, at most 20; empty if the body is valid, or if the route declares no schema. */
  request(operation: string, body: unknown): RowProblem[];
};

/** Creates a validator for all routes of a contract; each schema is compiled on first use. */
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
      return check === undefined ? [] : toRowProblems(andLossless(check)(body));
    },
  };
};
