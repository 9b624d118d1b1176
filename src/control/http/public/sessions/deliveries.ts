/**
 * Endpoints of a session's webhooks: its subscriptions, its deliveries in the order of their arrival, and the answers
 * of the webhooks' receivers.
 */
import { withoutNul } from '#domain/cut.ts';
import { AppError } from '#domain/error.ts';
import { limits } from '#domain/limits.ts';
import { sessionTransitions } from '#domain/session.ts';
import { isFinal } from '#domain/transitions.ts';
import * as api from '#wire/public-api/operations.ts';
import { type DeliveryList, deliveriesMost } from '#wire/public-api/sessions/delivery.ts';
import { shownText } from '../../../base/json/shown.ts';
import {
  findLastDelivery,
  type KeptDeliveryAnswer,
  listDeliveries,
  type NewDeliveryAnswer,
} from '../../../db/sessions/deliveries.ts';
import { findSession, noSession } from '../../../db/sessions/sessions.ts';
import type { Parts } from '../../../parts.ts';
import { holdWatching, toMs, watchAny } from '../../../platform/notifications/held-requests.ts';
import { deliveriesTopic } from '../../../platform/notifications/notifications.ts';
import { viewAnswer, viewDelivery } from '../../../sessions/webhooks/read-delivery.ts';
import { recordAnswers } from '../../../sessions/webhooks/receiver-answers.ts';
import { readSubscriptions } from '../../../sessions/webhooks/subscriptions.ts';
import { type Endpoint, endpoint, respond } from '../../server/endpoint.ts';

type Asked = { projectId: string; sessionId: string; after: number; limit: number };

/**
 * Size budget of a page, in bytes. Pages of deliveries are parsed here, so the budget is below that of other lists. A
 * single delivery may exceed it.
 */
const pageBytes = limits.statePageBytes;

const readPage = async (
  { db }: Parts,
  { projectId, sessionId, after, limit }: Asked,
): Promise<DeliveryList> => {
  // The session is read first: once it is over, its deliveries no longer grow, so the page read next is complete.
  const session = await findSession(db, projectId, sessionId);
  if (session === undefined) throw noSession(sessionId);
  const page = { after, limit, mostBytes: pageBytes };
  const [rows, last] = await Promise.all([
    listDeliveries(db, sessionId, page),
    findLastDelivery(db, sessionId),
  ]);
  const data = rows.flatMap((row) => viewDelivery(row) ?? []);
  const { state } = session;
  const isOver = isFinal(sessionTransitions, state);
  return { data, meta: { after: rows.at(-1)?.id ?? after, last, state, isOver } };
};

/**
 * Returns true if the page has something new for the client, so that the long poll is answered before its time is up.
 */
const isNews = ({ data, meta }: DeliveryList, asked: Asked): boolean =>
  data.length > 0 || meta.isOver || meta.after > asked.after;

/**
 * Returns a text in its stored form: credentials are redacted, and zero bytes, which PostgreSQL refuses, are replaced.
 */
const shown = (text: string | null): string | null =>
  text === null ? null : withoutNul(shownText(text) ?? '');

/** Pairs each answer that the client sent with its stored form. Throws `not_found` if its delivery does not exist. */
const toKept = (
  sessionId: string,
  given: readonly NewDeliveryAnswer[],
  kept: readonly KeptDeliveryAnswer[],
) => {
  const byId = new Map(kept.map((answer) => [answer.deliveryId, answer]));
  return given.map(({ deliveryId }) => {
    const answer = byId.get(deliveryId);
    if (answer === undefined) {
      const message = `${sessionId} has no delivery ${deliveryId}, or no longer stores it; GET /world-sessions/${sessionId}/deliveries lists them`;
      throw new AppError('not_found', message);
    }
    return { sequence: deliveryId, kept: answer.isNew, answer: viewAnswer(answer) };
  });
};

export const deliveryEndpoints = (parts: Parts): Endpoint[] => [
  endpoint(api.listWebhooks, async ({ params, query }, { caller: { projectId }, signal }) => {
    const { offset = 0, limit = limits.pageDefault } = query;
    const asked = { ...params, projectId, offset, limit };
    return respond(200, await readSubscriptions(parts, asked, signal));
  }),

  endpoint(api.listDeliveries, async ({ params, query }, { caller: { projectId }, signal }) => {
    const { after = 0, limit = deliveriesMost, wait } = query;
    const asked = { ...params, projectId, after, limit };
    let page: DeliveryList | undefined;
    const { sessionId } = params;
    const watch = watchAny(parts.notifications, [deliveriesTopic(sessionId), sessionId]);
    try {
      await holdWatching(parts.notifications, watch, {
        ms: toMs(wait),
        signal,
        look: async () => {
          page = await readPage(parts, asked);
          return isNews(page, asked) ? page : undefined;
        },
      });
    } finally {
      watch.end();
    }
    return respond(200, page ?? (await readPage(parts, asked)));
  }),

  endpoint(api.answerDeliveries, async ({ params, body }, { caller: { projectId }, signal }) => {
    const { sessionId } = params;
    if ((await findSession(parts.db, projectId, sessionId)) === undefined) {
      throw noSession(sessionId);
    }
    const given = body.answers.map(({ sequence, reason = null, sentTo = null, ...answer }) => ({
      ...answer,
      ...{ deliveryId: sequence, reason: shown(reason), sentTo: shown(sentTo) },
    }));
    const source = { projectId, sessionId, sender: 'listen' } as const;
    const kept = await recordAnswers(parts, source, given, signal);
    return respond(200, { data: toKept(sessionId, given, kept) });
  }),
];
