/** Checks what requests bring to handlers against the schemas that their routes declare. */
import type { ApiContract, Contract, JsonSchema } from '../contract.ts';
import { andKept } from './kept-values.ts';
import { type RowProblem, toRowProblems } from './row-checker.ts';
import { createShapes } from './shapes.ts';

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
