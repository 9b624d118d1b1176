/**
 * Checks `[webhooks]`: the entity of a world's subscriptions, the meaning of that entity's fields, and the signing of
 * deliveries. Each field that the table names must exist in the entity.
 */
import type { EntityContract, FieldPath, SigningScheme, WebhooksContract } from '../contract.ts';
import { neutralSchemes, type WebhooksTable } from '../files/connector/surfaces.ts';
import type { Placed } from '../read/kinds.ts';
import type { Place } from '../read/place.ts';
import type { JsonType } from '../schema/analysis.ts';
import { findEntity, findField, type Model } from './model.ts';

type Headers = WebhooksContract['headers'];

/** Names of the headers for each signing scheme; they are made with the vendor's prefix. */
const headersOf: Record<SigningScheme, (prefix: string | undefined, own: string) => Headers> = {
  'standard-webhooks': (prefix = 'webhook') => ({
    id: `${prefix}-id`,
    timestamp: `${prefix}-timestamp`,
    signature: `${prefix}-signature`,
  }),
  github: (prefix) => ({
    event: `x-${prefix ?? 'github'}-event`,
    id: `x-${prefix ?? 'github'}-delivery`,
    signature: `x-${prefix ?? 'hub'}-signature-256`,
  }),
  linear: (prefix = 'linear') => ({
    event: `${prefix}-event`,
    id: `${prefix}-delivery`,
    signature: `${prefix}-signature`,
  }),
  stripe: (prefix = 'stripe') => ({ signature: `${prefix}-signature` }),
  'hmac-sha256': (_prefix, own) => ({ signature: own }),
  none: () => ({}),
};

const lowerCase = (headers: Headers): Headers =>
  Object.fromEntries(Object.entries(headers).map(([key, name]) => [key, name.toLowerCase()]));

const isNeutral = (signing: WebhooksTable['signing']): signing is keyof typeof neutralSchemes =>
  Object.hasOwn(neutralSchemes, signing);

/** Refuses a table that lacks keys that the signing scheme needs, or that has keys that the scheme does not use. */
const checkSigning = (place: Place, table: WebhooksTable): void => {
  if (place.at('signing').isRefused()) return;
  const { signing, signature_header: header, prefix, secret } = table;
  const needs = (key: string): void =>
    place.at(key).refuse('missing_key', `signing = "${signing}" requires the key "${key}"`);
  const lacks = (key: string): void =>
    place.at(key).refuse('unexpected_key', `signing = "${signing}" does not use the key "${key}"`);
  if (signing !== 'none' && secret === undefined) needs('secret');
  if (signing === 'none' && table.unsigned) lacks('unsigned');
  if (signing === 'hmac-sha256' && header === undefined) needs('signature_header');
  if (signing !== 'hmac-sha256' && header !== undefined) lacks('signature_header');
  if ((signing === 'hmac-sha256' || signing === 'none') && prefix !== undefined) lacks('prefix');
};

/**
 * Returns the signing scheme and its headers. If the scheme has a vendor-neutral name and the table has no prefix, the
 * names of the headers are made with the connector's slug.
 */
const readSigning = (
  table: WebhooksTable,
  slug: string,
): Pick<WebhooksContract, 'signing' | 'headers'> => {
  const { signing, prefix, signature_header: own = '' } = table;
  if (!isNeutral(signing)) {
    return { signing, headers: lowerCase(headersOf[signing](prefix, own)) };
  }
  const scheme = neutralSchemes[signing];
  return { signing: scheme, headers: lowerCase(headersOf[scheme](prefix ?? slug, own)) };
};

/** Types that each field of a subscription may have; null is always allowed. */
const typesOf = {
  url: ['string'],
  secret: ['string'],
  enabled: ['boolean', 'integer'],
  content_type: ['string'],
  events: ['array', 'string'],
  scope: ['array'],
} as const satisfies Record<string, readonly JsonType[]>;

const readField = (
  place: Place,
  written: string | undefined,
  { entity, model }: { entity: EntityContract; model: Model },
  wanted: readonly JsonType[],
): FieldPath | null => {
  if (written === undefined) return null;
  const field = findField(place, written, entity, model);
  if (field === undefined) return null;
  const types = model.types(field.schemas);
  if (types !== undefined && !wanted.some((type) => types.has(type))) {
    const message = `${entity.name}.${written} is ${[...types].join(' or ')}, but must be ${wanted.join(' or ')}`;
    place.refuse('type_mismatch', message);
  }
  return field.path;
};

/**
 * Returns the content type field only if the table names one, so that contracts without such a field stay unchanged.
 */
const contentTypeOf = (
  place: Place,
  { content_type: written }: WebhooksTable,
  sources: Parameters<typeof readField>[2],
): Pick<WebhooksContract, 'contentType'> =>
  written === undefined
    ? {}
    : {
        contentType: readField(place.at('content_type'), written, sources, typesOf.content_type),
      };

/** Returns the webhooks of a connector; null if there is no table `[webhooks]`, or if its entity is unknown. */
export const checkWebhooks = (
  webhooks: Placed<WebhooksTable> | undefined,
  slug: string,
  model: Model,
): WebhooksContract | null => {
  if (webhooks === undefined) return null;
  const { place, value: table } = webhooks;
  checkSigning(place, table);
  const entity = findEntity(place.at('subscriptions'), table.subscriptions, model);
  if (entity === undefined) return null;
  const sources = { entity, model };
  return {
    subscriptions: entity.name,
    url: readField(place.at('url'), table.url, sources, typesOf.url) ?? [],
    events: readField(place.at('events'), table.events, sources, typesOf.events),
    secret: readField(place.at('secret'), table.secret, sources, typesOf.secret),
    enabled: readField(place.at('enabled'), table.enabled, sources, typesOf.enabled),
    ...contentTypeOf(place, table, sources),
    scope: [...table.scope].map(([name, written]) => ({
      name,
      path: readField(place.at('scope', name), written, sources, typesOf.scope) ?? [],
    })),
    ...readSigning(table, slug),
    ...(table.unsigned ? { unsigned: true } : {}),
  };
};
