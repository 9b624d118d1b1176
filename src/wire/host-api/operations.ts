/**
 * Contract between a world host and the control plane. Base address: `{base_url}/api/host`, bearer: the host's own
 * token. Every message carries the host's generation. The control plane answers 409 to a stale one, and the host then
 * stops serving and exits.
 */

import { callKinds } from '#domain/call.ts';
import { limits } from '#domain/limits.ts';
import { linkScopes, surfaceKinds } from '#domain/session.ts';
import { getOperation, operation } from '../operation.ts';
import { CallErrorView, ChangeCountsView } from '../public-api/sessions/call.ts';
import { Bytes, DigestText, Id, nullable, oneOf } from '../schemas.ts';
import { type Static, Type } from '../type.ts';
import { Assignment, Holding, LoadDirective } from './assignment.ts';
import { BrowserAssignment } from './browser-operations.ts';
import { LostEntries } from './ledger.ts';

export {
  keepCheckpoint,
  keepRecording,
  pollBrowser,
  reportBrowserClosed,
  reportBrowserReady,
} from './browser-operations.ts';

const Generation = Type.Integer({ minimum: 0 });
const HostParams = Type.Object({ hostId: Id });
const SessionParams = Type.Object({ sessionId: Id });
/** Message of a host about a failure. */
const Message = Type.String({ maxLength: limits.messageChars });
const HoldSeconds = Type.Optional(
  Type.Number({
    minimum: 0,
    maximum: limits.pollMs / 1000,
    description: 'seconds for which to hold the request',
  }),
);
const Final = Type.Optional(
  Type.Boolean({
    description:
      'true if the host is stopping: the answer carries no call except one that the host was already given',
  }),
);

/** A call as its host receives it. */
export const HostCall = Type.Object({
  id: Type.String(),
  seq: Type.Integer(),
  kind: oneOf(callKinds),
  name: nullable(Type.String()),
  input: Type.Unknown(),
});
export type HostCall = Static<typeof HostCall>;

/** Directive to a host that serves a session: run a call, or stop serving. */
export const SessionDirective = Type.Object({
  call: Type.Optional(HostCall),
  close: Type.Optional(
    Type.Object({
      keepWarm: Type.Boolean(),
      together: Type.Optional(
        Type.Boolean({
          description:
            'whether the host may recycle itself first, and report that together with the end of its session',
        }),
      ),
    }),
  ),
});
export type SessionDirective = Static<typeof SessionDirective>;

/** Result of a call: exactly one of `output` and `error`. `error` means that the call changed nothing. */
export const CallAnswer = Type.Object({
  output: Type.Optional(Type.Unknown()),
  error: Type.Optional(CallErrorView),
  changes: ChangeCountsView,
});
export type CallAnswer = Static<typeof CallAnswer>;

/**
 * Directive to a warm host. For a host of the kind `browser`, the member `browser` is the session whose browser the
 * host becomes.
 */
const hostDirective = {
  assignment: Type.Optional(Assignment),
  browser: Type.Optional(BrowserAssignment),
  load: Type.Optional(LoadDirective),
  drain: Type.Optional(Type.Boolean()),
};
const HostDirective = Type.Object(hostDirective);
export type HostDirective = Static<typeof HostDirective>;

const Found = Type.Array(Type.String({ maxLength: 200 }), {
  maxItems: 20,
  description:
    'leftovers of the previous session besides rows, which a recycled host found; empty if there are none',
});

export const reportWarm = operation({
  id: 'reportWarm',
  summary:
    'The host has started, loaded a version, or been recycled, and can take a session; the answer may be held like that of a poll',
  method: 'POST',
  path: '/hosts/{hostId}/warm',
  access: 'host',
  params: HostParams,
  body: Type.Object({
    generation: Generation,
    address: Type.Optional(
      Type.String({
        maxLength: 64,
        description:
          "base address of the host's API server, if the host itself knows it: sent with the first report, and constant from then on",
      }),
    ),
    holding: Type.Optional(Holding),
    hold: HoldSeconds,
    found: Type.Optional(Found),
    renews: Type.Optional(
      Type.Boolean({
        description:
          'with the first report: the host asks for a token in place of that of its launch, which becomes invalid once the new one is used',
      }),
    ),
  }),
  answers: {
    200: Type.Object({
      state: Type.String(),
      token: Type.Optional(
        Type.String({ description: 'bearer token that the host must use from now on' }),
      ),
      ...hostDirective,
    }),
  },
});

export const pollHost = operation({
  id: 'pollHost',
  summary: 'Long poll of a warm host for its assignment, or for a version to load',
  method: 'POST',
  path: '/hosts/{hostId}/poll',
  access: 'host',
  params: HostParams,
  body: Type.Object({ generation: Generation, hold: HoldSeconds }),
  answers: {
    200: HostDirective,
  },
});

export const reportUnloaded = operation({
  id: 'reportUnloaded',
  summary: 'The host cannot load the version that it was to preload; the host will be destroyed',
  method: 'POST',
  path: '/hosts/{hostId}/unloaded',
  access: 'host',
  params: HostParams,
  body: Type.Object({ generation: Generation, message: Message }),
  answers: { 200: Type.Object({}) },
});

export const heartbeat = operation({
  id: 'heartbeat',
  summary: 'Heartbeat, with the time since the last use of the API surface',
  method: 'POST',
  path: '/hosts/{hostId}/heartbeat',
  access: 'host',
  params: HostParams,
  body: Type.Object({
    generation: Generation,
    idleMs: Type.Optional(
      Type.Number({
        minimum: 0,
        description: 'milliseconds since the last API request of the session',
      }),
    ),
    rssBytes: Type.Integer({ minimum: 0 }),
  }),
  answers: {
    200: Type.Object({
      drain: Type.Boolean(),
      address: Type.Optional(
        Type.String({
          description:
            'current address of the API surface of its session for clients, as in its assignment',
        }),
      ),
    }),
  },
});

export const reportLeaving = operation({
  id: 'reportLeaving',
  summary: "The host's machine is shutting down; the host no longer serves anything, and exits",
  method: 'POST',
  path: '/hosts/{hostId}/leaving',
  access: 'host',
  params: HostParams,
  body: Type.Object({
    generation: Type.Integer({
      minimum: 0,
      description: 'last generation that the host knew; it may have missed its last assignment',
    }),
  }),
  answers: { 200: Type.Object({}) },
});

export const reportReady = operation({
  id: 'reportReady',
  summary:
    'The session is loaded, seeded and served; the answer may be held to bring the first call',
  method: 'POST',
  path: '/world-sessions/{sessionId}/ready',
  access: 'host',
  params: SessionParams,
  body: Type.Object({
    generation: Generation,
    holding: Holding,
    recycles: Type.Optional(
      Type.Boolean({
        description:
          'false: the host cannot prove that it is clean after this session, so it must not serve another',
      }),
    ),
    hold: HoldSeconds,
    steps: Type.Optional(
      Type.Array(
        Type.Object({
          name: Type.String({ maxLength: 64 }),
          agoMs: Type.Number({
            minimum: 0,
            description: 'time since the step ended, in milliseconds',
          }),
          tookMs: Type.Number({ minimum: 0 }),
        }),
        { maxItems: 20, description: 'steps of the load, for the trace of the session' },
      ),
    ),
  }),
  answers: { 200: SessionDirective },
});

export const consumeEntry = operation({
  id: 'consumeEntry',
  summary: 'Consume a one-time link that was opened directly at the host',
  method: 'POST',
  path: '/world-sessions/{sessionId}/entries',
  access: 'host',
  params: SessionParams,
  body: Type.Object({
    generation: Generation,
    surface: oneOf(surfaceKinds),
    token: Type.String({ minLength: 1, maxLength: 200 }),
  }),
  answers: {
    200: Type.Object({
      accepted: Type.Boolean({
        description: 'false: the link was used already, has expired, or does not exist',
      }),
      opens: Type.Optional(oneOf(linkScopes)),
    }),
  },
});

export const reportFailed = operation({
  id: 'reportFailed',
  summary: 'The session cannot be loaded; the host will be destroyed',
  method: 'POST',
  path: '/world-sessions/{sessionId}/failed',
  access: 'host',
  params: SessionParams,
  body: Type.Object({
    generation: Generation,
    code: Type.String({ maxLength: limits.nameChars }),
    message: Message,
  }),
  answers: { 200: Type.Object({}) },
});

export const pollCalls = getOperation({
  id: 'pollCalls',
  summary: 'Long poll for the next call of the session; an unanswered call is returned again',
  path: '/world-sessions/{sessionId}/calls',
  access: 'host',
  params: SessionParams,
  query: Type.Object({ generation: Generation, hold: HoldSeconds, final: Final }),
  answer: SessionDirective,
});

export const answerCall = operation({
  id: 'answerCall',
  summary: 'Answer a call; the reply may be held until it can bring the next call',
  method: 'POST',
  path: '/world-sessions/{sessionId}/calls/{callId}/answer',
  access: 'host',
  params: Type.Object({ sessionId: Id, callId: Id }),
  body: Type.Object({
    generation: Generation,
    answer: CallAnswer,
    hold: HoldSeconds,
    final: Final,
  }),
  bodyBytes: limits.callOutputBytes + 64 * 1024,
  answers: { 200: SessionDirective },
});

const LedgerEntries = Type.Array(
  Type.String({
    maxLength: limits.ledgerEntryChars,
    description: 'a `LedgerEntry` as JSON text',
  }),
  { minItems: 1, maxItems: limits.ledgerBatchEntries },
);

export const deliverRequests = operation({
  id: 'deliverRequests',
  summary:
    'Entries of the session’s request ledger, oldest first; also after the session has ended',
  method: 'POST',
  path: '/world-sessions/{sessionId}/requests',
  access: 'host',
  params: SessionParams,
  body: Type.Object({
    generation: Generation,
    entries: LedgerEntries,
  }),
  bodyBytes: limits.ledgerBatchBytes,
  answers: { 200: Type.Object({}) },
});

export const reportClosed = operation({
  id: 'reportClosed',
  summary:
    'The host no longer serves the session and will recycle itself or exit; after recycling itself, it may let the answer be held like that of a poll',
  method: 'POST',
  path: '/world-sessions/{sessionId}/closed',
  access: 'host',
  params: SessionParams,
  body: Type.Object({
    generation: Generation,
    entries: Type.Optional(LedgerEntries),
    lost: Type.Optional(LostEntries),
    recycled: Type.Optional(Type.Object({ holding: Holding, found: Found })),
    hold: HoldSeconds,
  }),
  answers: {
    200: Type.Object({
      generation: Generation,
      next: oneOf(['recycle', 'exit', 'warm']),
      taken: Type.Optional(
        Type.Boolean({
          description:
            'true if the entries were stored; otherwise the host must deliver them again',
        }),
      ),
      ...hostDirective,
    }),
  },
});

export const getBlob = getOperation({
  id: 'getBlob',
  summary:
    "The bytes of a bundle, a snapshot or a file of the page that is part of the host's assignment",
  path: '/blobs/{digest}',
  access: 'host',
  params: Type.Object({ digest: DigestText }),
  answer: Bytes,
});
