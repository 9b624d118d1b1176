/**
 * Builds the diagrams of docs/internals/architecture.md: the folders of each program in the order of `test/floors.ts`,
 * with an arrow to each imported folder. An arrow is left out if other arrows lead to the same folder.
 */
import { readFileSync } from 'node:fs';
import { type Floor, floors } from '../../test/floors.ts';
import { floorOf, importGraph } from '../../test/support/repository/imports.ts';

type Arrows = ReadonlyMap<string, ReadonlySet<string>>;

/** Returns the lower folders that the files of each folder of a program import. */
const arrowsOf = (program: string, places: readonly string[]): Arrows => {
  const arrows = new Map<string, Set<string>>(places.map((place) => [place, new Set()]));
  for (const [file, targets] of importGraph([program])) {
    const from = floorOf(program, file, places);
    for (const target of targets) {
      const to = floorOf(program, target, places);
      if (places.indexOf(to) > places.indexOf(from)) arrows.get(from)?.add(to);
    }
  }
  return arrows;
};

/**
 * Returns, for each folder, all folders that its arrows lead to, directly or through others. Arrows lead down, so it
 * starts at the lowest folder.
 */
const reachesOf = (arrows: Arrows, places: readonly string[]): Arrows => {
  const reaches = new Map<string, Set<string>>();
  for (const place of places.toReversed()) {
    const ends = [...(arrows.get(place) ?? [])];
    reaches.set(place, new Set(ends.flatMap((end) => [end, ...(reaches.get(end) ?? [])])));
  }
  return reaches;
};

/** Returns the arrows of a folder, except those to a folder to which other arrows lead as well. */
const withoutDetours = (arrows: Arrows, reaches: Arrows, place: string): string[] => {
  const ends = [...(arrows.get(place) ?? [])];
  return ends.filter((end) => !ends.some((other) => reaches.get(other)?.has(end)));
};

const pictureOf = (program: string, programFloors: readonly Floor[]): string => {
  const places = programFloors.map(([place]) => place);
  const arrows = arrowsOf(program, places);
  const reaches = reachesOf(arrows, places);
  const named = programFloors.map(([place, holds], index) => {
    const name = place === '.' ? `${program}/` : place.endsWith('.ts') ? place : `${place}/`;
    return `  f${index}["<b>${name}</b><br/>${holds}"]`;
  });
  const drawn = places.flatMap((place, from) => {
    const ends = withoutDetours(arrows, reaches, place);
    return places.flatMap((end, to) => (ends.includes(end) ? [`  f${from} --> f${to}`] : []));
  });
  return ['```mermaid', 'flowchart TD', ...named, ...drawn, '```'].join('\n');
};

const page = new URL('../../docs/internals/architecture.md', import.meta.url);

/** Returns a pattern for the text between the marks of a program's diagram. */
const between = (program: string): RegExp =>
  new RegExp(`(<!-- floors of ${program} -->\n)[^]*?(<!-- end -->)`);

/** Returns docs/internals/architecture.md with current diagrams; a program with a single folder has none. */
export const architecturePage = (): string => {
  let text = readFileSync(page, 'utf8');
  const inFolders = Object.entries(floors).filter(([, programFloors]) => programFloors.length > 1);
  for (const [program, programFloors] of inFolders) {
    if (!between(program).test(text)) {
      throw new Error(
        `docs/internals/architecture.md has no <!-- floors of ${program} --> … <!-- end -->`,
      );
    }
    const picture = pictureOf(program, programFloors);
    text = text.replace(between(program), (_, start, end) => `${start}${picture}\n${end}`);
  }
  return text;
};
