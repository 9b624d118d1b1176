/**
 * Sends an event to the webhooks subscribed to it: `ctx.deliver` in handlers, `webhooks.deliver` in tools.
 * Subscriptions are rows of the world, in their state of the current turn; `subscriptions.ts` decides which of them
 * match.
 *
 * If a subscription has an invalid URL, or a secret that cannot sign, it is skipped, and the ledger records that.
 */
import { hideCredentials } from '#domain/credentials.ts';
import { textOfDelivery } from '#domain/delivery.ts';
import { answerSuffix, eventTypeChars } from '#domain/ledger.ts';
import type { Row, WebhooksContract } from '#language/contract.ts';
import { StoreRefusal } from '#store/refusal.ts';
import { holdsInheriting, measureJson } from '#wire/json-extent.ts';
import { createAddresses } from '../routes/addresses.ts';
import type { WorldEvent } from '../usercode/run.ts';
import type { Delivery, Skip } from './outbox.ts';
import type { Session } from './session.ts';
import { address, keyOfSubscription, urlOf, wants } from './subscriptions.ts';

/** Maximum number of deliveries of one event, and of one call or request, and maximum size of one body in bytes. */
const deliveryLimits = {
  perEvent: 100,
  perTurn: 500,
  bodyBytes: 256 * 1024,
  /** Maximum nesting of a body. It is the same as in the ledger, which could not store a deeper body. */
  bodyLevels: 64,
  /** Maximum size of the deliveries that the control plane does not have yet, in bytes. Beyond it, no more are made. */
  waitingBytes: 64 * 1024 * 1024,
  /**
   * Maximum number of skipped subscriptions that the ledger names for one event, and for one call or request. Further
   * skips are only counted.
   */
  skipsPerEvent: 100,
  skipsPerTurn: 500,
};

type RefuseEvent = (kind: 'shape' | 'full', detail: string) => never;

/** Text that is valid as an event's type and a delivery's id; some webhook schemes send both as headers. */
const headerText = /^[\x21-\x7e]{1,256}$/;

const checkType = (type: string, refuseEvent: RefuseEvent): void => {
  if (!headerText.test(type))
    refuseEvent(
      'shape',
      'an event type must be a text of 1 to 256 ASCII characters without spaces',
    );
  if (type.length > eventTypeChars) {
    refuseEvent('shape', `an event type has at most ${eventTypeChars} characters`);
  }
  if (type.endsWith(answerSuffix)) {
    refuseEvent(
      'shape',
      `an event type may not end in "${answerSuffix}", which marks ledger entries about answers`,
    );
  }
};

const checkEvent = (
  webhooks: WebhooksContract,
  { type, scope, id, body: content }: WorldEvent,
  body: string,
  refuseEvent: RefuseEvent,
): void => {
  checkType(type, refuseEvent);
  if (id !== null && !headerText.test(id)) {
    refuseEvent(
      'shape',
      'the id of a delivery must be a text of 1 to 256 ASCII characters without spaces',
    );
  }
  const names = webhooks.scope.map(({ name }) => name);
  const unknown = Object.keys(scope ?? {}).find((name) => !names.includes(name));
  if (unknown !== undefined) {
    refuseEvent('shape', `there is no scope "${unknown}"; there is ${names.join(', ') || 'none'}`);
  }
  checkBytes(type, body, refuseEvent);
  if (holdsInheriting(body, content)) {
    refuseEvent('shape', `the body of ${type} has a member "__proto__" or "constructor.prototype"`);
  }
  if (measureJson(body).levels > deliveryLimits.bodyLevels) {
    refuseEvent(
      'shape',
      `the body of ${type} nests deeper than ${deliveryLimits.bodyLevels} levels`,
    );
  }
};

const checkBytes = (type: string, body: string, refuseEvent: RefuseEvent, form = ''): void => {
  const bytes = Buffer.byteLength(body);
  if (bytes <= deliveryLimits.bodyBytes) return;
  refuseEvent(
    'full',
    `the body of ${type}${form} has ${bytes} bytes; the maximum is ${deliveryLimits.bodyBytes}`,
  );
};

const checkCounts = (
  type: string,
  count: number,
  present: number,
  refuseEvent: RefuseEvent,
): void => {
  const { perEvent, perTurn } = deliveryLimits;
  if (count > perEvent) {
    refuseEvent('full', `${type} would reach ${count} subscriptions; the maximum is ${perEvent}`);
  }
  if (present + count > perTurn) {
    refuseEvent(
      'full',
      `with ${type} the call would make ${present + count} deliveries; the maximum is ${perTurn}`,
    );
  }
};

/**
 * Returns text with the vendor's addresses replaced by those that receivers can reach. This happens before signing, so
 * that the signature is valid for the text that is sent.
 */
const served = ({ address, world }: Session, text: string): string =>
  address === null ? text : (createAddresses(world.contract, address)?.serve(text) ?? text);

/**
 * Returns the body as JSON text, in the form that the ledger records and that is sent. Addresses are replaced by those
 * that receivers can reach, and credentials that the service always masks are masked. Both happen before signing, so
 * that the signature is valid for the text that is sent.
 */
const textOf = (session: Session, body: unknown): string => {
  const given = JSON.stringify(body ?? null);
  const text = hideCredentials(served(session, given));
  return text === given ? text : JSON.stringify(JSON.parse(text));
};

/** Returns the skips that fit the ledger's limits. If there are more, one additional skip states their number. */
const bounded = (skips: readonly Skip[], present: number): Skip[] => {
  const { skipsPerEvent, skipsPerTurn } = deliveryLimits;
  const mostSkips = Math.max(0, Math.min(skipsPerEvent, skipsPerTurn - present));
  const [first] = skips;
  if (skips.length <= mostSkips || first === undefined) return [...skips];
  const more = `${skips.length - mostSkips} more subscriptions to this event were passed over`;
  return [...skips.slice(0, mostSkips), { ...first, url: null, subscription: null, reason: more }];
};

/** Returns the delivery to one subscription, or the reason for skipping the subscription. */
type Prepare = (row: Row) => Delivery | Skip;

const createPrepare = (
  session: Session,
  webhooks: WebhooksContract,
  event: WorldEvent,
  { body, refuseEvent }: { body: string; refuseEvent: RefuseEvent },
): Prepare => {
  const { world, ids, alias } = session;
  const entity = world.contract.entities.find(({ name }) => name === webhooks.subscriptions);
  const content: unknown = JSON.parse(body);
  const at = new Date();
  const timestamp = Math.floor(at.getTime() / 1000);
  const bodyOf = (contentType: string): string => {
    const text = textOfDelivery(contentType, body);
    if (text !== body) checkBytes(event.type, text, refuseEvent, ' as a form');
    return text;
  };
  return (row) => {
    const subscription = entity === undefined ? null : keyOfSubscription(entity, row);
    const about = { event: event.type, subscription, world: alias, scope: event.scope, at };
    const drawId = (): string => event.id ?? ids.uuid();
    const addressed = address(webhooks, row, { event: event.type, timestamp, drawId, bodyOf });
    if ('skipped' in addressed) {
      return { ...about, url: urlOf(webhooks, row), reason: addressed.skipped };
    }
    const { url, headers } = addressed;
    return { ...about, url: served(session, url), headers, body: content };
  };
};

/**
 * Adds a delivery to the outbox for each subscription that matches the event. Throws `StoreRefusal` for a world without
 * webhooks, for an invalid event, and beyond the limits. If a limit is exceeded, the whole turn fails, even if the
 * author's code catches the refusal.
 */
export const deliver = (session: Session, event: WorldEvent): void => {
  const { world, ledger, outbox } = session;
  const { webhooks } = world.contract;
  if (webhooks === null) {
    const detail = 'the world declares no [webhooks] in connector.toml';
    throw new StoreRefusal({ entity: 'webhooks', kind: 'unknown_entity', detail });
  }
  const refuseEvent: RefuseEvent = (kind, detail) => {
    const refusal = new StoreRefusal({ entity: webhooks.subscriptions, kind, detail });
    if (kind === 'full') outbox.fail(refusal);
    throw refusal;
  };
  if (ledger.backlog.pinnedBytes() > deliveryLimits.waitingBytes) {
    refuseEvent(
      'full',
      'the control plane has not received many earlier deliveries of this session yet; try again in a moment',
    );
  }
  const body = textOf(session, event.body);
  checkEvent(webhooks, event, body, refuseEvent);
  const prepare = createPrepare(session, webhooks, event, { body, refuseEvent });
  const prepared = world.store
    .query(webhooks.subscriptions)
    .map((payload) => JSON.parse(payload) as Row)
    .filter((row) => wants(webhooks, row, event))
    .map(prepare);
  const deliveries = prepared.filter((one): one is Delivery => 'headers' in one);
  checkCounts(event.type, deliveries.length, outbox.size(), refuseEvent);
  const skips = prepared.filter((one): one is Skip => 'reason' in one);
  outbox.hold(deliveries, bounded(skips, outbox.skips()));
};
