/**
 * Generates bodies for an operation from its schema: valid ones, ones with mistakes, and ones with
 * a huge, deep, wide or broken value in the place of any part. Bodies are built as text, so that a
 * large one is cheap.
 */
import type { Chance } from '../../support/random/chance.ts';

type Schema = Readonly<Record<string, unknown>>;
type Members = Readonly<Record<string, Schema>>;

export type MadeBody = {
  bytes: Buffer;
  /** Description of the mistake or value that was put into the body, for the report. */
  oddity: string;
};

/** Replacements for a part of a body: about this many bytes of valid or invalid JSON. */
const bombs: Record<string, (bytes: number) => string> = {
  zeros: (bytes) => `[${'0,'.repeat(bytes / 2)}0]`,
  objects: (bytes) => `[${'{},'.repeat(bytes / 3)}{}]`,
  lists: (bytes) => `[${'[],'.repeat(bytes / 3)}[]]`,
  texts: (bytes) => `[${'"",'.repeat(bytes / 3)}""]`,
  nulls: (bytes) => `[${'null,'.repeat(bytes / 5)}null]`,
  hugeNumbers: (bytes) => `[${'1e400,'.repeat(bytes / 6)}-1e400]`,
  fractions: (bytes) => `[${'0.1234567890123456789,'.repeat(bytes / 22)}0]`,
  deepLists: (bytes) => `${'['.repeat(bytes / 2)}${']'.repeat(bytes / 2)}`,
  deepObjects: (bytes) => `${'{"a":'.repeat(bytes / 6)}0${'}'.repeat(bytes / 6)}`,
  nested: (bytes) => `[${`${'['.repeat(60)}${']'.repeat(60)},`.repeat(bytes / 121)}0]`,
  longText: (bytes) => `"${'a'.repeat(bytes)}"`,
  escapes: (bytes) => `"${'\\u0000'.repeat(bytes / 6)}"`,
  surrogates: (bytes) => `"${'\\ud800'.repeat(bytes / 6)}"`,
  quotes: (bytes) => `"${'\\"'.repeat(bytes / 2)}"`,
  slashes: (bytes) => `"${'\\\\'.repeat(bytes / 2)}"`,
  wideText: (bytes) => `"${'é'.repeat(bytes / 2)}"`,
  percents: (bytes) => `"${'%73t-%2573'.repeat(bytes / 10)}"`,
  tokens: (bytes) => `"${`st-${'a'.repeat(43)} `.repeat(bytes / 47)}"`,
  halfTokens: (bytes) => `"${'st-sk-hst-'.repeat(bytes / 10)}"`,
  longNumber: (bytes) => '1'.repeat(bytes),
  sameNames: (bytes) => `{${'"a":0,'.repeat(bytes / 6)}"a":0}`,
  prototypes: (bytes) => `{${'"__proto__":{},'.repeat(bytes / 15)}"a":0}`,
  spelledPrototypes: (bytes) => `[${'{"\\u005f_proto__":0},'.repeat(bytes / 21)}0]`,
  names: (bytes) => membersOf(bytes, '0'),
  namesOfObjects: (bytes) => membersOf(bytes, '{"id":0}'),
  namesOfLists: (bytes) => membersOf(bytes, '[0]'),
  longName: (bytes) => `{"${'n'.repeat(bytes)}":[0]}`,
  files: (bytes) => `[${'{"path":"a","content":"AAAA"},'.repeat(bytes / 30)}0]`,
  wrongFiles: (bytes) => `[${'{"path":1},'.repeat(bytes / 11)}0]`,
  dashes: (bytes) => `"${'-'.repeat(bytes)}"`,
  blank: (bytes) => `${' '.repeat(bytes)}0`,
  unclosed: (bytes) => `[${'"a",'.repeat(bytes / 4)}`,
  unclosedText: (bytes) => `"${'a'.repeat(bytes)}`,
  garbage: (bytes) => '}{]['.repeat(bytes / 4),
};

const membersOf = (bytes: number, value: string): string => {
  const count = Math.max(1, Math.floor(bytes / (value.length + 11)));
  const members = Array.from({ length: count }, (_, index) => `"n${index}":${value}`);
  return `{${members.join(',')}}`;
};

export const oddities: readonly string[] = Object.keys(bombs);

/** Decisions made before a body is written. */
type Plan = {
  chance: Chance;
  bomb: (() => string) | undefined;
  /**
   * True if the bomb is placed only where the schema allows any JSON: the body then passes validation and reaches the
   * code behind it.
   */
  fits: boolean;
  mistakes: number;
};

const pick = <Item>(chance: Chance, items: readonly Item[]): Item =>
  items[Math.floor(chance.share() * items.length)] as Item;

const number = (schema: Schema, word: string, fallback: number): number =>
  typeof schema[word] === 'number' ? (schema[word] as number) : fallback;

const wrong = ['0', '-1', '1e400', '""', '[]', '{}', 'null', 'true', '"\\u0000"', '[[]]', '"x"'];

const writeText = (schema: Schema, { chance }: Plan): string => {
  const least = number(schema, 'minLength', 0);
  const most = Math.min(number(schema, 'maxLength', 20), least + 20);
  const text = `${schema.pattern ?? ''}`.includes('sha256')
    ? `sha256:${'0'.repeat(64)}`
    : 'a'.repeat(Math.round(chance.between(least, most)));
  return JSON.stringify(text);
};

/** Values of members that operations accept, so that a request gets further than with random values. */
const telling: Record<string, readonly string[]> = {
  // No long poll: the test does not wait.
  hold: ['0'],
  generation: ['1'],
  slug: ['"notes"'],
  name: ['"list_notes"'],
  task: ['"finish"'],
};

const writeMember = (name: string, schema: Schema, plan: Plan): string => {
  const known = telling[name];
  if (known === undefined || (name !== 'hold' && plan.chance.happens(0.3))) {
    return write(schema, plan);
  }
  return pick(plan.chance, known);
};

const writeObject = (schema: Schema, plan: Plan): string => {
  const { chance } = plan;
  const required = new Set((schema.required ?? []) as string[]);
  const members = Object.entries((schema.properties ?? {}) as Members)
    .filter(([name]) => required.has(name) || chance.happens(0.5))
    .filter(() => plan.mistakes === 0 || !chance.happens(0.1))
    .map(([name, member]) => `${JSON.stringify(name)}:${writeMember(name, member, plan)}`);
  const [any] = Object.values((schema.patternProperties ?? {}) as Members);
  if (any !== undefined && chance.happens(0.7)) {
    members.push(`"name":${write(any, plan)}`, `"other":${write(any, plan)}`);
  }
  if (plan.mistakes > 0 && chance.happens(0.2)) members.push(`"unheard_of":${pick(chance, wrong)}`);
  return `{${members.join(',')}}`;
};

/** Returns true if the schema allows any JSON. */
const isFree = (schema: Schema): boolean =>
  !('anyOf' in schema) && (schema.type === undefined || 'patternProperties' in schema);

const write = (schema: Schema, plan: Plan): string => {
  const { chance } = plan;
  const share = isFree(schema) ? 0.8 : plan.fits ? 0 : 0.15;
  if (plan.bomb !== undefined && chance.happens(share)) {
    const text = plan.bomb();
    plan.bomb = undefined;
    return text;
  }
  if (plan.mistakes > 0 && chance.happens(0.15)) {
    plan.mistakes -= 1;
    return pick(chance, wrong);
  }
  if (Array.isArray(schema.anyOf)) return write(pick(chance, schema.anyOf as Schema[]), plan);
  if (Array.isArray(schema.enum)) return JSON.stringify(pick(chance, schema.enum));
  if ('const' in schema) return JSON.stringify(schema.const);
  switch (schema.type) {
    case 'string':
      return writeText(schema, plan);
    case 'integer':
    case 'number':
      return String(Math.round(number(schema, 'minimum', 0) + chance.share() * 3));
    case 'boolean':
      return String(chance.happens(0.5));
    case 'null':
      return 'null';
    case 'array': {
      const each = (schema.items ?? {}) as Schema;
      const least = number(schema, 'minItems', 0);
      return `[${Array.from({ length: least + Math.floor(chance.share() * 3) }, () => write(each, plan)).join(',')}]`;
    }
    case 'object':
      return writeObject(schema, plan);
    default:
      return '{"a":[1,"b",null]}';
  }
};

/** Returns a random size, often near a limit: the bound of direct parsing, and the largest body. */
const sizeOf = (chance: Chance, mostBytes: number): number =>
  Math.min(anySize(chance, mostBytes), 1.02 * mostBytes);

const anySize = (chance: Chance, mostBytes: number): number => {
  const kind = chance.share();
  if (kind < 0.35) return chance.between(1_000, 60_000);
  if (kind < 0.6) return chance.between(200_000, 300_000);
  if (kind < 0.9) return chance.between(300_000, Math.min(mostBytes, 4_000_000));
  return chance.between(0.5, 1.02) * mostBytes;
};

/** Makes some bytes invalid UTF-8, or truncates the text. */
const breakBytes = (bytes: Buffer, chance: Chance): Buffer => {
  const place = Math.floor(chance.share() * bytes.byteLength);
  if (chance.happens(0.5)) return bytes.subarray(0, place);
  const broken = Buffer.from(bytes);
  broken.fill(
    pick(chance, [0xff, 0xc0, 0x80, 0x00]),
    place,
    Math.min(place + 3, broken.byteLength),
  );
  return broken;
};

/** Generates a body of up to about this many bytes for an operation with this schema. */
export const makeBody = (schema: unknown, mostBytes: number, chance: Chance): MadeBody => {
  const kind = chance.share();
  const fits = kind >= 0.5;
  const plan: Plan = { chance, bomb: undefined, fits, mistakes: kind < 0.25 ? 2 : 0 };
  let oddity = kind < 0.1 ? 'mistakes' : 'none';
  if (kind >= 0.15) {
    const bytes = Math.floor(sizeOf(chance, mostBytes));
    oddity = pick(chance, oddities);
    const bomb = bombs[oddity];
    plan.bomb = () => bomb?.(bytes) ?? '';
  }
  let text = write(schema as Schema, plan);
  // The writer never reached a place for the bomb, so it becomes an additional member.
  if (plan.bomb !== undefined && !fits)
    text = text.replace(/^\{(?=")/, () => `{"odd":${plan.bomb?.()},`);
  const bytes = Buffer.from(text);
  if (fits || !chance.happens(0.08) || bytes.byteLength === 0) return { bytes, oddity };
  return { bytes: breakBytes(bytes, chance), oddity: `${oddity}, broken` };
};
