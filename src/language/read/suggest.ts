/** Finds the existing name nearest to a name, for "did you mean" hints in problems. */

const maxNameLength = 64;

/**
 * Returns the number of edits (insert, delete, replace, swap of neighbours) between two words; or any number above
 * `most` if there are more. Because there are many names, only cells near the diagonal are computed, and the
 * computation stops when a whole row is above `most`.
 */
const editDistance = (a: string, b: string, most: number): number => {
  const tooFar = most + 1;
  if (Math.abs(a.length - b.length) > most) return tooFar;
  let before: number[] = [];
  let above = Array.from({ length: Math.min(b.length, most) + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i += 1) {
    const row: number[] = i <= most ? [i] : [];
    let least = row[0] ?? tooFar;
    for (let j = Math.max(1, i - most); j <= Math.min(b.length, i + most); j += 1) {
      const cost = a[i - 1] === b[j - 1] ? 0 : 1;
      let steps = (above[j - 1] ?? tooFar) + cost;
      steps = Math.min(steps, (above[j] ?? tooFar) + 1, (row[j - 1] ?? tooFar) + 1);
      const isSwapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      if (isSwapped) steps = Math.min(steps, (before[j - 2] ?? tooFar) + 1);
      row[j] = steps;
      least = Math.min(least, steps);
    }
    if (least > most) return tooFar;
    before = above;
    above = row;
  }
  return above[b.length] ?? tooFar;
};

/** Returns the known name nearest to `name`; undefined if none is near enough to be meant. */
export const nearestName = (name: string, known: Iterable<string>): string | undefined => {
  if (name.length > maxNameLength) return undefined;
  const most = name.length < 5 ? 1 : 2;
  const plain = name.toLowerCase().replaceAll('-', '_');
  let best: { name: string; distance: number } | undefined;
  for (const candidate of known) {
    const distance = editDistance(plain, candidate.toLowerCase().replaceAll('-', '_'), most);
    if (distance <= most && distance < (best?.distance ?? most + 1)) {
      best = { name: candidate, distance };
    }
  }
  return best?.name;
};

/** Returns `did you mean "x"?` if a name is near enough, or else the available names. */
export const suggestName = (name: string, known: Iterable<string>): string | undefined => {
  const names = [...known];
  const nearest = nearestName(name, names);
  if (nearest !== undefined) return `did you mean "${nearest}"?`;
  if (names.length === 0) return undefined;
  const shown = names
    .slice(0, 20)
    .map((each) => each.slice(0, maxNameLength))
    .join(', ');
  return `known: ${shown}${names.length > 20 ? ` and ${names.length - 20} more` : ''}`;
};
