/** "Did you mean": the nearest of the names that exist, for hints in problems. */

const maxNameLength = 64;

/** Edits (insert, delete, replace, swap of neighbours) between two words, or more than `most`. */
const editDistance = (a: string, b: string, most: number): number => {
  if (Math.abs(a.length - b.length) > most) return most + 1;
  let before: number[] = [];
  let above = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i += 1) {
    const row = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const cost = a[i - 1] === b[j - 1] ? 0 : 1;
      const steps = [(above[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1, (above[j - 1] ?? 0) + cost];
      const swapped = a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      if (i > 1 && j > 1 && swapped) steps.push((before[j - 2] ?? 0) + 1);
      row.push(Math.min(...steps));
    }
    before = above;
    above = row;
  }
  return above[b.length] ?? 0;
};

/** The known name nearest to `name`, if one is near enough to be what was meant. */
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

/** `did you mean "x"?`, or else what there is to choose from. */
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
