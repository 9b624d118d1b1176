/** Finds accessibility barriers of a page with axe. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';

const source = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

type Found = { id: string; impact: string; nodes: { html: string }[] };

/** Returns the serious and critical violations of a page, each with its elements; lesser ones are left out. */
export const barriers = async (page: Page): Promise<string[]> => {
  await page.evaluate(source);
  const found = (await page.evaluate('axe.run().then(({ violations }) => violations)')) as Found[];
  return found
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 200)).join(' | ')}`);
};

/** Returns the pixels by which the page is wider than its window. */
export const overflow = async (page: Page): Promise<number> =>
  (await page.evaluate(
    'document.documentElement.scrollWidth - document.documentElement.clientWidth',
  )) as number;
