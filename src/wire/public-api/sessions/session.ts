/** Request and answer schemas of sessions. */

import { verdicts } from '#domain/grade.ts';
import { limits } from '#domain/limits.ts';
import { isolations, namePattern } from '#domain/pool.ts';
import {
  browserStates,
  browserTiers,
  endReasons,
  sessionRunKinds,
  sessionStates,
  surfaceKinds,
  taskForms,
} from '#domain/session.ts';
import { clockModes } from '#domain/world-clock.ts';
import { Id, JsonObject, nullable, Omitted, oneOf, Timestamp } from '../../schemas.ts';
import { type Static, Type } from '../../type.ts';
import { RunOfSession } from '../evaluation/release.ts';
import { TaskSpec } from '../worlds/task-spec.ts';

const SurfacesView = Type.Object({
  api: Type.Optional(
    Type.Object({
      url: Type.String({ description: 'base address of the vendor API' }),
      token: Type.Optional(
        Type.String({
          description: 'bearer token of this session; returned only to callers with the secret key',
        }),
      ),
    }),
  ),
  mcp: Type.Optional(
    Type.Object({
      url: Type.String({
        description:
          "URL of the session's MCP server, which serves the task's tools by Streamable HTTP",
      }),
      token: Type.Optional(
        Type.String({
          description: 'bearer token of this session; returned only to callers with the secret key',
        }),
      ),
    }),
  ),
  ui: Type.Optional(
    Type.Object({
      url: Type.String({
        description: "origin of the world's page, which people open with a one-time link",
      }),
    }),
  ),
  browser: Type.Optional(
    Type.Object({
      url: Type.Optional(
        Type.String({
          description: 'URL of the live view, which people open with a one-time link',
        }),
      ),
      cdpUrl: Type.Optional(
        Type.String({
          description: 'URL of DevTools, for `connectOverCDP`, with the token as bearer',
        }),
      ),
      tier: oneOf(browserTiers),
      state: oneOf(
        browserStates,
        'waiting: the session waits for its first or for another browser; the addresses are known once the browser is ready, or at once behind a gateway',
      ),
      token: Type.Optional(
        Type.String({
          description: 'bearer token of DevTools; returned only to callers with the secret key',
        }),
      ),
    }),
  ),
});

export const ToolView = Type.Object({
  name: Type.String(),
  description: Type.Optional(Type.String()),
  inputSchema: JsonObject,
  outputSchema: Type.Unknown(),
});

/** Clock of a session's world. */
export const SessionClock = Type.Object({
  at: nullable(
    Type.String({
      format: 'date-time',
      description:
        'time at which the clock starts; null: the machine’s time when the host loads the world',
    }),
  ),
  mode: oneOf(clockModes),
  rate: Type.Number({
    description:
      'real: number of seconds that pass in the world for each real second; stepped: seconds of each step',
  }),
});

export const SessionView = Type.Object({
  id: Type.String(),
  slug: Type.String(),
  versionId: Type.String(),
  state: oneOf(sessionStates),
  ready: Type.Boolean(),
  endReason: nullable(oneOf(endReasons)),
  error: nullable(Type.Object({ code: Type.String(), message: Type.String() })),
  instruction: nullable(Type.String()),
  tools: Type.Array(ToolView),
  surfaces: SurfacesView,
  task: nullable(
    Type.Object({
      form: oneOf(taskForms),
      name: nullable(Type.String()),
      contentHash: Type.String(),
      id: nullable(Type.String()),
      version: nullable(Type.Integer()),
    }),
  ),
  run: nullable(
    Type.Object(
      {
        kind: oneOf(
          sessionRunKinds,
          'kind of the run: world: a test run or the proof of a task; agent: an agent run, which has the id that the client gave',
        ),
        id: Type.String(),
      },
      { description: 'run for which the session was opened' },
    ),
  ),
  build: nullable(
    Type.Object(
      {
        id: Type.String(),
        agentId: Type.String(),
        buildHash: Type.String(),
        version: nullable(Type.String()),
      },
      { description: 'the build of the agent that the session is a rollout of' },
    ),
  ),
  verdict: nullable(
    oneOf(verdicts, "verdict of the session's last grade; null: the session was not graded"),
  ),
  score: nullable(
    Type.Number({
      description: "score of the session's last grade, from 0 to 1; null if the verdict is unknown",
    }),
  ),
  pinned: Type.Boolean(),
  browserTier: oneOf(browserTiers),
  size: Type.String({ description: "size of the session's host" }),
  isolation: nullable(oneOf(isolations, "isolation that the session's host must have; null: any")),
  clock: SessionClock,
  seed: nullable(
    Type.Integer({ description: 'seed from which new ids are derived; null: new ids are random' }),
  ),
  hostReused: Type.Boolean({
    description: 'whether the host had already loaded this world version',
  }),
  traceId: nullable(
    Type.String({ description: 'the trace that records the session; null: no trace does' }),
  ),
  traceSessionId: nullable(
    Type.String({ description: 'the trace session that this trace belongs to' }),
  ),
  createdAt: Timestamp,
  assignedAt: nullable(Timestamp),
  readyAt: nullable(Timestamp),
  closedAt: nullable(Timestamp),
  lastActivityAt: Timestamp,
});
export type SessionView = Static<typeof SessionView>;

/**
 * A session as lists return it. `fields` requests `tools` and `instruction`; they are included as far as the page has
 * space.
 */
export const SessionListView = Type.Object({
  ...SessionView.properties,
  tools: Type.Optional(SessionView.properties.tools),
  instruction: Type.Optional(SessionView.properties.instruction),
  omitted: Omitted,
});
export type SessionListView = Static<typeof SessionListView>;

export const OpenSessionBody = Type.Object(
  {
    slug: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 140,
        description:
          'slug of the world, for its head version; `<slug>@<version>` for another version',
      }),
    ),
    versionId: Type.Optional(Type.String({ minLength: 1, maxLength: 64 })),
    task: Type.Optional(
      Type.Union([
        Type.String({ minLength: 1, maxLength: 200 }),
        Type.Object(
          { id: Id, version: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000_000 })) },
          { additionalProperties: false },
        ),
        TaskSpec,
      ]),
    ),
    surfaces: Type.Optional(Type.Array(oneOf(surfaceKinds), { maxItems: 3, uniqueItems: true })),
    reuseWarm: Type.Optional(Type.Boolean()),
    browserTier: Type.Optional(oneOf(browserTiers)),
    browserRecording: Type.Optional(
      Type.Boolean({
        description: "whether to record the session's browser as a video",
      }),
    ),
    size: Type.Optional(
      Type.String({
        maxLength: limits.idChars,
        pattern: namePattern.source,
        description: "size of the session's host, by its name in the pools file; default standard",
      }),
    ),
    isolation: Type.Optional(
      oneOf(isolations, "isolation that the session's host must have; absent: any"),
    ),
    clock: Type.Optional(
      Type.Object(
        {
          at: Type.Optional(
            Type.String({
              maxLength: 64,
              description:
                'time at which the clock starts: an ISO 8601 date and time with its zone, or a date',
            }),
          ),
          mode: Type.Optional(
            oneOf(
              clockModes,
              'real (the default): the clock runs; frozen: it stands still; stepped: it advances with each call and request',
            ),
          ),
          rate: Type.Optional(
            Type.Number({
              description:
                'above 0; real: number of seconds that pass in the world for each real second; stepped: seconds of each step; default 1',
            }),
          ),
        },
        { additionalProperties: false },
      ),
    ),
    seed: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: Number.MAX_SAFE_INTEGER,
        description:
          'seed from which new ids are derived: the same seed and the same calls give the same ids',
      }),
    ),
    run: Type.Optional(RunOfSession),
    traceSessionId: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 800,
        description:
          "id of the trace session that groups this session's trace with others; default: the id of this session",
      }),
    ),
  },
  { additionalProperties: false },
);
export type OpenSessionBody = Static<typeof OpenSessionBody>;
