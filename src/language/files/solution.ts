/**
 * Reads `[solution]` and `[[alternatives]]` of `scenario.toml`: steps, or the name of a script in the same folder.
 * `language/solution.ts` defines their meaning.
 */
import type { Row } from '../contract.ts';
import {
  anything,
  filledText,
  flag,
  type Kind,
  kind,
  listOf,
  mapOf,
  oneOf,
  refuseType,
  refuseValue,
  text,
  textThat,
} from '../read/kinds.ts';
import { described, optional, readTable, required, tableOf } from '../read/table.ts';
import { isTable } from '../read/values.ts';
import {
  type RequestStep,
  type Step,
  scriptLanguage,
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
    'The path of a route with its query; {steps[0].output.id} is replaced by a value from the answer of an earlier step.',
    required(filledText(2_000), '/'),
  ),
  headers: described(
    'Headers in addition to the credential, or in place of it.',
    optional(mapOf(text)),
  ),
  body: described(
    'The body, which is sent as JSON. If the header content-type is not JSON and the body is a text, the text is sent unchanged.',
    optional<unknown>(anything),
  ),
  auth: described("Whether to send the session's token. Default: true.", optional<boolean>(flag)),
};

const stepKeys = {
  tool: described('The tool that is called.', optional(filledText())),
  input: described('Input of the tool.', optional(table)),
  request: described('A request to the API of the world.', optional(tableOf(requestKeys))),
  answer: described('The answer of the agent.', optional<unknown>(anything)),
};

const stepSchema = { ...tableOf(stepKeys).schema, maxProperties: 2 };

const toRequest = ({
  headers,
  body,
  auth,
  ...request
}: NonNullable<ReturnType<ReturnType<typeof tableOf<typeof requestKeys>>>>): RequestStep => ({
  ...request,
  ...(headers === undefined ? {} : { headers: Object.fromEntries(headers) }),
  ...(body === undefined ? {} : { body }),
  ...(auth === undefined ? {} : { auth }),
});

const step: Kind<Step> = kind(stepSchema, (place, value) => {
  const { tool, input, request, answer } = readTable(place, value, stepKeys);
  const kinds = [tool, request, answer].filter((given) => given !== undefined);
  if (kinds.length !== 1 || (input !== undefined && tool === undefined)) {
    return refuseValue(
      place,
      'a step must have exactly one of tool (with its input), request and answer',
    );
  }
  if (tool !== undefined) return input === undefined ? { tool } : { tool, input };
  return request === undefined ? { answer } : { request: toRequest(request) };
});

/** A solution as written in the file. Its script is the name of a file in the scenario's folder. */
export type WrittenSolution = { steps: Step[] } | { script: string };

const scriptFile = textThat(
  'the name of a .py or .ts file in the folder of the scenario',
  (file) => /^\w[\w.-]*$/.test(file) && scriptLanguage(file) !== undefined,
);

const solutionKeys = {
  steps: described(
    'Steps of the solution, in order.',
    optional<Step[]>(listOf(step, { most: solutionLimits.steps })),
  ),
  script: described(
    'In place of steps: a .py or .ts file in the folder of the scenario, whose function solve performs the solution.',
    optional<string>(scriptFile),
  ),
};

const solutionSchema = {
  ...tableOf(solutionKeys).schema,
  oneOf: [{ required: ['steps'] }, { required: ['script'] }],
};

export const solution: Kind<WrittenSolution> = kind(solutionSchema, (place, value) => {
  const { steps = [], script } = readTable(place, value, solutionKeys);
  if (isTable(value) && 'steps' in value === 'script' in value) {
    refuseValue(place, 'a solution must have either steps or a script');
  }
  return script === undefined ? { steps } : { script };
});

export const alternatives: Kind<WrittenSolution[]> = listOf(solution, {
  most: solutionLimits.alternatives,
});
