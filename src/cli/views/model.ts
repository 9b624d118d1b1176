/** Formats models and their prices for a person. */
import type { ModelView } from '#wire/public-api/observability/model.ts';
import type { View } from '../terminal/context.ts';
import { cutLine, formatFields } from '../terminal/print.ts';
import { formatFitted } from './fitted-table.ts';

const million = 1_000_000;

/** Formats the price of a million tokens, the unit that vendors use. */
const priceText = (price: number | null | undefined): string =>
  price === null || price === undefined ? '-' : `$${Number((price * million).toPrecision(6))}`;

/** Formats models with their prices of a million units. */
export const listModels = (models: readonly ModelView[], view: View): string =>
  formatFitted(
    ['MODEL', 'NAME', 'INPUT/M', 'OUTPUT/M', 'TIERS', 'PATTERN'],
    models.map((model) => [
      ...[model.id, cutLine(model.modelName)],
      ...[priceText(model.inputPrice ?? model.totalPrice)],
      ...[priceText(model.outputPrice ?? model.totalPrice), String(model.pricingTiers.length)],
      cutLine(model.matchPattern),
    ]),
    view,
    { none: 'no models', leftOut: ['PATTERN'], cut: ['NAME'] },
  );

const conditionText = (
  condition: ModelView['pricingTiers'][number]['conditions'][number],
): string =>
  'source' in condition
    ? `${condition.source}.${condition.key} in ${condition.values.join(', ')}`
    : `${condition.usageDetailPattern} ${condition.operator} ${condition.value}`;

export const describeModel = (model: ModelView, view: View): string => {
  const fields = formatFields([
    ['model', model.id],
    ['name', model.modelName],
    ['pattern', model.matchPattern],
    ['from', model.startDate],
    ['unit', model.unit],
    ['made', model.isLangfuseManaged ? `built in, prices of ${model.createdAt}` : model.createdAt],
  ]);
  const rows = model.pricingTiers.flatMap(({ name, conditions, prices }) =>
    Object.entries(prices).map(([usage, price], index) => [
      index === 0 ? name : '',
      index === 0 ? conditions.map(conditionText).join(' and ') : '',
      ...[usage, priceText(price)],
    ]),
  );
  if (rows.length === 0) return fields;
  const table = formatFitted(['TIER', 'WHERE', 'USAGE', 'A MILLION'], rows, view, {
    cut: ['WHERE', 'USAGE'],
  });
  return [fields, '', table].join('\n');
};
