/**
 * Source of a session's new identifiers: random, or derived from a seed. A seeded session draws the same identifiers
 * for the same calls. Each turn (a call or a request) has a sequence of its own. If a turn fails, after any number of
 * draws, the identifiers of later turns are therefore unchanged.
 */
import { randomInt, randomUUID } from 'node:crypto';

export type WorldIds = {
  /** Returns a UUID, version 4. */
  uuid(): string;
  /** Returns a whole number from 0 to 2^48 - 1. */
  integer(): number;
  /** Begins the next turn. */
  begin(): void;
  /** Goes back to the first turn. */
  reset(): void;
};

const randomIds: WorldIds = {
  uuid: () => randomUUID(),
  integer: () => randomInt(2 ** 48 - 1),
  begin: () => undefined,
  reset: () => undefined,
};

/** Number of draws that are discarded first, because generators with similar states begin with similar outputs. */
const warmUp = 20;

/** Creates Chris Doty-Humphrey's generator sfc32, which draws whole numbers of 32 bits from a state of 128 bits. */
const createGenerator = (high: number, low: number, turn: number, stream = 1): (() => number) => {
  let [a, b, c, counter] = [high | 0, low | 0, turn | 0, stream];
  const draw = (): number => {
    const sum = (((a + b) | 0) + counter) | 0;
    counter = (counter + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = (((c << 21) | (c >>> 11)) + sum) | 0;
    return sum >>> 0;
  };
  for (let round = 0; round < warmUp; round += 1) draw();
  return draw;
};

const hex = (word: number): string => word.toString(16).padStart(8, '0');

/** Returns 128 drawn bits as a UUID, with six of them replaced by version and variant. */
const uuidOf = (draw: () => number): string => {
  const [first, second, third, last] = [hex(draw()), hex(draw()), draw(), hex(draw())];
  const fourth = hex(((third & 0x3fffffff) | 0x80000000) >>> 0);
  return `${first}-${second.slice(0, 4)}-4${second.slice(5)}-${fourth.slice(0, 4)}-${fourth.slice(4)}${last}`;
};

const halvesOf = (seed: number): [high: number, low: number] => [Math.floor(seed / 2 ** 32), seed];

const seededIds = (seed: number): WorldIds => {
  const [high, low] = halvesOf(seed);
  let turn = 0;
  let drawn: (() => number) | undefined;
  // Most turns draw nothing, so the generator is created at the first draw.
  const draw = (): number => {
    drawn ??= createGenerator(high, low, turn);
    return drawn();
  };
  return {
    uuid: () => uuidOf(draw),
    integer: () => (draw() & 0xffff) * 2 ** 32 + draw(),
    begin() {
      turn += 1;
      drawn = undefined;
    },
    reset() {
      turn = 0;
      drawn = undefined;
    },
  };
};

/**
 * Creates the identifiers of a session: random if the seed is null, else derived from the seed, a whole number from 0.
 */
export const createIds = (seed: number | null): WorldIds =>
  seed === null ? randomIds : seededIds(seed);

/** First number of a stream for draws that are not identifiers. Identifiers use stream 1. */
const firstStream = 2;

/**
 * Returns a number of at least 0 and below 1. It is random if the seed is null. Otherwise it is draw number `draw`,
 * counted from 1, in stream number `stream`, counted from 0; these streams are independent of the identifiers.
 */
export const drawChance = (seed: number | null, stream: number, draw: number): number => {
  if (seed === null) return Math.random();
  const [high, low] = halvesOf(seed);
  return createGenerator(high, low, draw, firstStream + stream)() / 2 ** 32;
};
