/** Formats a session's webhook subscriptions, and deliveries as they are forwarded, for a person. */
import { makeVisible } from '#domain/visible-text.ts';
import type { DeliveryView, SubscriptionView } from '#wire/public-api/sessions/delivery.ts';
import type { Colors, View } from '../terminal/context.ts';
import { cut, formatDuration, wrapLines } from '../terminal/print.ts';
import { formatFitted } from './fitted-table.ts';

/** Outcome of a delivery at its receiver: a status, or 0 and the reason. */
export type Forwarded = { status: number; reason: string | null; durationMs: number };

/**
 * Forwarded delivery with its stored answer. If an earlier answer was already stored, that answer remains the stored
 * one.
 */
export type ForwardedDelivery = {
  delivery: DeliveryView;
  forwarded: Forwarded;
  /** Status that the ledger has for the delivery; null if the ledger no longer has the delivery. */
  kept: { status: number; isOwn: boolean } | null;
};

const mostCellChars = 200;
const cell = (text: string): string => cut(makeVisible(text), mostCellChars);

const plainKey = ({ key, world }: SubscriptionView): string => {
  const values = Object.values(key).map((value) =>
    typeof value === 'string' ? value : JSON.stringify(value),
  );
  return [...(world === null ? [] : [world]), ...values].join(' ');
};

const scopeText = ({ scope }: SubscriptionView): string =>
  Object.entries(scope)
    .map(([name, values]) => `${name}: ${values.map(String).join(', ')}`)
    .join('; ') || 'any';

/** Formats subscriptions, one a line, and below them the reasons why some cannot receive deliveries. */
export const describeSubscriptions = (
  subscriptions: readonly SubscriptionView[],
  view: View,
): string => {
  const table = formatFitted(
    ['KEY', 'URL', 'EVENTS', 'SCOPE', 'STATE', 'DELIVERIES'],
    subscriptions.map((one) => [
      cell(plainKey(one)),
      cell(one.url ?? '-'),
      cell(one.events?.join(', ') ?? 'all'),
      cell(scopeText(one)),
      one.enabled ? 'on' : 'off',
      String(one.deliveries),
    ]),
    view,
    { none: 'no subscriptions', cut: ['SCOPE', 'EVENTS'] },
  );
  const faults = subscriptions.flatMap((one) =>
    one.skips === null
      ? []
      : wrapLines(`${cell(plainKey(one))} is skipped: ${makeVisible(one.skips)}`, view.columns),
  );
  return [table, ...faults].join('\n');
};

const statusText = ({ status, reason, durationMs }: Forwarded, colors: Colors): string => {
  if (status === 0)
    return colors.red(`no answer: ${makeVisible(reason ?? 'the reason is not known')}`);
  const text = status < 300 ? colors.green(String(status)) : colors.red(String(status));
  return `${text} in ${formatDuration(durationMs)}`;
};

const keptText = ({ kept }: ForwardedDelivery): string => {
  if (kept === null)
    return '; the delivery is no longer stored, so this answer is not stored either';
  if (kept.isOwn) return '';
  return `; the stored answer is an earlier one: ${kept.status === 0 ? 'none' : kept.status}`;
};

/** Formats a forwarded delivery on one line. */
export const describeForwarded = (done: ForwardedDelivery, colors: Colors): string => {
  const { sequence, event, url, at } = done.delivery;
  const place = `${colors.dim(at.slice(11, 23))}  #${sequence}  ${cell(event)}  ${cell(url)}`;
  return `${place}  ${statusText(done.forwarded, colors)}${keptText(done)}`;
};

/** Returns a forwarded delivery as an object for one line of JSON. */
export const forwardedAnswer = ({ delivery, forwarded, kept }: ForwardedDelivery): object => {
  const { sequence, generation, event, url, subscription, world } = delivery;
  const of = { sequence, generation, event, url, subscription, world };
  return { ...of, ...forwarded, kept };
};
