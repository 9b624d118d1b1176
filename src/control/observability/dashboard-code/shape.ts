/**
 * Summarizes the structure of a JSON value, so that the author of a page sees which data the page gets. Has no side
 * effects.
 */

/** Maximum number of members shown for one object, and maximum number of levels. */
const mostMembers = 100;
const mostLevels = 8;
/** Maximum number of entries of a list that are examined. */
const mostEntries = 200;

export type Shape =
  | { type: 'null' | 'boolean' | 'number' | 'string' }
  | { type: 'object'; members?: Record<string, Shape>; more?: number }
  | { type: 'list'; length: number; of?: Shape[] };

/**
 * Merges the shapes of a list's entries into one shape for each type. The shape of the objects has the members of all
 * objects.
 */
const merge = (shapes: readonly Shape[]): Shape[] => {
  const byType = new Map<string, Shape>();
  for (const shape of shapes) {
    const known = byType.get(shape.type);
    if (known === undefined) byType.set(shape.type, shape);
    else if (known.type === 'object' && shape.type === 'object') {
      byType.set('object', { ...known, members: { ...shape.members, ...known.members } });
    }
  }
  return [...byType.values()];
};

/** Returns the shape of a value. */
export const shapeOf = (value: unknown, level = 1): Shape => {
  if (value === null) return { type: 'null' };
  if (Array.isArray(value)) {
    const { length } = value;
    if (length === 0 || level >= mostLevels) return { type: 'list', length };
    const of = merge(value.slice(0, mostEntries).map((entry) => shapeOf(entry, level + 1)));
    return { type: 'list', length, of };
  }
  if (typeof value === 'object') {
    if (level >= mostLevels) return { type: 'object' };
    const entries = Object.entries(value);
    const shown = entries.slice(0, mostMembers);
    const more = entries.length - shown.length;
    const members = Object.fromEntries(shown.map(([name, one]) => [name, shapeOf(one, level + 1)]));
    return { type: 'object', members, ...(more > 0 ? { more } : {}) };
  }
  return { type: typeof value as 'boolean' | 'number' | 'string' };
};
