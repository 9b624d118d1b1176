/**
 * Draws the output of a command on a colour terminal as an SVG picture: a window, the command line and the output. Each
 * run of characters in one style is placed at its columns, so that markers line up in any font.
 */
import { stripVTControlCharacters } from 'node:util';
import stringWidth from 'string-width';

type Style = { bold: boolean; dim: boolean; color: string | undefined };

type Run = { text: string; style: Style; column: number; columns: number };

const plain: Style = { bold: false, dim: false, color: undefined };

const palette = {
  background: '#1b1f27',
  frame: '#2b313d',
  text: '#d7dce5',
  faint: '#7d8799',
  31: '#ff7b72',
  32: '#7ee787',
  33: '#e3b341',
  36: '#76d9e6',
} as const;

const cell = { width: 8.4, height: 19, size: 14 };
const margin = { x: 18, top: 52, bottom: 18 };

/** Returns the style after an SGR code (ECMA-48); throws for a code that the command does not use. */
const applyCode = (style: Style, code: number): Style => {
  if (code === 0) return plain;
  if (code === 1) return { ...style, bold: true };
  if (code === 2) return { ...style, dim: true };
  if (code === 22) return { ...style, bold: false, dim: false };
  if (code === 39) return { ...style, color: undefined };
  const color = (palette as Record<string, string>)[String(code)];
  if (color === undefined) throw new Error(`the pictures have no style for the SGR code ${code}`);
  return { ...style, color };
};

/** Escape sequence that sets a style; its group holds the codes. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: terminals are steered by one
const sgr = /\u001b\[([\d;]*)m/;

/** Splits text into ASCII and other characters, because a viewer's font may have another width for the latter. */
const stretchesOf = (text: string): string[] => text.match(/[ -~]+|[^ -~]+/g) ?? [];

/** Splits a line into runs of one style. */
const runsOf = (line: string): Run[] => {
  const runs: Run[] = [];
  let style = plain;
  let column = 0;
  for (const [index, part] of line.split(sgr).entries()) {
    if (index % 2 === 1) style = part.split(';').map(Number).reduce(applyCode, style);
    else {
      for (const text of stretchesOf(part)) {
        const columns = stringWidth(text);
        runs.push({ text, style, column, columns });
        column += columns;
      }
    }
  }
  return runs;
};

/** Escapes text for XML and keeps spaces, which SVG would otherwise collapse. */
const escapeXml = (text: string): string =>
  text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll(' ', '\u00a0');

const drawRun = ({ text, style, column, columns }: Run, y: number): string => {
  const fill = style.color ?? (style.dim ? palette.faint : palette.text);
  const x = (margin.x + column * cell.width).toFixed(1);
  const width = (columns * cell.width).toFixed(1);
  const weight = style.bold ? ' font-weight="bold"' : '';
  const place = `x="${x}" y="${y}" textLength="${width}" lengthAdjust="spacingAndGlyphs"`;
  return `<text ${place} fill="${fill}"${weight}>${escapeXml(text)}</text>`;
};

const drawLine = (line: string, index: number): string[] =>
  runsOf(line)
    .filter(({ text }) => text.trim() !== '')
    .map((run) => drawRun(run, margin.top + index * cell.height));

/** Draws a command line and its output. */
export const drawScreen = (command: string, output: string): string => {
  const lines = [`\u001b[32m$\u001b[39m ${command}`, ...output.trimEnd().split('\n')];
  const columns = Math.max(...lines.map((line) => stringWidth(line)));
  const width = Math.ceil(columns * cell.width) + 2 * margin.x;
  const height = margin.top + (lines.length - 1) * cell.height + margin.bottom;
  const font =
    'ui-monospace, SFMono-Regular, Menlo, Consolas, &quot;DejaVu Sans Mono&quot;, monospace';
  const dots = ['#ff5f57', '#febc2e', '#28c840'].map(
    (fill, index) => `<circle cx="${20 + index * 18}" cy="16" r="5.5" fill="${fill}"/>`,
  );
  return `${[
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img">`,
    `<title>${escapeXml(command)}</title>`,
    `<desc>${escapeXml(stripVTControlCharacters(output).trim())}</desc>`,
    `<rect width="${width}" height="${height}" rx="9" fill="${palette.background}"/>`,
    `<path d="M0 32V9a9 9 0 0 1 9-9h${width - 18}a9 9 0 0 1 9 9v23z" fill="${palette.frame}"/>`,
    ...dots,
    `<g font-family="${font}" font-size="${cell.size}">`,
    ...lines.flatMap(drawLine),
    '</g>',
    '</svg>',
  ].join('\n')}\n`;
};
