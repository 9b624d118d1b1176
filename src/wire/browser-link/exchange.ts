/**
 * Contract between a session's browser and its world host, at the UI's own origin. The browser posts its events and the
 * results of orders; the answer carries new orders. The world host may hold one request until it has orders, while the
 * browser posts events with other requests. Requests carry the UI's pass and a key, so that no page of the session can
 * pose as the browser.
 */
import { limits } from '#domain/limits.ts';
import { JsonObject, oneOf } from '../schemas.ts';
import { type Static, Type } from '../type.ts';

/** Path at the world host to which the browser posts, and the header that carries the key. */
export const browserLinkPath = '/__svc/browser/';
export const browserKeyHeader = 'svc-browser-key';
/** Purpose string with which the key is derived from the session's token. */
export const browserKeyPurpose = 'browser-link';

/** An event in the browser, in the form of the ledger (`via: "browser"`). */
export const BrowserEntry = Type.Object({
  at: Type.String({ maxLength: 24 }),
  operation: Type.String({
    maxLength: 64,
    description: '`navigated`, `downloaded`, `console_error`, `reclaimed` …',
  }),
  path: Type.Optional(Type.String({ maxLength: 2_048, description: 'address of the page' })),
  detail: JsonObject,
});
export type BrowserEntry = Static<typeof BrowserEntry>;

export const pictureFormats = ['png', 'jpeg'] as const;

/** An order to the browser; its result carries the same id. */
export const BrowserOrder = Type.Object({
  id: Type.Integer(),
  do: Type.Literal('screenshot'),
  format: oneOf(pictureFormats),
  fullPage: Type.Boolean(),
});
export type BrowserOrder = Static<typeof BrowserOrder>;

export const BrowserAnswer = Type.Object({
  id: Type.Integer(),
  output: Type.Optional(Type.Unknown()),
  error: Type.Optional(
    Type.Object({
      code: Type.String({ maxLength: 64 }),
      message: Type.String({ maxLength: limits.messageChars }),
    }),
  ),
});
export type BrowserAnswer = Static<typeof BrowserAnswer>;

/** Body that the browser posts. */
export const BrowserReport = Type.Object({
  hostId: Type.Optional(
    Type.String({
      maxLength: 64,
      description: "id of the browser's host; the previous release sends none",
    }),
  ),
  generation: Type.Integer({
    description:
      'generation of that host; another host or generation is another browser, which replaces the earlier one',
  }),
  resets: Type.Integer({
    minimum: 0,
    description: "number of resets of the session when the browser's profile was created",
  }),
  first: Type.Integer({
    minimum: 0,
    description: 'number of the first entry, counted by the browser',
  }),
  entries: Type.Array(BrowserEntry, { maxItems: 100 }),
  answers: Type.Array(BrowserAnswer, { maxItems: 10 }),
  hold: Type.Number({ minimum: 0, maximum: limits.pollMs / 1000 }),
});
export type BrowserReport = Static<typeof BrowserReport>;

/** Answer of the world host. */
export const BrowserOrders = Type.Object({
  resets: Type.Integer({
    description:
      'number of resets of the session so far; a browser whose profile is from before the last reset discards it',
  }),
  taken: Type.Integer({
    description: 'number of entries of this browser that are stored in the ledger',
  }),
  orders: Type.Array(BrowserOrder),
});
export type BrowserOrders = Static<typeof BrowserOrders>;
