/** Zero bytes in bodies: texts may hold them in JSON, and the database keeps none. */
import type { FieldProblem } from '#domain/error.ts';

const zero = '\0';

/** Where the first text, or the first name, stands that holds one; undefined where there is none. */
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

/** What to say of the first zero byte of a body that was read; undefined where there is none. */
export const zeroByteIn = (body: unknown): FieldProblem | undefined => {
  const path = placeIn(body);
  return path && { path, message: 'holds a zero byte (U+0000), which cannot be kept' };
};
