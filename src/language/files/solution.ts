/**
 * `[[solution.steps]]` and `[[alternatives]]` of `scenario.toml`. What they mean is said in `solution.ts` of the
 * language.
 */
import type { Row } from '../contract.ts';
import {
  anything,
  filledText,
  type Kind,
  kind,
  listOf,
  mapOf,
  oneOf,
  refuseType,
  refuseValue,
  text,
} from '../read/kinds.ts';
import { described, optional, readTable, required, tableOf } from '../read/table.ts';
import { isTable } from '../read/values.ts';
import {
  type RequestStep,
  type Solution,
  type Step,
  solutionLimits,
  stepMethods,
} from '../solution.ts';

const table = kind<Row>({ type: 'object' }, (place, value) =>
  isTable(value) ? (value as Row) : refuseType(place, 'a table', value),
);

const requestKeys = {
  method: described(
    'The method.',
    required<(typeof stepMethods)[number]>(oneOf(stepMethods), 'GET'),
  ),
  path: described(
    'The path of a route with its query; {steps[0].output.id} stands for what an earlier step answered.',
    required(filledText(2_000), '/'),
  ),
  headers: described('Headers beside the credential.', optional(mapOf(text))),
  body: described('The body, sent as JSON.', optional<unknown>(anything)),
};

const stepKeys = {
  tool: described('The tool that is called.', optional(filledText())),
  input: described('What the tool is given.', optional(table)),
  request: described('A request to the API of the world.', optional(tableOf(requestKeys))),
  answer: described('The answer that is given.', optional<unknown>(anything)),
};

const stepSchema = { ...tableOf(stepKeys).schema, maxProperties: 2 };

const toRequest = ({
  headers,
  body,
  ...request
}: NonNullable<ReturnType<ReturnType<typeof tableOf<typeof requestKeys>>>>): RequestStep => ({
  ...request,
  ...(headers === undefined ? {} : { headers: Object.fromEntries(headers) }),
  ...(body === undefined ? {} : { body }),
});

const step: Kind<Step> = kind(stepSchema, (place, value) => {
  const { tool, input, request, answer } = readTable(place, value, stepKeys);
  const kinds = [tool, request, answer].filter((given) => given !== undefined);
  if (kinds.length !== 1 || (input !== undefined && tool === undefined)) {
    return refuseValue(place, 'a step has one of tool (with its input), request and answer');
  }
  if (tool !== undefined) return input === undefined ? { tool } : { tool, input };
  return request === undefined ? { answer } : { request: toRequest(request) };
});

const solutionKeys = {
  steps: described(
    'What is done, in order.',
    required<Step[]>(listOf(step, { most: solutionLimits.steps }), []),
  ),
};

export const solution: Kind<Solution> = tableOf(solutionKeys);

export const alternatives: Kind<Solution[]> = listOf(solution, {
  most: solutionLimits.alternatives,
});
