/**
 * Builds the patterns that recognize a model name as vendors, clouds, gateways and SDKs spell it. A path or an ARN may
 * precede the name; dates, versions and variants may follow it. A name with any other ending is another model, whose
 * price is unknown.
 */

export const vendors = ['openai', 'openaiTuned', 'anthropic', 'google'] as const;
export type Vendor = (typeof vendors)[number];

/**
 * Prefixes that may precede a name: an ARN up to its last segment; a path such as `openrouter/openai/` or
 * `publishers/google/models/`; an SDK's `openai:`.
 */
const arn = '(?:arn:[a-z0-9-]+:[a-z]+:[a-z0-9-]*:\\d*:[a-z-]+/)?';
const path = '(?:[a-z0-9][\\w.@-]*/)*';
const provider = '(?:[a-z][\\w-]{2,}:)?';

/**
 * Suffixes that may follow a name: a context length such as `[1m]`, or a variant that a gateway serves at the model's
 * own price.
 */
const behind =
  '(?:\\[\\d+[km]\\])?(?::(?:beta|thinking|nitro|online|extended|floor|exacto|latest))?';

/** Patterns of the text that may directly precede and follow a vendor's model names. */
const around: Readonly<Record<Vendor, { before: string; after: string }>> = {
  openai: { before: '', after: '(?:[-@]\\d{4}-\\d{2}-\\d{2})?' },
  // Matches the organization, a suffix and an id.
  openaiTuned: { before: '', after: '(?::[^:]*:[^:]*:[^:]+)?' },
  anthropic: {
    before: '(?:(?:[a-z]{2,6}(?:-[a-z]{2,6})?\\.)?anthropic\\.)?',
    after: '(?:-v\\d+)?(?:[-@](?:\\d{8}|latest|default|0))?(?:-v\\d+(?::\\d+)?(?::\\d+k)?)?',
  },
  google: { before: '', after: '(?:-latest|-exp|-\\d{3}|-preview-\\d{2}-\\d{2,4})?(?:@\\w+)?' },
};

/**
 * Patterns of the text that may follow the names of single models, in place of their vendor's pattern. Some dated
 * versions of these models have other prices.
 */
const ownAfter: Readonly<Record<string, string>> = {
  'gpt-4o': '(?:-2024-08-06|-2024-11-20)?',
  'gpt-4o-2024-05-13': '',
  'gemini-1.0-pro': '(?:-\\d{3})?(?:@\\w+)?',
};

const escaped = (name: string): string => name.replaceAll('.', '\\.');

/**
 * Returns the pattern of a Claude name: version numbers are joined by dots or dashes, and precede or follow the family.
 */
const claudeName = (name: string): string => {
  const [, ...parts] = name.split('-');
  const family = parts.find((part) => /^[a-z]/.test(part));
  const numbers = parts.filter((part) => part !== family).map((part) => part.split('.'));
  const version = numbers.flat().join('[-.]');
  if (family === undefined) return `claude-${version}`;
  return `claude-(?:${family}-${version}|${version}-${family})`;
};

/** Returns the pattern of an OpenAI name. Azure omits the dot in the names of the GPT-3.5 family. */
const openaiName = (name: string): string => escaped(name).replace('gpt-3\\.5', 'gpt-3\\.?5');

const nameOf = (vendor: Vendor, name: string): string => {
  if (vendor === 'anthropic') return claudeName(name);
  return vendor === 'google' ? escaped(name) : openaiName(name);
};

/** Returns the RE2 pattern that matches every spelling of a model. */
export const spellingsOf = (vendor: Vendor, name: string): string => {
  const { before, after } = around[vendor];
  const own = Object.hasOwn(ownAfter, name) ? ownAfter[name] : after;
  return `(?i)^${arn}${path}${provider}${before}${nameOf(vendor, name)}${own}${behind}$`;
};

/**
 * Returns a text in lower case that occurs in every spelling of a model: the family for Claude, most of the name for
 * other models.
 */
export const textIn = (vendor: Vendor, name: string): string => {
  if (vendor === 'anthropic')
    return name.split('-').find((part) => part !== 'claude' && /^[a-z]/.test(part)) ?? 'claude';
  return name.replace(/^.*gpt-3\.5/, '');
};
