/**
 * Sends an event to the webhooks that were registered for it: `ctx.deliver` in handlers,
 * `webhooks.deliver` in tools. Subscriptions are rows of the world, read as they are in the turn under
 * way; `[webhooks]` in connector.toml says which entity they are and what its fields mean.
 *
 * A subscription whose URL nobody can be reached at, or whose secret cannot sign, is passed over.
 */
import type { FieldPath, Row, WebhooksContract } from '#language/contract.ts';
import { valueAtPath } from '#language/field-path.ts';
import { StoreRefusal } from '#store/refusal.ts';
import { holdsInheriting, measureJson } from '#wire/json-extent.ts';
import { createAddresses } from '../routes/addresses.ts';
import type { WorldEvent } from '../usercode/run.ts';
import type { Delivery } from './outbox.ts';
import type { Session } from './session.ts';
import { signedHeaders } from './signing.ts';

/** Deliveries of one event and of one call or request; bytes and levels of one body. */
const deliveryLimits = {
  perEvent: 100,
  perTurn: 500,
  bodyBytes: 256 * 1024,
  /** As deep as anything in the ledger: an entry that nests deeper could not be read from it. */
  bodyLevels: 64,
  /** Of deliveries that the control plane has not got yet; while more wait, no others are made. */
  waitingBytes: 64 * 1024 * 1024,
};

type RefuseEvent = (kind: 'shape' | 'full', detail: string) => never;

/** What an event's type and a delivery's id are: some schemes send them as headers. */
const headerText = /^[\x21-\x7e]{1,256}$/;

/** What the ledger calls an answer to a delivery: the event's type with this behind it. */
const answerSuffix = '.answer';

const isEmpty = (value: unknown): boolean =>
  value === undefined || value === null || value === '' || (Array.isArray(value) && !value.length);

/** Whether a subscription's list names one of the values; an empty one names all. */
const lists = (listed: unknown, values: readonly unknown[]): boolean =>
  isEmpty(listed) || [listed].flat().some((item) => values.includes(item));

const isOn = (row: Row, enabled: FieldPath | null): boolean => {
  const value = enabled === null ? null : (valueAtPath(row, enabled) ?? null);
  return value === null || (value !== false && value !== 0);
};

const wantsScope = (webhooks: WebhooksContract, row: Row, scope: Row | null): boolean =>
  webhooks.scope.every(({ name, path }) => {
    const values = [scope?.[name] ?? []].flat();
    return values.length === 0 || lists(valueAtPath(row, path), values);
  });

const wants = (webhooks: WebhooksContract, row: Row, { type, scope }: WorldEvent): boolean =>
  isOn(row, webhooks.enabled) &&
  (webhooks.events === null || lists(valueAtPath(row, webhooks.events), [type, '*'])) &&
  wantsScope(webhooks, row, scope);

const isReachable = (url: unknown): url is string =>
  typeof url === 'string' &&
  URL.canParse(url) &&
  ['http:', 'https:'].includes(new URL(url).protocol);

/** The secret that signs for a subscription; undefined where one is needed and there is none. */
const secretOf = ({ secret: at, signing }: WebhooksContract, row: Row): string | undefined => {
  if (at === null || signing === 'none') return '';
  const secret = valueAtPath(row, at);
  return typeof secret === 'string' ? secret : undefined;
};

const checkEvent = (
  webhooks: WebhooksContract,
  { type, scope, id, body: content }: WorldEvent,
  body: string,
  refuseEvent: RefuseEvent,
): void => {
  if (!headerText.test(type)) refuseEvent('shape', 'an event type is a text without spaces');
  if (id !== null && !headerText.test(id)) {
    refuseEvent(
      'shape',
      'the id of a delivery is a text of 1 to 256 characters of ASCII without spaces',
    );
  }
  if (type.endsWith(answerSuffix)) {
    refuseEvent(
      'shape',
      `an event type may not end in "${answerSuffix}"; entries about answers do`,
    );
  }
  const names = webhooks.scope.map(({ name }) => name);
  const unknown = Object.keys(scope ?? {}).find((name) => !names.includes(name));
  if (unknown !== undefined) {
    refuseEvent('shape', `there is no scope "${unknown}"; there is ${names.join(', ') || 'none'}`);
  }
  const bytes = Buffer.byteLength(body);
  if (bytes > deliveryLimits.bodyBytes) {
    refuseEvent(
      'full',
      `the body of ${type} has ${bytes} bytes; ${deliveryLimits.bodyBytes} are the most`,
    );
  }
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

const checkCounts = (type: string, count: number, held: number, refuseEvent: RefuseEvent): void => {
  const { perEvent, perTurn } = deliveryLimits;
  if (count > perEvent) {
    refuseEvent('full', `${type} would reach ${count} subscriptions; ${perEvent} are the most`);
  }
  if (held + count > perTurn) {
    refuseEvent(
      'full',
      `with ${type} the call would make ${held + count} deliveries; ${perTurn} are the most`,
    );
  }
};

/** The vendor's addresses as receivers reach them. What is signed is what is sent. */
const served = ({ address, world }: Session, text: string): string =>
  address === null ? text : (createAddresses(world.contract, address)?.serve(text) ?? text);

/**
 * Holds a delivery to each subscription that wants the event until the turn ends. Throws
 * `StoreRefusal` for a world without webhooks, an event that is none, and beyond the limits.
 */
export const deliver = (session: Session, event: WorldEvent): void => {
  const { world, ids, ledger, outbox } = session;
  const { webhooks } = world.contract;
  if (webhooks === null) {
    const detail = 'the world declares no [webhooks] in connector.toml';
    throw new StoreRefusal({ entity: 'webhooks', kind: 'unknown_entity', detail });
  }
  const refuseEvent: RefuseEvent = (kind, detail) => {
    throw new StoreRefusal({ entity: webhooks.subscriptions, kind, detail });
  };
  if (ledger.backlog.pinnedBytes() > deliveryLimits.waitingBytes) {
    refuseEvent(
      'full',
      'too many deliveries wait to be taken from this session; try again in a moment',
    );
  }
  const body = served(session, JSON.stringify(event.body ?? null));
  checkEvent(webhooks, event, body, refuseEvent);
  const at = new Date();
  const timestamp = Math.floor(at.getTime() / 1000);
  const deliveries = world.store.query(webhooks.subscriptions).flatMap((payload): Delivery[] => {
    const row = JSON.parse(payload) as Row;
    const url = valueAtPath(row, webhooks.url);
    if (!wants(webhooks, row, event) || !isReachable(url)) return [];
    const secret = secretOf(webhooks, row);
    if (secret === undefined) return [];
    const headers = signedHeaders(webhooks, {
      id: event.id ?? ids.uuid(),
      event: event.type,
      body,
      secret,
      timestamp,
    });
    if (headers === undefined) return [];
    const target = served(session, url);
    return [
      { event: event.type, url: target, headers, body: JSON.parse(body), scope: event.scope, at },
    ];
  });
  checkCounts(event.type, deliveries.length, outbox.size(), refuseEvent);
  outbox.hold(deliveries);
};
