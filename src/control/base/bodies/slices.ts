/**
 * Many things that were read from one body, a few at a time. Those read in a process of their own come back as bytes:
 * the loop that all requests share makes objects of one slice, does its work, and lets others go before the next.
 */
import { deserialize, serialize } from 'node:v8';

export type Slices<Item> = { parts: readonly (readonly Item[] | Uint8Array)[] };

const mostItems = 500;

/** Cuts a list into slices; with `isApart` as bytes, which another process takes. */
export const sliced = <Item>(items: readonly Item[], isApart = false): Slices<Item> => {
  const parts = Array.from({ length: Math.ceil(items.length / mostItems) }, (_, index) =>
    items.slice(index * mostItems, (index + 1) * mostItems),
  );
  return { parts: isApart ? parts.map((part) => serialize(part)) : parts };
};

/** Goes through the slices, one after the other. */
export function* unpacked<Item>({ parts }: Slices<Item>): Generator<readonly Item[]> {
  for (const part of parts) {
    yield part instanceof Uint8Array ? (deserialize(part) as readonly Item[]) : part;
  }
}
