/**
 * The contract as hosts get it: without what only documents tell and what only captures are read by. The
 * schemas of what handlers answer are for `worlds/openapi.json`, which is made when a world is compiled, and the
 * vendor's operations are for answers that are made rows. With the definitions that nothing else refers
 * to they may be larger than all the rest, and every host would unpack them before it can serve.
 */
import type { Contract, JsonSchema, RouteContract } from '../contract.ts';
import { isTable, own } from '../read/values.ts';
import { subschemasOf } from '../schema/keywords.ts';
import { definitionName } from '../schema/work.ts';

/** Names of the definitions that schemas refer to, or that those refer to. */
const definitionsOf = (
  roots: readonly JsonSchema[],
  definitions: Contract['definitions'],
): ReadonlySet<string> => {
  const reached = new Set<string>();
  const left: unknown[] = [...roots];
  while (left.length > 0) {
    const schema = left.pop();
    if (!isTable(schema)) continue;
    const name = definitionName(schema.$ref);
    if (name !== undefined && !reached.has(name)) {
      reached.add(name);
      left.push(own(definitions, name));
    }
    for (const part of subschemasOf(schema)) left.push(part.schema);
  }
  return reached;
};

/** Schemas that values are held to while a world is served. */
const heldTo = ({ entities, tools, api }: Contract): JsonSchema[] => [
  ...entities.map(({ schema }) => schema),
  ...tools.flatMap(({ input, output }) => [input, output]),
  ...(api?.routes ?? []).flatMap(({ request }) => (request === undefined ? [] : [request])),
];

const hostedRoute = ({ response, ...route }: RouteContract): RouteContract => route;

/** The same contract for everyone who serves it or checks rows by it. */
export const hostedContract = (contract: Contract): Contract => {
  const reached = definitionsOf(heldTo(contract), contract.definitions);
  const kept = Object.entries(contract.definitions).filter(([name]) => reached.has(name));
  const { api, vendor } = contract;
  return {
    ...contract,
    definitions: Object.fromEntries(kept),
    vendor: vendor === null ? null : { ...vendor, operations: [] },
    api: api === null ? null : { ...api, routes: api.routes.map(hostedRoute) },
  };
};
