/** Checks an OpenAPI document against the specification, with the linter that its readers use. */
import { createConfig, lintFromString } from '@redocly/openapi-core';

/** Rules of the specification itself; rules of style are left out. */
const rules = {
  'no-identical-paths': 'error',
  'no-invalid-media-type-examples': 'error',
  'no-invalid-parameter-examples': 'error',
  'no-invalid-schema-examples': 'error',
  'no-undefined-server-variable': 'error',
  'no-unresolved-refs': 'error',
  'operation-2xx-response': 'error',
  'operation-operationId-unique': 'error',
  'operation-parameters-unique': 'error',
  'path-declaration-must-exist': 'error',
  'path-not-include-query': 'error',
  'path-parameters-defined': 'error',
  'security-defined': 'error',
  'spec-components-invalid-map-name': 'error',
  struct: 'error',
} as const;

const config = createConfig({ rules });

/** Returns the faults of a document: rule, message and place of each. */
export const lintOpenApi = async (document: unknown): Promise<string[]> => {
  const problems = await lintFromString({
    source: JSON.stringify(document),
    absoluteRef: 'openapi.json',
    config: await config,
  });
  return problems.map(
    ({ ruleId, message, location }) => `${ruleId}: ${message} ${location[0]?.pointer ?? ''}`,
  );
};
