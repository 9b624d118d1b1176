/**
 * Subscriptions to webhooks: rows of the world, read by what `[webhooks]` in connector.toml says of their fields.
 * Whether one wants an event, and why nothing can be sent to it where that is so.
 */
import { deliveryContentTypes } from '#domain/delivery.ts';
import type { EntityContract, FieldPath, Row, WebhooksContract } from '#language/contract.ts';
import { valueAtPath } from '#language/field-path.ts';
import { signedHeaders, type Unsigned } from './signing.ts';

/** An event as far as it decides who hears of it. */
type Heard = { type: string; scope: Row | null };

const isEmpty = (value: unknown): boolean =>
  value === undefined || value === null || value === '' || (Array.isArray(value) && !value.length);

/** Whether a subscription's list names one of the values; an empty one names all. */
const lists = (listed: unknown, values: readonly unknown[]): boolean =>
  isEmpty(listed) || [listed].flat().some((item) => values.includes(item));

const at = (row: Row, path: FieldPath | null | undefined): unknown =>
  path === null || path === undefined ? null : (valueAtPath(row, path) ?? null);

/** Whether it is on; always, where there is no field for it. */
export const isOn = ({ enabled }: WebhooksContract, row: Row): boolean => {
  const value = at(row, enabled);
  return value === null || (value !== false && value !== 0);
};

const wantsScope = (webhooks: WebhooksContract, row: Row, scope: Row | null): boolean =>
  webhooks.scope.every(({ name, path }) => {
    const values = [scope?.[name] ?? []].flat();
    return values.length === 0 || lists(valueAtPath(row, path), values);
  });

/** Whether it is on and wants the event. */
export const wants = (webhooks: WebhooksContract, row: Row, { type, scope }: Heard): boolean =>
  isOn(webhooks, row) &&
  (webhooks.events === null || lists(valueAtPath(row, webhooks.events), [type, '*'])) &&
  wantsScope(webhooks, row, scope);

/** Its primary key, by which it is told from the others. */
export const keyOfSubscription = ({ primaryKey }: EntityContract, row: Row): Row =>
  Object.fromEntries(primaryKey.map((name) => [name, row[name]]));

/** The type of the content that it is sent. */
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

/** The URL and signed headers of a delivery, or why there can be none. */
export type Addressed = { url: string; headers: Record<string, string> } | { skipped: string };

/** What is to be signed, where it is: an id is drawn only then, and the text depends on the type of the content. */
export type ToSign = Pick<Unsigned, 'event' | 'timestamp'> & {
  drawId(): string;
  bodyOf(contentType: string): string;
};

/** Addresses a delivery to a subscription. */
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

/** Why nothing can be sent to a subscription; null where it can. */
export const faultOf = (webhooks: WebhooksContract, row: Row): string | null => {
  const nothing = { event: '-', timestamp: 0, drawId: () => '-', bodyOf: () => '' };
  const addressed = address(webhooks, row, nothing);
  return 'skipped' in addressed ? addressed.skipped : null;
};

/** The event types that it names; null: every one. */
export const eventsOf = ({ events }: WebhooksContract, row: Row): string[] | null => {
  const named = at(row, events);
  if (isEmpty(named)) return null;
  const texts = [named].flat().filter((name): name is string => typeof name === 'string');
  return texts.includes('*') ? null : texts;
};

/** By name what it lists of each scope; nothing of those of which it lists nothing. */
export const scopeOf = ({ scope }: WebhooksContract, row: Row): Record<string, unknown[]> =>
  Object.fromEntries(
    scope.flatMap(({ name, path }) => {
      const listed = valueAtPath(row, path);
      return isEmpty(listed) ? [] : [[name, [listed].flat()]];
    }),
  );

/** Its URL as it stands there; null where it is no text. */
export const urlOf = ({ url: path }: WebhooksContract, row: Row): string | null => {
  const url = valueAtPath(row, path);
  return typeof url === 'string' ? url.slice(0, mostUrlChars) : null;
};
