/** Options and words of lists that come in pages. */
import type { Command } from 'commander';
import { limits } from '#domain/limits.ts';
import { parseNumber } from './command.ts';

export type PagingOptions = { page: number; limit: number };

/** Adds `--page` and `--limit`. */
export const addPaging = (command: Command): Command =>
  command
    .option(
      '--page <number>',
      'which page, from 1',
      parseNumber({ min: 1, max: 1_000_000, whole: true }),
      1,
    )
    .option(
      '--limit <number>',
      'entries a page',
      parseNumber({ min: 1, max: limits.pageMax, whole: true }),
      limits.pageDefault,
    );

export type PageMeta = {
  page: number;
  limit: number;
  totalItems: number;
  totalPages: number;
  totalItemsIsLowerBound?: true;
};

/** A line that says that there is more, or none. */
export const moreText = ({ page, totalPages, totalItems, ...meta }: PageMeta): string[] => {
  const orMore = meta.totalItemsIsLowerBound === true ? ' or more' : '';
  if (page >= totalPages && orMore === '') return [];
  return [
    `page ${page} of ${totalPages}${orMore}, ${totalItems}${orMore} in all; --page ${page + 1} shows the next`,
  ];
};
