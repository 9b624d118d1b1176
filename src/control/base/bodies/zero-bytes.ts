/** Finds zero bytes in bodies. JSON texts may contain zero bytes, but PostgreSQL cannot store them. */
import type { FieldProblem } from '#domain/error.ts';

const zero = '\0';

/** Returns the path of the first text or member name that contains a zero byte; undefined if there is none. */
const placeIn = (value: unknown): string[] | undefined => {
  if (typeof value === 'string') return value.includes(zero) ? [] : undefined;
  if (typeof value !== 'object' || value === null) return;
  for (const [name, member] of Object.entries(value)) {
    if (name.includes(zero)) return [name.replaceAll(zero, '\\u0000')];
    const place = placeIn(member);
    if (place !== undefined) return [name, ...place];
  }
  return;
};

/** Returns the problem of the first zero byte in a parsed body; undefined if there is none. */
export const zeroByteIn = (body: unknown): FieldProblem | undefined => {
  const path = placeIn(body);
  return path && { path, message: 'holds a zero byte (U+0000), which cannot be stored' };
};
