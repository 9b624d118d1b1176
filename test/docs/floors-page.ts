/**
 * The pictures of docs/internals/architecture.md: the folders of each program as `test/floors.ts` orders them, with
 * an arrow to each folder that they import, but for those that other arrows lead to as well.
 */
import { readFileSync } from 'node:fs';
import { type Floor, floors } from '../floors.ts';
import { floorOf, importGraph } from '../support/imports.ts';

type Arrows = ReadonlyMap<string, ReadonlySet<string>>;

/** Which folders beneath it the files of each folder of a program import. */
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

/** All that a place leads to, at once or by way of others. Arrows lead down, so it ends. */
const reachedFrom = (arrows: Arrows, place: string): Set<string> =>
  new Set([...(arrows.get(place) ?? [])].flatMap((next) => [next, ...reachedFrom(arrows, next)]));

/** The arrows without those to a place that another arrow's end leads to. */
const withoutDetours = (arrows: Arrows, place: string): string[] => {
  const ends = [...(arrows.get(place) ?? [])];
  return ends.filter((end) => !ends.some((other) => reachedFrom(arrows, other).has(end)));
};

const pictureOf = (program: string, programFloors: readonly Floor[]): string => {
  const places = programFloors.map(([place]) => place);
  const arrows = arrowsOf(program, places);
  const named = programFloors.map(([place, holds], index) => {
    const name = place === '.' ? `${program}/` : place.endsWith('.ts') ? place : `${place}/`;
    return `  f${index}["<b>${name}</b><br/>${holds}"]`;
  });
  const drawn = places.flatMap((place, from) =>
    places.flatMap((end, to) =>
      withoutDetours(arrows, place).includes(end) ? [`  f${from} --> f${to}`] : [],
    ),
  );
  return ['```mermaid', 'flowchart TD', ...named, ...drawn, '```'].join('\n');
};

const page = new URL('../../docs/internals/architecture.md', import.meta.url);

/** What stands between the marks of a program's picture. */
const between = (program: string): RegExp =>
  new RegExp(`(<!-- floors of ${program} -->\n)[^]*?(<!-- end -->)`);

/** docs/internals/architecture.md with the pictures as they should be; one folder alone has none. */
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
