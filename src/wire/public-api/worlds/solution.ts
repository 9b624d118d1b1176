/** Schema of a task's solution, for proofs; `language/solution.ts` defines its meaning. */
import { limits } from '#domain/limits.ts';
import { scriptLanguages, solutionLimits, stepMethods } from '#language/solution.ts';
import { JsonObject, oneOf } from '../../schemas.ts';
import { type Static, Type } from '../../type.ts';

const strict = { additionalProperties: false } as const;

const Step = Type.Union(
  [
    Type.Object(
      {
        tool: Type.String({ minLength: 1, maxLength: limits.nameChars }),
        input: Type.Optional(JsonObject),
      },
      strict,
    ),
    Type.Object(
      {
        request: Type.Object(
          {
            method: oneOf(stepMethods),
            path: Type.String({
              minLength: 1,
              maxLength: 2_000,
              description:
                'the path of a route with its query; `{steps[0].output.id}` is replaced by that value from the output of an earlier step',
            }),
            headers: Type.Optional(
              Type.Record(Type.String(), Type.String({ maxLength: 2_000 }), { maxProperties: 50 }),
            ),
            body: Type.Optional(Type.Unknown({ description: 'body of the request, sent as JSON' })),
            auth: Type.Optional(
              Type.Boolean({
                description: "whether to send the session's token; default true",
              }),
            ),
          },
          strict,
        ),
      },
      strict,
    ),
    Type.Object({ answer: Type.Unknown() }, strict),
  ],
  {
    description:
      'a call of a tool, a request to the world’s API, or the answer to the task’s question; `{"$ref": "steps[0].output.id"}` is replaced by that value from the output of an earlier step',
  },
);

const Script = Type.Object(
  {
    language: oneOf(scriptLanguages),
    source: Type.String({
      minLength: 1,
      maxLength: solutionLimits.scriptChars,
      description:
        'a module with a function `solve` without parameters, which acts through `world` from `svc_env.testing`',
    }),
  },
  strict,
);

export const SolutionSpec = Type.Union([
  Type.Object({ steps: Type.Array(Step, { maxItems: solutionLimits.steps }) }, strict),
  Type.Object({ script: Script }, strict),
]);
export type SolutionSpec = Static<typeof SolutionSpec>;
