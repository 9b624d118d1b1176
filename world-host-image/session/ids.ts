/**
 * Where a session's new identifiers come from: chance, or a seed. A seeded session draws the same ones
 * for the same calls. Each turn (a call or a request) has a sequence of its own, so that one which
 * breaks off, after however many draws, does not change what later ones get.
 */
import { randomInt, randomUUID } from 'node:crypto';

export type WorldIds = {
  /** A UUID, version 4. */
  uuid(): string;
  /** A whole number from 0, below 2^48. */
  integer(): number;
  /** The next turn begins. */
  begin(): void;
  /** Back to the first turn. */
  reset(): void;
};

const randomIds: WorldIds = {
  uuid: () => randomUUID(),
  integer: () => randomInt(2 ** 48 - 1),
  begin: () => undefined,
  reset: () => undefined,
};

/** Draws that a generator needs until nearby states have nothing in common. */
const warmUp = 20;

/** Chris Doty-Humphrey's sfc32: whole numbers of 32 bits, all of them for each state of 128 bits. */
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

/** 128 drawn bits in the form of a UUID, six of them overwritten by version and variant. */
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
  // Most turns draw nothing and need no generator.
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

/** The identifiers of a session: by chance without a seed, a whole number from 0, else by the seed. */
export const createIds = (seed: number | null): WorldIds =>
  seed === null ? randomIds : seededIds(seed);

/** The stream of identifiers is 1; those of other draws begin here. */
const firstStream = 2;

/**
 * A number from 0, below 1: by chance without a seed, else the draw of that number, from 1, in a stream from 0 that
 * has nothing in common with the identifiers.
 */
export const drawChance = (seed: number | null, stream: number, draw: number): number => {
  if (seed === null) return Math.random();
  const [high, low] = halvesOf(seed);
  return createGenerator(high, low, draw, firstStream + stream)() / 2 ** 32;
};
