/** Plays an agent in the page of `code-hosting`: the task `close-duplicate`, from its first page on. */
import type { Page } from 'playwright-core';

/** Solves the task on a page that shows its `entry`. Resolves when the issue is shown as closed. */
export const solveCloseDuplicate = async (page: Page): Promise<void> => {
  await page.getByRole('link', { name: 'northquay/berth' }).click();
  await page.getByRole('searchbox').fill('arrival reminder');
  await page.keyboard.press('Enter');
  await page.getByRole('link', { name: 'Guests get the arrival reminder too early' }).click();
  await page.getByRole('button', { name: 'Edit labels' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('searchbox').fill('duplicate');
  await dialog.getByRole('checkbox').check();
  await dialog.getByRole('button', { name: 'Apply' }).click();
  await page.getByRole('complementary').getByText('duplicate').waitFor();
  await page.getByLabel('Add a comment').fill('Duplicate of #139');
  await page.getByLabel('Reason').selectOption('not_planned');
  await page.getByRole('button', { name: 'Close with comment' }).click();
  await page.getByRole('button', { name: 'Reopen issue' }).waitFor();
};
