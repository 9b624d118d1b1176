/**
 * Messages of a host of the kind `browser` to the control plane, beyond those of every host (`operations.ts`). A
 * browser host gets its session by the same poll and sends the same heartbeats.
 */
import { limits } from '#domain/limits.ts';
import { recordingLimits, recordingMarks } from '#domain/recording.ts';
import { browserTiers } from '#domain/session.ts';
import { getOperation, operation } from '../operation.ts';
import { Id, nullable, oneOf } from '../schemas.ts';
import { type Static, Type } from '../type.ts';

const Generation = Type.Integer({ minimum: 0 });
const SessionParams = Type.Object({ sessionId: Id });

/** A surface that the browser may reach. */
export const BrowserReach = Type.Object({
  origin: Type.String({ description: '`http(s)://host[:port]` of the surface, as pages see it' }),
  connectTo: Type.Optional(
    Type.Object(
      { host: Type.String(), port: Type.Integer({ minimum: 1, maximum: 65_535 }) },
      {
        description:
          'address to which the browser connects for this origin; if absent, that of the origin itself',
      },
    ),
  ),
});

/** Session for which a host becomes the browser. */
export const BrowserAssignment = Type.Object({
  sessionId: Type.String(),
  generation: Generation,
  tier: oneOf(browserTiers),
  token: Type.String({
    description:
      "bearer token of DevTools clients, which also signs the passes to the browser's listener; the next browser of the session has the same token",
  }),
  entry: Type.String({ description: 'page that the browser opens first' }),
  cookies: Type.Array(
    Type.Object({ url: Type.String(), name: Type.String(), value: Type.String() }),
    {
      description:
        'cookies that give the browser access to the page; they are session cookies, `HttpOnly`, `SameSite=Lax`',
    },
  ),
  reach: Type.Array(BrowserReach, {
    description: 'all origins that the browser may reach; that of the page is the first',
  }),
  link: Type.Object(
    { url: Type.String(), cookie: Type.String(), key: Type.String() },
    {
      description:
        "address and key of the browser's link to the world host of the session (`browser-link`)",
    },
  ),
  address: Type.Optional(
    Type.String({
      description:
        "address of the session's previous browser, if that ran on this machine; the browser also serves there if it can",
    }),
  ),
  lost: nullable(
    Type.String({
      description: "reason for the loss of the session's previous browser; null: this is the first",
    }),
  ),
  checkpoint: nullable(
    Type.String({
      description:
        'JSON text of the checkpoint that the browser resumes instead of opening the page',
    }),
  ),
  recording: Type.Optional(
    Type.Object(
      {
        next: Type.Integer({
          minimum: 0,
          description: 'number of the first part of the recording to send',
        }),
      },
      {
        description:
          'the browser is recorded; absent: the recording was not requested, or has reached its limit',
      },
    ),
  ),
});
export type BrowserAssignment = Static<typeof BrowserAssignment>;

export const reportBrowserReady = operation({
  id: 'reportBrowserReady',
  summary: 'The browser has opened its page or resumed its checkpoint, and accepts clients',
  method: 'POST',
  path: '/world-sessions/{sessionId}/browser/ready',
  access: 'host',
  params: SessionParams,
  body: Type.Object({
    generation: Generation,
    address: Type.Optional(
      Type.String({
        maxLength: limits.idChars,
        description:
          "second address that the browser serves: that of the session's previous browser",
      }),
    ),
  }),
  answers: { 200: Type.Object({}) },
});

export const keepCheckpoint = operation({
  id: 'keepBrowserCheckpoint',
  summary:
    'Store the checkpoint that the next browser of the session resumes; an older one is ignored',
  method: 'PUT',
  path: '/world-sessions/{sessionId}/browser/checkpoint',
  access: 'host',
  params: SessionParams,
  body: Type.Object({
    generation: Generation,
    sequence: Type.Integer({
      minimum: 0,
      maximum: 2 ** 31 - 1,
      description: 'number of the checkpoint, which grows with each',
    }),
    content: Type.String({ maxLength: limits.checkpointChars, description: 'JSON text' }),
  }),
  bodyBytes: limits.checkpointBytes,
  answers: { 200: Type.Object({}) },
});

/** A picture of a recording. */
export const RecordedPicture = Type.Object({
  afterMs: Type.Integer({
    minimum: 0,
    maximum: 32_767,
    description: "time since the start of the picture's part, in milliseconds",
  }),
  data: Type.String({
    maxLength: Math.ceil(recordingLimits.pictureBytes / 3) * 4,
    description: 'a key frame of VP8, in base64',
  }),
});
export type RecordedPicture = Static<typeof RecordedPicture>;

export const keepRecording = operation({
  id: 'keepRecordingPart',
  summary:
    "Store the next part of the browser's recording; a part that is stored already is ignored",
  method: 'PUT',
  path: '/world-sessions/{sessionId}/browser/recording',
  access: 'host',
  params: SessionParams,
  body: Type.Object({
    generation: Generation,
    number: Type.Integer({
      minimum: 0,
      maximum: 2 ** 31 - 2,
      description: 'number of the part in the recording',
    }),
    beganAtMs: Type.Integer({
      minimum: 0,
      maximum: 8_640_000_000_000_000,
      description: 'time of its first frame, in Unix milliseconds',
    }),
    mark: nullable(oneOf(recordingMarks)),
    pictures: Type.Array(RecordedPicture, {
      minItems: 1,
      maxItems: recordingLimits.partPictures,
    }),
  }),
  bodyBytes: 2 * (recordingLimits.partBytes + recordingLimits.pictureBytes),
  answers: {
    200: Type.Object({
      isCut: Type.Boolean({ description: 'true if the recording has reached its limit' }),
    }),
  },
});

export const pollBrowser = getOperation({
  id: 'pollBrowser',
  summary: 'Long poll of a browser that serves a session, which is answered when the session ends',
  path: '/world-sessions/{sessionId}/browser',
  access: 'host',
  params: SessionParams,
  query: Type.Object({
    generation: Generation,
    hold: Type.Optional(Type.Number({ minimum: 0, maximum: limits.pollMs / 1000 })),
  }),
  answer: Type.Object({ close: Type.Optional(Type.Boolean()) }),
});

export const reportBrowserClosed = operation({
  id: 'reportBrowserClosed',
  summary: 'The browser has ended the session; it then recycles itself or exits',
  method: 'POST',
  path: '/world-sessions/{sessionId}/browser/closed',
  access: 'host',
  params: SessionParams,
  body: Type.Object({ generation: Generation }),
  answers: {
    200: Type.Object({ generation: Generation, next: oneOf(['recycle', 'exit']) }),
  },
});
