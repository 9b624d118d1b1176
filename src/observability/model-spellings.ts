/**
 * Spellings of model names by vendors, clouds, gateways and SDKs: with a path or an ARN before a name, with dates,
 * versions and variants behind it. A name that ends otherwise is another model, whose price is not known.
 */

export const vendors = ['openai', 'openaiTuned', 'anthropic', 'google'] as const;
export type Vendor = (typeof vendors)[number];

/** An ARN up to its last part; a path such as `openrouter/openai/` or `publishers/google/models/`; an SDK's `openai:`. */
const arn = '(?:arn:[a-z0-9-]+:[a-z]+:[a-z0-9-]*:\\d*:[a-z-]+/)?';
const path = '(?:[a-z0-9][\\w.@-]*/)*';
const provider = '(?:[a-z][\\w-]{2,}:)?';

/** A context length such as `[1m]`, and a variant that a gateway serves at the price of the model. */
const behind =
  '(?:\\[\\d+[km]\\])?(?::(?:beta|thinking|nitro|online|extended|floor|exacto|latest))?';

/** Patterns of the text that may stand right before and behind the names of each vendor. */
const around: Readonly<Record<Vendor, { before: string; after: string }>> = {
  openai: { before: '', after: '(?:[-@]\\d{4}-\\d{2}-\\d{2})?' },
  // The organization, a suffix and an id.
  openaiTuned: { before: '', after: '(?::[^:]*:[^:]*:[^:]+)?' },
  anthropic: {
    before: '(?:(?:[a-z]{2,6}(?:-[a-z]{2,6})?\\.)?anthropic\\.)?',
    after: '(?:-v\\d+)?(?:[-@](?:\\d{8}|latest|default|0))?(?:-v\\d+(?::\\d+)?(?::\\d+k)?)?',
  },
  google: { before: '', after: '(?:-latest|-exp|-\\d{3}|-preview-\\d{2}-\\d{2,4})?(?:@\\w+)?' },
};

/** Dated names that what may stand behind the others does not fit, as they have prices of their own. */
const ownAfter: Readonly<Record<string, string>> = {
  'gpt-4o': '(?:-2024-08-06|-2024-11-20)?',
  'gpt-4o-2024-05-13': '',
  'gemini-1.0-pro': '(?:-\\d{3})?(?:@\\w+)?',
};

const escaped = (name: string): string => name.replaceAll('.', '\\.');

/** Numbers of Claude models, with dots or dashes between them, before or behind the family. */
const claudeName = (name: string): string => {
  const [, ...parts] = name.split('-');
  const family = parts.find((part) => /^[a-z]/.test(part));
  const numbers = parts.filter((part) => part !== family).map((part) => part.split('.'));
  const version = numbers.flat().join('[-.]');
  if (family === undefined) return `claude-${version}`;
  return `claude-(?:${family}-${version}|${version}-${family})`;
};

/** Azure has no dot in the names of this family. */
const openaiName = (name: string): string => escaped(name).replace('gpt-3\\.5', 'gpt-3\\.?5');

const nameOf = (vendor: Vendor, name: string): string => {
  if (vendor === 'anthropic') return claudeName(name);
  return vendor === 'google' ? escaped(name) : openaiName(name);
};

/** The pattern in RE2 of all spellings of a model. */
export const spellingsOf = (vendor: Vendor, name: string): string => {
  const { before, after } = around[vendor];
  const own = Object.hasOwn(ownAfter, name) ? ownAfter[name] : after;
  return `(?i)^${arn}${path}${provider}${before}${nameOf(vendor, name)}${own}${behind}$`;
};

/** A text that every spelling of a model has in it, in lower case: the family of Claude, of others most of the name. */
export const textIn = (vendor: Vendor, name: string): string => {
  if (vendor === 'anthropic')
    return name.split('-').find((part) => part !== 'claude' && /^[a-z]/.test(part)) ?? 'claude';
  return name.replace(/^.*gpt-3\.5/, '');
};
