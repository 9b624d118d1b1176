/**
 * Reads a delivery that a session's host recorded. The host runs user code, and the addresses and headers that it
 * recorded end up in requests of the sender, so all of them are validated.
 */
import { textOfDelivery } from '#domain/delivery.ts';
import { isObject } from '#domain/json.ts';
import type { DeliveryAnswerView, DeliveryView } from '#wire/public-api/sessions/delivery.ts';
import type { AnswerRow, DeliveryRow } from '../../db/sessions/deliveries.ts';

/** Request to send, and the delivery to which it belongs. */
export type ReadDelivery = Omit<DeliveryView, 'answer' | 'at'>;

const headerName = /^[a-z0-9!#$%&'*+.^_`|~-]{1,256}$/;
const headerValue = /^[\x20-\x7e]{0,4096}$/;
const mostHeaders = 20;

/** Headers that control the connection; only the sender may set them. */
const ofConnections = [
  'connection',
  'content-length',
  'expect',
  'host',
  'keep-alive',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
];

const readHeaders = (given: unknown): Record<string, string> | undefined => {
  if (!isObject(given)) return undefined;
  const pairs = Object.entries(given).map(([name, value]) => [name.toLowerCase(), value] as const);
  const isFine = pairs.every(
    ([name, value]) =>
      headerName.test(name) &&
      !ofConnections.includes(name) &&
      typeof value === 'string' &&
      headerValue.test(value),
  );
  return isFine && pairs.length <= mostHeaders
    ? (Object.fromEntries(pairs) as Record<string, string>)
    : undefined;
};

const generationOf = (given: unknown): number =>
  Number.isSafeInteger(given) && Number(given) >= 0 ? Number(given) : 0;

/**
 * Reads an entry of the ledger. Returns undefined if the entry is no delivery, or is a delivery that cannot be sent.
 */
export const readDelivery = ({
  id,
  event,
  requestJson,
}: Pick<DeliveryRow, 'id' | 'event' | 'requestJson'>): ReadDelivery | undefined => {
  const request: unknown = JSON.parse(requestJson);
  if (!isObject(request) || typeof request.url !== 'string') return undefined;
  const { url, subscription, generation, world, body } = request;
  const headers = readHeaders(request.headers);
  if (headers === undefined || body === undefined) return undefined;
  return {
    sequence: id,
    generation: generationOf(generation),
    event,
    url,
    subscription: isObject(subscription) ? subscription : null,
    world: typeof world === 'string' ? world : null,
    headers,
    body: textOfDelivery(headers['content-type'], JSON.stringify(body)),
  };
};

/** Converts an answer to the form that clients see. */
export const viewAnswer = (answer: AnswerRow): DeliveryAnswerView => ({
  status: answer.status,
  reason: answer.reason,
  sentTo: answer.sentTo,
  sender: answer.sender,
  durationMs: answer.durationMs,
  at: answer.answeredAt.toISOString(),
});

/** Converts a delivery to the form that clients see. Returns undefined if the delivery cannot be sent. */
export const viewDelivery = (row: DeliveryRow): DeliveryView | undefined => {
  const read = readDelivery(row);
  return (
    read && {
      ...read,
      at: row.at.toISOString(),
      answer: row.answer === null ? null : viewAnswer(row.answer),
    }
  );
};
