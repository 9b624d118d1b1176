/**
 * Webhook subscriptions: rows of the world. The table `[webhooks]` in connector.toml names their fields. This file
 * decides whether a subscription matches an event, and finds why a delivery to it is impossible.
 */
import { deliveryContentTypes } from '#domain/delivery.ts';
import type { EntityContract, FieldPath, Row, WebhooksContract } from '#language/contract.ts';
import { valueAtPath } from '#language/field-path.ts';
import { signedHeaders, type Unsigned } from './signing.ts';

/** Type and scope of an event, which decide which subscriptions match. */
type EventKind = { type: string; scope: Row | null };

const isEmpty = (value: unknown): boolean =>
  value === undefined || value === null || value === '' || (Array.isArray(value) && !value.length);

/** Returns true if a subscription's list contains one of the values. An empty list matches every value. */
const lists = (listed: unknown, values: readonly unknown[]): boolean =>
  isEmpty(listed) || [listed].flat().some((item) => values.includes(item));

const at = (row: Row, path: FieldPath | null | undefined): unknown =>
  path === null || path === undefined ? null : (valueAtPath(row, path) ?? null);

/**
 * Returns true if the subscription is enabled. If the contract names no field for that, every subscription is enabled.
 */
export const isOn = ({ enabled }: WebhooksContract, row: Row): boolean => {
  const value = at(row, enabled);
  return value === null || (value !== false && value !== 0);
};

const wantsScope = (webhooks: WebhooksContract, row: Row, scope: Row | null): boolean =>
  webhooks.scope.every(({ name, path }) => {
    const values = [scope?.[name] ?? []].flat();
    return values.length === 0 || lists(valueAtPath(row, path), values);
  });

/** Returns true if the subscription is enabled and matches the event. */
export const wants = (webhooks: WebhooksContract, row: Row, { type, scope }: EventKind): boolean =>
  isOn(webhooks, row) &&
  (webhooks.events === null || lists(valueAtPath(row, webhooks.events), [type, '*'])) &&
  wantsScope(webhooks, row, scope);

/** Returns the primary key of a subscription. */
export const keyOfSubscription = ({ primaryKey }: EntityContract, row: Row): Row =>
  Object.fromEntries(primaryKey.map((name) => [name, row[name]]));

/** Returns the content type of deliveries to a subscription. */
export const contentTypeOf = ({ contentType }: WebhooksContract, row: Row): string => {
  const wanted = at(row, contentType);
  const { form, json } = deliveryContentTypes;
  return wanted === 'form' || wanted === form ? form : json;
};

const mostUrlChars = 2_048;

const isReachable = (url: string): boolean =>
  url.length <= mostUrlChars &&
  !/[\s\p{Cc}]/u.test(url) &&
  URL.canParse(url) &&
  ['http:', 'https:'].includes(new URL(url).protocol);

const unreachable = (url: unknown): string =>
  isEmpty(url)
    ? 'it has no URL'
    : `no receiver can be reached at its URL: it must be an address of at most ${mostUrlChars} characters that begins with http:// or https://`;

/** URL and signed headers of a delivery, or the reason why a delivery is impossible. */
export type Addressed = { url: string; headers: Record<string, string> } | { skipped: string };

/**
 * Input for signing. The id and the body are functions: they are needed only if the URL and the secret are valid, and
 * the text of the body depends on the content type.
 */
export type ToSign = Pick<Unsigned, 'event' | 'timestamp'> & {
  drawId(): string;
  bodyOf(contentType: string): string;
};

/** Returns the URL and headers of a delivery to a subscription, or why it is skipped. */
export const address = (
  webhooks: WebhooksContract,
  row: Row,
  { drawId, bodyOf, ...unsigned }: ToSign,
): Addressed => {
  const url = valueAtPath(row, webhooks.url);
  if (typeof url !== 'string' || !isReachable(url)) return { skipped: unreachable(url) };
  const { signing } = webhooks;
  const given = at(row, webhooks.secret);
  const isUnsigned = signing === 'none' || (webhooks.unsigned === true && isEmpty(given));
  const secret = isUnsigned ? '' : given;
  if (typeof secret !== 'string')
    return { skipped: `it has no secret, which ${signing} signs with` };
  const contentType = contentTypeOf(webhooks, row);
  const signed = { ...unsigned, id: drawId(), secret, body: bodyOf(contentType) };
  const headers = signedHeaders(
    { ...webhooks, ...(isUnsigned ? { signing: 'none' } : {}) },
    signed,
    contentType,
  );
  if (headers !== undefined) return { url, headers };
  const fault = secret === '' ? 'is empty' : 'is not base64';
  return { skipped: `${signing} cannot sign with its secret, which ${fault}` };
};

/** Returns why deliveries to a subscription are impossible; null if they are possible. */
export const faultOf = (webhooks: WebhooksContract, row: Row): string | null => {
  const nothing = { event: '-', timestamp: 0, drawId: () => '-', bodyOf: () => '' };
  const addressed = address(webhooks, row, nothing);
  return 'skipped' in addressed ? addressed.skipped : null;
};

/** Returns the event types of a subscription; null if the subscription matches all types. */
export const eventsOf = ({ events }: WebhooksContract, row: Row): string[] | null => {
  const named = at(row, events);
  if (isEmpty(named)) return null;
  const texts = [named].flat().filter((name): name is string => typeof name === 'string');
  return texts.includes('*') ? null : texts;
};

/**
 * Returns the values that a subscription lists for each scope, by the scope's name. A scope without values is left out.
 */
export const scopeOf = ({ scope }: WebhooksContract, row: Row): Record<string, unknown[]> =>
  Object.fromEntries(
    scope.flatMap(({ name, path }) => {
      const listed = valueAtPath(row, path);
      return isEmpty(listed) ? [] : [[name, [listed].flat()]];
    }),
  );

/** Returns the URL in the subscription's row; null if it is not a string. */
export const urlOf = ({ url: path }: WebhooksContract, row: Row): string | null => {
  const url = valueAtPath(row, path);
  return typeof url === 'string' ? url.slice(0, mostUrlChars) : null;
};
