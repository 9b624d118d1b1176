/**
 * Call `webhooks`: returns the session's webhook subscriptions, a page at a time, followed by those of its linked
 * worlds. Each subscription has its settings and its number of deliveries, but no secret. The control plane makes the
 * call.
 */

import { limits } from '#domain/limits.ts';
import type { Row, WebhooksContract } from '#language/contract.ts';
import type { SubscriptionList, SubscriptionView } from '#wire/public-api/sessions/delivery.ts';
import type { Session } from '../session/session.ts';
import {
  eventsOf,
  faultOf,
  isOn,
  keyOfSubscription,
  scopeOf,
  urlOf,
} from '../session/subscriptions.ts';
import { CallFailure } from './answers/failure.ts';
import { type RunCall, refuseUnknown } from './call.ts';

const readNumber = (input: Row, name: string): number => {
  const value = input[name];
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) return value;
  const message = `${name} must be a whole number from 0`;
  throw new CallFailure({ code: 'invalid_input', message, path: `/${name}` });
};

/** World that sends webhooks: the session's own or a linked one. */
type Sender = { session: Session; webhooks: WebhooksContract };

const sendersOf = (session: Session): Sender[] =>
  [session, ...session.links.values()].flatMap((one) => {
    const { webhooks } = one.world.contract;
    return webhooks === null ? [] : [{ session: one, webhooks }];
  });

const viewOf = ({ session, webhooks }: Sender, row: Row): SubscriptionView => {
  const { alias, sent, world } = session;
  const entity = world.contract.entities.find(({ name }) => name === webhooks.subscriptions);
  const key = entity === undefined ? {} : keyOfSubscription(entity, row);
  return {
    key,
    world: alias,
    url: urlOf(webhooks, row),
    events: eventsOf(webhooks, row),
    scope: scopeOf(webhooks, row),
    enabled: isOn(webhooks, row),
    skips: faultOf(webhooks, row),
    deliveries: sent.countOf(alias, key),
  };
};

type PageAsked = { offset: number; limit: number };

const readPage = (session: Session, { offset, limit }: PageAsked): SubscriptionList => {
  const data: SubscriptionView[] = [];
  let total = 0;
  let bytes = 0;
  let isFull = false;
  for (const sender of sendersOf(session)) {
    const { store } = sender.session.world;
    const entity = sender.webhooks.subscriptions;
    const count = store.count(entity);
    const start = Math.max(0, offset - total);
    total += count;
    if (isFull || start >= count) continue;
    const most = { limit: limit - data.length, mostBytes: limits.statePageBytes - bytes };
    const payloads = store.query(entity, { ...most, offset: start });
    data.push(...payloads.map((payload) => viewOf(sender, JSON.parse(payload) as Row)));
    bytes += payloads.reduce((sum, { length }) => sum + length, 0);
    isFull = start + payloads.length < count || data.length === limit;
  }
  const end = offset + data.length;
  const next = end < total && data.length > 0 ? { next: end } : {};
  return { data, meta: { total, ...next, lastDelivery: session.sent.last() } };
};

export const callWebhooks: RunCall = (session, _call, input) => {
  refuseUnknown(input, ['offset', 'limit']);
  const asked = { offset: readNumber(input, 'offset'), limit: readNumber(input, 'limit') };
  return session.world.store.exclusively(() => ({
    output: readPage(session, asked),
    changes: {},
  }));
};
