/** Calls of a session as tools of the MCP server: one tool for each kind of call, with the input of that kind. */
import { redactModes } from '#domain/batch.ts';
import type { CallState } from '#domain/call.ts';
import { limits } from '#domain/limits.ts';
import { seedModes } from '#language/task.ts';
import type { ToolShape } from '../../operation.ts';
import { JsonObject, oneOf } from '../../schemas.ts';
import { Type } from '../../type.ts';

const nothing = Type.Object({}, { additionalProperties: false });

/** Default wait of a tool for the answer, in seconds. */
const wait = 30;

const SeedInput = Type.Object(
  {
    rows: Type.Record(Type.String(), Type.Array(Type.Unknown(), { maxItems: limits.seedRows }), {
      maxProperties: limits.members,
      description: 'rows to add, by entity',
    }),
    mode: Type.Optional(
      oneOf(
        seedModes,
        '`append` (the default) adds the rows to the existing ones; `merge` changes fields of rows with the same primary key; `replace` first removes all rows of the named entities',
      ),
    ),
    redact: Type.Optional(
      oneOf(redactModes, "how the world's `[redact]` policy is applied to the rows; default off"),
    ),
  },
  { additionalProperties: false },
);

const StateInput = Type.Object(
  {
    entity: Type.Optional(
      Type.String({
        description: 'entity whose rows are returned; absent: the number of rows of each entity',
      }),
    ),
    where: Type.Optional(JsonObject),
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: limits.statePageRows })),
    offset: Type.Optional(Type.Integer({ minimum: 0 })),
  },
  { additionalProperties: false },
);

const AnswerInput = Type.Object(
  { answer: Type.Unknown({ description: 'any JSON' }) },
  { additionalProperties: false },
);

/** States of a call that ended without an output. A queued or running call has none of them. */
const failedStates: readonly CallState[] = ['failed', 'lost', 'cancelled'];

const kinds: readonly ToolShape[] = [
  {
    name: 'call_world_session_tool',
    description: 'Call a tool of a session, by its `name` and with its `input`',
    wait,
    call: { kind: 'tool' },
  },
  {
    name: 'seed_world_session',
    description: 'Put rows into a session; if a row is invalid, none is written',
    wait,
    call: { kind: 'seed', input: SeedInput },
  },
  {
    name: 'reset_world_session',
    description: 'Reset a session to the initial state of its task',
    wait,
    call: { kind: 'reset', input: nothing },
  },
  {
    name: 'grade_world_session',
    description: 'Grade a session by the checks of its task; returns each check and what it found',
    wait,
    call: { kind: 'grade', input: nothing },
  },
  {
    name: 'get_world_session_state',
    description: 'The number of rows of each entity in a session, or the rows of one entity',
    wait,
    call: { kind: 'state', input: StateInput },
  },
  {
    name: 'answer_world_session',
    description: "Answer the question of a session's task; a later answer replaces an earlier one",
    wait,
    call: { kind: 'answer', input: AnswerInput },
  },
];

export const callTools: readonly ToolShape[] = kinds.map((tool) => ({
  ...tool,
  failed: { member: 'state', values: failedStates },
}));
