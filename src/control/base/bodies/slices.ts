/**
 * Splits a long list that was read from a body into slices. A child process returns the slices as bytes. The shared
 * event loop then deserializes one slice, processes it, and lets other requests run before the next slice.
 */
import { deserialize, serialize } from 'node:v8';

export type Slices<Item> = { parts: readonly (readonly Item[] | Uint8Array)[] };

const mostItems = 500;

/** Cuts a list into slices. With `isApart`, the slices are bytes, which another process deserializes. */
export const sliced = <Item>(items: readonly Item[], isApart = false): Slices<Item> => {
  const parts = Array.from({ length: Math.ceil(items.length / mostItems) }, (_, index) =>
    items.slice(index * mostItems, (index + 1) * mostItems),
  );
  return { parts: isApart ? parts.map((part) => serialize(part)) : parts };
};

/** Yields the slices one after another, deserialized. */
export function* unpacked<Item>({ parts }: Slices<Item>): Generator<readonly Item[]> {
  for (const part of parts) {
    yield part instanceof Uint8Array ? (deserialize(part) as readonly Item[]) : part;
  }
}
