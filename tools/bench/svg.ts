/** Building blocks of the benchmarks' pictures: a page that follows the reader's theme, texts, numbers. */

const style = `<style>
  :root { color-scheme: light dark }
  text { font: 13px ui-sans-serif, system-ui, -apple-system, "Segoe UI", sans-serif; fill: #3d4450 }
  .title { font-size: 17px; font-weight: 650; fill: #14181f }
  .heading { font-weight: 650; fill: #14181f }
  .note, .axis { font-size: 11.5px; fill: #6b7482 }
  .number { font-variant-numeric: tabular-nums; paint-order: stroke; stroke: #ffffff; stroke-width: 5px }
  .page { fill: #ffffff } .grid { stroke: #e4e8ee } .mark { stroke: #14181f; stroke-dasharray: 2 3 }
  .floor { fill: #c4ccd8 } .peer { fill: #9db4d6 } .ours { fill: #1f6feb } .strong { font-weight: 650 }
  .memory { stroke: #1f6feb } .slow { stroke: #c2571a }
  polyline { fill: none; stroke-width: 2; stroke-linejoin: round }
  @media (prefers-color-scheme: dark) {
    text { fill: #b6bfcc } .title, .heading { fill: #eef2f7 } .note, .axis { fill: #8a94a3 }
    .number { stroke: #12161c } .page { fill: #12161c } .grid { stroke: #272e38 } .mark { stroke: #eef2f7 }
    .floor { fill: #465061 } .peer { fill: #3f5f8f } .ours { fill: #4c93ff }
    .memory { stroke: #4c93ff } .slow { stroke: #f0883e }
  }
</style>`;

/** Returns a whole picture as an SVG document. */
export const picture = (
  width: number,
  height: number,
  title: string,
  parts: readonly string[],
): string =>
  `${[
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img">`,
    `<title>${title}</title>`,
    style,
    `<rect class="page" width="${width}" height="${height}" rx="10"/>`,
    ...parts,
    '</svg>',
  ].join('\n')}\n`;

/** Formats a length. */
export const at = (value: number): string => value.toFixed(1);

/** Returns a text at a place. */
export const text = (x: number, y: number, content: string, kind = '', anchor = 'start'): string =>
  `<text x="${at(x)}" y="${at(y)}" class="${kind}" text-anchor="${anchor}">${content}</text>`;

/** Formats a number with separators of thousands. */
export const thousands = (value: number): string => Math.round(value).toLocaleString('en-US');

/** Returns the next of 1, 2 and 5 times a power of ten. */
export const roundUp = (value: number): number => {
  const power = 10 ** Math.floor(Math.log10(value));
  return ([1, 2, 5].find((step) => step * power >= value) ?? 10) * power;
};
